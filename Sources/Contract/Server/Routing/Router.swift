import Contract
import CoreMetrics
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
public import Tracing

/// Finds the operation for a request, and renders its result: this is the one place where errors become answers.
///
/// Hummingbird's own router answers unknown paths and wrong methods with an empty 404 and leaves captures
/// percent-encoded; contracts want their error shape, a 405 with `Allow`, and an unknown path before the credentials.
public final class Router<API: ServiceAPI>: Sendable {
    private let root: Node
    private let options: Options
    private let tags: EntityTags
    /// Records requests that match no route.
    private let unmatched = RequestMetrics(route: "unknown", method: "any")
    private let inFlight = Meter(label: "concord_http_requests_in_flight")

    public struct Options: Sendable {
        public var logger: Logger
        /// The proxies whose `X-Forwarded-For` counts.
        public var trustedProxies: TrustedProxies
        /// Translates the errors of lower layers: an unreachable database becomes a 503.
        public var problem: @Sendable (any Error) -> Problem?
        /// Whether an unhandled error is described in the answer: development mode only.
        public var showsDetails: Bool
        /// The memory for requests and answers, which all routers of a process share.
        public var memory: RequestMemory
        /// Records a span for each request; nil for none.
        public var tracer: (any Tracer)?
        /// Whether the listener speaks TLS.
        public var isEncrypted: Bool
        /// Whether links in answers begin with the host that the client has asked (``LinkOrigin``).
        public var linksFollowHost: Bool
        /// Refuses texts that strangers would read (`PublishesTexts`), by throwing a `Problem`; nil for an API that takes any.
        public var review: (@Sendable (_ texts: [String]) throws -> Void)?

        public init(
            logger: Logger, trustedProxies: TrustedProxies = .init(), showsDetails: Bool = false,
            memory: RequestMemory = RequestMemory(), tracer: (any Tracer)? = nil, isEncrypted: Bool = false,
            linksFollowHost: Bool = false,
            problem: @escaping @Sendable (any Error) -> Problem? = { _ in nil }
        ) {
            self.logger = logger
            self.trustedProxies = trustedProxies
            self.showsDetails = showsDetails
            self.memory = memory
            self.tracer = tracer
            self.isEncrypted = isEncrypted
            self.linksFollowHost = linksFollowHost
            self.problem = problem
        }
    }

    public init<Caller>(_ routes: Routes<API, Caller>, options: Options) {
        let root = Node()
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
        tags = EntityTags(secrets: routes.secrets)
    }

    /// The memory for requests and answers, which the listener's connections share.
    public var memory: RequestMemory { options.memory }

    /// The method and path of every operation and plain route.
    public var signatures: [String] { root.signatures }

    /// Answers a request whose whole body is there. It never throws: every error has an answer.
    public func respond(to request: Request, peer: String?) async -> Response {
        Response(await reply(to: ReceivedRequest(request), peer: Peer(peer)))
    }

    /// Answers a request.
    ///
    /// - Parameter connection: The connection from which a large body is requested; nil when the whole body is there.
    nonisolated(nonsending) func reply(
        to request: ReceivedRequest, peer: Peer, from connection: ConnectionReference? = nil
    ) async -> Reply {
        let start = ContinuousClock.now
        let info = RequestInfo(
            id: RequestID.make(for: request.headers),
            address: ClientAddress(peer: peer, headers: request.headers, trusting: options.trustedProxies),
            headers: request.headers,
            origin: RequestOrigin(
                request.head, peer: peer.text, trusting: options.trustedProxies, isEncrypted: options.isEncrypted))
        let hold = request.head.isReadOnDemand ? MemoryHold(options.memory.bodies) : nil
        defer { hold?.release() }
        warn(of: peer.text, request.headers)
        inFlight.increment()
        defer { inFlight.decrement() }
        let trace = RequestTrace(request.head, options.tracer)
        var outcome = await trace.run {
            guard options.linksFollowHost else { return await answer(request, info, hold, from: connection) }
            return await LinkOrigin.$asked.withValue(info.origin) {
                await answer(request, info, hold, from: connection)
            }
        }
        // The fields that nearly every answer has.
        outcome.reply.headers.reserveCapacity(8)
        outcome.reply.headers.set(HTTPField(name: .requestID, value: info.id))
        let (status, duration) = (outcome.reply.status, ContinuousClock.now - start)
        // Handshakes are counted where they are decided on.
        if request.refusal == nil { (outcome.metrics ?? unmatched).record(status.code, duration) }
        trace.end(request.method, outcome.route, status, api: API.name, request: info.id)
        log(request, outcome, info, trace.id, duration)
        let isSecret = outcome.isOpen && !request.changesNothing
        guard case .bytes(let bytes) = outcome.reply.content, bytes.readableBytes > Self.large else {
            outcome.reply.finish(for: request, isSecret: isSecret, credentials: API.credentials, tags: tags)
            return outcome.reply
        }
        // Large answers are hashed and compressed for a millisecond or more.
        return await outsideOfEventLoops { [reply = outcome.reply, tags] in
            var reply = reply
            reply.finish(for: request, isSecret: isSecret, credentials: API.credentials, tags: tags)
            return reply
        }
    }

