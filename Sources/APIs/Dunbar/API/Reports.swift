import Contract

extension Dunbar {
    static let reports: [any Contract.Endpoint.Type] = [ReportPost.self]

    /// What is wrong with a post.
    public struct ReportReason: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let hateful = ReportReason(rawValue: "Hateful")
        public static let harmfulOrAbusive = ReportReason(rawValue: "Harmful_or_Abusive")
        public static let criminalActivity = ReportReason(rawValue: "Criminal_Activity")
        public static let sexuallyExplicit = ReportReason(rawValue: "Sexually_Explicit")

        /// Those there are.
        public static let all: [ReportReason] = [.hateful, .harmfulOrAbusive, .criminalActivity, .sexuallyExplicit]
    }

    /// `POST /posts/{id}/report`: tells the server's operator of a post that the caller may see. Nothing is removed by it.
    /// An addition to the contract.
    ///
    /// 404 "Post not found", 400 "You cannot report your own post", 400 "Invalid reason", 400 "You have already reported
    /// this post".
    public struct ReportPost: Endpoint {
        public static let route = Route.post("/posts/{id}/report", idempotencyKey: true)
        public static let fieldsComeLast = true
        public typealias Output = Confirmation

        public var post: Post.ID
        public var reason: ReportReason
        /// At most 2,000 characters after trimming; blank is none.
        public var details: String?

        public init(post: Post.ID, reason: ReportReason, details: String? = nil) {
            self.post = post
            self.reason = reason
            self.details = details
        }

        public func validatePath() throws(Problem) { try Dunbar.validate(post) }

        public func validate() throws(Problem) {
            try Dunbar.requireNoNUL(details)
            guard ReportReason.all.contains(reason) else { throw Problem(.badRequest, "Invalid reason") }
            if let details, details.trimmed.length > 2000 {
                throw Problem(.badRequest, "Details must be at most 2000 characters")
            }
        }

        enum CodingKeys: String, CodingKey {
            case post = "id"
            case reason, details
        }
    }
}
