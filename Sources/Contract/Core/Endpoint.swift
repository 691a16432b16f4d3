import HTTPTypes

/// One published API: its error shape, its operations and the sentences it uses for failures that are not its own.
///
/// Server, SDK, mock, checker and OpenAPI document are all made from this.
public protocol ServiceAPI: Sendable {
    /// What a failed request answers, for every reason.
    associatedtype Failure: WireFailure

    /// The name on the command line, such as `messenger`.
    static var name: String { get }

    /// Every operation, in the order of the document.
    static var endpoints: [any Endpoint.Type] { get }

    /// What stands before every path: `/api`, or nothing. A base URL ends with it.
    static var basePath: String { get }

    /// What a step of a path looks like when it is a field.
    static var captureForm: CaptureForm { get }

    /// How a caller shows who is asking.
    static var credentials: CredentialForm { get }

    /// Whether a path with one slash more at its end is the same path.
    static var ignoresTrailingSlash: Bool { get }

    /// The texts of failures that are found before a handler runs.
    static var phrases: Phrases { get }
}

extension ServiceAPI {
    public static var basePath: String { "" }
    public static var captureForm: CaptureForm { .digits }
    public static var credentials: CredentialForm { .bearer }
    public static var ignoresTrailingSlash: Bool { false }
}

/// How a caller shows who is asking.
public enum CredentialForm: Sendable {
    /// By a token in `Authorization`.
    case bearer
    /// By a cookie, which browsers send by themselves.
    case cookie
}

/// What a step of a path must look like to be a field. Any other text is a path that does not exist.
public enum CaptureForm: Sendable {
    /// `0` to `9` alone: ids are numbers.
    case digits
    /// Anything but nothing: ids are text, and an operation has its own words for one that is malformed.
    case text
}

/// An operation. The struct is the request: its fields travel in the path, the query, the JSON body or a form.
///
/// A field named in the route's path travels there. The others travel in the query (GET and DELETE) or in the JSON
/// body (the rest), unless the route says otherwise. A body cannot override the path.
public protocol Endpoint: Codable, Sendable {
    associatedtype API: ServiceAPI
    /// The body of a success. ``Empty`` when there is none.
    associatedtype Output: Codable & Sendable

    static var route: Route { get }

    /// Whether a server looks for what the path names, and whether the caller may have it, before it judges the other
    /// fields: then its handler calls ``validate()``.
    static var fieldsComeLast: Bool { get }

    /// Refuses a path that can name nothing, before anything else of the request is judged.
    func validatePath() throws(Problem)

    /// Refuses what the contract refuses. The server calls it on what came in, the SDK before it sends.
    func validate() throws(Problem)

    /// The same on a server, which knows what could not be read as well.
    ///
    /// By default ``review(_:)`` judges that first, and ``validate()`` the values. A contract that wants every mistake in
    /// one refusal judges both together.
    func validate(unreadable issues: [FieldIssue]) throws(Problem)

    /// Judges what could not be read, before ``validate()`` sees the values that stand in for it.
    ///
    /// By default an absent or mistyped field is left to ``validate()``, and a NUL character is refused.
    static func review(_ issues: [FieldIssue]) throws(Problem)
}

extension Endpoint {
    public static var fieldsComeLast: Bool { false }
    public func validatePath() throws(Problem) {}
    public func validate() throws(Problem) {}

    public func validate(unreadable issues: [FieldIssue]) throws(Problem) {
        if !issues.isEmpty { try Self.review(issues) }
        try validate()
    }

    public static func review(_ issues: [FieldIssue]) throws(Problem) {
        if issues.contains(where: { $0.kind == .containsNUL }) {
            throw Problem(.badRequest, API.phrases.containsNUL)
        }
    }

    /// `GET /chats/{id}`: as the contract's summary writes it.
    public static var signature: String { "\(route.method.rawValue) \(route.path)" }
}

/// An operation whose handler receives the caller.
public protocol AuthenticatedEndpoint: Endpoint {}

/// An operation that anybody may call; its handler has no caller to look at.
public protocol OpenEndpoint: Endpoint {}

/// The body of an answer that has none (204, 302).
public struct Empty: Codable, Sendable, Hashable {
    public init() {}
}

/// The error shape of an API.
public protocol WireFailure: Codable, Sendable {
    /// Renders a problem for the wire.
    init(_ problem: Problem, requestID: String)

    /// The sentence for a person.
    var message: String { get }
}

/// The sentences of an API for failures that every API has.
public struct Phrases: Sendable {
    public var notFound = "Not found"
    public var methodNotAllowed = "Method not allowed"
    public var malformedJSON = "Invalid JSON"
    public var malformedForm = "Malformed form"
    public var bodyTooLarge = "Request body too large"
    public var containsNUL = "Text must not contain NUL characters"
    public var foreignOrigin = "Cross-site request refused"
    public var tooManyRequests = "Too many requests, please try again later"
    public var unavailable = "Service temporarily unavailable"
    public var storageUnavailable = "Object storage upload failed"
    public var internalError = "Internal error"
    public var notReady = "Not ready"
    public var invalidIdempotencyKey = "Invalid Idempotency-Key"
    public var reusedIdempotencyKey = "Idempotency-Key was already used for another request"

    public init() {}
}
