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
            let ids = try Reports.copies(of: message, and: request.user, in: db).map { copy, person in
                try Reports.Queue.file(
                    copy, about: person, by: caller, because: request.reason.trimmed, details: request.details,
                    at: now, in: db)
            }
            // The route refuses a request that names neither.
            guard let id = ids.first else { throw Users.notFound }
            return Answer(.created, .init(id: .init(id)))
        }
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
    typealias Queue = ReportQueue<Users>

    /// The statements that move the reports of a version without a queue into it. A node of that version may add others
    /// while this one runs; the sweep brings those.
    static let adoption = [
        """
        INSERT INTO filed_reports (
            reporter_id, person_id, kind, thing_id, place, content, reason, details, created_at, ends_at)
        SELECT NULLIF(reporter_id, 0),
            NULLIF(CASE WHEN message_id IS NULL THEN user_id ELSE sender_id END, 0),
            CASE WHEN message_id IS NULL THEN 'person' ELSE 'message' END,
            COALESCE(CAST(message_id AS TEXT), CAST(NULLIF(user_id, 0) AS TEXT), ''), CAST(chat_id AS TEXT),
            content, reason, details, created_at,
            CASE WHEN reporter_id = 0 OR user_id = 0 OR sender_id = 0 THEN created_at + 7776000000 END
        FROM reports ORDER BY id
        """,
        """
        INSERT INTO report_files (report_id, object_key, name, type, size)
        SELECT DISTINCT q.id, f.object_key, f.filename, f.mime_type, f.size
        FROM reports r JOIN filed_reports q ON q.kind = 'message' AND q.thing_id = CAST(r.message_id AS TEXT)
            JOIN files f ON f.id = r.file_id
        WHERE r.file_id IS NOT NULL
        ON CONFLICT (report_id, object_key) DO NOTHING
        """,
        "DELETE FROM reports",
    ]

    static func sweep(at now: Int64, in db: Session) throws {
        if try db.exists("SELECT 1 FROM reports LIMIT 1") {
            for statement in adoption { try db.run(SQL(trusted: statement)) }
        }
        try Queue.sweep(at: now, in: db)
    }

    /// Returns what reports keep, and whom they are about. A message is about its sender; a user who is named beside it and
    /// has not sent it is another report.
    fileprivate static func copies(
        of message: Messenger.Message?, and user: Messenger.User.ID?, in db: Session
    ) throws -> [(ReportedCopy, Messenger.User.ID)] {
        var copies: [(ReportedCopy, Messenger.User.ID)] = []
        if let message { copies.append((try copy(of: message, in: db), message.sender)) }
        if let user, user != message?.sender {
            let avatar: Messenger.File.ID?? = try db.value("SELECT avatar_file_id FROM users WHERE id = \(user)")
            let copy = ReportedCopy(
                of: WrittenThing(.person, "\(user)", by: "\(user)"), text: try Users.shownText(of: user, in: db),
                files: try (avatar ?? nil).map { try files($0, in: db) } ?? [])
            copies.append((copy, user))
        }
        return copies
    }

    fileprivate static func copy(of message: Messenger.Message, in db: Session) throws -> ReportedCopy {
        let thing = WrittenThing(.message, "\(message.id)", in: "\(message.chat)", by: "\(message.sender)")
        let files = try message.file.map { try self.files($0, in: db) } ?? []
        return ReportedCopy(of: thing, text: message.content, files: files)
    }

    /// Returns a file for a report. Its row is locked: who deletes it comes before, or finds that the report keeps the
    /// stored object.
    private static func files(_ id: Messenger.File.ID, in db: Session) throws -> [ReportedFile] {
        try db.lock("files", where: "id = \(id)")
        return try db.all("SELECT object_key, filename, mime_type, size FROM files WHERE id = \(id)") {
            ReportedFile(key: try $0.get(0), name: try $0.get(1), type: try $0.get(2), size: try $0.get(3))
        }
    }
}

extension ReportQueue<Users> {
    /// Reports a message with a flagged word.
    static func flag(
        _ finding: FlaggedWords.Finding?, _ message: Messenger.Message, at now: Int64, in db: Session
    ) throws {
        try flag(finding, { _ in try Reports.copy(of: message, in: db) }, by: message.sender, at: now, in: db)
    }
}

extension Users {
    /// Returns what others see of a user: the display name, and the text about the user. Nil for an account that was deleted.
    static func shownText(of user: Messenger.User.ID, in db: Session) throws -> String? {
        try db.one("SELECT display_name, bio FROM users WHERE id = \(user) AND \(isPresent)") { row in
            let texts: [String?] = [try row.get(0), try row.get(1)]
            return texts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "\n")
        }
    }
}
