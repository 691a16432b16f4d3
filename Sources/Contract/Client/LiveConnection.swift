import Foundation
import HTTPTypes

/// Keeps one WebSocket open: opens it, checks that its peer is alive, and reopens it when it is lost.
///
/// The messages on the socket belong to the API; see ``run(_:lost:)``.
public struct LiveConnection: Sendable {
    /// The times of a connection: between pings, before a silent peer is given up, and between attempts to connect.
    public struct Pacing: Sendable {
        /// The time between two checks that the peer is alive.
        public var pingInterval: Duration
        /// The time that signing in, or the answer to a ping, may take.
        public var patience: Duration
        /// The longest wait before the first repeat; doubled for each further one until a connection has lived for as
        /// long as `patience`.
        /// The wait is drawn from the upper half, so that many clients do not come back at once.
        public var base: Duration
        /// The longest wait of all.
        public var cap: Duration
        /// Waits for a duration. A test replaces it.
        public var sleep: @Sendable (Duration) async throws -> Void
        /// Returns a random number from 0 to 1.
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

        /// A ping every 25 s, and waits of 1, 2, 4 … 60 s.
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
    private let wakes: DeviceWakes
    private let waker = Waker()

    /// Creates a connection to a fixed URL.
    ///
    /// - Parameter maximumMessageSize: The largest message in bytes; a larger one closes the connection.
    public init(
        url: URL, transport: any SocketTransport, maximumMessageSize: Int = 1_048_576, pacing: Pacing = .standard
    ) {
        self.init(transport: transport, maximumMessageSize: maximumMessageSize, pacing: pacing) { url }
    }

    /// Creates a connection to a URL that may differ each time.
    ///
    /// - Parameters:
    ///   - maximumMessageSize: The largest message in bytes; a larger one closes the connection.
    ///   - wakes: The moments at which ``wake()`` is called: by default, on Apple platforms, whenever there is a network
    ///     again and whenever the app comes to the front.
    ///   - headers: Returns the headers of the upgrade request. Called for each socket, because a token changes.
    ///   - url: Returns the URL. Called for each socket, because a part of it may change.
    public init(
        transport: any SocketTransport, maximumMessageSize: Int = 1_048_576, pacing: Pacing = .standard,
        wakes: DeviceWakes = .standard,
        headers: @escaping @Sendable () async throws -> HTTPFields = { [:] },
        url: @escaping @Sendable () async throws -> URL
    ) {
        self.url = url
        self.headers = headers
        self.transport = transport
        self.maximumMessageSize = maximumMessageSize
        self.pacing = pacing
        self.wakes = wakes
    }

    /// Ends the wait before the next attempt, or checks at once that the peer of an open socket is alive. Call it when
    /// the network may have come back.
    public func wake() { waker.wake() }

    /// Returns the wait before an attempt after so many failures in a row.
    package func delay(afterFailures failures: Int) -> Duration { pacing.delay(afterFailures: failures) }

    /// Waits, but not beyond the next ``wake()``.
    package func pause(_ duration: Duration) async throws { try await rest(duration, beyond: waker.count) }

    /// Serves one socket after the other until the task is cancelled or the session has ended.
    ///
    /// - Parameters:
    ///   - serve: Uses a socket for as long as it is open: signs in, reports that it has
    ///     (``LiveSocket/established()``), and receives. It throws once the socket is no longer of use.
    ///   - lost: Called when a connection was lost or could not be opened, with the error and the wait before the next
    ///     attempt.
    /// - Throws: ``SignedOut`` from any of these calls, `CancellationError`, ``SocketsUnavailable``. No other error
    ///   ends it.
    public func run(
        _ serve: @escaping @Sendable (LiveSocket) async throws -> Void,
        lost: @Sendable (_ reason: any Error, _ wait: Duration) async -> Void
    ) async throws {
        let listening = Task {
            for await _ in wakes.stream() { wake() }
        }
        defer { listening.cancel() }
        var failures = 0
        while true {
            let wakesBefore = waker.count
            let reason: any Error
            do {
                let socket = LiveSocket(
                    try await transport.open(
                        try await url(), headers: try await headers(), maximumMessageSize: maximumMessageSize))
                reason = await attempt(socket, serve)
                if socket.hasLived { failures = 0 }
            } catch {
                reason = error
            }
            if reason is SignedOut || reason is SocketsUnavailable { throw reason }
            try Task.checkCancellation()
            // The network may be another one than that of the failures.
            let wakesSoFar = waker.count
            if wakesSoFar != wakesBefore { failures = 0 }
            let wait = pacing.delay(afterFailures: failures)
            failures += 1
            await lost(reason, wait)
            try await rest(wait, beyond: wakesSoFar)
            if waker.count != wakesSoFar { failures = 0 }
        }
    }

