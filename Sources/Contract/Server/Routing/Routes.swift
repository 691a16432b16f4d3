import Contract
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// The handlers of an API, bound to its endpoints.
///
/// `on` takes operations that need a caller, `open` those that need no credentials. `answering` is for handlers that
/// choose their status or headers.
public struct Routes<API: ServiceAPI, Caller: Sendable>: Sendable {
    /// Finds the caller of a request, or throws the 401 that the contract words.
    public typealias Authenticate = @Sendable (RequestInfo) async throws -> Caller
    /// Returns headers that are added to every response to a caller, errors included, such as a renewed session cookie
    /// or the state of a rate limit. It is called before the request is read, and may refuse a request over a limit.
    public typealias Headers = @Sendable (Route, Caller) async throws -> HTTPFields
    /// Returns the form in which a caller gets answers; nil for that of the contract.
    public typealias Dialects = @Sendable (Caller) -> (any Dialect)?
    /// Refuses a request by its head, before the caller is determined.
    public typealias Admit = @Sendable (HTTPRequest.Method, RequestInfo) throws -> Void

    private let admit: Admit
    private let authenticate: Authenticate
    private let headers: Headers
    private let dialects: Dialects
    private let name: @Sendable (Caller) -> String
    private let reading: Reading
    private(set) var operations: [Operation] = []
    private(set) var plain: [PlainRoute] = []

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - spool: Stores uploads; nil for an API without any.
    ///   - secrets: Returns the keys for the fingerprints of idempotent requests and for entity tags: the present one, and
    ///     then those that were replaced within the last day. A bare hash of a registration would be a fast way to try
    ///     passwords.
    ///   - name: Returns the name of a caller in the scope of an idempotency key: a word and the id, such as `user 17`. The
    ///     line of the request in the log has the id.
    public init(
        spool: (any UploadSpool)? = nil, secrets: @escaping @Sendable () -> [[UInt8]],
        name: @escaping @Sendable (Caller) -> String,
        admit: @escaping Admit = { _, _ in }, authenticate: @escaping Authenticate,
        headers: @escaping Headers = { _, _ in [:] }, dialects: @escaping Dialects = { _ in nil }
    ) {
        self.admit = admit
        self.authenticate = authenticate
        self.headers = headers
        self.dialects = dialects
        self.name = name
        self.reading = Reading(spool: spool, secrets: secrets)
    }

    /// Returns the keys (``init(spool:secrets:name:admit:authenticate:headers:dialects:)``).
    var secrets: @Sendable () -> [[UInt8]] { reading.secrets }

    /// The operations of the API that have no handler yet, as the contract writes them: `POST /entries`.
    public var unhandled: [String] {
        let handled = Set(operations.map { "\($0.route.method.rawValue) \($0.route.path)" })
        return API.endpoints.map { $0.signature }.filter { !handled.contains($0) }
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        use handler: @escaping @Sendable (E, Caller) async throws -> E.Output
    ) where E.API == API {
        on { (request: E, caller, _) in Answer(E.route.status, try await handler(request, caller)) }
    }

    public mutating func on<E: AuthenticatedEndpoint>(
        answering handler: @escaping @Sendable (E, Caller, RequestInfo) async throws -> Answer<E.Output>
    ) where E.API == API {
        let (admit, authenticate, name, headers, reading) = (admit, authenticate, name, headers, reading)
        let dialects = dialects
        operations.append(
            Operation(E.route) { call in
                try admit(call.request.method, call.info)
                let caller = try await authenticate(call.info)
                let dialect = dialects(caller)
                return try await replying(
                    to: name(caller), in: dialect, headers: { try await headers(E.route, caller) }
                ) {
                    var info = call.info
                    let asked = dialect.map { call.asking($0.query(call.query, of: E.route)) } ?? call
                    let request = try await asked.read(E.self, into: &info, caller: name(caller), reading)
                    var reply = try respond(
                        try await reading.inTurn(info.idempotencyKey) { try await handler(request, caller, info) })
                    if let dialect, let json = reply.json {
                        reply.json = try await dialect.answer(json, to: DialectRequest(E.self, call))
                    }
                    return reply
                }
            })
    }

