import Contract

extension Dunbar {
    static let comments = Section(
        "Comments",
        [
            AddComment.self, ListComments.self, DeleteComment.self,
        ])

    /// A comment on a post.
    public struct Comment: Codable, Hashable, Sendable, Identifiable {
        public typealias ID = Identifier<Comment>

        /// The comment's id.
        public var id: ID
        /// The text.
        public var content: String
        /// The post.
        public var postId: Post.ID
        /// The author's id.
        public var userId: User.ID
        /// The time of the comment.
        public var createdAt: Timestamp
        /// The author.
        public var user: UserSummary
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /posts/{id}/comments`: comments on a post that the caller may see. Throws 404 "Post not found".
    public struct AddComment: Endpoint {
        public static let route = Route.post("/posts/{id}/comments", .created, idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Comment

        /// The post.
        public var post: Post.ID
        /// The text: 1 to 2,000 characters after trimming.
        public var content: String
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }

        public func validate() throws(Problem) {
            try Dunbar.requireNoNUL(content)
            let text = content.trimmed
            guard !text.isEmpty else { throw Problem(.badRequest, "Comment cannot be empty") }
            guard text.length <= 2000 else { throw Problem(.badRequest, "Comment must be at most 2000 characters") }
        }
    }

    /// `GET /posts/{id}/comments`: returns the comments on a post that the caller may see, oldest first. Throws 404
    /// "Post not found".
    public struct ListComments: Endpoint {
        public static let route = Route.get("/posts/{id}/comments")
        public static let fieldsComeLast = true
        public typealias Output = [Comment]

        /// The post.
        public var post: Post.ID
        /// The number of comments: 1 to 100 returns that many of the newest, still oldest first; without it the newest
        /// 500 are returned. An addition to the contract.
        public var limit: Int? = nil
        /// Returns only comments before this one. An addition to the contract.
        public var before: Comment.ID? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }
        public func validate() throws(Problem) { try Dunbar.validate(limit: limit, upTo: 100, before: before) }
    }

    /// `DELETE /comments/{id}`: deletes a comment of the caller's, a comment on a post of the caller's, or any comment
    /// if the caller is an admin. An addition to the contract.
    ///
    /// Throws 404 "Comment not found", also for a comment that the caller may not see, and 403 "Not authorized to
    /// delete this comment".
    public struct DeleteComment: Endpoint {
        public static let route = Route.delete("/comments/{id}")
        public typealias Output = Confirmation

        /// The comment.
        public var id: Comment.ID
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(id) }
    }
}
