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
    }

    public let method: HTTPRequest.Method
    /// With captures in braces: `/chats/{id}/messages`.
    public let path: String
    public let segments: [Segment]
    /// The status of a success, where the handler does not choose another.
    public let status: HTTPResponse.Status
    public let form: Form
    /// Whether the operation honours `Idempotency-Key`; the SDK then sends one, so that a retry never acts twice.
    public let acceptsIdempotencyKey: Bool

    public init(
        _ method: HTTPRequest.Method, _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form,
        idempotencyKey: Bool = false
    ) {
        self.method = method
        self.path = path
        self.status = status
        self.form = form
        self.acceptsIdempotencyKey = idempotencyKey
        self.segments = path.split(separator: "/").map { step in
            step.first == "{" ? .capture(String(step.dropFirst().dropLast())) : .literal(String(step))
        }
    }

    public static func get(_ path: String, _ status: HTTPResponse.Status = .ok) -> Route {
        Route(.get, path, status, in: .query)
    }

    public static func post(
        _ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json, idempotencyKey: Bool = false
    ) -> Route {
        Route(.post, path, status, in: form, idempotencyKey: idempotencyKey)
    }

    public static func put(_ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json) -> Route {
        Route(.put, path, status, in: form)
    }

    public static func patch(_ path: String, _ status: HTTPResponse.Status = .ok, in form: Form = .json) -> Route {
        Route(.patch, path, status, in: form)
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
    /// The form field that holds the file.
    public let field: String
    /// Of the file's content, in bytes.
    public let maximumSize: Int64
    /// 400: not multipart, or no file of that name.
    public let missing: String
    /// 400: a file of another name. Nil: such files are passed over.
    public let unexpected: String?
    /// 413: more than ``maximumSize``.
    public let tooLarge: String

    public init(field: String, maximumSize: Int64, missing: String, unexpected: String? = nil, tooLarge: String) {
        self.field = field
        self.maximumSize = maximumSize
        self.missing = missing
        self.unexpected = unexpected
        self.tooLarge = tooLarge
    }
}
