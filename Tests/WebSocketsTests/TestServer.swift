import Backend
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testbed
import WebSockets

@testable import ContractServer

/// A server on a free port of the loopback interface. It answers HTTP requests with their own method, path,
/// `Upgrade` field and body.
struct TestServer {
    let port: Int
    private let group: ServiceGroup

    /// Runs `body` against a server and shuts it down gracefully. It hangs if a connection stays open.
    ///
    /// - Parameters:
    ///   - sendsDirectly: Whether sockets send past their pipelines.
    ///   - connections: The limit on the number of connections.
    static func run(
        _ routes: [SocketRoute] = [], sendsDirectly: Bool = true, connections: ConnectionLimits? = nil,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        // A busy machine may need time from one byte to the next.
        var patient = ConnectionGuard.Limits()
        patient.header = .minutes(5)
        let limits = patient
        let upgrade = ConnectionUpgrade(SocketUpgrade(routes: routes, sendsDirectly: sendsDirectly))
        let app = HTTPServer(
            group: MultiThreadedEventLoopGroup.ofTests,
            guarding: {
                ConnectionGuard(limits: limits, connections: connections, upgrade: upgrade) { _, _ in
                    ByteBuffer(string: #"{"error":"Malformed"}"#)
                }
            },
            responder: { call in
                let request = call.request
                if let refusal = request.refusal {
                    var fields = refusal.fields
                    fields[.contentLength] = "\(refusal.body.readableBytes)"
                    return Reply(status: refusal.status, headers: fields, content: .bytes(refusal.body))
                }
                let body = try await request.pieces.collect(upTo: 1_000_000)
                let upgrade = request.headers[.upgrade] ?? "none"
                let path = request.head.target.prefix { $0 != "?" }
                let answer = ByteBuffer(
                    string: "\(request.method) \(path) upgrade=\(upgrade) body=\(String(buffer: body))")
                return Reply(
                    status: .ok, headers: [.contentLength: "\(answer.readableBytes)"], content: .bytes(answer))
            }
        ).server(
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.ofTests, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [.init(service: app)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = ports.makeAsyncIterator()
            let server = TestServer(port: await iterator.next() ?? 0, group: group)
            do {
                try await body(server)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    func shutDown() async {
        await group.triggerGracefulShutdown()
    }
}

extension SocketRoute {
    /// Returns a socket that echoes every text, and sends a report of binary messages and of its end.
    static func echo(
        _ path: String = "/ws", limits: SocketLimits = .patient, events: Events = Events(),
        admission: @escaping @Sendable (HTTPRequest) async -> SocketAdmission? = { _ in nil }
    ) -> SocketRoute {
        SocketRoute(path: path, limits: limits) { request, peer in
            if let refusal = await admission(request) { return refusal }
            events.add("admitted \(request.path ?? "") from \(peer ?? "")")
            return .accept { Echo(events) }
        }
    }
}

/// The events on the server, in order.
final class Events: Sendable {
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ event: String) {
        continuation.yield(event)
    }

    /// Waits for the event, and discards those before it.
    func wait(for expected: String) async {
        for await event in stream where event == expected { return }
    }
}

/// A handler that echoes texts, and that closes or floods the peer if a text asks for it.
final class Echo: SocketHandler {
    private let events: Events
    private var socket: (any SocketConnection)?

    init(_ events: Events) {
        self.events = events
    }

    func opened(_ socket: any SocketConnection) {
        self.socket = socket
        events.add("opened")
    }

    func received(_ text: ByteBuffer) {
        switch String(buffer: text) {
        case "close": socket?.close(.sessionEnded, reason: "Session ended")
        case "binary": break
        case "flood": flood(0)
        case let text where text.hasPrefix("count "): count(0..<(Int(text.dropFirst(6)) ?? 0))
        case let text where text.hasPrefix("repeat "):
            let size = Int(text.dropFirst(7)) ?? 0
            socket?.send(TextFrame(String(repeating: "x", count: size)))
        default: socket?.send(TextFrame(text))
        }
    }

    /// Sends numbered texts in batches, each when the one before has left.
    private func count(_ numbers: Range<Int>) {
        for number in numbers.prefix(100) { socket?.send(TextFrame(Self.text(number))) }
        if numbers.count > 100 { socket?.whenFlushed { self.count(numbers.dropFirst(100)) } }
    }

    /// The number of texts of a flood: together far more than the kernel holds for a peer that does not read.
    static let flood = 5000

    /// Sends numbered texts, tick by tick.
    private func flood(_ number: Int) {
        guard let socket, number < Self.flood else { return events.add("flooded") }
        for number in number..<number + 8 { socket.send(TextFrame(Self.text(number))) }
        let this = NIOLoopBound(self, eventLoop: socket.eventLoop)
        socket.eventLoop.execute { this.value.flood(number + 8) }
    }

    /// Returns a text of another length for each number.
    static func text(_ number: Int) -> String {
        String(repeating: "\(number) ", count: 1000 + number % 997)
    }

    func receivedBinary(_ count: Int) {
        socket?.send(TextFrame("binary \(count)"))
    }

    func closed() {
        socket = nil
        events.add("closed")
    }
}
