import Contract
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers of an API, bound to its endpoints.
///
/// `on` takes operations that need a caller, `open` those that anybody may call. `answering` is for handlers that
/// choose their status or headers.
public struct Routes<API: ServiceAPI, Caller: Sendable>: Sendable {
    /// Finds the caller of a request, or throws the 401 that the contract words.
    public typealias Authenticate = @Sendable (HTTPFields) async throws -> Caller

    private let authenticate: Authenticate
    /// Tells callers apart in the scope of an idempotency key.
    private let name: @Sendable (Caller) -> String
    private let spool: (any UploadSpool)?
    private(set) var operations: [Operation] = []
    private(set) var plain: [PlainRoute] = []

    public init(
        spool: (any UploadSpool)? = nil, name: @escaping @Sendable (Caller) -> String,
        authenticate: @escaping Authenticate
    ) {
        self.authenticate = authenticate
        self.name = name
        self.spool = spool
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        use handler: @escaping @Sendable (E, Caller) async throws -> E.Output
    ) where E.API == API {
        on { (request: E, caller, _) in Answer(E.route.status, try await handler(request, caller)) }
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        answering handler: @escaping @Sendable (E, Caller, RequestInfo) async throws -> Answer<E.Output>
    ) where E.API == API {
        let (authenticate, name, spool) = (authenticate, name, spool)
        operations.append(
            Operation(E.self) { call in
                let caller = try await authenticate(call.request.headers)
                var info = call.info
                let request = try await call.read(E.self, into: &info, caller: name(caller), spool: spool)
                return try respond(try await handler(request, caller, info))
            })
    }

    public mutating func open<E: OpenEndpoint>(
        use handler: @escaping @Sendable (E, RequestInfo) async throws -> E.Output
    ) where E.API == API {
        open { (request: E, info) in Answer(E.route.status, try await handler(request, info)) }
    }

    public mutating func open<E: OpenEndpoint>(
        answering handler: @escaping @Sendable (E, RequestInfo) async throws -> Answer<E.Output>
    ) where E.API == API {
        let spool = spool
        operations.append(
            Operation(E.self) { call in
                var info = call.info
                let request = try await call.read(E.self, into: &info, caller: "", spool: spool)
                return try respond(try await handler(request, info))
            })
    }

    /// A path that is no operation of the contract: health, stored objects. Its last segment may be `{name*}`, the
    /// rest of the path.
    public mutating func plain(
        _ method: HTTPRequest.Method, _ path: String,
        use handler: @escaping @Sendable (Request, _ captures: [(name: String, value: String)]) async throws -> Response
    ) {
        plain.append(PlainRoute(method: method, path: path, handler: handler))
    }
}

struct PlainRoute: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let handler: @Sendable (Request, [(name: String, value: String)]) async throws -> Response
}

/// An endpoint with its handler, its types forgotten.
struct Operation: Sendable {
    let route: Route
    let run: @Sendable (Call) async throws -> Response

    init<E: Endpoint>(_: E.Type, run: @escaping @Sendable (Call) async throws -> Response) {
        route = E.route
        self.run = run
    }
}

/// One request on its way to a handler.
struct Call: Sendable {
    let request: Request
    let captures: [(name: String, value: String)]
    let query: Substring?
    let info: RequestInfo

    static let maximumBody = 1_048_576

    /// Reads what the request brought, in the contracts' order of checks: size, body, fields.
    func read<E: Endpoint>(
        _ type: E.Type, into info: inout RequestInfo, caller: String, spool: (any UploadSpool)?
    ) async throws -> E {
        var source = RequestCoding.Source(captures: captures)
        var fingerprint = SHA256()
        let onceKey = E.route.acceptsIdempotencyKey ? request.headers[.idempotencyKey] : nil
        switch E.route.form {
        case .query:
            source.items = FormURLEncoded.items(query ?? "")
        case .json:
            let body = try await collect(upTo: Self.maximumBody, else: E.API.phrases.bodyTooLarge)
            source.body = Array(body.readableBytesView)
            if onceKey != nil { fingerprint.update(data: source.body ?? []) }
        case .multipart(let rules):
            guard let spool else { throw Problem(.internalServerError, E.API.phrases.internalError) }
            let form = try await Multipart.receive(request, rules: rules, into: spool, phrases: E.API.phrases)
            source.items = form.items
            source.uploads = [rules.field: form.upload]
            if onceKey != nil { form.fingerprint(into: &fingerprint) }
        }
        if let onceKey {
            guard Once.isKey(onceKey) else { throw Problem(.badRequest, E.API.phrases.invalidIdempotencyKey) }
            let path = request.head.path?.prefix { $0 != "?" } ?? ""
            info.once = Once(
                scope: "\(caller) \(request.method.rawValue) \(path)", key: onceKey,
                fingerprint: Array(fingerprint.finalize()))
        }
        return try RequestCoding.decode(E.self, from: source)
    }

    private func collect(upTo limit: Int, else message: String) async throws -> ByteBuffer {
        let tooLarge = Problem(.contentTooLarge, message, headers: [.connection: "close"])
        if let declared = request.headers[.contentLength].flatMap(Int.init), declared > limit { throw tooLarge }
        var body = ByteBuffer()
        for try await chunk in request.body {
            guard body.readableBytes + chunk.readableBytes <= limit else { throw tooLarge }
            body.writeImmutableBuffer(chunk)
        }
        return body
    }
}

private func respond<Output: Encodable>(_ answer: Answer<Output>) throws -> Response {
    var headers = answer.headers
    switch answer.content {
    case .output(let output):
        if output is Empty { return Response(status: answer.status, headers: headers) }
        headers[.contentType] = "application/json"
        return Response(status: answer.status, headers: headers, body: .init(byteBuffer: try JSONBody.encode(output)))
    case .encoded(let body):
        if !body.isEmpty { headers[.contentType] = "application/json" }
        return Response(status: answer.status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
