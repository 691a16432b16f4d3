import Backend
import Contract
import ContractServer
import Database
import DunbarAPI

extension DunbarService {
    func reports(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.on(answering: reportPost)
    }

    func reportPost(
        _ request: Dunbar.ReportPost, from viewer: Viewer, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Confirmation> {
        let now = time.milliseconds()
        return try await database.write(info.once, phrases: Dunbar.phrases, at: now) { db in
            let author = try Posts.requireVisible(request.post, to: viewer.user, in: db)
            guard author != viewer.user else { throw Problem(.badRequest, "You cannot report your own post") }
            try request.validate()
            guard try Users.queue(viewer.user, in: db) else { throw Self.unauthorized }
            guard try Posts.queue(request.post, in: db) else { throw Posts.notFound }
            guard try Reports.insert(request, by: viewer.user, at: now, in: db) else {
                throw Problem(.badRequest, "You have already reported this post")
            }
            return Answer(.ok, .init(message: "Post reported"))
        }
    }

    /// What somebody has told the operator of a post.
    public struct Report: Sendable {
        public let id: Int64
        public let reason: Dunbar.ReportReason
        public let details: String?
        public let createdAt: Dunbar.Timestamp
        public let reporter: String
        public let post: Dunbar.Post.ID
        /// By username.
        public let author: String
        public let content: String
        /// How many files the post has.
        public let mediaCount: Int
    }

    /// The newest reports, newest first: for the operator. A post that is deleted takes its own along.
    public static func reports(limit: Int, in database: Database) async throws -> [Report] {
        try await database.read { try Reports.newest(limit, in: $0) }
    }
}

enum Reports {
    /// False when there is one already.
    static func insert(
        _ request: Dunbar.ReportPost, by user: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Bool {
        let details = request.details?.trimmed
        return try db.exists(
            """
            INSERT INTO reports (post_id, user_id, reason, details, created_at)
            VALUES (\(request.post), \(user), \(request.reason.rawValue), \(details == "" ? nil : details), \(now))
            ON CONFLICT (post_id, user_id) DO NOTHING RETURNING 1
            """)
    }

    static func newest(_ limit: Int, in db: Session) throws -> [DunbarService.Report] {
        try db.all(
            """
            SELECT r.id, r.reason, r.details, r.created_at, s.username, p.id, u.username, p.content, p.media
            FROM reports r
                JOIN users s ON s.id = r.user_id JOIN posts p ON p.id = r.post_id JOIN users u ON u.id = p.user_id
            ORDER BY r.id DESC LIMIT \(limit)
            """
        ) { row in
            .init(
                id: try row.get(0), reason: .init(rawValue: try row.get(1)), details: try row.get(2),
                createdAt: try row.get(3), reporter: try row.get(4), post: try row.get(5), author: try row.get(6),
                content: try row.get(7), mediaCount: try row.get(8, as: String.self).split(separator: " ").count)
        }
    }
}
