import Contract

extension Dunbar {
    static let comments: [any Contract.Endpoint.Type] = [
        AddComment.self, ListComments.self, DeleteComment.self,
    ]

    public struct Comment: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Comment>

        public var id: ID
        public var content: String
        public var postId: Post.ID
        public var userId: User.ID
        public var createdAt: Timestamp
        /// Its author.
        public var user: UserSummary

        public init(
            id: ID, content: String, postId: Post.ID, userId: User.ID, createdAt: Timestamp, user: UserSummary
        ) {
            self.id = id
            self.content = content
            self.postId = postId
            self.userId = userId
            self.createdAt = createdAt
            self.user = user
        }
    }

    /// `POST /posts/{id}/comments`: on a post that the caller may see. 404 "Post not found".
    public struct AddComment: Endpoint {
        public static let route = Route.post("/posts/{id}/comments", .created, idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Comment

        public var post: Post.ID
        /// 1 to 2,000 characters after trimming.
        public var content: String

        public init(post: Post.ID, content: String) {
            self.post = post
            self.content = content
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }

        public func validate() throws(Problem) {
            try Dunbar.requireNoNUL(content)
            let text = content.trimmed
            guard !text.isEmpty else { throw Problem(.badRequest, "Comment cannot be empty") }
            guard text.length <= 2000 else { throw Problem(.badRequest, "Comment must be at most 2000 characters") }
        }

        enum CodingKeys: String, CodingKey {
            case post = "id"
            case content
        }
    }

    /// `GET /posts/{id}/comments`: of a post that the caller may see, oldest first. 404 "Post not found".
    public struct ListComments: Endpoint {
        public static let route = Route.get("/posts/{id}/comments")
        public static let fieldsComeLast = true
        public typealias Output = [Comment]

        public var post: Post.ID
        /// 1 to 100: the newest so many, still oldest first; without it the newest 500. An addition to the contract.
        public var limit: Int?
        /// Only comments before this one. An addition to the contract.
        public var before: Comment.ID?

        public init(post: Post.ID, limit: Int? = nil, before: Comment.ID? = nil) {
            self.post = post
            self.limit = limit
            self.before = before
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }

        enum CodingKeys: String, CodingKey {
            case post = "id"
            case limit, before
        }
    }

    /// `DELETE /comments/{id}`: the caller's own, any under a post of theirs, or any as an admin. An addition to the
    /// contract.
    ///
    /// 404 "Comment not found" for one that the caller may not see, too; 403 "Not authorized to delete this comment".
    public struct DeleteComment: Endpoint {
        public static let route = Route.delete("/comments/{id}")
        public typealias Output = Confirmation

        public var id: Comment.ID

        public init(id: Comment.ID) { self.id = id }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }
}
