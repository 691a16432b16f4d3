import Foundation
import HTTPTypes

/// Keeps one WebSocket open: opens it, watches that its peer is alive, and opens it again after it was lost.
///
/// What is said on the socket is the API's business; see ``run(_:lost:)``.
public struct LiveConnection: Sendable {
    /// When to ping, when to give a peer up, and when to try again.
    public struct Pacing: Sendable {
        /// Between two looks at whether the peer is alive.
        public var pingInterval: Duration
        /// How long signing in, or the answer to a ping, may take.
        public var patience: Duration
        /// Before the first repeat at most; doubled for each further one until a connection is established. The wait is
        /// drawn from the upper half, so that many clients do not come back at once.
        public var base: Duration
        /// No wait is longer.
        public var cap: Duration
        /// Waits. A test's does not.
        public var sleep: @Sendable (Duration) async throws -> Void
        /// From 0 to 1.
        public var random: @Sendable () -> Double

        public init(
            pingInterval: Duration = .seconds(25), patience: Duration = .seconds(10), base: Duration = .seconds(1),
            cap: Duration = .seconds(60),
            sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
            random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
        ) {
            self.pingInterval = pingInterval
            self.patience = patience
            self.base = base
            self.cap = cap
            self.sleep = sleep
            self.random = random
        }

        /// A ping each 25 s, waits of 1, 2, 4 … 60 s.
        public static let standard = Pacing()

        func delay(afterFailures failures: Int) -> Duration {
            min(cap, base * Double(1 << min(failures, 16))) * (0.5 + random() / 2)
        }
    }

    private let url: @Sendable () async throws -> URL
    private let headers: @Sendable () async throws -> HTTPFields
    private let transport: any SocketTransport
    private let maximumMessageSize: Int
    private let pacing: Pacing

    /// - Parameter maximumMessageSize: In bytes; a longer message costs the connection.
    public init(
        url: URL, transport: any SocketTransport, maximumMessageSize: Int = 1_048_576, pacing: Pacing = .standard
    ) {
        self.init(transport: transport, maximumMessageSize: maximumMessageSize, pacing: pacing) { url }
    }

    /// - Parameters:
    ///   - maximumMessageSize: In bytes; a longer message costs the connection.
    ///   - headers: Sent with the upgrade request. Asked for each socket, since a token changes.
    ///   - url: Asked for each socket, where a part of it changes.
    public init(
        transport: any SocketTransport, maximumMessageSize: Int = 1_048_576, pacing: Pacing = .standard,
        headers: @escaping @Sendable () async throws -> HTTPFields = { [:] },
        url: @escaping @Sendable () async throws -> URL
    ) {
        self.url = url
        self.headers = headers
        self.transport = transport
        self.maximumMessageSize = maximumMessageSize
        self.pacing = pacing
    }

    /// Serves one socket after the other until the task is cancelled or the session has ended.
    ///
    /// - Parameters:
    ///   - serve: Talks on a socket for as long as it lives: signs in, tells that it has
    ///     (``LiveSocket/established()``), receives. It throws once the socket is of no more use.
    ///   - lost: Told why a connection was lost or did not come about, and how long it takes until the next try.
    /// - Throws: ``SignedOut``, wherever it comes from, `CancellationError`, ``SocketsUnavailable``. Nothing else ends it.
    public func run(
        _ serve: @escaping @Sendable (LiveSocket) async throws -> Void,
        lost: @Sendable (_ reason: any Error, _ wait: Duration) async -> Void
    ) async throws {
        var failures = 0
        while true {
            let reason: any Error
            do {
                let socket = LiveSocket(
                    try await transport.open(
                        try await url(), headers: try await headers(), maximumMessageSize: maximumMessageSize))
                reason = await attempt(socket, serve)
                if socket.isEstablished { failures = 0 }
            } catch {
                reason = error
            }
            if reason is SignedOut || reason is SocketsUnavailable { throw reason }
            try Task.checkCancellation()
            let wait = pacing.delay(afterFailures: failures)
            failures += 1
            await lost(reason, wait)
            try await pacing.sleep(wait)
        }
    }

    /// Serves one socket, and tells how it ended.
    private func attempt(
        _ socket: LiveSocket, _ serve: @escaping @Sendable (LiveSocket) async throws -> Void
    ) async -> any Error {
        let reason: any Error
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await serve(socket) }
                group.addTask { try await watch(socket) }
                defer { group.cancelAll() }
                try await group.next()
            }
            reason = SocketClosed(code: 1000)
        } catch {
            reason = socket.failure ?? error
        }
        // Not waited for: a peer that is gone does not answer the closing handshake either.
        Task { await socket.close() }
        return reason
    }

    /// Pings, and throws when the peer shows no sign of life.
    private func watch(_ socket: LiveSocket) async throws {
        try await pacing.sleep(pacing.patience)
        guard socket.isEstablished else { throw PeerSilent() }
        while true {
            try await pacing.sleep(pacing.pingInterval)
            let before = socket.signsOfLife
            try await socket.ping()
            try await pacing.sleep(pacing.patience)
            // While nobody reads, nothing can be seen: the app is busy, not the peer gone.
            if socket.isAwaited, socket.signsOfLife == before { throw PeerSilent() }
        }
    }
}

/// Nothing came from the server for as long as was waited.
public struct PeerSilent: Error, Sendable, Equatable {}

/// One socket of a ``LiveConnection``.
public final class LiveSocket: Sendable {
    private struct State {
        var isEstablished = false
        var isAwaited = false
        var signsOfLife = 0
        var failure: (any Error)?
        var ping: (@Sendable () async throws -> Void)?
    }

    private let socket: any Socket
    private let state = Guarded(State())

    init(_ socket: any Socket) { self.socket = socket }

    public func send(_ text: String) async throws { try await socket.send(text) }

    /// The next text message. Binary ones are skipped.
    ///
    /// - Throws: ``SocketClosed``, `CancellationError`, whatever it was failed with.
    public func receive() async throws -> String {
        while true {
            if let failure { throw failure }
            state.use { $0.isAwaited = true }
            defer { state.use { $0.isAwaited = false } }
            let message: SocketMessage
            do { message = try await socket.receive() } catch { throw failure ?? error }
            state.use { $0.signsOfLife += 1 }
            if case .text(let text) = message { return text }
        }
    }

    /// Signing in has succeeded: the next failure begins again with the shortest wait.
    public func established() { state.use { $0.isEstablished = true } }

    /// Pings with a message of the API's own from now on, whose answer is received like any other.
    public func pings(with ping: @escaping @Sendable () async throws -> Void) { state.use { $0.ping = ping } }

    /// Gives the socket up for a reason of the caller's.
    public func fail(_ error: any Error) async {
        state.use { $0.failure = $0.failure ?? error }
        await close()
    }

    /// Pings. The server has seen by then what was sent before.
    ///
    /// Returns with the answer, or at once where the API has a ping of its own (``pings(with:)``).
    public func ping() async throws {
        if let ping = state.use({ $0.ping }) { return try await ping() }
        // Its answer is nothing that `receive` sees.
        try await socket.ping()
        state.use { $0.signsOfLife += 1 }
    }

    func close() async { await socket.close(code: 1000, reason: "") }

    var isEstablished: Bool { state.use { $0.isEstablished } }
    var isAwaited: Bool { state.use { $0.isAwaited } }
    var signsOfLife: Int { state.use { $0.signsOfLife } }
    var failure: (any Error)? { state.use { $0.failure } }
}
