import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes

extension DunbarService {
    func comments(_ routes: inout Routes<Dunbar, Viewer>) {
        routes.on(answering: addComment)
        routes.on(use: listComments)
    }

    func addComment(
        _ request: Dunbar.AddComment, from viewer: Viewer, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Comment> {
        let now = time.milliseconds()
        return try await database.write(info.once, phrases: Dunbar.phrases, at: now) { [urls] db in
            // The post stays until the comment is there: who deletes it waits, and takes the comment along.
            try Posts.requireVisible(request.post, to: viewer.user, in: db)
            try request.validate()
            guard try Comments.queue(request.post, in: db) else { throw Posts.notFound }
            let id = try Comments.insert(request.content.trimmed, on: request.post, by: viewer.user, at: now, in: db)
            guard let comment = try id.flatMap({ try Comments.one($0, urls, in: db) }) else { throw Posts.notFound }
            return Answer(.created, comment)
        }
    }

    func listComments(_ request: Dunbar.ListComments, from viewer: Viewer) async throws -> [Dunbar.Comment] {
        try await database.read { [urls] db in
            try Posts.requireVisible(request.post, to: viewer.user, in: db)
            try request.validate()
            return try db.all(
                Comments.pageQuery(
                    of: request.post, before: request.before, limit: request.limit ?? Dunbar.maximumPage)
            ) { try .init(row: $0, urls) }
        }
    }
}

enum Comments {
    private static let columns: SQL = "c.id, c.content, c.post_id, c.user_id, c.created_at, \(Users.summaryColumns)"

    /// Puts this transaction in line behind others about the same post.
    ///
    /// - Returns: Whether there is such a post.
    static func queue(_ post: Dunbar.Post.ID, in db: Session) throws -> Bool {
        try db.run("UPDATE posts SET id = id WHERE id = \(post)") > 0
    }

    static func insert(
        _ content: String, on post: Dunbar.Post.ID, by user: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Dunbar.Comment.ID? {
        let last: Int64? = try db.value(
            "SELECT created_at FROM comments WHERE post_id = \(post) ORDER BY created_at DESC, id DESC LIMIT 1")
        return try db.value(
            """
            INSERT INTO comments (post_id, user_id, content, created_at)
            VALUES (\(post), \(user), \(content), \(max(now, last ?? 0))) RETURNING id
            """)
    }

    static func one(_ id: Dunbar.Comment.ID, _ urls: PublicURLs, in db: Session) throws -> Dunbar.Comment? {
        try db.one("SELECT \(columns) FROM comments c JOIN users u ON u.id = c.user_id WHERE c.id = \(id)") {
            try .init(row: $0, urls)
        }
    }

    /// The newest, oldest first.
    static func pageQuery(of post: Dunbar.Post.ID, before: Dunbar.Comment.ID?, limit: Int) -> SQL {
        let rest: SQL =
            before.map {
                """
                AND (n.created_at, n.id) < (
                    SELECT b.created_at, CAST(\($0) AS BIGINT) FROM comments b WHERE b.post_id = \(post) AND b.id <= \($0)
                    ORDER BY b.id DESC LIMIT 1)
                """
            } ?? ""
        return """
            SELECT \(columns) FROM (
                SELECT n.id FROM comments n WHERE n.post_id = \(post) \(rest)
                ORDER BY n.created_at DESC, n.id DESC LIMIT \(limit)) n
            JOIN comments c ON c.id = n.id JOIN users u ON u.id = c.user_id
            ORDER BY c.created_at, c.id
            """
    }
}

extension Dunbar.Comment {
    init(row: borrowing Row, _ urls: PublicURLs) throws {
        self.init(
            id: try row.get(0), content: try row.get(1), postId: try row.get(2), userId: try row.get(3),
            createdAt: try row.get(4), user: try .init(row: row, at: 5, urls))
    }
}
