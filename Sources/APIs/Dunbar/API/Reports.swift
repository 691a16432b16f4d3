import Contract

extension Dunbar {
    static let reports = Section("Reports", [ReportPost.self, ReportUser.self, ReportComment.self])

    /// The reason for which a post, a comment or a user is reported.
    public struct ReportReason: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is hateful.
        public static let hateful = ReportReason(rawValue: "Hateful")
        /// It is harmful or abusive.
        public static let harmfulOrAbusive = ReportReason(rawValue: "Harmful_or_Abusive")
        /// It shows or promotes a crime.
        public static let criminalActivity = ReportReason(rawValue: "Criminal_Activity")
        /// It is sexually explicit.
        public static let sexuallyExplicit = ReportReason(rawValue: "Sexually_Explicit")

        /// All reasons.
        public static let all: [ReportReason] = [.hateful, .harmfulOrAbusive, .criminalActivity, .sexuallyExplicit]
    }

    /// `POST /posts/{id}/report`: reports a post that the caller may see to the server's operator. It removes nothing.
    /// An addition to the contract.
    ///
    /// Throws 404 "Post not found", 400 "You cannot report your own post", 400 "Invalid reason", and 400 "You have
    /// already reported this post".
    public struct ReportPost: Endpoint {
        public static let route = Route.post("/posts/{id}/report", idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        /// The post.
        public var post: Post.ID
        /// The reason.
        public var reason: ReportReason
        /// The details: at most 2,000 characters after trimming; blank ones count as none.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }

        public func validate() throws(Problem) { try Dunbar.validate(reason, details) }
    }

    /// `POST /users/{id}/report`: reports a user to the server's operator. It keeps a copy of the profile, and changes
    /// nothing. An addition to the contract.
    ///
    /// Throws 404 "User not found", 400 "You cannot report yourself", 400 "Invalid reason", and 400 "You have already
    /// reported this user".
    public struct ReportUser: Endpoint {
        public static let route = Route.post("/users/{id}/report", idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        /// The user.
        public var user: User.ID
        /// The reason.
        public var reason: ReportReason
        /// The details: at most 2,000 characters after trimming; blank ones count as none.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(user) }

        public func validate() throws(Problem) { try Dunbar.validate(reason, details) }
    }

    /// `POST /comments/{id}/report`: reports a comment that the caller may see to the server's operator. It removes
    /// nothing. An addition to the contract.
    ///
    /// Throws 404 "Comment not found", 400 "You cannot report your own comment", 400 "Invalid reason", and 400 "You have
    /// already reported this comment".
    public struct ReportComment: Endpoint {
        public static let route = Route.post("/comments/{id}/report", idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        /// The comment.
        public var comment: Comment.ID
        /// The reason.
        public var reason: ReportReason
        /// The details: at most 2,000 characters after trimming; blank ones count as none.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validatePath() throws(Problem) { try Dunbar.validate(comment) }

        public func validate() throws(Problem) { try Dunbar.validate(reason, details) }
    }

    /// The rules of the fields of a report.
    private static func validate(_ reason: ReportReason, _ details: String?) throws(Problem) {
        try requireNoNUL(details)
        guard ReportReason.all.contains(reason) else { throw Problem(.badRequest, "Invalid reason") }
        if let details, details.trimmed.length > 2000 {
            throw Problem(.badRequest, "Details must be at most 2000 characters")
        }
    }
}
