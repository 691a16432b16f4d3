import HTTPTypes

/// Where an operation is found, and how its request travels.
public struct Route: Sendable {
    /// One step of a path.
    public enum Segment: Sendable, Hashable {
        case literal(String)
        /// A field of the endpoint, by its wire name. What it looks like is the API's ``ServiceAPI/captureForm``.
        case capture(String)
    }

    /// How the fields travel that are not in the path.
    public enum Form: Sendable {
        case query
        case json
        case multipart(UploadRules)
        /// A JSON body, or a form with the same fields. The SDK writes a form where there are files, else JSON.
        ///
        /// - Parameter rules: Nil where there are no files: those of a form are passed over.
        case jsonOrMultipart(UploadRules?)
    }

    public let method: HTTPRequest.Method
    /// Other methods that a server takes for ``method``. The SDK never sends them.
    public let alternatives: [HTTPRequest.Method]
    /// With captures in braces: `/chats/{id}/messages`.
    public let path: String
    public let segments: [Segment]
    /// The status of a success, where the handler does not choose another.
    public let status: HTTPResponse.Status
    public let form: Form
    /// Whether the operation honours `Idempotency-Key`; the SDK then sends one, so that a retry never acts twice.
    public let acceptsIdempotencyKey: Bool
    /// Whether doing it twice is the same as doing it once, so that a request whose answer was lost may be sent again.
    public let mayRepeat: Bool

    /// - Parameter mayRepeat: By default as HTTP has it (RFC 9110 §9.2.2), and with an `Idempotency-Key`.
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

    public static func get(_ path: String, _ status: HTTPResponse.Status = .ok) -> Route {
        Route(.get, path, status, in: .query)
    }

    public static func post(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json, idempotencyKey: Bool = false,
        mayRepeat: Bool? = nil
    ) -> Route {
        Route(.post, path, status, in: form, idempotencyKey: idempotencyKey, mayRepeat: mayRepeat)
    }

    /// - Parameter alternatives: Such as `PATCH`, where the API takes it for the same.
    public static func put(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json,
        alternatives: [HTTPRequest.Method] = []
    ) -> Route {
        Route(.put, path, status, in: form, alternatives: alternatives)
    }

    public static func patch(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json, mayRepeat: Bool? = nil
    ) -> Route {
        Route(.patch, path, status, in: form, mayRepeat: mayRepeat)
    }

    public static func delete(_ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .query) -> Route {
        Route(.delete, path, status, in: form)
    }

    /// The wire names of the fields in the path.
    public var captures: [String] {
        segments.compactMap { if case .capture(let name) = $0 { name } else { nil } }
    }
}

/// What an upload may be, and how it is refused.
public struct UploadRules: Sendable {
    /// The form field that holds the file, or each of several.
    public let field: String
    /// Of a file's content, in bytes.
    public let maximumSize: Int64
    /// How many files are kept. Each beyond is read as an empty one, for `validate()` to count and refuse.
    public let maximumCount: Int
    /// 400: not multipart, or no file of that name. Nil: there need be none.
    public let missing: String?
    /// 400: a file of another name. Nil: such files are passed over.
    public let unexpected: String?
    /// 413: more than ``maximumSize``.
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
