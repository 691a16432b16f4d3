import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes

extension DunbarService {
    func comments(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(answering: addComment)
        routes.on(use: listComments)
        routes.on(use: deleteComment)
    }

    func addComment(
        _ request: Dunbar.AddComment, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Comment> {
        let now = time.milliseconds()
        let flagged = settings.flaggedWords.finding(in: request)
        let answer: Answer<Dunbar.Comment> = try await database.write(
            info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now
        ) {
            [urls] db in
            // The post and the author are locked until the comment is written. A transaction that deletes one of them
            // waits, and deletes the comment, too.
            try Posts.requireVisible(request.post, to: caller.user, in: db)
            try request.validate()
            try Users.lockCaller(caller.user, in: db)
            guard try Posts.lock(request.post, in: db) else { throw Posts.notFound }
            let id = try Comments.insert(request.content.trimmed, on: request.post, by: caller.user, at: now, in: db)
            guard let comment = try id.flatMap({ try Comments.one($0, urls, in: db) }) else { throw Posts.notFound }
            try Reports.Queue.flag(
                flagged, { _ in try Reports.copy(of: comment.id, in: db) }, by: caller.user, at: now, in: db)
            return Answer(.created, comment)
        }
        return try answer.renewed(by: urls)
    }

    func listComments(_ request: Dunbar.ListComments, from caller: Caller) async throws -> [Dunbar.Comment] {
        try await database.read(from: .replica) { [urls] db in
            try Posts.requireVisible(request.post, to: caller.user, in: db)
            try request.validate()
            return try db.all(
                Comments.pageQuery(
                    of: request.post, before: request.before, limit: request.limit ?? Dunbar.maximumPage,
                    to: caller.user)
            ) { try .init(row: $0, urls) }
        }
    }

    func deleteComment(_ request: Dunbar.DeleteComment, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        return try await database.write { db in
            let owners = try Comments.requireVisible(request.id, to: caller.user, in: db)
            guard try owners.contains(caller.user) || Users.isAdmin(caller.user, in: db) else {
                throw Problem(.forbidden, "Not authorized to delete this comment")
            }
            guard try !Comments.delete([request.id], at: now, in: db).isEmpty else { throw Comments.notFound }
            if !owners.contains(caller.user) {
                try Audit(actor: "admin \(caller.user)", action: "comment delete")
                    .record("comment \(request.id)", at: now, in: db)
            }
            return .init(message: "Comment deleted")
        }
    }
}

enum Comments {
    static let notFound = Problem(.notFound, "Comment not found")

    private static let columns: SQL = "c.id, c.content, c.post_id, c.user_id, c.created_at, \(Users.summaryColumns)"

    static func insert(
        _ content: String, on post: Dunbar.Post.ID, by user: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Dunbar.Comment.ID? {
        let last: Int64? = try db.value(
            "SELECT created_at FROM comments WHERE post_id = \(post) ORDER BY created_at DESC, id DESC LIMIT 1")
        return try db.insert(
            """
            INSERT INTO comments (post_id, user_id, content, created_at)
            VALUES (\(post), \(user), \(content), \(max(now, last ?? 0)))
            """)
    }

    /// Deletes comments.
    ///
    /// - Returns: Those that were there.
    static func delete(
        _ ids: [Dunbar.Comment.ID], at now: Int64, in db: Session
    ) throws -> [Dunbar.Comment.ID] {
        let there: [Dunbar.Comment.ID] = try db.all(
            "DELETE FROM comments WHERE id IN (\(list: ids)) RETURNING id"
        ) { try $0.get(0) }
        try Reports.Queue.end(.comment, there.map { "\($0)" }, at: now, in: db)
        return there
    }

    /// Starts the time after which the reports about comments on posts are removed, because the posts are deleted.
    ///
    /// - Parameter posts: The posts' ids: a list, or a query.
    static func endReports(on posts: SQL, at now: Int64, in db: Session) throws {
        try Reports.Queue.end(
            .comment, "SELECT CAST(id AS TEXT) FROM comments WHERE post_id IN \(posts)", at: now, in: db)
    }

    static func one(_ id: Dunbar.Comment.ID, _ urls: PublicURLs, in db: Session) throws -> Dunbar.Comment? {
        try db.one("SELECT \(columns) FROM comments c JOIN users u ON u.id = c.user_id WHERE c.id = \(id)") {
            try .init(row: $0, urls)
        }
    }

    /// Returns the users who may delete a comment: its author and the author of its post.
    ///
    /// - Throws: A `Problem` with 404 when the viewer may not see the comment or it does not exist; the answer does not
    ///   show which.
    static func requireVisible(
        _ id: Dunbar.Comment.ID, to viewer: Dunbar.User.ID, in db: Session
    ) throws -> [Dunbar.User.ID] {
        let owners = try db.one(
            """
            SELECT c.user_id, p.user_id FROM comments c JOIN posts p ON p.id = c.post_id JOIN users u ON u.id = p.user_id
            WHERE c.id = \(id) AND \(Visibility.ofPosts(to: viewer)) AND \(Visibility.ofPerson("c.user_id", to: viewer))
            """
        ) { [try $0.get(0), try $0.get(1)] as [Dunbar.User.ID] }
        guard let owners else { throw notFound }
        return owners
    }

    /// Returns the query for the newest comments that a viewer may see, the oldest first.
    static func pageQuery(
        of post: Dunbar.Post.ID, before: Dunbar.Comment.ID?, limit: Int, to viewer: Dunbar.User.ID
    ) -> SQL {
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
                SELECT n.id FROM comments n
                WHERE n.post_id = \(post) AND \(Visibility.ofPerson("n.user_id", to: viewer)) \(rest)
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