    /// Adds an operation whose answer is too large to be in memory at once. An error in the middle ends the connection,
    /// so that no client mistakes the part for the whole.
    public mutating func on<E: AuthenticatedEndpoint>(
        streaming handler: @escaping @Sendable (E, Caller) async throws -> StreamedAnswer
    ) where E.API == API {
        let (admit, authenticate, name, headers, reading) = (admit, authenticate, name, headers, reading)
        operations.append(
            Operation(E.route) { call in
                try admit(call.request.method, call.info)
                let caller = try await authenticate(call.info)
                return try await replying(to: name(caller), headers: { try await headers(E.route, caller) }) {
                    var info = call.info
                    let request = try await call.read(E.self, into: &info, caller: name(caller), reading)
                    let answer = try await handler(request, caller)
                    return Reply(
                        status: E.route.status, headers: answer.headers,
                        content: .streamed(answer.responseBody(isCompressed: false)), streamed: answer)
                }
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
        let (admit, reading) = (admit, reading)
        operations.append(
            Operation(E.route, isOpen: true) { call in
                try admit(call.request.method, call.info)
                var info = call.info
                let request = try await call.read(E.self, into: &info, caller: "", reading)
                return try respond(
                    try await reading.inTurn(info.idempotencyKey) { try await handler(request, info) })
            })
    }

    /// Adds a path that is not an operation of the contract, such as health or stored objects. Its last segment may be
    /// `{name*}`, which matches the rest of the path.
    public mutating func plain(
        _ method: HTTPRequest.Method, _ path: String,
        use handler: @escaping @Sendable (Request, _ captures: [(name: String, value: String)]) async throws -> Response
    ) {
        plain.append(
            PlainRoute(method: method, path: path) { request, captures, _ in
                let response = try await handler(request.request, captures)
                return Reply(status: response.status, headers: response.headers, content: .streamed(response.body))
            })
    }

    /// Adds a path that is not an operation of the contract, with a handler that makes the whole reply.
    mutating func plain(
        _ method: HTTPRequest.Method, _ path: String,
        use handler: @escaping @Sendable (ReceivedRequest, RequestInfo) async throws -> Reply
    ) {
        plain.append(PlainRoute(method: method, path: path) { request, _, info in try await handler(request, info) })
    }

    /// Adds a document that needs no credentials and is not an operation of the contract. As answers in JSON are, it is
    /// compressed, and answered with 304 to a client that has it already, unless its headers say `no-store`.
    public mutating func document(
        _ path: String, headers: HTTPFields, body: @escaping @Sendable () async throws -> ByteBuffer
    ) {
        plain.append(
            PlainRoute(method: .get, path: path) { _, _, _ in
                Reply(status: .ok, headers: headers, content: .bytes(try await body()), isDocument: true)
            })
    }

    /// Adds a page for people, which needs no credentials and is not an operation of the contract.
    public mutating func page(
        _ path: String,
        use handler:
            @escaping @Sendable (_ captures: [(name: String, value: String)], RequestInfo) async throws ->
            Answer<Empty>
    ) {
        plain.append(
            PlainRoute(method: .get, path: path) { _, captures, info in try respond(try await handler(captures, info)) }
        )
    }
}

/// The dependencies of reading a request.
struct Reading: Sendable {
    let spool: (any UploadSpool)?
    let secrets: @Sendable () -> [[UInt8]]
    private let turns = KeyedLock()

    init(spool: (any UploadSpool)?, secrets: @escaping @Sendable () -> [[UInt8]]) {
        self.spool = spool
        self.secrets = secrets
    }

    /// Runs a handler while no other request of this node with the same key has its turn.
    ///
    /// A repeat that comes before the first request is answered waits here, without a place in the queue of pictures or of
    /// passwords and without a connection to the database, and then finds the first answer. Between nodes the row of the
    /// key decides.
    func inTurn<Output>(_ key: IdempotencyKey?, _ handler: () async throws -> Output) async throws -> Output {
        guard let key else { return try await handler() }
        return try await turns.withLock("\(key.scope)\n\(key.text)", handler)
    }
}

struct PlainRoute: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let handler:
        nonisolated(nonsending) @Sendable (
            ReceivedRequest, [(name: String, value: String)], RequestInfo
        ) async throws -> Reply
}

/// An endpoint with its handler, without its types.
final class Operation: Sendable {
    let route: Route
    /// Whether the operation needs no credentials.
    let isOpen: Bool
    let answerSize = ExpectedSize()
    let run: nonisolated(nonsending) @Sendable (Call) async throws -> Reply

