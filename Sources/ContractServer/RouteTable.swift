import Contract
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Finds the operation for a request, and renders whatever comes of it: the one place where errors become answers.
///
/// Hummingbird's own router answers unknown paths and wrong methods with an empty 404 and leaves captures
/// percent-encoded; contracts want their error shape, a 405 with `Allow`, and an unknown path before the credentials.
public struct RouteTable<API: ServiceAPI>: HTTPResponder {
    public typealias Context = BasicConnectionContext

    private let root: Node
    private let options: Options

    public struct Options: Sendable {
        public var logger: Logger
        /// Those whose `X-Forwarded-For` is believed.
        public var trustedProxies: TrustedProxies
        /// Knows the errors of the layers below: a database that is away is a 503.
        public var problem: @Sendable (any Error) -> Problem?
        /// Whether a failure that nobody foresaw says why: for development.
        public var showsDetails: Bool

        public init(
            logger: Logger, trustedProxies: TrustedProxies = .init(), showsDetails: Bool = false,
            problem: @escaping @Sendable (any Error) -> Problem? = { _ in nil }
        ) {
            self.logger = logger
            self.trustedProxies = trustedProxies
            self.showsDetails = showsDetails
            self.problem = problem
        }
    }

    public init<Caller>(_ routes: Routes<API, Caller>, options: Options) {
        var root = Node()
        for operation in routes.operations {
            let base = Route(.get, API.basePath, in: .query).segments
            for method in [operation.route.method] + operation.route.alternatives {
                root.insert((base + operation.route.segments)[...], method, .operation(operation))
            }
        }
        for plain in routes.plain {
            let segments = Route(plain.method, plain.path, in: .query).segments
            root.insert(segments[...], plain.method, .plain(plain))
        }
        self.root = root
        self.options = options
    }

    /// `METHOD /path` of every operation and plain route.
    public var signatures: [String] { root.signatures }

    public func respond(to request: Request, context: Context) async throws -> Response {
        await respond(to: request, peer: context.peer)
    }

    /// Answers a request. Never throws: whatever goes wrong has an answer.
    public func respond(to request: Request, peer: String?) async -> Response {
        let start = ContinuousClock.now
        let info = RequestInfo(
            id: RequestID.make(for: request.headers),
            address: ClientAddress(peer: peer, headers: request.headers, trusting: options.trustedProxies),
            headers: request.headers)
        warn(of: peer, request.headers)
        var route: String?
        var response: Response
        do {
            let target = request.head.path ?? "/"
            // By bytes, here and below: stepping through characters costs more than all else that finds the route.
            let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
            let query = mark.map { target[target.utf8.index(after: $0)...] }
            let (node, captures) = try find(target[..<(mark ?? target.endIndex)])
            route = node.path
            switch try node.endpoint(for: request.method, API.phrases) {
            case .operation(let operation):
                response = try await operation.run(
                    Call(request: request, captures: captures, query: query, info: info))
            case .plain(let plain):
                response = try await plain.handler(request, captures)
            }
        } catch {
            response = render(error, info)
        }
        response.headers[.requestID] = info.id
        log(request, route, response, info, ContinuousClock.now - start)
        return response
    }

    private func find(_ path: Substring) throws -> (Node, [(name: String, value: String)]) {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { throw Problem(.notFound, API.phrases.notFound) }
        let steps = path.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard let found = root.find(steps[...], API.captureForm) else { throw Problem(.notFound, API.phrases.notFound) }
        return found
    }

    private func render(_ error: any Error, _ info: RequestInfo) -> Response {
        if let refusal = error as? Refusal {
            var response = render(refusal.reason, info)
            response.headers.append(contentsOf: refusal.headers)
            return response
        }
        var problem: Problem
        if let known = error as? Problem ?? options.problem(error) {
            problem = known
            if known.status.code >= 500 {
                options.logger.warning(
                    "refused",
                    metadata: ["request": "\(info.id)", "status": "\(known.status.code)", "error": "\(error)"])
            }
        } else {
            options.logger.error("request failed", metadata: ["request": "\(info.id)", "error": "\(error)"])
            problem = Problem(.internalServerError, API.phrases.internalError)
            if options.showsDetails { problem.details = "\(error)" }
        }
        var headers = problem.headers
        headers[.contentType] = "application/json"
        let body = try? JSONBody.encode(API.Failure(problem, requestID: info.id))
        return Response(status: problem.status, headers: headers, body: .init(byteBuffer: body ?? ByteBuffer()))
    }

