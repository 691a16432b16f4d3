import Contract
import ContractClient
import ContractExamples
import Foundation
import HTTPTypes

/// A server in memory: reads requests as the real one does, and answers them without a network.
///
/// The path determines the operation; then the token is checked, and the request is decoded and validated. Refusals
/// have the API's error shape. It may be used from any task.
public final class MockServer<API: ServiceAPI>: Sendable {
    typealias Handler = @Sendable (any Endpoint) async throws -> TransportResponse

    /// A refusal that a test has set.
    struct Refusal: Sendable {
        let problem: Problem
        /// The number of remaining refusals; nil for any number.
        var times: Int?
    }

    struct State: Sendable {
        /// The answers of the API's mock by signature, and the answers that a test has set in their place.
        var examples: [String: Handler] = [:]
        var handlers: [String: Handler] = [:]
        var refusals: [String: Refusal] = [:]
        var delay = Duration.zero
        var delays: [String: Duration] = [:]
        var isOffline = false
        var requests: [any Endpoint] = []
        var connections: [MockConnection] = []
    }

    /// The URL to which the contract's paths are appended. No server listens there.
    public let baseURL: URL
    let state = Locked(State())
    private let examples: Examples?
    private let sleep: @Sendable (Duration) async throws -> Void
    private let token: @Sendable (HTTPFields) -> String?
    private let authorize: @Sendable (_ token: String?) throws -> Void
    private let accept: @Sendable (MockConnection) throws -> MockConnection.Receiver

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - examples: The answers of operations for which the mock has none of its own.
    ///   - sleep: Waits for the delays. A test replaces it.
    ///   - token: Returns the caller's credentials; by default the bearer token.
    ///   - authorize: Checks the token of an operation that needs a caller; throws a `Problem` to refuse it.
    ///   - accept: Accepts a new socket; throws `SocketRefused` to refuse it.
    public init(
        baseURL: URL, examples: Examples? = nil, sleep: @escaping @Sendable (Duration) async throws -> Void,
        token: @escaping @Sendable (HTTPFields) -> String? = \.bearerToken,
        authorize: @escaping @Sendable (_ token: String?) throws -> Void,
        accept: @escaping @Sendable (MockConnection) throws -> MockConnection.Receiver = { _ in
            throw SocketRefused(status: 404, body: [])
        }
    ) {
        self.baseURL = baseURL
        self.examples = examples
        self.sleep = sleep
        self.token = token
        self.authorize = authorize
        self.accept = accept
    }

    /// Sets the answer of an operation unless a test sets another, with the status of its route.
    public func example<E: Endpoint>(
        of operation: E.Type, _ handle: @escaping @Sendable (E) async throws -> E.Output
    ) where E.API == API {
        example(answering: operation) { Answer(E.route.status, try await handle($0)) }
    }

    /// Sets the answer of an operation unless a test sets another, with a status and headers.
    public func example<E: Endpoint>(
        answering operation: E.Type, _ handle: @escaping @Sendable (E) async throws -> Answer<E.Output>
    ) where E.API == API {
        state.use { $0.examples[E.signature] = Self.handler(handle) }
    }

    static func handler<E: Endpoint>(_ handle: @escaping @Sendable (E) async throws -> Answer<E.Output>) -> Handler {
        { request in
            guard let request = request as? E else { preconditionFailure("not a \(E.self): \(request)") }
            let answer = try await handle(request)
            var headers = answer.headers
            switch answer.content {
            case .output(is Empty):
                return TransportResponse(status: answer.status, headers: headers)
            case .output(let output):
                headers[.contentType] = "application/json"
                return TransportResponse(status: answer.status, headers: headers, body: try json(output))
            case .encoded(let body):
                headers[.contentType] = headers[.contentType] ?? "application/json"
                return TransportResponse(status: answer.status, headers: headers, body: body)
            }
        }
    }

