import Contract

extension Dunbar {
    static let reports = Section("Reports", [ReportPost.self])

    /// The reason for which a post is reported.
    public struct ReportReason: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The post is hateful.
        public static let hateful = ReportReason(rawValue: "Hateful")
        /// The post is harmful or abusive.
        public static let harmfulOrAbusive = ReportReason(rawValue: "Harmful_or_Abusive")
        /// The post shows or promotes a crime.
        public static let criminalActivity = ReportReason(rawValue: "Criminal_Activity")
        /// The post is sexually explicit.
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

        public func validate() throws(Problem) {
            try Dunbar.requireNoNUL(details)
            guard ReportReason.all.contains(reason) else { throw Problem(.badRequest, "Invalid reason") }
            if let details, details.trimmed.length > 2000 {
                throw Problem(.badRequest, "Details must be at most 2000 characters")
            }
        }
    }
}
