import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes

extension DunbarService {
    func posts(_ routes: inout Routes<Dunbar, Caller>) {
        routes.on(answering: createPost)
        routes.on(use: { (request: Dunbar.ListUserPosts, viewer) in
            try await self.posts(of: request.user, request.limit, request.before, to: viewer)
        })
        routes.on(use: { (request: Dunbar.ListPostsByPath, viewer) in
            try await self.posts(of: request.user, request.limit, request.before, to: viewer)
        })
        routes.on(use: { (request: Dunbar.ListPostsByQuery, viewer) in
            try await self.posts(of: request.user ?? .absent, request.limit, request.before, to: viewer)
        })
        routes.on(use: getFeed)
        routes.on(use: deletePost)
    }

    func createPost(
        _ request: Dunbar.CreatePost, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Dunbar.Post> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now, as: Dunbar.Post.self)
        {
            return try replay.renewed(by: urls)
        }
        // This is checked again in the write, because two concurrent posts may each have found room.
        try await database.read { [uploadThrottle, settings] db in
            try uploadThrottle.requireRoom("\(caller.user)", at: now, in: db)
            if !request.media.isEmpty { try Files.requireRoom(for: 1, of: caller.user, settings, in: db) }
        }
        let files = try await store(request.media, of: caller.user)
        let flagged = settings.flaggedWords.finding(in: request)
        let answer: Answer<Dunbar.Post> = try await removingOnFailure(files.map(\.name)) {
            [urls, uploadThrottle, settings] in
            try await database.write(info.idempotencyKey, errorMessages: Dunbar.errorMessages, at: now) { db in
                let id = try Posts.insert(request.content, files, by: caller.user, at: now, in: db)
                try uploadThrottle.count("\(caller.user)", at: now, in: db)
                if !files.isEmpty { try Files.requireRoom(for: 0, of: caller.user, settings, in: db) }
                guard let post = try id.flatMap({ try Posts.one($0, urls, in: db) }) else { throw Self.unauthorized }
                try Reports.Queue.flag(
                    flagged, { _ in try Reports.copy(of: post.id, in: db) }, by: caller.user, at: now, in: db)
                return Answer(.created, post)
            }
        }
        return try answer.renewed(by: urls)
    }

    /// Returns a page of a user's posts, for the three operations that list them.
    private func posts(
        of user: Dunbar.User.ID, _ limit: Int?, _ before: Dunbar.Post.ID?, to caller: Caller
    ) async throws -> [Dunbar.Post] {
        try await database.read(from: .replica) { [urls] db in
            try db.all(
                Posts.pageQuery(
                    of: user, before: before, limit: limit ?? Dunbar.maximumPage, to: caller.user)
            ) { try .init(row: $0, urls) }
        }
    }

    func getFeed(_ request: Dunbar.GetFeed, from caller: Caller) async throws -> [Dunbar.Post] {
        try await database.read(from: .replica) { [urls] db in
            try Posts.feed(
                of: caller.user, before: request.before, limit: request.limit ?? Dunbar.maximumPage, urls, in: db)
        }
    }

    func deletePost(_ request: Dunbar.DeletePost, from caller: Caller) async throws -> Dunbar.Confirmation {
        let now = time.milliseconds()
        let names = try await database.write { db in
            let author = try Posts.requireVisible(request.id, to: caller.user, in: db)
            guard try author == caller.user || Users.isAdmin(caller.user, in: db) else {
                throw Problem(.forbidden, "Not authorized to delete this post")
            }
            if author != caller.user {
                try Audit(actor: "admin \(caller.user)", action: "post delete")
                    .record("post \(request.id) of user \(author)", at: now, in: db)
            }
            return try Posts.delete([request.id], at: now, in: db).files
        }
        await remove(names)
        return .init(message: "Post deleted")
    }
}

enum Posts {
    static let notFound = Problem(.notFound, "Post not found")

    private static let columns: SQL = "p.id, p.content, p.media, p.user_id, p.created_at, \(Users.summaryColumns)"
    static let table = ListTable<Dunbar.User.ID, Dunbar.Post.ID>("posts", list: "user_id", time: "created_at")

    /// Adds a post; nil when the user no longer exists.
    static func insert(
        _ content: String, _ files: [StoredFile], by user: Dunbar.User.ID, at now: Int64, in db: Session
    ) throws -> Dunbar.Post.ID? {
        // The lock serializes the author's posts, and each is later than all before it. So a client that has read the
        // newest post has missed none before it.
        guard try Users.lock(user, in: db) else { return nil }
        let last: Int64? = try db.value(
            "SELECT created_at FROM posts WHERE user_id = \(user) ORDER BY created_at DESC, id DESC LIMIT 1")
        let id: Dunbar.Post.ID? = try db.insert(
            """
            INSERT INTO posts (user_id, content, media, created_at)
            VALUES (\(user), \(content), \(files.map(\.name).joined(separator: " ")), \(max(now, last ?? 0)))
            """)
        guard let id else { return nil }
        for file in files {
            try db.run(
                """
                INSERT INTO media (name, post_id, user_id, size) VALUES (\(file.name), \(id), \(user), \(file.size))
                """)
        }
        return id
    }

    static func one(_ id: Dunbar.Post.ID, _ urls: PublicURLs, in db: Session) throws -> Dunbar.Post? {
        try db.one("SELECT \(columns) FROM posts p JOIN users u ON u.id = p.user_id WHERE p.id = \(id)") {
            try .init(row: $0, urls)
        }
    }