    // MARK: Requests

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        try reach()
        if let data = Self.content(of: request.url) { return TransportResponse(status: .ok, body: data) }
        do {
            return try await respond(to: request, progress)
        } catch let problem as Problem {
            var headers = problem.headers
            headers[.contentType] = "application/json"
            headers[.requestID] = "mock"
            let failure = API.Failure(problem, requestID: "mock")
            return TransportResponse(status: problem.status, headers: headers, body: try Self.json(failure))
        }
    }

    private static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    private func respond(to request: TransportRequest, _ progress: UploadProgress?) async throws -> TransportResponse {
        let (operation, captures) = try find(request)
        let signature = operation.signature
        let decoded = Result { try decode(operation, captures, request) }
        let delay = state.use { state in
            if case .success(let decoded) = decoded { state.requests.append(decoded) }
            return state.delays[signature] ?? state.delay
        }
        let size = try request.body.size()
        progress?(0, size)
        if delay > .zero { try await sleep(delay) }
        try reach()
        progress?(size, size)

        if operation is any AuthenticatedEndpoint.Type { try authorize(token(request.headers)) }
        let value = try decoded.get()
        let handler = try state.use { state in
            if let refusal = state.takeRefusal(signature) { throw refusal }
            return state.handlers[signature] ?? state.examples[signature]
        }
        if let handler { return try await handler(value) }
        guard let answer = examples?[signature]?.answers.first(where: { $0.inclusion == nil }) else {
            throw Problem(.notImplemented, "The mock has no answer to \(signature)")
        }
        var headers: HTTPFields = [:]
        headers[.contentType] = answer.mediaType
        return TransportResponse(
            status: .init(code: answer.status), headers: headers, body: Array((answer.body?.json() ?? "").utf8))
    }

    private func reach() throws {
        if state.use({ $0.isOffline }) { throw URLError(.notConnectedToInternet) }
    }

    /// Returns the operation at a path. A literal step takes precedence over a field.
    private func find(_ request: TransportRequest) throws -> (any Endpoint.Type, [(name: String, value: String)]) {
        let base = baseURL.path.split(separator: "/").count
        let path = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? ""
        let steps = path.split(separator: "/").dropFirst(base).map { $0.removingPercentEncoding ?? String($0) }
        let found = API.endpoints.compactMap { operation in
            Self.captures(steps, operation.route.segments).map { (operation, $0) }
        }
        guard !found.isEmpty else { throw Problem(.notFound, API.errorMessages.notFound) }
        let fitting = found.filter { $0.0.route.method == request.method }
        guard let match = fitting.min(by: { $0.1.count < $1.1.count }) else {
            let allowed = found.map { $0.0.route.method.rawValue }.joined(separator: ", ")
            throw Problem(.methodNotAllowed, API.errorMessages.methodNotAllowed, headers: [.allow: allowed])
        }
        return match
    }

    private static func captures(
        _ steps: [String], _ segments: [Route.Segment]
    ) -> [(name: String, value: String)]? {
        guard steps.count == segments.count else { return nil }
        var captures: [(name: String, value: String)] = []
        for (step, segment) in zip(steps, segments) {
            switch segment {
            case .literal(let text): guard step == text else { return nil }
            case .capture(let name): captures.append((name, step))
            }
        }
        return captures
    }

    private func decode<E: Endpoint>(
        _ operation: E.Type, _ captures: [(name: String, value: String)], _ request: TransportRequest
    ) throws -> any Endpoint {
        var source = RequestCoding.Source(captures: captures)
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        source.items = query.map { ($0.name, $0.value ?? "") }
        if case .query = E.route.form {} else { try request.headers.requireNoCoding(E.API.errorMessages) }
        switch (E.route.form, request.body) {
        case (.multipart(let rules), _):
            let form = try MockForm(request, rules: rules)
            (source.items, source.uploads) = (form.fields, form.uploads)
        case (.jsonOrMultipart(let rules), _) where request.headers[.contentType]?.hasPrefix("multipart/") == true:
            let form = try MockForm(request, rules: rules)
            (source.items, source.uploads) = (form.fields, form.uploads)
        case (.json, .bytes(let bytes)), (.jsonOrMultipart, .bytes(let bytes)): source.body = bytes
        default: break
        }
        let decoded = try RequestCoding.decode(operation, from: source)
        // The mock has no resources to look up before the fields are validated.
        if E.fieldsComeLast { try decoded.validate() }
        return decoded
    }

    /// Returns the bytes of a `data:` URL (RFC 2397).
    private static func content(of url: URL) -> [UInt8]? {
        guard url.scheme == "data", let comma = url.absoluteString.firstIndex(of: ",") else { return nil }
        return Data(base64Encoded: String(url.absoluteString[comma...].dropFirst())).map { [UInt8]($0) }
    }

    // MARK: Sockets

    func open(_ url: URL, headers: HTTPFields) throws -> MockConnection {
        try reach()
        let connection = MockConnection(url: url, headers: headers)
        connection.begin(try accept(connection))
        state.use { state in
            state.connections.removeAll { !$0.isOpen }
            state.connections.append(connection)
        }
        return connection
    }

    func dropSockets() {
        let connections = state.use { state in
            defer { state.connections = [] }
            return state.connections
        }
        for connection in connections { connection.end(1006) }
    }
}

extension MockServer.State {
    fileprivate mutating func takeRefusal(_ signature: String) -> Problem? {
        guard let refusal = refusals[signature] else { return nil }
        if let times = refusal.times {
            refusals[signature] = times > 1 ? .init(problem: refusal.problem, times: times - 1) : nil
        }
        return refusal.problem
    }
}

extension TransportRequest.Body {
    /// Returns the size in bytes.
    fileprivate func size() throws -> Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let url): Int64(try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
        }
    }
}
