import HTTPTypes

/// The method and path of an operation, and the encoding of its request.
public struct Route: Sendable {
    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        case literal(String)
        /// A field of the endpoint, by its name on the wire. ``ServiceAPI/captureForm`` says which values it matches.
        case capture(String)
    }

    /// The encoding of the fields that are not in the path.
    public enum Form: Sendable {
        case query
        case json
        case multipart(UploadRules)
        /// A JSON body, or a form with the same fields. The SDK sends a form when there are files, else JSON.
        ///
        /// - Parameter rules: The rules for files; nil when the operation takes none, and those of a form are ignored.
        case jsonOrMultipart(UploadRules?)
    }

    /// The HTTP method.
    public let method: HTTPRequest.Method
    /// Other methods that the server accepts in place of ``method``. The SDK never sends them.
    public let alternatives: [HTTPRequest.Method]
    /// The path, with captures in braces: `/chats/{id}/messages`.
    public let path: String
    /// The path, split into its steps.
    public let segments: [Segment]
    /// The status of a successful answer, unless the handler chooses another.
    public let status: HTTPResponse.Status
    /// The encoding of the fields that are not in the path.
    public let form: Form
    /// Whether the operation honours `Idempotency-Key`. The SDK then sends a key, so that a retry never acts twice.
    public let acceptsIdempotencyKey: Bool
    /// The hours for which the server remembers an `Idempotency-Key`; 24 unless ``rememberingKeys(forHours:)`` says more.
    public private(set) var keyHours = 24
    /// Whether a second execution has the same effect as one, so that a request whose answer was lost may be sent
    /// again.
    public let mayRepeat: Bool

    /// Creates a route.
    ///
    /// - Parameter mayRepeat: By default true for methods that HTTP defines as idempotent (RFC 9110 §9.2.2), and for
    ///   operations with an `Idempotency-Key`.
    public init(
        _ method: HTTPRequest.Method, _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form,
        idempotencyKey: Bool = false, mayRepeat: Bool? = nil, alternatives: [HTTPRequest.Method] = []
    ) {
        self.method = method
        self.alternatives = alternatives
        self.path = path
        self.status = status
        self.form = form
        self.acceptsIdempotencyKey = idempotencyKey
        self.mayRepeat = mayRepeat ?? (idempotencyKey || [.get, .put, .delete].contains(method))
        self.segments = path.split(separator: "/").map { step in
            step.first == "{" ? .capture(String(step.dropFirst().dropLast())) : .literal(String(step))
        }
    }

    /// Makes a route for GET, with its fields in the query.
    public static func get(_ path: String, _ status: HTTPResponse.Status = .ok) -> Route {
        Route(.get, path, status, in: .query)
    }

    /// Makes a route for POST.
    public static func post(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json, idempotencyKey: Bool = false,
        mayRepeat: Bool? = nil
    ) -> Route {
        Route(.post, path, status, in: form, idempotencyKey: idempotencyKey, mayRepeat: mayRepeat)
    }

    /// Makes a route for PUT.
    ///
    /// - Parameter alternatives: Other methods that the API accepts, such as `PATCH`.
    public static func put(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json,
        alternatives: [HTTPRequest.Method] = []
    ) -> Route {
        Route(.put, path, status, in: form, alternatives: alternatives)
    }

    /// Makes a route for PATCH.
    public static func patch(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json, mayRepeat: Bool? = nil
    ) -> Route {
        Route(.patch, path, status, in: form, mayRepeat: mayRepeat)
    }

    /// Makes a route for DELETE, by default with its fields in the query.
    public static func delete(_ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .query) -> Route {
        Route(.delete, path, status, in: form)
    }

    /// Returns the route with another time for which the server remembers an `Idempotency-Key`, for what an app may keep
    /// for days until there is a network.
    ///
    /// - Parameter hours: 24 or more.
    public func rememberingKeys(forHours hours: Int) -> Route {
        var route = self
        route.keyHours = hours
        return route
    }

    /// The names of the fields in the path, as they appear on the wire.
    public var captures: [String] {
        segments.compactMap { if case .capture(let name) = $0 { name } else { nil } }
    }
}

/// The limits of an upload, and the messages for what is refused.
public struct UploadRules: Sendable {
    /// The name of the form field that holds the file, or each of several files.
    public let field: String
    /// The largest accepted size of a file, in bytes.
    public let maximumSize: Int64
    /// The number of files that are kept. Each further file is read as an empty one, so that `validate()` can count and
    /// refuse it.
    public let maximumCount: Int
    /// The message (400) when the body is not multipart or has no such file; nil when a file is optional.
    public let missing: String?
    /// The message (400) for a file in another field; nil when such files are ignored.
    public let unexpected: String?
    /// The message (413) for a file larger than ``maximumSize``.
    public let tooLarge: String

    public init(
        field: String, maximumSize: Int64, maximumCount: Int = 1, missing: String?, unexpected: String? = nil,
        tooLarge: String
    ) {
        self.field = field
        self.maximumSize = maximumSize
        self.maximumCount = maximumCount
        self.missing = missing
        self.unexpected = unexpected
        self.tooLarge = tooLarge
    }
}