    /// The size in bytes from which making an answer takes so long that it is made outside of the event loops.
    private static var large: Int { 65_536 }

    nonisolated(nonsending) private func answer(
        _ request: ReceivedRequest, _ info: RequestInfo, _ hold: MemoryHold?, from connection: ConnectionReference?
    ) async -> Outcome {
        var outcome = Outcome(reply: Reply(status: .ok, headers: [:]))
        do {
            let target = request.head.target
            // This works on bytes, here and below, because iterating over characters costs more than the rest of the
            // lookup.
            let mark = target.firstIndex(of: UInt8(ascii: "?")).map {
                target.utf8.index(target.startIndex, offsetBy: $0)
            }
            let query = mark.map { target[target.utf8.index(after: $0)...] }
            if let refusal = request.refusal {
                // The path is that of a socket, letter by letter.
                outcome.route = String(target[..<(mark ?? target.endIndex)])
                outcome.reply = try Reply(refusal)
                return outcome
            }
            guard let (node, captures) = find(target[..<(mark ?? target.endIndex)]) else {
                throw Problem(.notFound, API.errorMessages.notFound)
            }
            outcome.route = node.path
            guard let (endpoint, metrics) = node.endpoint(for: request.method) else {
                throw Problem(
                    .methodNotAllowed, API.errorMessages.methodNotAllowed, headers: [.allow: node.allowedMethods])
            }
            outcome.metrics = metrics
            switch endpoint {
            case .operation(let operation):
                outcome.isOpen = operation.isOpen
                let call = Call(
                    request: request.demanding(from: connection, hold), captures: captures, query: query, info: info,
                    hold: hold, review: options.review)
                if operation.answerSize.value > Self.large || request.head.isReadOnDemand {
                    outcome.reply = try await outsideOfEventLoops {
                        try await operation.run(call, in: options.memory.answers, for: connection)
                    }
                } else {
                    outcome.reply = try await operation.run(call, in: options.memory.answers, for: connection)
                }
            case .plain(let plain):
                outcome.reply = try await plain.handler(request.demanding(from: connection, hold), captures, info)
            }
        } catch {
            outcome.reply = render(error, info)
        }
        return outcome
    }

    private func find(_ path: Substring) -> (Node, [(name: String, value: String)])? {
        var (path, captures) = (path, [(name: String, value: String)]())
        let node = path.withUTF8 { bytes -> Node? in
            let slash = UInt8(ascii: "/")
            guard bytes.first == slash else { return nil }
            // The root has no steps, and every other path one for each slash.
            let steps = UnsafeRawBufferPointer(bytes.count == 1 ? UnsafeBufferPointer(rebasing: bytes[1...]) : bytes)
            if let found = root.find(steps, API.captureForm, &captures) { return found }
            guard API.ignoresTrailingSlash, steps.last == slash, steps.dropLast().contains(slash) else { return nil }
            return root.find(UnsafeRawBufferPointer(rebasing: steps.dropLast()), API.captureForm, &captures)
        }
        return node.map { ($0, captures) }
    }

    private func render(_ error: any Error, _ info: RequestInfo) -> Reply {
        if let refusal = error as? Refusal {
            var reply = render(refusal.reason, info)
            if let dialect = refusal.dialect, let problem = refusal.reason as? Problem, let json = reply.json {
                reply.json = dialect.refusal(json, of: problem)
            }
            reply.headers.append(contentsOf: refusal.headers)
            reply.caller = refusal.caller
            return reply
        }
        if let unready = error as? Unready {
            var reply = render(unready.problem, info)
            if case .bytes(let body) = reply.content { reply.content = .bytes(Unready.adding(unready.parts, to: body)) }
            return reply
        }
        var problem: Problem
        if let known = error as? Problem ?? options.problem(error) {
            problem = known
            if known.status.code >= 500 {
                options.logger.warning(
                    "refused",
                    metadata: [
                        "request": "\(info.id)", "status": .stringConvertible(known.status.code), "error": "\(error)",
                    ])
            }
        } else if error.isBrokenOff {
            return Reply(status: .clientClosedRequest, headers: [.connection: "close"])
        } else {
            options.logger.error("request failed", metadata: ["request": "\(info.id)", "error": "\(error)"])
            problem = Problem(.internalServerError, API.errorMessages.internalError)
            if options.showsDetails { problem.details = "\(error)" }
        }
        let body = try? JSONBody.encode(API.Failure(problem, requestID: info.id))
        return Reply(
            status: problem.status, headers: problem.headers, content: .bytes(body ?? ByteBuffer()), isJSON: true)
    }

