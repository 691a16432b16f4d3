import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MessengerAPI

extension MessengerService {
    func reports(_ routes: inout Routes<Messenger, Messenger.User.ID>) {
        routes.on(answering: createReport)
    }

    func createReport(
        _ request: Messenger.CreateReport, from caller: Messenger.User.ID, _ info: RequestInfo
    ) async throws -> Answer<Messenger.Report> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Messenger.errorMessages, at: now) { db in
            if let user = request.user, try Users.profile(user, for: caller, in: db) == nil {
                throw Users.notFound
            }
            let message = try request.message.map { try Messages.visible($0, to: caller, in: db) }
            return Answer(.created, try Reports.insert(request, of: message, by: caller, at: now, in: db))
        }
    }

    /// A report as the operator reads it.
    public struct FiledReport: Codable, Sendable {
        /// A user in a report. When the account was deleted, the id is 0 and there is no name.
        public struct Person: Codable, Sendable {
            public let id: Messenger.User.ID
            public let username: String?
        }

        /// The message as it was when it was reported.
        public struct ReportedMessage: Codable, Sendable {
            public let id: Messenger.Message.ID
            public let chat: Messenger.Chat.ID
            public let sender: Person
            public let content: String
            public let file: Messenger.File.ID?
        }

        public let id: Messenger.Report.ID
        public let createdAt: Messenger.Timestamp
        public let reporter: Person
        public let user: Person?
        public let message: ReportedMessage?
        public let reason: String
        public let details: String?
    }

    /// Returns the reports after one, the oldest first.
    ///
    /// - Parameters:
    ///   - report: The last report that was read; zero for the first page.
    ///   - database: A database with ``schema``. No service needs to run on it.
    public static func reports(
        after report: Messenger.Report.ID, limit: Int, in database: Database
    ) async throws -> [FiledReport] {
        try await database.read { try Reports.page(after: report, limit: limit, in: $0) }
    }
}

extension Messages {
    /// - Throws: A `Problem` with 404 for a message that the user cannot read.
    fileprivate static func visible(
        _ id: Messenger.Message.ID, to user: Messenger.User.ID, in db: Session
    ) throws -> Messenger.Message {
        guard let message = try one(id, in: db), try Chats.isMember(user, of: message.chat, in: db) else {
            throw notFound
        }
        return message
    }
}

enum Reports {
    /// The time in milliseconds for which a report of or by a deleted account is kept.
    private static let lifetime: Int64 = 90 * 24 * 3_600_000

    static let times = [StoredTime("reports", "created_at")]

    /// Removes a user whose account is deleted from all reports. The reported content stays.
    static func forget(_ user: Messenger.User.ID, in db: Session) throws {
        for column in ["reporter_id", "user_id", "sender_id"] as [SQL] {
            try db.run("UPDATE reports SET \(column) = 0 WHERE \(column) = \(user)")
        }
    }

    /// Counts the reports that a user has made, and those about the user or what the user has sent.
    static func count(of user: Messenger.User.ID, in db: Session) throws -> PersonRecord.Reports {
        func count(where condition: SQL) throws -> Int {
            try db.value("SELECT COUNT(*) FROM reports WHERE \(condition)") ?? 0
        }
        return .init(
            by: try count(where: "reporter_id = \(user)"),
            about: try count(where: "user_id = \(user) OR sender_id = \(user)"))
    }

    /// Deletes old reports of and by deleted accounts.
    static func sweep(at now: Int64, in db: Session) throws {
        try db.run(
            """
            DELETE FROM reports
            WHERE created_at <= \(now - lifetime) AND (reporter_id = 0 OR user_id = 0 OR sender_id = 0)
            """)
    }

    fileprivate static func insert(
        _ request: Messenger.CreateReport, of message: Messenger.Message?, by reporter: Messenger.User.ID,
        at now: Int64, in db: Session
    ) throws -> Messenger.Report {
        let id: Messenger.Report.ID? = try db.insert(
            """
            INSERT INTO reports (
                reporter_id, user_id, message_id, chat_id, sender_id, content, file_id, reason, details, created_at)
            VALUES (\(reporter), \(request.user), \(message?.id), \(message?.chat), \(message?.sender),
                \(message?.content), \(message?.file), \(request.reason.trimmed), \(request.details), \(now))
            """)
        guard let id else { throw DatabaseFailure.failed("an insert returned no id") }
        return .init(id: id)
    }

    fileprivate static func page(
        after report: Messenger.Report.ID, limit: Int, in db: Session
    ) throws -> [MessengerService.FiledReport] {
        try db.all(
            """
            SELECT \(MessengerService.FiledReport.Column.list) FROM reports r
            LEFT JOIN users reporter ON reporter.id = r.reporter_id
            LEFT JOIN users reported ON reported.id = r.user_id
            LEFT JOIN users sender ON sender.id = r.sender_id
            WHERE r.id > \(report) ORDER BY r.id LIMIT \(limit)
            """, MessengerService.FiledReport.init(row:))
    }
}

extension MessengerService.FiledReport {
    /// The columns of a report `r` with the users whom it names.
    fileprivate enum Column: String, Columns {
        case id = "r.id"
        case createdAt = "r.created_at"
        case reason = "r.reason"
        case details = "r.details"
        case reporter = "r.reporter_id"
        case reporterName = "NULLIF(reporter.username, '')"
        case user = "r.user_id"
        case username = "NULLIF(reported.username, '')"
        case message = "r.message_id"
        case chat = "r.chat_id"
        case content = "r.content"
        case file = "r.file_id"
        case sender = "r.sender_id"
        case senderName = "NULLIF(sender.username, '')"

        static let list = ColumnList(Self.self)
    }

    fileprivate init(row: borrowing Row) throws {
        id = try row.get(Column.id)
        createdAt = try row.get(Column.createdAt)
        reason = try row.get(Column.reason)
        details = try row.get(Column.details)
        reporter = Person(id: try row.get(Column.reporter), username: try row.get(Column.reporterName))
        let userID: Messenger.User.ID? = try row.get(Column.user)
        let username: String? = try row.get(Column.username)
        user = userID.map { Person(id: $0, username: username) }
        let messageID: Messenger.Message.ID? = try row.get(Column.message)
        guard let messageID else {
            message = nil
            return
        }
        message = ReportedMessage(
            id: messageID, chat: try row.get(Column.chat),
            sender: Person(id: try row.get(Column.sender), username: try row.get(Column.senderName)),
            content: try row.get(Column.content), file: try row.get(Column.file))
    }

    enum CodingKeys: String, CodingKey {
        case id
        case createdAt = "created_at"
        case reporter, user, message, reason, details
    }
}

extension MessengerService.FiledReport.ReportedMessage {
    enum CodingKeys: String, CodingKey {
        case id
        case chat = "chat_id"
        case sender, content
        case file = "file_id"
    }
}
