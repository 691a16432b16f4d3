import Contract

/// The Dunbar Social API: users who follow at most 150 others, and their posts. The posts of a private user are visible
/// only to followers whom the user has accepted.
public enum Dunbar: ServiceAPI {
    /// An operation that needs a session, which is a cookie that signing in sets.
    public protocol Endpoint: AuthenticatedEndpoint where API == Dunbar {}
    /// An operation that needs no session.
    public protocol OpenEndpoint: Contract.OpenEndpoint where API == Dunbar {}

    /// A point in time in UTC with milliseconds, `2026-02-23T10:00:00.000Z` on the wire.
    public typealias Timestamp = Contract.Timestamp<Milliseconds>

    public static let name = "dunbar"
    public static let basePath = "/api"
    public static let captureForm = CaptureForm.text
    public static let credentials = CredentialForm.cookie(sessionCookie)
    /// The name of the cookie that holds a session.
    public static let sessionCookie = "dunbar.session"
    public static let ignoresTrailingSlash = true
    public static let errorMessages: ErrorMessages = {
        var errorMessages = ErrorMessages()
        errorMessages.malformedJSON = "Malformed JSON"
        errorMessages.storageUnavailable = errorMessages.unavailable
        errorMessages.internalError = "Internal server error"
        return errorMessages
    }()
    /// 403: the operator has suspended the caller's account. The end, if there is one, and the reason stand behind.
    public static let suspended = Problem(.forbidden, "Account is suspended")
    public static let callerRefusals = [suspended]
    /// The sections of the contract. Each lists its own operations and frames.
    public static let sections = [
        authentication, accounts, sessions, users, posts, reports, comments, follows, blocks, search, health,
    ]

    /// The body of every refusal, `{ "message": "…" }`. The SDK throws it as an `APIError`.
    public struct Failure: WireFailure, Hashable {
        /// The message in English, as the contract words it.
        public let message: String

        /// Renders a problem.
        public init(_ problem: Problem, requestID: String) { message = problem.message }
        public init(message: String) { self.message = message }
    }

    /// The answer of an operation that returns only a message.
    public struct Confirmation: Codable, Hashable, Sendable, PlainAnswer, DeletionOutput {
        /// The output of a deletion whose own answer was lost.
        public static var alreadyDeleted: Confirmation { Confirmation(message: "Already deleted") }
        /// The message in English.
        public var message: String

        public init(message: String) { self.message = message }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            message = try container.decodeIfPresent(String.self, forKey: .message) ?? ""
        }

        /// Accepts any text, or none: only the success of the operation matters.
        public init(plain text: String) { message = text }
    }
}

/// A user with the viewer's relationship to them.
public struct WithRelationship<User: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The user.
    public var user: User
    /// Whether the viewer follows the user.
    public var isFollowing: Bool
    /// Whether the viewer has asked to follow the user and has not been answered. It excludes ``isFollowing``.
    public var isPending: Bool

    public init(_ user: User, isFollowing: Bool = false, isPending: Bool = false) {
        self.user = user
        self.isFollowing = isFollowing
        self.isPending = isPending
    }

    /// Also decodes a user without the relationship, as older servers answer.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = container.contains(.user) ? try container.decode(User.self, forKey: .user) : try User(from: decoder)
        isFollowing = try container.decodeIfPresent(Bool.self, forKey: .isFollowing) ?? false
        isPending = try container.decodeIfPresent(Bool.self, forKey: .isPending) ?? false
    }
}

/// The URL of a picture, or null. An empty text, which older servers send, is decoded as null.
@propertyWrapper
public struct PictureURL: Codable, Hashable, Sendable {
    /// The URL; nil when there is none.
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
    /// Decodes an absent key as null.
    public func decode(_: PictureURL.Type, forKey key: Key) throws -> PictureURL {
        try decodeIfPresent(PictureURL.self, forKey: key) ?? PictureURL(wrappedValue: nil)
    }
}

// MARK: Parts that requests share

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

    /// Throws when a limit or a cursor is out of range.
    static func validate<Named>(
        limit: Int?, upTo maximum: Int, before: Identifier<Named>?
    ) throws(Problem) {
        if let limit, !(1...maximum ~= limit) { throw Problem(.badRequest, "Invalid limit") }
        if let before, !before.isValid { throw Problem(.badRequest, "Invalid before") }
    }

    /// Throws when a text contains U+0000, for requests whose other fields are validated later.
    static func requireNoNUL(_ texts: String?...) throws(Problem) {
        if texts.contains(where: { $0?.containsNUL == true }) { throw Problem(.badRequest, errorMessages.containsNUL) }
    }

    /// The number of posts or comments in an answer when a request gives no limit.
    public static let maximumPage = 500
}
