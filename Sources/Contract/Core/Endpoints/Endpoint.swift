import HTTPTypes

/// One published API: its error shape, its operations, and its sentences for failures that every API has.
///
/// The server, the SDK, the mock and the checker are all made from this.
public protocol ServiceAPI: Sendable {
    /// The body of every failed request.
    associatedtype Failure: WireFailure = ErrorMessage

    /// The API's name on the command line, such as `messenger`.
    static var name: String { get }

    /// The API's name for people, such as `Deuce Diary`: by default that of its type.
    static var title: String { get }

    /// The sections, in the order of the contract.
    static var sections: [Section] { get }

    /// The prefix of every path: `/api`, or nothing. A base URL ends with it.
    static var basePath: String { get }

    /// The form that a step of a path must have to be read as a field.
    static var captureForm: CaptureForm { get }

    /// The way in which a request carries its caller's credentials.
    static var credentials: CredentialForm { get }

    /// Whether a path with a trailing slash is the same path as one without.
    static var ignoresTrailingSlash: Bool { get }

    /// The messages of failures that are found before a handler runs.
    static var errorMessages: ErrorMessages { get }

    /// The refusals of a caller with valid credentials, which any operation that needs a caller may answer.
    static var callerRefusals: [Problem] { get }

    /// The answer of ``GetAbout`` in the API's shape: ``About`` itself, or an envelope of it.
    associatedtype AboutAnswer: Codable & Sendable = About

    /// Returns the answer of ``GetAbout``.
    static func answering(_ about: About) -> AboutAnswer
}

extension ServiceAPI {
    /// Every operation, in the order of the contract.
    public static var endpoints: [any Endpoint.Type] { sections.flatMap(\.endpoints) }
    public static var title: String { "\(Self.self)" }
    public static var basePath: String { "" }
    public static var captureForm: CaptureForm { .digits }
    public static var credentials: CredentialForm { .bearer }
    public static var ignoresTrailingSlash: Bool { false }
    public static var errorMessages: ErrorMessages { ErrorMessages() }
    public static var callerRefusals: [Problem] { [] }
}

extension ServiceAPI where AboutAnswer == About {
    /// Returns the answer of ``GetAbout``: `about` itself.
    public static func answering(_ about: About) -> About { about }
}

/// The way in which a request carries its caller's credentials.
public enum CredentialForm: Sendable, Hashable {
    /// A token in `Authorization`.
    case bearer
    /// A cookie of this name, which browsers send by themselves.
    case cookie(String)
}

/// The form that a step of a path must have to be read as a field. A path with any other text does not exist.
public enum CaptureForm: Sendable {
    /// Digits only: ids are numbers.
    case digits
    /// Any text that is not empty: ids are text, and an operation has its own message for a malformed one.
    case text
}

/// An operation. The struct is the request: its fields travel in the path, the query, the JSON body or a form.
///
/// A field that is named in the route's path travels in the path. The others travel in the query (GET and DELETE) or in
/// the JSON body (all other methods), unless the route says otherwise. A body cannot override the path.
public protocol Endpoint: Codable, Sendable {
    /// The API to which the operation belongs.
    associatedtype API: ServiceAPI
    /// The body of a successful answer; ``Empty`` when it has none.
    associatedtype Output: Codable & Sendable

    static var route: Route { get }

    /// Whether the server checks that the path's resource exists, and that the caller may use it, before it validates
    /// the other fields. The operation's handler then calls ``validate()`` itself.
    static var fieldsComeLast: Bool { get }

    /// Throws when the path cannot name anything. The server calls it before it looks at the rest of the request.
    func validatePath() throws(Problem)

    /// Throws the error that the contract gives for an invalid field. The server calls it on what it received, the SDK
    /// before it sends.
    func validate() throws(Problem)

    /// Validates a request on the server, which also knows the fields that could not be read.
    ///
    /// By default ``review(_:)`` handles those fields first, and ``validate()`` the values after it. A contract that
    /// reports every mistake in one answer implements this method and handles both together.
    func validate(unreadable issues: [FieldIssue]) throws(Problem)

    /// Checks the fields that could not be read, before ``validate()`` sees their placeholders.
    ///
    /// By default an absent or mistyped field is left to ``validate()``, and a NUL character is refused.
    static func review(_ issues: [FieldIssue]) throws(Problem)

    /// The rules of fields that neither their types nor ``validate()`` have, because only a server can check them, or whose
    /// reason cannot be found by trying values. The API's description has them beside those that it finds by itself.
    static var fieldRules: [String: FieldRule] { get }
}

extension Endpoint {
    public static var fieldsComeLast: Bool { false }
    public static var fieldRules: [String: FieldRule] { [:] }
    public func validatePath() throws(Problem) {}
    public func validate() throws(Problem) {}

    public func validate(unreadable issues: [FieldIssue]) throws(Problem) {
        if !issues.isEmpty { try Self.review(issues) }
        try validate()
    }

    public static func review(_ issues: [FieldIssue]) throws(Problem) {
        if issues.contains(where: { $0.kind == .containsNUL }) {
            throw Problem(.badRequest, API.errorMessages.containsNUL)
        }
    }

    /// The method and path as the contract writes them, such as `GET /chats/{id}`.
    public static var signature: String { "\(route.method.rawValue) \(route.path)" }
}

/// An operation whose handler receives the caller.
public protocol AuthenticatedEndpoint: Endpoint {}

/// An operation that needs no credentials; its handler receives no caller.
public protocol OpenEndpoint: Endpoint {}

/// The body of an answer that has none (204, 302).
public struct Empty: Codable, Sendable, Hashable {
    public init() {}
}

/// The error shape of an API.
public protocol WireFailure: Codable, Sendable {
    /// Renders a problem in the API's error shape.
    init(_ problem: Problem, requestID: String)

    /// The message, in the words of the contract.
    var message: String { get }
}

/// The messages of an API for failures that every API has.
public struct ErrorMessages: Sendable {
    /// 404: the path or the resource does not exist.
    public var notFound = "Not found"
    /// 405: the path exists, and does not take this method.
    public var methodNotAllowed = "Method not allowed"
    /// 400: the body is not one JSON object.
    public var malformedJSON = "Invalid JSON"
    /// 400: the body is not the form that its `Content-Type` announces.
    public var malformedForm = "Malformed form"
    /// 413: the body is larger than the server reads.
    public var bodyTooLarge = "Request body too large"
    /// 415: the body is compressed, or has another `Content-Encoding`.
    public var unsupportedEncoding = "Content-Encoding is not supported"
    /// 400: a text contains U+0000.
    public var containsNUL = "Text must not contain NUL characters"
    /// 403: a cookie came with a request from another site.
    public var foreignOrigin = "Cross-site request refused"
    /// 429: the caller has used up a limit.
    public var tooManyRequests = "Too many requests, please try again later"
    /// 503: the server cannot answer now, and may later.
    public var unavailable = "Service temporarily unavailable"
    /// 503: the file storage cannot be reached.
    public var storageUnavailable = "Object storage upload failed"
    /// 500: the server failed.
    public var internalError = "Internal error"
    /// 503: the server is starting or shutting down, or cannot reach its database.
    public var notReady = "Not ready"
    /// 400: the `Idempotency-Key` is empty, too long or not printable ASCII.
    public var invalidIdempotencyKey = "Invalid Idempotency-Key"
    /// 422: the `Idempotency-Key` came earlier with a different request.
    public var reusedIdempotencyKey = "Idempotency-Key was already used for another request"

    public init() {}
}