    /// Warns the operator, once, about a proxy that is not trusted: limits would count all its clients as one.
    private func warn(of peer: String?, _ headers: HTTPFields) {
        guard options.trustedProxies.isFirstSignOfForgottenProxy(peer, headers) else { return }
        options.logger.warning(
            "X-Forwarded-For of a peer that is no trusted proxy is ignored; name it with --trusted-proxy if it is yours",
            metadata: ["peer": "\(peer ?? "unknown")"])
    }

    private func log(
        _ request: ReceivedRequest, _ outcome: Outcome, _ info: RequestInfo, _ trace: String?, _ duration: Duration
    ) {
        guard options.logger.logLevel <= .info else { return }
        // The route is logged and not the path: a query may contain what does not belong in a log.
        var metadata: Logger.Metadata = [
            "request": "\(info.id)", "method": "\(request.method.rawValue)", "route": "\(outcome.route ?? "unknown")",
            "status": .stringConvertible(outcome.reply.status.code),
            "microseconds": .stringConvertible(Int64(duration / .microseconds(1))), "address": "\(info.address)",
        ]
        if let trace { metadata["trace"] = "\(trace)" }
        // The word before it says of which kind the caller is, which is the same in all lines of an API.
        if let caller = outcome.reply.caller?.split(separator: " ", maxSplits: 1).last {
            metadata["user"] = "\(caller)"
        }
        options.logger.info("request", metadata: metadata)
    }
}

extension Reply {
    /// - Throws: A `Problem` for a refusal without a body.
    fileprivate init(_ refusal: ConnectionUpgrade.Refusal) throws(Problem) {
        guard refusal.body.readableBytes > 0 else {
            throw Problem(refusal.status, refusal.status.reasonPhrase, headers: refusal.fields)
        }
        self.init(status: refusal.status, headers: refusal.fields, content: .bytes(refusal.body))
    }
}

extension HTTPResponse.Status {
    /// The status 499, in logs only: the client, or the server's shutdown, ended the connection before there was an
    /// answer.
    static let clientClosedRequest = Self(code: 499, reasonPhrase: "Client Closed Request")
}

extension Error {
    /// Whether the error only says that the connection ended in the middle of a request.
    fileprivate var isBrokenOff: Bool {
        switch self {
        case is BodyCutShort, is CancellationError, is ChannelError: true
        case let error as IOError: [ECONNRESET, EPIPE, ETIMEDOUT].contains(error.errnoCode)
        default: false
        }
    }
}

extension Operation {
    /// Runs the operation once there is room for the answer that is expected of it.
    ///
    /// - Throws: `ChannelError.ioOnClosedChannel` if the client has gone in the meantime, so that no answer is made for it.
    ///   A `CancellationError` would be reported as a server that is stopping.
    nonisolated(nonsending) fileprivate func run(
        _ call: Call, in memory: MemoryBudget, for connection: ConnectionReference?
    ) async throws -> Reply {
        let expected = answerSize.value
        guard expected > MemoryBudget.small, call.request.changesNothing else {
            let reply = try await run(call)
            answerSize.note(reply.size ?? 0)
            return reply
        }
        let hold = MemoryHold(memory)
        try await hold.take(expected)
        if connection?.channel.isActive == false { throw ChannelError.ioOnClosedChannel }
        var reply = try await run(call)
        answerSize.note(reply.size ?? 0)
        // A stream is counted piece by piece, when they are written.
        if case .bytes = reply.content { reply.hold = hold }
        return reply
    }
}

/// An answer, and what is known of the operation that gave it. Within the router it would be another type for each API, whose
/// layout is looked up at run time.
private struct Outcome: Sendable {
    var reply: Reply
    /// The route's template; nil when the path has none.
    var route: String?
    var metrics: RequestMetrics?
    var isOpen = false
}
