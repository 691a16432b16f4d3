import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@Suite(.timeLimit(.minutes(30))) struct LiveConnectionTests {
    @Test("Doubles the wait after each failure, up to a minute")
    func backoff() async throws {
        let pace = Pace()
        let sockets = ScriptedSockets { number in
            if number == 8 { throw SignedOut() }
            throw URLError(.cannotConnectToHost)
        }
        let lost = NIOLockedValueBox<[Duration]>([])
        await #expect(throws: SignedOut.self) {
            try await pace.connection(sockets).run { _ in
            } lost: { _, wait in
                lost.withLockedValue { $0.append(wait) }
            }
        }
        #expect(pace.waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
        #expect(lost.withLockedValue { $0 } == pace.waits)
    }

    @Test("Draws the wait from its upper half")
    func jitter() async throws {
        let pace = Pace(random: 0)
        let sockets = ScriptedSockets { number in
            if number == 2 { throw SignedOut() }
            throw URLError(.cannotConnectToHost)
        }
        await #expect(throws: SignedOut.self) {
            try await pace.connection(sockets).run { _ in
            } lost: { _, _ in
            }
        }
        #expect(pace.waits == [.milliseconds(500), .seconds(1)])
    }

    @Test("Begins with the shortest wait again once a connection was established")
    func established() async throws {
        let pace = Pace()
        let sockets = ScriptedSockets { number in
            switch number {
            case 0, 1, 4: throw URLError(.cannotConnectToHost)
            case 5: throw SignedOut()
            default: ScriptedSocket()
            }
        }
        await #expect(throws: SignedOut.self) {
            try await pace.connection(sockets).run { socket in
                socket.established()
                throw SocketClosed(code: 1001)
            } lost: { _, _ in
            }
        }
        #expect(pace.waits == [1, 2, 1, 1, 2].map { Duration.seconds($0) })
    }

    @Test("Asks for its URL before each socket, and waits if there is none")
    func changingURL() async throws {
        let pace = Pace()
        let asked = NIOLockedValueBox(0)
        let opened = NIOLockedValueBox<[String]>([])
        let note = { @Sendable (url: URL) in opened.withLockedValue { $0.append(url.absoluteString) } }
        let sockets = ScriptedSockets(opening: note) { _ in throw URLError(.cannotConnectToHost) }
        let connection = pace.connection(sockets) {
            let number = asked.withLockedValue { asked in
                asked += 1
                return asked
            }
            if number == 2 { throw URLError(.notConnectedToInternet) }
            if number == 4 { throw SignedOut() }
            return URL(string: "ws://test/ws?token=\(number)")!
        }
        await #expect(throws: SignedOut.self) {
            try await connection.run { _ in
            } lost: { _, _ in
            }
        }
        #expect(opened.withLockedValue { $0 } == ["ws://test/ws?token=1", "ws://test/ws?token=3"])
        #expect(pace.waits == [1, 2, 4].map { Duration.seconds($0) })
    }

    @Test("Gives up a peer that answers no ping")
    func silence() async throws {
        let pace = Pace()
        let reasons = try await pace.reasons(of: ScriptedSocket()) { socket in
            socket.pings { pace.note("ping") }
            socket.established()
            _ = try await socket.receive()
        } driving: {
            await pace.pass(Pace.patience)
            await pace.pass(Pace.pingInterval)
            await pace.pass(Pace.patience)
        }
        #expect(reasons.first is PeerSilent)
        #expect(pace.notes == ["ping"])
    }

    @Test("Keeps a peer that answers with any frame")
    func signOfLife() async throws {
        let pace = Pace()
        let socket = ScriptedSocket()
        let reasons = try await pace.reasons(of: socket) { live in
            live.pings { socket.say("pong") }
            live.established()
            while true { pace.note(try await live.receive()) }
        } driving: {
            await pace.pass(Pace.patience)
            for _ in 0..<3 {
                await pace.pass(Pace.pingInterval)
                await pace.noted()
                await pace.pass(Pace.patience)
            }
            // If the connection had been given up, this close would come too late to be the reason.
            socket.end(SocketClosed(code: 1001))
        }
        #expect(reasons.first as? SocketClosed == SocketClosed(code: 1001))
        #expect(pace.notes == ["pong", "pong", "pong"])
    }

    @Test("Gives up a peer that does not finish the sign-in")
    func endlessHandshake() async throws {
        let pace = Pace()
        let reasons = try await pace.reasons(of: ScriptedSocket()) { socket in
            _ = try await socket.receive()
        } driving: {
            await pace.pass(Pace.patience)
        }
        #expect(reasons.first is PeerSilent)
    }

    @Test("Reports the error with which a socket failed, and not its close")
    func failure() async throws {
        let pace = Pace()
        let reasons = try await pace.reasons(of: ScriptedSocket()) { socket in
            socket.established()
            await socket.fail(URLError(.badServerResponse))
            _ = try await socket.receive()
        } driving: {
        }
        #expect((reasons.first as? URLError)?.code == .badServerResponse)
    }

    @Test("Ends when it is cancelled, and closes its socket")
    func cancellation() async throws {
        let pace = Pace()
        let socket = ScriptedSocket()
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let running = Task {
            try await pace.connection(ScriptedSockets { _ in socket }).run { live in
                live.established()
                continuation.finish()
                _ = try await live.receive()
            } lost: { _, _ in
            }
        }
        for await _ in begun {}
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        await socket.closed()
    }
}

@Suite(.timeLimit(.minutes(30))) struct EventQueueTests {
    @Test("Delivers added events in order, then the end")
    func order() async throws {
        let queue = EventQueue<Int>()
        for number in 0..<200 { queue.add(number) }
        queue.finish()
        queue.add(200)
        var numbers: [Int] = []
        while let number = try await queue.next() { numbers.append(number) }
        #expect(numbers == Array(0..<200))
    }

    @Test("Throws its final error after the events that were added before")
    func error() async throws {
        let queue = EventQueue<Int>()
        queue.add(1)
        queue.finish(throwing: SignedOut())
        #expect(try await queue.next() == 1)
        await #expect(throws: SignedOut.self) { _ = try await queue.next() }
    }

    @Test("A producer waits for a slow consumer")
    func backpressure() async throws {
        let queue = EventQueue<Int>(limit: 10)
        let added = NIOLockedValueBox(0)
        queue.start {
            for number in 0..<100 {
                await queue.space()
                queue.add(number)
                added.withLockedValue { $0 += 1 }
            }
        }
        for number in 0..<100 {
            #expect(try await queue.next() == number)
            #expect(added.withLockedValue { $0 } <= number + 11)
        }
        #expect(try await queue.next() == nil)
    }

    @Test("Cancellation wakes a waiting task and cancels the producer")
    func cancellation() async throws {
        let queue = EventQueue<Int>()
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        queue.start {
            await withTaskCancellationHandler {
                for await _ in AsyncStream<Void>(unfolding: { try? await Task.sleep(for: .seconds(60)) }) {
                    if Task.isCancelled { return }
                }
            } onCancel: {
                continuation.finish()
            }
        }
        let waiting = Task { try await queue.next() }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        for await _ in ended {}
    }
}

/// A pacing that does not wait between connections. Its other waits end when a test asks for it.
private final class Pace: Sendable {
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
private struct ScriptedSockets: SocketTransport {
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

private final class ScriptedSocket: Socket, Sendable {
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