    /// Tells the operator, once, of a proxy that should be trusted and is not: limits would count all its clients as one.
    private func warn(of peer: String?, _ headers: HTTPFields) {
        guard options.trustedProxies.isFirstSignOfForgottenProxy(peer, headers) else { return }
        options.logger.warning(
            "X-Forwarded-For of a peer that is no trusted proxy is ignored; name it with --trusted-proxy if it is yours",
            metadata: ["peer": "\(peer ?? "unknown")"])
    }

    private func log(
        _ request: Request, _ route: String?, _ response: Response, _ info: RequestInfo, _ duration: Duration
    ) {
        // The route, not the path: a query may hold what does not belong into a log.
        options.logger.info(
            "request",
            metadata: [
                "request": "\(info.id)", "method": "\(request.method.rawValue)", "route": "\(route ?? "unknown")",
                "status": "\(response.status.code)", "microseconds": "\(Int64(duration / .microseconds(1)))",
                "address": "\(info.address)",
            ])
    }
}

/// What Hummingbird makes for each request: only the peer's address matters here.
public struct BasicConnectionContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    let peer: String?

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}

/// A step of the paths. Literals win over captures, so that `/users/search` is not a user.
struct Node: Sendable {
    enum Endpoint: Sendable {
        case operation(Operation)
        case plain(PlainRoute)
    }

    private(set) var path = ""
    private var literals: [String: Node] = [:]
    private var captures: [(name: String, node: Node)] = []
    /// The rest of the path, under one name; none or one.
    private var rest: [(name: String, node: Node)] = []
    private var endpoints: [(method: HTTPRequest.Method, endpoint: Endpoint)] = []

    private var children: [Node] { literals.values + captures.map(\.node) + rest.map(\.node) }

    mutating func insert(_ segments: ArraySlice<Route.Segment>, _ method: HTTPRequest.Method, _ endpoint: Endpoint) {
        guard let first = segments.first else { return endpoints.append((method, endpoint)) }
        let remaining = segments.dropFirst()
        switch first {
        case .literal(let text):
            literals[text, default: Node(path: path + "/" + text)].insert(remaining, method, endpoint)
        case .capture(let name) where name.last == "*":
            var node = rest.first?.node ?? Node(path: path + "/{\(name)}")
            node.insert(remaining, method, endpoint)
            rest = [(String(name.dropLast()), node)]
        case .capture(let name):
            // `/chats/{id}` and `/chats/{chat}/…` may name one step differently.
            if let index = captures.firstIndex(where: { $0.name == name }) {
                captures[index].node.insert(remaining, method, endpoint)
            } else {
                var node = Node(path: path + "/{\(name)}")
                node.insert(remaining, method, endpoint)
                captures.append((name, node))
            }
        }
    }

    init(path: String = "") { self.path = path }

    func find(_ steps: ArraySlice<Substring>, _ form: CaptureForm) -> (Node, [(name: String, value: String)])? {
        guard let first = steps.first else { return endpoints.isEmpty ? nil : (self, []) }
        let isEncoded = first.utf8.contains(UInt8(ascii: "%"))
        let text = isEncoded ? FormURLEncoded.percentDecode(first, plusIsSpace: false) : String(first)
        let remaining = steps.dropFirst()
        if let found = literals[text]?.find(remaining, form) { return found }
        if form.admits(text) {
            for (name, node) in captures {
                if let (found, inner) = node.find(remaining, form) { return (found, [(name, text)] + inner) }
            }
        }
        return rest.first.map { ($0.node, [($0.name, steps.joined(separator: "/"))]) }
    }

    func endpoint(for method: HTTPRequest.Method, _ phrases: Phrases) throws(Problem) -> Endpoint {
        if let endpoint = endpoints.first(where: { $0.method == method })?.endpoint { return endpoint }
        let allowed = endpoints.map(\.method.rawValue).joined(separator: ", ")
        throw Problem(.methodNotAllowed, phrases.methodNotAllowed, headers: [.allow: allowed])
    }

    var signatures: [String] {
        endpoints.map { "\($0.method.rawValue) \(path)" } + children.flatMap(\.signatures)
    }
}

extension CaptureForm {
    fileprivate func admits(_ text: String) -> Bool {
        switch self {
        case .digits: !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        case .text: !text.isEmpty
        }
    }
}
