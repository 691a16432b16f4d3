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

    @Test("Begins with the shortest wait again once a connection has lived, and not when it was lost at once")
    func backoffEnds() async throws {
        let pace = Pace()
        let sockets = ScriptedSockets { number in
            switch number {
            case 0, 1, 4: throw URLError(.cannotConnectToHost)
            case 5: throw SignedOut()
            default: ScriptedSocket()
            }
        }
        let served = NIOLockedValueBox(0)
        await #expect(throws: SignedOut.self) {
            try await pace.connection(sockets).run { socket in
                socket.pings {}
                socket.established()
                let number = served.withLockedValue { served in
                    defer { served += 1 }
                    return served
                }
                if number == 1 {
                    await pace.pass(Pace.patience)
                    await pace.pass(Pace.pingInterval)
                }
                throw SocketClosed(code: 1001)
            } lost: { _, _ in
            }
        }
        // The first socket was lost at once, the second has lived.
        #expect(pace.waits == [1, 2, 4, 1, 2].map { Duration.seconds($0) })
    }

    @Test("A wake ends the wait, and the next waits are short again")
    func wake() async throws {
        let sockets = ScriptedSockets { number in
            if number == 4 { throw SignedOut() }
            throw URLError(.notConnectedToInternet)
        }
        let waker = NIOLockedValueBox<LiveConnection?>(nil)
        let waits = NIOLockedValueBox<[Duration]>([])
        // Only a wake ends these waits.
        let pacing = LiveConnection.Pacing(
            base: .seconds(3600), cap: .seconds(7200),
            sleep: {
                waker.withLockedValue { $0 }?.wake()
                try await Task.sleep(for: $0)
            }, random: { 1 })
        let connection = LiveConnection(url: URL(string: "ws://test/ws")!, transport: sockets, pacing: pacing)
        waker.withLockedValue { $0 = connection }
        await #expect(throws: SignedOut.self) {
            try await connection.run { _ in
            } lost: { _, wait in
                waits.withLockedValue { $0.append(wait) }
            }
        }
        #expect(waits.withLockedValue { $0 } == Array(repeating: .seconds(3600), count: 4))
    }

    @Test("Wakes when the device does")
    func deviceWakes() async throws {
        let (wakes, device) = AsyncStream<Void>.makeStream()
        let sockets = ScriptedSockets { number in
            if number == 1 { throw SignedOut() }
            throw URLError(.notConnectedToInternet)
        }
        let pacing = LiveConnection.Pacing(base: .seconds(3600), cap: .seconds(3600))
        let connection = LiveConnection(transport: sockets, pacing: pacing, wakes: DeviceWakes { wakes }) {
            URL(string: "ws://test/ws")!
        }
        await #expect(throws: SignedOut.self) {
            try await connection.run { _ in
            } lost: { _, _ in
                device.yield()
            }
        }
    }

    @Test("A wake pings at once")
    func wakePings() async throws {
        let pace = Pace()
        let connection = NIOLockedValueBox<LiveConnection?>(nil)
        let sockets = ScriptedSockets { number in
            if number > 0 { throw SignedOut() }
            return ScriptedSocket()
        }
        let sleep = pace.sleeping
        let pacing = LiveConnection.Pacing(
            pingInterval: .seconds(50_000), patience: Pace.patience,
            sleep: { duration in
                if duration == .seconds(50_000) {
                    connection.withLockedValue { $0 }?.wake()
                    try await Task.sleep(for: duration)
                }
                try await sleep(duration)
            }, random: { 1 })
        let live = LiveConnection(url: URL(string: "ws://test/ws")!, transport: sockets, pacing: pacing)
        connection.withLockedValue { $0 = live }
        let running = Task {
            try await live.run { socket in
                socket.pings { pace.note("ping") }
                socket.established()
                _ = try await socket.receive()
            } lost: { reason, _ in
                pace.note("\(reason)")
            }
        }
        await pace.pass(Pace.patience)
        await pace.noted()
        await pace.pass(Pace.patience)
        await #expect(throws: SignedOut.self) { try await running.value }
        #expect(pace.notes.first == "ping")
    }

    @Test("A ping that never returns does not delay the verdict")
    func endlessPing() async throws {
        let pace = Pace()
        let reasons = try await pace.reasons(of: ScriptedSocket()) { socket in
            socket.pings {
                pace.note("ping")
                try await Task.sleep(for: .seconds(86_400))
            }
            socket.established()
            _ = try await socket.receive()
        } driving: {
            await pace.pass(Pace.patience)
            await pace.pass(Pace.pingInterval)
            await pace.noted()
            await pace.pass(Pace.patience)
        }
        #expect(reasons.first is PeerSilent)
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