    /// Waits, but not beyond the next ``wake()``.
    ///
    /// - Parameter count: The number of calls of ``wake()`` that are known; a further one ends the wait.
    private func rest(_ duration: Duration, beyond count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pacing.sleep(duration) }
            group.addTask { try await waker.wake(beyond: count) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Serves one socket, and returns how it ended.
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
        // The close is not awaited: a peer that is gone does not answer the closing handshake either.
        Task { await socket.close() }
        return reason
    }

    /// Pings at intervals, and throws when the peer shows no sign of life.
    private func watch(_ socket: LiveSocket) async throws {
        try await pacing.sleep(pacing.patience)
        guard socket.isEstablished else { throw PeerSilent() }
        socket.lived()
        while true {
            try await rest(pacing.pingInterval, beyond: waker.count)
            let before = socket.signsOfLife
            // The ping of a dead connection may never return, so it does not delay the verdict.
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await socket.ping()
                    return false
                }
                group.addTask {
                    try await pacing.sleep(pacing.patience)
                    return true
                }
                defer { group.cancelAll() }
                while try await group.next() == false {}
            }
            // While the app does not receive, no sign of life can be seen: the app is busy, and the peer may be there.
            if socket.isAwaited, socket.signsOfLife == before { throw PeerSilent() }
        }
    }
}

/// The server sent nothing for as long as the connection waits for a sign of life.
public struct PeerSilent: Error, Sendable, Equatable {}

/// One socket of a ``LiveConnection``.
public final class LiveSocket: Sendable {
    private struct State {
        var isEstablished = false
        var hasLived = false
        var isAwaited = false
        var signsOfLife = 0
        var failure: (any Error)?
        var ping: (@Sendable () async throws -> Void)?
    }

    private let socket: any Socket
    private let state = Locked(State())

    init(_ socket: any Socket) { self.socket = socket }

    public func send(_ text: String) async throws { try await socket.send(text) }

    /// Returns the next text message. Binary messages are skipped.
    ///
    /// - Throws: ``SocketClosed``, `CancellationError`, or the error passed to ``fail(_:)``.
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

    /// Reports that signing in has succeeded. A connection that then lives for as long as signing in may take starts
    /// again with the shortest wait when it is lost.
    public func established() { state.use { $0.isEstablished = true } }

    /// Replaces the protocol's ping by a message of the API's own, whose answer is received like any other message.
    public func pings(with ping: @escaping @Sendable () async throws -> Void) { state.use { $0.ping = ping } }

    /// Closes the socket, and has ``receive()`` throw the given error.
    public func fail(_ error: any Error) async {
        state.use { $0.failure = $0.failure ?? error }
        await close()
    }

    /// Sends a ping. By the time of its answer, the server has seen everything that was sent before.
    ///
    /// Returns with the answer, or at once if the API has a ping of its own (``pings(with:)``).
    public func ping() async throws {
        if let ping = state.use({ $0.ping }) { return try await ping() }
        // The answer to a protocol ping does not reach `receive`.
        try await socket.ping()
        state.use { $0.signsOfLife += 1 }
    }

    func close() async { await socket.close(code: 1000, reason: "") }

    func lived() { state.use { $0.hasLived = true } }

    var hasLived: Bool { state.use { $0.hasLived } }
    var isEstablished: Bool { state.use { $0.isEstablished } }
    var isAwaited: Bool { state.use { $0.isAwaited } }
    var signsOfLife: Int { state.use { $0.signsOfLife } }
    var failure: (any Error)? { state.use { $0.failure } }
}
