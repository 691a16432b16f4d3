import Contract

/// The Deuce Diary API: groups of friends, what they log, and a live socket. Users come with a token of somebody else's.
public enum DeuceDiary: ServiceAPI {
    /// An operation that needs `Authorization: Bearer`. The first good token of somebody makes their account.
    public protocol Endpoint: AuthenticatedEndpoint where API == DeuceDiary {}
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == DeuceDiary {}

    public typealias Timestamp = Contract.Timestamp<Milliseconds>

    public static let name = "deuce-diary"
    public static let captureForm = CaptureForm.text
    public static let ignoresTrailingSlash = true
    public static let phrases: Phrases = {
        var phrases = Phrases()
        phrases.malformedJSON = "Malformed JSON"
        phrases.tooManyRequests = "Too many requests, please try again later."
        phrases.storageUnavailable = phrases.unavailable
        phrases.internalError = "Internal server error"
        return phrases
    }()
    /// Each section lists its own.
    public static var endpoints: [any Contract.Endpoint.Type] {
        users + groups + members + invites + entries + reactions + locations + analytics
    }

    /// `{ "message": "…" }`
    public struct Failure: WireFailure, Hashable {
        public let message: String

        public init(_ problem: Problem, requestID: String) { message = problem.message }
        public init(message: String) { self.message = message }
    }

    /// A part of a list.
    static func validate(limit: Int?) throws(Problem) {
        if let limit, limit < 1 { throw Problem(.badRequest, "Invalid limit") }
    }
}

/// Something and the user who made it, in one object: the user's key stands behind the others.
@dynamicMemberLookup
public struct WithUser<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var value: Value
    public var user: DeuceDiary.User

    public init(_ value: Value, by user: DeuceDiary.User) {
        self.value = value
        self.user = user
    }

    private enum CodingKeys: String, CodingKey { case user }

    public init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        user = try decoder.container(keyedBy: CodingKeys.self).decode(DeuceDiary.User.self, forKey: .user)
    }

    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
    }

    public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}

extension WithUser: Identifiable where Value: Identifiable {
    public var id: Value.ID { value.id }
}