    init(
        _ route: Route, isOpen: Bool = false,
        run: nonisolated(nonsending) @escaping @Sendable (Call) async throws -> Reply
    ) {
        self.route = route
        self.isOpen = isOpen
        self.run = run
    }
}

/// An answer before compression and headers.
struct Reply: Sendable {
    enum Content: Sendable {
        case bytes(ByteBuffer)
        case streamed(ResponseBody)
    }

    var status: HTTPResponse.Status
    var headers: HTTPFields
    var content: Content = .bytes(ByteBuffer())
    /// Whether the content is JSON, of which the headers need not say so yet.
    var isJSON = false
    /// Whether clients keep the answer and it is compressed although it is not JSON.
    var isDocument = false
    /// The operation's answer whose body is streamed; nil for other bodies, such as those of files.
    var streamed: StreamedAnswer?
    /// The name of who has asked; nil for an answer to a stranger.
    var caller: String?
    /// The room for the answer, until its connection counts the bytes that the client has not taken.
    var hold: MemoryHold?

    /// The size in bytes; nil when it is known only at the end.
    var size: Int? {
        switch content {
        case .bytes(let bytes): bytes.readableBytes
        case .streamed(let body): body.contentLength
        }
    }
}

/// One request on its way to a handler.
struct Call: Sendable {
    let request: ReceivedRequest
    let captures: [(name: String, value: String)]
    var query: Substring?
    let info: RequestInfo
    /// The memory that the body takes; nil for a small body, which is not counted.
    let hold: MemoryHold?
    /// Refuses texts that strangers would read; nil where any is taken.
    let review: (@Sendable ([String]) throws -> Void)?

    static let maximumBody = 1_048_576

    /// Returns the call with another query.
    func asking(_ query: Substring?) -> Call {
        var call = self
        call.query = query
        return call
    }

    /// Reads the request in the contracts' order of checks: coding, size, body, fields.
    nonisolated(nonsending) func read<E: Endpoint>(
        _ type: E.Type, into info: inout RequestInfo, caller: @autoclosure () -> String, _ reading: Reading
    ) async throws -> E {
        if case .query = E.route.form {} else { try request.headers.requireNoCoding(E.API.errorMessages) }
        var source = RequestCoding.Source(captures: captures)
        var form: Multipart?
        switch E.route.form {
        case .query:
            source.items = FormURLEncoded.items(query ?? "")
        case .json:
            source.body = try await json(for: E.API.self)
        case .multipart(let rules):
            form = try await Multipart.receive(
                request.request, rules: rules, into: reading.spool, errorMessages: E.API.errorMessages)
        case .jsonOrMultipart(let rules):
            if Multipart.isForm(request.headers) {
                form = try await Multipart.receive(
                    request.request, rules: rules, into: reading.spool, errorMessages: E.API.errorMessages)
            } else {
                source.body = try await json(for: E.API.self)
            }
        }
        if let form {
            source.items = form.items
            if let field = form.field { source.uploads = [field: form.uploads] }
        }
        guard E.route.acceptsIdempotencyKey, let key = request.headers.value(of: .idempotencyKey) else {
            return try decoded(from: source)
        }
        guard IdempotencyKey.isValid(key) else { throw Problem(.badRequest, E.API.errorMessages.invalidIdempotencyKey) }
        let endpoint: E = try decoded(from: source)
        // The fingerprint covers the fields and not the bytes, because encoders may write an object's members in another
        // order each time.
        let fields = form == nil ? try JSONBody.encode(endpoint).readableBytesView : nil
        let fingerprints = reading.secrets().map { secret in
            var fingerprint = HMAC<SHA256>(key: SymmetricKey(data: secret))
            form?.fingerprint(into: &fingerprint)
            if let fields { fingerprint.update(data: fields) }
            return Array(fingerprint.finalize())
        }
        let path = request.head.target.prefix { $0 != "?" }
        info.idempotencyKey = IdempotencyKey(
            scope: "\(caller()) \(request.method.rawValue) \(path)", text: key,
            fingerprints: fingerprints, hours: E.route.keyHours)
        return endpoint
    }

