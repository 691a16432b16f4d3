import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func reports(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(answering: reportPost)
    }

    func reportPost(
        _ request: Dunbar.ReportPost, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) { db in
            let author = try Posts.requireVisible(request.post, to: caller.user, in: db)
            guard author != caller.user else { throw Problem(.badRequest, "You cannot report your own post") }
            try request.validate()
            try Users.lockCaller(caller.user, in: db)
            guard try Posts.lock(request.post, in: db) else { throw Posts.notFound }
            guard try Reports.insert(request, by: caller.user, at: now, in: db) else {
                throw Problem(.badRequest, "You have already reported this post")
            }
            return Answer(.ok, .init(message: "Post reported"))
        }
    }

    /// A post that a user has reported to the operator.
    public struct Report: Encodable, Sendable {
        public let id: Int64
        public let reason: Dunbar.ReportReason
        public let details: String?
        public let createdAt: Dunbar.Timestamp
        public let reporter: String
        public let post: Dunbar.Post.ID
        /// The author's username; "(deleted account)" when the account was deleted. The same holds for the reporter.
        public let author: String
        public let content: String
        /// The number of files of the post.
        public let mediaCount: Int

        enum CodingKeys: String, CodingKey {
            case id, reason, details
            case createdAt = "created_at"
            case reporter, post, author, content
            case mediaCount = "media_count"
        }
    }

    /// Returns the newest reports, the newest first, for the operator. Each has a copy of its post, and is kept for 90
    /// days after the post is deleted.
    public static func reports(limit: Int, in database: Database) async throws -> [Report] {
        try await database.read { try Reports.newest(limit, in: $0) }
    }
}

enum Reports {
    /// The time in milliseconds for which a report is kept after its post or one of the two accounts is deleted.
    private static let lifetime: Int64 = 90 * 24 * 3_600_000

    static let times = [StoredTime("reports", "ends_at", window: lifetime)]
    /// The name shown for a deleted account. It cannot be a username, because it contains a space.
    private static let deleted = "(deleted account)"

    /// Stores a report with a copy of the post.
    ///
    /// - Returns: False when the user has reported the post already.
    static func insert(
        _ request: Dunbar.ReportPost, by user: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Bool {
        let details = request.details?.trimmed
        return try db.run(
            """
            INSERT INTO reports (
                post_id, author_id, reporter_id, reason, details, content, media_count, created_at)
            SELECT p.id, p.user_id, CAST(\(user) AS BIGINT), CAST(\(request.reason.rawValue) AS TEXT),
                CAST(\(details == "" ? nil : details) AS TEXT), p.content,
                (SELECT COUNT(*) FROM media m WHERE m.post_id = p.id), CAST(\(now) AS BIGINT)
            FROM posts p WHERE p.id = \(request.post)
            ON CONFLICT (post_id, reporter_id) DO NOTHING
            """) == 1
    }

    /// The columns of a report `r` by a user `s` about a user `u`.
    private enum Column: String, Columns {
        case id = "r.id"
        case reason = "r.reason"
        case details = "r.details"
        case createdAt = "r.created_at"
        case reporter = "s.username"
        case post = "r.post_id"
        case author = "u.username"
        case content = "r.content"
        case mediaCount = "r.media_count"

        static let list = ColumnList(Self.self)
    }

    static func newest(_ limit: Int, in db: Session) throws -> [DunbarService.Report] {
        try db.all(
            """
            SELECT \(Column.list)
            FROM reports r LEFT JOIN users s ON s.id = r.reporter_id LEFT JOIN users u ON u.id = r.author_id
            ORDER BY r.id DESC LIMIT \(limit)
            """
        ) { row in
            .init(
                id: try row.get(Column.id), reason: .init(rawValue: try row.get(Column.reason)),
                details: try row.get(Column.details),
                createdAt: try row.get(Column.createdAt),
                reporter: try row.get(Column.reporter, as: String?.self) ?? deleted,
                post: try row.get(Column.post), author: try row.get(Column.author, as: String?.self) ?? deleted,
                content: try row.get(Column.content),
                mediaCount: try row.get(Column.mediaCount))
        }
    }

    /// Starts the time after which the reports of a deleted post are removed.
    static func end(ofPost post: Dunbar.Post.ID, at now: Int64, in db: Session) throws {
        try db.run("UPDATE reports SET ends_at = \(now + lifetime) WHERE post_id = \(post) AND ends_at IS NULL")
    }

    /// Removes a user who deletes their account from the reports that they made and from those about them.
    static func forget(_ user: Dunbar.User.ID, at now: Int64, in db: Session) throws {
        for column in ["author_id", "reporter_id"] as [SQL] {
            try db.run(
                """
                UPDATE reports SET \(column) = NULL, ends_at = COALESCE(ends_at, \(now + lifetime))
                WHERE \(column) = \(user)
                """)
        }
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM reports WHERE ends_at <= \(now)")
    }
}
