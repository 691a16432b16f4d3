import Backend
import Contract
import ContractCheck
import ContractClient
import Foundation
import Identity
import MessengerCheck
import MessengerClient
import MessengerService
import NIOPosix
import Testbed
import Testing

/// A session that ends at one node ends at all. The clock stands still unless a test moves it.
@Suite(.timeLimit(.minutes(30))) struct RevocationTests {
    private static let needsNodes: ConditionTrait = .enabled(
        if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL")

    @Test("On the node where it ended: at once, with its sockets, and no other session", arguments: Stack.all)
    func atOnce(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let other = try await host.world().signedIn(alice.name, alice.password)
            let (socket, stays) = (try await alice.socket(), try await other.socket())
            #expect(try await alice.raw(.get, "/me").status == 200)
            try await alice.client.signOut()
            try await expectEnd(of: alice, at: host)
            await expectEnd(of: socket)
            #expect(try await other.raw(.get, "/me").status == 200)
            try await stays.send(Messenger.Ping())
            #expect(try await stays.receive() == Messenger.Pong())
        }
    }

    @Test("A token whose session belongs to another user is invalid", arguments: Stack.all)
    func foreignSessions(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let signer = TokenSigner(secret: .ofTests(9), now: { host.clock.source.seconds })
            var claims = try await signer.verify(alice.token)
            #expect(claims.subject == "\(alice.id)")
            // The token has the server's signature, Bob's id and Alice's session.
            claims.subject = "\(bob.id)"
            let token = try await signer.sign(claims)
            // The result is the same before and after the session is in the cache.
            for _ in 0..<2 {
                let answer = try await host.world().raw.send(.get, "/me", token: token)
                #expect(answer.status == 401)
                #expect(answer.text == #"{"error":"Invalid or expired token"}"#)
                #expect(try await alice.raw(.get, "/me").status == 200)
            }
            let socket = RawSocket(
                try await host.sockets.open(
                    host.baseURL.appendingPathComponent("ws"), headers: [:], maximumMessageSize: 65_536))
            try await socket.send(["type": "auth", "token": .string(token)])
            try await socket.expect(["type": "error", "message": "Invalid or expired access token"])
            try await socket.expectClose(1008)
            #expect(try await alice.raw(.get, "/me").status == 200)
        }
    }

    @Test("On the other nodes: as soon as they receive the event", needsNodes, arguments: Stack.Wire.allCases)
    func elsewhere(_ wire: Stack.Wire) async throws {
        try await withMessengerNodes(2, on: Stack(.postgreSQL, wire)) { nodes in
            let alice = try await nodes[0].world().person()
            let (there, elsewhere) = (nodes[1].world().raw, MessengerClient(alice, at: nodes[1]))
            let socket = try await elsewhere.openSocket()
            #expect(try await there.send(.get, "/me", token: alice.token).status == 200)
            try await alice.client.signOut()
            // The socket's end shows that the node has received the event.
            await expectEnd(of: socket)
            try await expectEnd(of: alice, at: nodes[1])
            // The SDK that is signed in there ends its session, too.
            await #expect(throws: SignedOut()) { try await elsewhere.send(Messenger.GetMe()) }
        }
    }

    @Test("On a node that receives no events: within a second", arguments: Stack.Engine.available)
    func deaf(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let alice = try await host.world().person()
            let there = host.world(of: host.secondService(), from: "127.0.0.1").raw
            #expect(try await there.send(.get, "/me", token: alice.token).status == 200)
            try await alice.client.signOut()
            host.clock.advance(by: .seconds(1))
            #expect(try await there.send(.get, "/me", token: alice.token).status == 401)
        }
    }

    /// The node's cached session is less than a second old, but outdated.
    @Test("A node that missed events checks the sessions of its sockets when it is connected again", needsNodes)
    func hearsAgain() async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let alice = try await host.world().person()
            let other = try await host.world().signedIn(alice.name, alice.password)
            let service = host.secondService()
            let sockets = InProcessSockets(service.sockets(), group: MultiThreadedEventLoopGroup.ofTests)
            let socket = try await MessengerClient(alice, at: host).openSocket(over: sockets)
            let stays = try await MessengerClient(other, at: host).openSocket(over: sockets)
            try await alice.client.signOut()
            try await socket.send(Messenger.Ping())
            #expect(try await socket.receive() == Messenger.Pong())

            let listening = Task { await service.listen() }
            await expectEnd(of: socket)
            try await stays.send(Messenger.Ping())
            #expect(try await stays.receive() == Messenger.Pong())
            listening.cancel()
            await listening.value
        }
    }

    @Test("Signing out ends the session on the server, though the device cannot forget it", arguments: Stack.all)
    func brokenStore(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let client = MessengerClient(
                baseURL: host.baseURL, store: StubbornStore(alice.tokens), transport: host.transport)
            #expect(try await client.send(Messenger.GetMe()).id == alice.id)
            await #expect(throws: StubbornStore.Failed.self) { try await client.signOut() }
            try await expectEnd(of: alice, at: host)
            await #expect(throws: SignedOut()) { try await client.send(Messenger.GetMe()) }
        }
    }

    private func expectEnd(of person: Person, at host: MessengerHost) async throws {
        let raw = host.world().raw
        let answer = try await raw.send(.get, "/me", token: person.token)
        #expect(answer.status == 401)
        #expect(answer.text == #"{"error":"Invalid or expired token"}"#)
        let renewal = try await raw.send(
            .post, "/auth/refresh", body: #"{"refresh_token":"\#(person.refreshToken)"}"#)
        #expect(renewal.status == 401)
        #expect(renewal.text == #"{"error":"Invalid or expired refresh token"}"#)
    }

    private func expectEnd(of socket: MessengerSocket) async {
        await #expect(throws: SocketClosed(code: 4001, reason: "Session ended")) { _ = try await socket.receive() }
    }
}

extension MessengerHost {
    /// Returns a service on the same database, which is a node of its own and does not receive events until it listens.
    fileprivate func secondService() -> MessengerService {
        MessengerService(
            database: database, objects: objects, passwords: Passwords(cost: .testing), mailer: TestMailbox(),
            secret: .ofTests(9), group: MultiThreadedEventLoopGroup.ofTests,
            time: clock.source)
    }
}

extension MessengerClient {
    /// Creates a client with a user's session at a node.
    fileprivate init(_ person: Person, at host: MessengerHost) {
        self.init(
            baseURL: host.baseURL, store: MemoryTokenStore(person.tokens), transport: host.transport,
            sockets: host.sockets, retry: .never)
    }
}

/// A store that does not delete tokens.
private struct StubbornStore: TokenStore {
    struct Failed: Error {}

    private let tokens: StoredTokens

    init(_ tokens: StoredTokens) { self.tokens = tokens }

    func load() -> StoredTokens? { tokens }
    func save(_ tokens: StoredTokens?) throws { throw Failed() }
}
