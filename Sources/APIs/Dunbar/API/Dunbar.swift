import Contract

/// The Dunbar Social API: people who follow at most 150 others, and what they post. Who is private is seen by those alone
/// whom they accept.
public enum Dunbar: ServiceAPI {
    /// An operation that needs a session: the cookie that signing in hands out.
    public protocol Endpoint: AuthenticatedEndpoint where API == Dunbar {}
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == Dunbar {}

    public typealias Timestamp = Contract.Timestamp<Milliseconds>

    public static let name = "dunbar"
    public static let basePath = "/api"
    public static let captureForm = CaptureForm.text
    public static let credentials = CredentialForm.cookie
    public static let ignoresTrailingSlash = true
    public static let phrases: Phrases = {
        var phrases = Phrases()
        phrases.malformedJSON = "Malformed JSON"
        phrases.storageUnavailable = phrases.unavailable
        phrases.internalError = "Internal server error"
        return phrases
    }()
    /// Each section lists its own.
    public static var endpoints: [any Contract.Endpoint.Type] {
        authentication + accounts + users + posts + reports + comments + follows + blocks + search + health
    }

    /// `{ "message": "…" }`
    public struct Failure: WireFailure, Hashable {
        public let message: String

        public init(_ problem: Problem, requestID: String) { message = problem.message }
        public init(message: String) { self.message = message }
    }

    /// The answer of an operation that has nothing else to say.
    public struct Confirmation: Codable, Hashable, Sendable, PlainAnswer {
        /// In English.
        public var message: String

        public init(message: String) { self.message = message }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            message = try container.decodeIfPresent(String.self, forKey: .message) ?? ""
        }

        /// That it was done is all that counts: any text will do, or none.
        public init(plain text: String) { message = text }

        private enum CodingKeys: String, CodingKey { case message }
    }
}

/// What a server says of whom, beside what the viewer has to do with them.
public struct WithRelationship<User: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var user: User
    /// Whether the viewer follows them.
    public var isFollowing: Bool
    /// Whether the viewer has asked to, and was not answered. Never both.
    public var isPending: Bool

    public init(_ user: User, isFollowing: Bool = false, isPending: Bool = false) {
        self.user = user
        self.isFollowing = isFollowing
        self.isPending = isPending
    }

    private enum CodingKeys: String, CodingKey { case user, isFollowing, isPending }

    /// Takes a user alone, too, as older servers answer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = container.contains(.user) ? try container.decode(User.self, forKey: .user) : try User(from: decoder)
        isFollowing = try container.decodeIfPresent(Bool.self, forKey: .isFollowing) ?? false
        isPending = try container.decodeIfPresent(Bool.self, forKey: .isPending) ?? false
    }
}

/// The URL of a picture, or null; an empty text, as older servers say, is null too.
@propertyWrapper
public struct PictureURL: Codable, Hashable, Sendable {
    public var wrappedValue: String?

    public init(wrappedValue: String?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = container.decodeNil() ? "" : try container.decode(String.self)
        wrappedValue = text.isEmpty ? nil : text
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    /// Takes an absent key for null.
    public func decode(_: PictureURL.Type, forKey key: Key) throws -> PictureURL {
        try decodeIfPresent(PictureURL.self, forKey: key) ?? PictureURL(wrappedValue: nil)
    }
}

// MARK: What requests have in common

extension Dunbar {
    static func validate(_ id: User.ID, _ message: String = "Invalid user ID") throws(Problem) {
        guard id.isValid else { throw Problem(.badRequest, message) }
    }

    static func validate(_ id: Post.ID) throws(Problem) {
        guard id.isValid else { throw Problem(.badRequest, "Invalid post ID") }
    }

    static func validate(_ id: Comment.ID) throws(Problem) {
        guard id.isValid else { throw Problem(.badRequest, "Invalid comment ID") }
    }

    /// A part of a list.
    static func validate<Named>(
        limit: Int?, upTo maximum: Int, before: Identifier<Named>?
    ) throws(Problem) {
        if let limit, !(1...maximum ~= limit) { throw Problem(.badRequest, "Invalid limit") }
        if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
    }

    /// For requests whose fields come last: the others are looked at before.
    static func requireNoNUL(_ texts: String?...) throws(Problem) {
        if texts.contains(where: { $0?.containsNUL == true }) { throw Problem(.badRequest, phrases.containsNUL) }
    }

    /// Of the posts and comments that are returned where no limit is given.
    public static let maximumPage = 500
}
