import Contract

/// The Deuce Diary API: groups of friends, their log entries, and a live socket. Users sign in at an external issuer of
/// tokens.
public enum DeuceDiary: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`. The first valid token of a user creates the user's account.
    public protocol Endpoint: AuthenticatedEndpoint where API == DeuceDiary {}
    /// An operation that needs no credentials.
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == DeuceDiary {}

    /// A point in time in UTC with milliseconds, `2026-02-23T10:00:00.000Z` on the wire.
    public typealias Timestamp = Contract.Timestamp<Milliseconds>

    public static let name = "deuce-diary"
    public static let title = "Deuce Diary"
    public static let captureForm = CaptureForm.text
    public static let ignoresTrailingSlash = true
    public static let errorMessages: ErrorMessages = {
        var errorMessages = ErrorMessages()
        errorMessages.malformedJSON = "Malformed JSON"
        errorMessages.tooManyRequests = "Too many requests, please try again later."
        errorMessages.storageUnavailable = errorMessages.unavailable
        errorMessages.internalError = "Internal server error"
        return errorMessages
    }()
    /// 403: the operator has suspended the caller's account. The end, if there is one, and the reason stand behind.
    public static let suspended = Problem(.forbidden, "Account is suspended")
    /// 403: the operator lets no one in, and the token is the first of its user.
    public static let registrationClosed = Problem(.forbidden, "Registration is closed")
    public static let callerRefusals = [suspended, registrationClosed]
    /// The sections of the contract. Each lists its own operations and frames.
    public static let sections = [
        users, groups, members, invites, entries, reactions, locations, reports, blocks, analytics, live,
    ]

    /// The body of every refusal, `{ "message": "…" }`. The SDK throws it as an `APIError`.
    public struct Failure: WireFailure, Hashable {
        /// The message in English, as the contract words it.
        public let message: String

        /// Renders a problem.
        public init(_ problem: Problem, requestID: String) { message = problem.message }
        public init(message: String) { self.message = message }
    }

    /// Throws when a limit is out of range.
    static func validate(limit: Int?) throws(Problem) {
        if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
    }
}

/// A value and the user who made it, in one JSON object, in which the key of the user comes last.
@dynamicMemberLookup
public struct WithUser<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The value.
    public var value: Value
    /// The user who made it.
    @Shared public var user: DeuceDiary.User

    public init(_ value: Value, by user: DeuceDiary.User) {
        self.init(value, by: Shared(wrappedValue: user))
    }

    package init(_ value: Value, by user: Shared<DeuceDiary.User>) {
        self.value = value
        _user = user
    }

    private enum CodingKeys: String, CodingKey { case user }

    public init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        user = try decoder.container(keyedBy: CodingKeys.self).decode(DeuceDiary.User.self, forKey: .user)
    }

    public func encode(to encoder: any Encoder) throws {
        // Lists of entries are the largest answers.
        guard Value.self == DeuceDiary.DeuceEntry.self, let entry = self as? DeuceDiary.FeedEntry else {
            return try encodeAnyValue(to: encoder)
        }
        try entry.encodeMembers(to: encoder)
    }

    private func encodeAnyValue(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
    }

    /// Returns a member of the value.
    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

extension WithUser: WrittenByMembers where Value == DeuceDiary.DeuceEntry {
    @usableFromInline
    package func write(to object: inout ObjectWriter) throws {
        try value.write(to: &object)
        try object.write("user", _user)
    }
}

extension WithUser: Identifiable where Value: Identifiable {
    /// The id of the value.
    public var id: Value.ID { value.id }
}