    private func decoded<E: Endpoint>(from source: RequestCoding.Source) throws -> E {
        let endpoint = try RequestCoding.decode(E.self, from: source)
        if let review, let request = endpoint as? any PublishesTexts {
            try review(request.publishedTexts.compactMap(\.self))
        }
        return endpoint
    }

    nonisolated(nonsending) private func json<API: ServiceAPI>(for api: API.Type) async throws -> [UInt8] {
        let body = try await collect(upTo: Self.maximumBody, else: API.errorMessages.bodyTooLarge)
        return Array(body.readableBytesView)
    }

    nonisolated(nonsending) private func collect(
        upTo limit: Int, else message: @autoclosure () -> String
    ) async throws -> ByteBuffer {
        var tooLarge: Problem { Problem(.contentTooLarge, message(), headers: [.connection: "close"]) }
        let declared: Int? = if case .length(let size) = request.head.body { size } else { nil }
        if let declared, declared > limit { throw tooLarge }
        // A body without a declared size may be as large as the limit.
        let size = declared ?? (request.head.body == .chunked ? limit : 0)
        if size > MemoryBudget.small { try await hold?.take(size) }
        if case .whole(let bytes) = request.body {
            guard bytes.readableBytes <= limit else { throw tooLarge }
            return bytes
        }
        var body = ByteBuffer()
        if size > MemoryBudget.small { body.reserveCapacity(size) }
        for try await chunk in request.pieces {
            guard body.readableBytes + chunk.readableBytes <= limit else { throw tooLarge }
            body.writeImmutableBuffer(chunk)
        }
        // When a connection ends or a task is cancelled, the pieces end as if they were complete.
        if declared.map({ body.readableBytes < $0 }) ?? Task.isCancelled { throw BodyCutShort() }
        return body
    }
}

/// Adds to an answer or an error who has asked, and the headers of answers to that caller.
nonisolated(nonsending) private func replying(
    to caller: String, in dialect: (any Dialect)? = nil,
    headers: nonisolated(nonsending) () async throws -> HTTPFields,
    _ answer: nonisolated(nonsending) () async throws -> Reply
) async throws -> Reply {
    var fields = HTTPFields()
    do {
        fields = try await headers()
        var reply = try await answer()
        if !fields.isEmpty { reply.headers.append(contentsOf: fields) }
        reply.caller = caller
        return reply
    } catch {
        throw Refusal(reason: error, headers: fields, caller: caller, dialect: dialect)
    }
}

/// An error with headers that its answer must have, and the form of its answer.
struct Refusal: Error {
    let reason: any Error
    let headers: HTTPFields
    let caller: String
    let dialect: (any Dialect)?
}

func respond<Output: Encodable>(_ answer: Answer<Output>) throws -> Reply {
    switch answer.content {
    case .output(let output):
        if Output.self == Empty.self { return Reply(status: answer.status, headers: answer.headers) }
        return Reply(
            status: answer.status, headers: answer.headers, content: .bytes(try JSONBody.encode(output)), isJSON: true)
    case .encoded(let body):
        let isJSON = !body.isEmpty && !answer.headers.contains(.contentType)
        return Reply(
            status: answer.status, headers: answer.headers, content: .bytes(ByteBuffer(bytes: body)), isJSON: isJSON)
    }
}
