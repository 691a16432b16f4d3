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
    private let name: @Sendable (Caller) -> String
    private let reading: Reading
    private(set) var operations: [Operation] = []
    private(set) var plain: [PlainRoute] = []

    /// - Parameters:
    ///   - spool: Where uploads wait; nil for an API without any.
    ///   - secret: Keys the fingerprints of requests that are kept under an `Idempotency-Key`: a bare hash of a
    ///     registration would be a fast way to try passwords.
    ///   - name: Tells callers apart in the scope of an idempotency key.
    public init(
        spool: (any UploadSpool)? = nil, secret: [UInt8], name: @escaping @Sendable (Caller) -> String,
        authenticate: @escaping Authenticate
    ) {
        self.authenticate = authenticate
        self.name = name
        self.reading = Reading(spool: spool, fingerprintKey: SymmetricKey(data: secret))
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        use handler: @escaping @Sendable (E, Caller) async throws -> E.Output
    ) where E.API == API {
        on { (request: E, caller, _) in Answer(E.route.status, try await handler(request, caller)) }
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        answering handler: @escaping @Sendable (E, Caller, RequestInfo) async throws -> Answer<E.Output>
    ) where E.API == API {
        let (authenticate, name, reading) = (authenticate, name, reading)
        operations.append(
            Operation(E.self) { call in
                let caller = try await authenticate(call.request.headers)
                var info = call.info
                let request = try await call.read(E.self, into: &info, caller: name(caller), reading)
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
        let reading = reading
        operations.append(
            Operation(E.self) { call in
                var info = call.info
                let request = try await call.read(E.self, into: &info, caller: "", reading)
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

/// What reading a request takes beside the request.
struct Reading: Sendable {
    let spool: (any UploadSpool)?
    let fingerprintKey: SymmetricKey
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
        _ type: E.Type, into info: inout RequestInfo, caller: @autoclosure () -> String, _ reading: Reading
    ) async throws -> E {
        var source = RequestCoding.Source(captures: captures)
        var form: Multipart?
        switch E.route.form {
        case .query:
            source.items = FormURLEncoded.items(query ?? "")
        case .json:
            let body = try await collect(upTo: Self.maximumBody, else: E.API.phrases.bodyTooLarge)
            source.body = Array(body.readableBytesView)
        case .multipart(let rules):
            guard let spool = reading.spool else { throw Problem(.internalServerError, E.API.phrases.internalError) }
            let received = try await Multipart.receive(request, rules: rules, into: spool, phrases: E.API.phrases)
            source.items = received.items
            source.uploads = [rules.field: received.upload]
            form = received
        }
        guard E.route.acceptsIdempotencyKey, let key = request.headers[.idempotencyKey] else {
            return try RequestCoding.decode(E.self, from: source)
        }
        guard Once.isKey(key) else { throw Problem(.badRequest, E.API.phrases.invalidIdempotencyKey) }
        let endpoint = try RequestCoding.decode(E.self, from: source)
        var fingerprint = HMAC<SHA256>(key: reading.fingerprintKey)
        if let form {
            form.fingerprint(into: &fingerprint)
        } else {
            // Of the fields, not of the bytes: encoders may write an object's members in another order each time.
            fingerprint.update(data: try JSONBody.encode(endpoint).readableBytesView)
        }
        let path = request.head.path?.prefix { $0 != "?" } ?? ""
        info.once = Once(
            scope: "\(caller()) \(request.method.rawValue) \(path)", key: key,
            fingerprint: Array(fingerprint.finalize()))
        return endpoint
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
        if Output.self == Empty.self { return Response(status: answer.status, headers: headers) }
        headers[.contentType] = "application/json"
        return Response(status: answer.status, headers: headers, body: .init(byteBuffer: try JSONBody.encode(output)))
    case .encoded(let body):
        if !body.isEmpty { headers[.contentType] = "application/json" }
        return Response(status: answer.status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
