import Contract

/// Reports to the operator: an addition to the contract.
extension DeuceDiary {
    static let reports = Section("Reports", [ReportUser.self, ReportEntry.self])

    /// The maximum lengths of a report's reason and details, in characters.
    public static let (maximumReason, maximumDetails) = (100, 2000)

    /// `POST /api/users/{userId}/report`: reports a user with whom the caller shares a group, or whose entries the caller
    /// sees, to the server's operator. It keeps a copy of the profile, and changes nothing. An addition to the contract.
    ///
    /// Throws 404 "User not found", 400 "You can't report yourself", and 400 "You've already reported this user".
    public struct ReportUser: Endpoint {
        public static let route = Route.post("/api/users/{userId}/report", idempotencyKey: true)
        public typealias Output = Confirmation

        /// The user.
        public var user: User.ID
        /// The reason: 1 to 100 characters after trimming.
        public var reason: String
        /// The details: at most 2,000 characters.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(reason: reason, details) }
    }

    /// `POST /api/entries/{entryId}/report`: reports an entry of the caller's groups to the server's operator. It keeps a
    /// copy of the entry, even if that is later deleted. An addition to the contract.
    ///
    /// Throws 404 "Entry not found", 403 "Not authorized to access this entry", 400 "You can't report your own entry", and
    /// 400 "You've already reported this entry".
    public struct ReportEntry: Endpoint {
        public static let route = Route.post("/api/entries/{entryId}/report", idempotencyKey: true)
        public typealias Output = Confirmation

        /// The entry.
        public var entry: DeuceEntry.ID
        /// The reason: 1 to 100 characters after trimming.
        public var reason: String
        /// The details: at most 2,000 characters.
        public var details: String? = nil
        private init(derived: Never) { switch derived {} }

        public func validate() throws(Problem) { try DeuceDiary.validate(reason: reason, details) }
    }

    private static func validate(reason: String, _ details: String?) throws(Problem) {
        guard !reason.isBlank else { throw Problem(.badRequest, "Reason is required") }
        guard reason.trimmed.length <= maximumReason else {
            throw Problem(.badRequest, "Reason must be \(maximumReason) characters or less")
        }
        guard (details?.length ?? 0) <= maximumDetails else {
            throw Problem(.badRequest, "Details must be \(maximumDetails) characters or less")
        }
    }
}