    /// Returns the author of a post.
    ///
    /// - Throws: A `Problem` with 404 when the viewer may not see the post or it does not exist; the answer does not
    ///   show which.
    @discardableResult
    static func requireVisible(
        _ id: Dunbar.Post.ID, to viewer: Dunbar.User.ID, in db: Session
    ) throws -> Dunbar.User.ID {
        let author: Dunbar.User.ID? = try db.value(
            """
            SELECT u.id FROM posts p JOIN users u ON u.id = p.user_id
            WHERE p.id = \(id) AND \(Visibility.ofPosts(to: viewer))
            """)
        guard let author else { throw notFound }
        return author
    }

    static func pageQuery(
        of user: Dunbar.User.ID, before: Dunbar.Post.ID?, limit: Int, to viewer: Dunbar.User.ID
    ) -> SQL {
        let rest: SQL = before.map { "AND (p.created_at, p.id) < \(place(of: $0))" } ?? ""
        return """
            SELECT \(columns) FROM users u JOIN posts p ON p.user_id = u.id
            WHERE u.id = \(user) AND \(Visibility.ofPosts(to: viewer)) \(rest)
            ORDER BY p.created_at DESC, p.id DESC LIMIT \(limit)
            """
    }

    /// Returns the newest posts of the viewer and of the users whom they follow, the newest first.
    static func feed(
        of viewer: Dunbar.User.ID, before: Dunbar.Post.ID?, limit: Int, _ urls: PublicURLs, in db: Session
    ) throws -> [Dunbar.Post] {
        // The URL of an author's photo is signed once.
        var authors: [Dunbar.User.ID: Shared<Dunbar.UserSummary>] = [:]
        var posts = try db.all(feedQuery(of: viewer, before: before, limit: limit, in: db)) { row in
            let id: Dunbar.User.ID = try row.get(3)
            if let known = authors[id] { return try Dunbar.Post(row: row, by: known, urls) }
            let author = Shared(wrappedValue: try Dunbar.UserSummary(row: row, at: 5, urls))
            authors[id] = author
            return try Dunbar.Post(row: row, by: author, urls)
        }
        posts.sort { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        return posts
    }

    /// Returns the query for the posts of the feed, in no order.
    static func feedQuery(
        of viewer: Dunbar.User.ID, before: Dunbar.Post.ID?, limit: Int, in db: Session
    ) throws -> SQL {
        let authors: SQL = """
            SELECT f.target_id FROM follows f
            WHERE f.follower_id = \(viewer) AND f.is_accepted = 1 AND \(Visibility.ofFollowed("f.target_id", by: viewer))
            UNION ALL SELECT CAST(\(viewer) AS BIGINT)
            """
        let newest = try db.newest(limit, of: table, in: authors, before: before.map(place))
        return "SELECT \(columns) FROM \(newest) n JOIN posts p ON p.id = n.id JOIN users u ON u.id = p.user_id"
    }

    /// Returns the place of a post in the order of posts. The place of a deleted post is behind the last one created
    /// before it.
    private static func place(of id: Dunbar.Post.ID) -> SQL {
        "(SELECT b.created_at, CAST(\(id) AS BIGINT) FROM posts b WHERE b.id <= \(id) ORDER BY b.id DESC LIMIT 1)"
    }

    /// Locks a post's row until the transaction ends.
    ///
    /// - Returns: Whether there is such a post.
    @discardableResult
    static func lock(_ id: Dunbar.Post.ID, in db: Session) throws -> Bool {
        try db.lock("posts", where: "id = \(id)") > 0
    }

    /// Deletes posts with their comments.
    ///
    /// - Returns: The posts that were there, and the names of their files.
    @discardableResult
    static func delete(
        _ ids: [Dunbar.Post.ID], at now: Int64, in db: Session
    ) throws -> (posts: [Dunbar.Post.ID], files: [String]) {
        // The lock waits for comments and reports that are being written, so that they are deleted as well.
        try db.lock("posts", where: "id IN (\(list: ids)) ORDER BY id")
        let names: [String] = try db.all("SELECT name FROM media WHERE post_id IN (\(list: ids))") { try $0.get(0) }
        try db.run("DELETE FROM media WHERE post_id IN (\(list: ids))")
        try UnsignedFiles.forget(names, in: db)
        try Reports.Queue.end(.post, ids.map { "\($0)" }, at: now, in: db)
        try Comments.endReports(on: "(\(list: ids))", at: now, in: db)
        try db.run("DELETE FROM comments WHERE post_id IN (\(list: ids))")
        let posts: [Dunbar.Post.ID] = try db.all("DELETE FROM posts WHERE id IN (\(list: ids)) RETURNING id") {
            try $0.get(0)
        }
        return (posts, names)
    }
}

extension Dunbar.Post {
    init(row: borrowing Row, _ urls: PublicURLs) throws {
        try self.init(row: row, by: Shared(wrappedValue: .init(row: row, at: 5, urls)), urls)
    }

    fileprivate init(row: borrowing Row, by author: Shared<Dunbar.UserSummary>, _ urls: PublicURLs) throws {
        self.init(
            id: try row.get(0), content: try row.get(1),
            media: try row.get(2, as: String.self).split(separator: " ").map { urls.file(String($0)) },
            userId: try row.get(3), createdAt: try row.get(4), user: author)
    }
}
