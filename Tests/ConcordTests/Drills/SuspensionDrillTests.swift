import ContractClient
import MessengerClient
import NIOSockets
import Testbed
import Testing

/// An operator suspends a user who is connected to two nodes.
@Suite(.serialized, .timeLimit(.minutes(Torture.minutes))) struct SuspensionDrillTests {
    private static let tries = Drill.isLong ? 20 : 3

    private func people(_ verb: String, _ id: Messenger.User.ID, _ folder: String) async throws {
        let process = try ConcordProcess(
            ["people", verb, "messenger", "\(id)", "--reason", "a drill", "--data", folder],
            environment: ["SUDO_USER": "anna"])
        _ = await process.wholeOutput()
        guard await process.status() == 0 else {
            throw ConcordProcess.Ended(status: await process.status(), errors: await process.standardError())
        }
    }

    @Test(
        "The sockets on both nodes close, each try anew",
        .enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func suspension() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await DrillNode.serving(2, in: place.folder, database: place.url) { nodes in
                let store = MemoryTokenStore()
                let clients = nodes.map {
                    MessengerClient(
                        baseURL: $0.url, store: store, transport: .patient,
                        sockets: NIOSocketTransport(openingTime: .minutes(25)), retry: .never)
                }
                try await clients[0].send(
                    Messenger.Register(username: "anna", email: "anna@example.com", password: "Secret-123"))
                let id = try await clients[0].signIn(username: "anna", password: "Secret-123")
                var longest = Duration.zero
                for _ in 0..<Self.tries {
                    var sockets: [MessengerSocket] = []
                    for client in clients { sockets.append(try await client.openSocket()) }
                    let start = ContinuousClock.now
                    try await people("suspend", id, "\(place.folder)/node0")
                    for socket in sockets {
                        await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) {
                            _ = try await socket.receive()
                        }
                    }
                    longest = max(longest, ContinuousClock.now - start)
                    try await people("restore", id, "\(place.folder)/node1")
                }
                print("\(Self.tries) suspensions: both sockets closed at most \(longest) after the command began")
            }
        }
    }
}
