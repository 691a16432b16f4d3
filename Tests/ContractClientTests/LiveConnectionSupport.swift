import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers

/// A pacing that does not wait between connections. Its other waits end when a test asks for it.
final class Pace: Sendable {
    static let pingInterval = Duration.seconds(10_000)
    static let patience = Duration.seconds(20_000)

    private struct State {
        var waits: [Duration] = []
        var notes: [String] = []
        var sleeping: [Duration: CheckedContinuation<Void, Never>] = [:]
        var passing: [Duration: CheckedContinuation<Void, Never>] = [:]
        var noting: CheckedContinuation<Void, Never>?
        var unseen = 0
    }

    private let state = NIOLockedValueBox(State())
    private let random: Double

    init(random: Double = 1) { self.random = random }

    var waits: [Duration] { state.withLockedValue { $0.waits } }
    var notes: [String] { state.withLockedValue { $0.notes } }

    func note(_ text: String) {
        state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            state.notes.append(text)
            guard let noting = state.noting else {
                state.unseen += 1
                return nil
            }
            state.noting = nil
            return noting
        }?.resume()
    }

    /// Returns when another event has been noted.
    func noted() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLockedValue { state in
                if state.unseen > 0 {
                    state.unseen -= 1
                    return true
                }
                state.noting = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Ends a wait of this length, once there is one.
    func pass(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            let sleeper = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
                if let sleeper = state.sleeping.removeValue(forKey: duration) { return sleeper }
                state.passing[duration] = continuation
                return nil
            }
            if let sleeper {
                sleeper.resume()
                continuation.resume()
            }
        }
    }

    private func sleep(_ duration: Duration) async throws {
        guard duration >= Self.pingInterval else {
            state.withLockedValue { $0.waits.append(duration) }
            return
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passing = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
                    if let passing = state.passing.removeValue(forKey: duration) { return passing }
                    if Task.isCancelled { return continuation }
                    state.sleeping[duration] = continuation
                    return nil
                }
                guard let passing else { return }
                passing.resume()
                if !Task.isCancelled { continuation.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.sleeping.removeValue(forKey: duration) }?.resume()
        }
        try Task.checkCancellation()
    }

    /// The waits of this pacing, for a pacing of a test's own.
    var sleeping: @Sendable (Duration) async throws -> Void { { try await self.sleep($0) } }

    func connection(_ sockets: ScriptedSockets) -> LiveConnection {
        LiveConnection(url: URL(string: "ws://test/ws")!, transport: sockets, pacing: pacing)
    }

    func connection(_ sockets: ScriptedSockets, to url: @escaping @Sendable () throws -> URL) -> LiveConnection {
        LiveConnection(transport: sockets, pacing: pacing) { try url() }
    }

    private var pacing: LiveConnection.Pacing {
        .init(
            pingInterval: Self.pingInterval, patience: Self.patience, sleep: { try await self.sleep($0) },
            random: { [random] in random })
    }

    /// Serves one socket, moves the clock, and returns why the connection was lost. There is no second socket.
    func reasons(
        of socket: ScriptedSocket, _ serve: @escaping @Sendable (LiveSocket) async throws -> Void,
        driving: @Sendable () async -> Void
    ) async throws -> [any Error] {
        let reasons = NIOLockedValueBox<[any Error]>([])
        let sockets = ScriptedSockets { number in
            if number > 0 { throw SignedOut() }
            return socket
        }
        async let running: Void = connection(sockets).run(serve) { reason, _ in
            reasons.withLockedValue { $0.append(reason) }
        }
        await driving()
        do { try await running } catch is SignedOut {}
        return reasons.withLockedValue { $0 }
    }
}

/// A socket transport whose sockets follow a script.
struct ScriptedSockets: SocketTransport {
    private let opening: @Sendable (URL) -> Void
    private let script: @Sendable (Int) throws -> any Socket
    private let count = NIOLockedValueBox(0)

    init(
        opening: @escaping @Sendable (URL) -> Void = { _ in },
        _ script: @escaping @Sendable (_ number: Int) throws -> any Socket
    ) {
        self.opening = opening
        self.script = script
    }

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let number = count.withLockedValue { count in
            defer { count += 1 }
            return count
        }
        opening(url)
        return try script(number)
    }
}

final class ScriptedSocket: Socket, Sendable {
    private let queue = EventQueue<SocketMessage>()
    private let ends = AsyncStream<Void>.makeStream()

    func say(_ text: String) { queue.add(.text(text)) }
    func end(_ error: any Error) { queue.finish(throwing: error) }
    func closed() async { for await _ in ends.stream {} }

    func send(_ text: String) async throws {}
    func receive() async throws -> SocketMessage {
        guard let message = try await queue.next() else { throw CancellationError() }
        return message
    }
    func ping() async throws {}
    func close(code: UInt16, reason: String) async {
        queue.finish(throwing: SocketClosed(code: code, reason: reason))
        ends.continuation.finish()
    }
}
