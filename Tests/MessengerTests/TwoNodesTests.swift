import Backend
import Contract
import Identity
import MessengerCheck
import MessengerClient
import NIOPosix
import Testbed
import Testing

@testable import MessengerService

/// An event at one node of a database reaches the sockets of the other.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct TwoNodesTests {
    @Test("A user who types at two nodes is reported once")
    func typing() async throws {
        try await withTwoNodes { world, second, elsewhere in
            let listening = Task { await second.listen() }
            defer { listening.cancel() }
            let (alice, bob) = try await world.pair()
            let chat = try await alice.directChat(with: bob)
            let typists = [try await alice.socket(), try await alice.client.openSocket(over: elsewhere)]
            let others = [try await bob.socket(), try await bob.client.openSocket(over: elsewhere)]
            for socket in typists + others { try await socket.expectSubscription(to: chat) }
            for round in 0..<3 {
                for socket in typists {
                    try await socket.send(Messenger.StartTyping(chat: chat))
                    // The answer shows that the frame before it was handled.
                    try await socket.send(Messenger.Ping())
                    #expect(try await socket.receive() == Messenger.Pong())
                }
                for socket in others where round == 0 {
                    #expect(try await socket.receive() == Messenger.Typing(chat: chat, user: alice.id))
                }
                // A duplicate would arrive before this message or after it.
                let sent = try await bob.send(Messenger.SendMessage(chat: chat, content: "\(round)"))
                for socket in typists + others { #expect(try await socket.receive() == sent.message) }
            }
        }
    }

    @Test("A node that missed events for a while reads again what its sockets missed")
    func deafness() async throws {
        try await withTwoNodes { world, second, elsewhere in
            let (alice, bob) = try await world.pair()
            let carol = try await world.person()
            func group() async throws -> Messenger.Chat.ID { try await alice.group(with: bob) }
            let (left, spoken, edited, grown, quiet) = (
                try await group(), try await group(), try await group(), try await group(), try await group()
            )
            let early = try await alice.send(Messenger.SendMessage(chat: edited, content: "early"))
            // This node does not receive events yet.
            let socket = try await bob.client.openSocket(over: elsewhere)
            for chat in [left, spoken, edited, grown, quiet] { try await socket.expectSubscription(to: chat) }
            try await alice.send(Messenger.RemoveMember(chat: left, user: bob.id))
            try await alice.send(Messenger.SendMessage(chat: left, content: "unheard"))
            let missed = try await alice.send(Messenger.SendMessage(chat: spoken, content: "missed"))
            try await alice.send(Messenger.EditMessage(chat: edited, message: early.id, content: "late"))
            try await alice.send(Messenger.AddMembers(chat: grown, users: [carol.id]))
            try await socket.send(Messenger.Ping())
            #expect(try await socket.receive() == Messenger.Pong())

            let listening = Task { await second.listen() }
            defer { listening.cancel() }
            // The chats differ, so the order is not defined.
            var frames: Set<AnyHashable> = []
            for _ in 0..<4 { frames.insert(AnyHashable(try await socket.receive())) }
            let expected: [any Messenger.ServerFrame] = [
                Messenger.Unsubscribed(chat: left), missed.message, Messenger.Resync(chat: edited),
                Messenger.Resync(chat: grown),
            ]
            #expect(frames == Set(expected.map { AnyHashable($0) }))
            for chat in [quiet, spoken, edited, grown] {
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "live"))
                #expect(try await socket.receive() == sent.message)
            }
        }
    }

    @Test("A node that missed new chats says so")
    func missedChats() async throws {
        try await withTwoNodes { world, second, elsewhere in
            let (alice, bob) = try await world.pair()
            let socket = try await bob.client.openSocket(over: elsewhere)
            try await socket.send(Messenger.Authenticate(token: bob.token, chats: true))
            #expect(try await socket.receive() == Messenger.Authenticated(user: bob.id, chats: true))
            _ = try await alice.directChat(with: bob)
            try await socket.send(Messenger.Ping())
            #expect(try await socket.receive() == Messenger.Pong())

            let listening = Task { await second.listen() }
            defer { listening.cancel() }
            #expect(try await socket.receive() == Messenger.ChatsChanged())
            let group = try await alice.group(with: bob)
            #expect(try await socket.receive() == Messenger.ChatAdded(chat: group))
            try await alice.send(Messenger.RemoveMember(chat: group, user: bob.id))
            #expect(try await socket.receive() == Messenger.ChatRemoved(chat: group))
        }
    }

    @Test("A socket that has read less than others have heard sends nothing before it has read again")
    func readingTooEarly() async throws {
        try await withTwoNodes { world, second, elsewhere in
            let (alice, bob) = try await world.pair()
            let chat = try await alice.group(with: bob)
            let first = try await alice.send(Messenger.SendMessage(chat: chat, content: "0")).message
            let messages = (1...4).map { index in
                Messenger.Message(
                    id: .init(first.id.rawValue + index), chat: chat, sender: alice.id, content: "\(index)",
                    type: .text, file: nil, createdAt: first.createdAt)
            }
            let known: Int64 = try await second.database.read { db in
                try #require(try db.value("SELECT events FROM chats WHERE id = \(chat)"))
            }
            func hear(_ index: Int) {
                second.publisher.publish(
                    .message(messages[index]), short: nil, as: EventNumber(known + Int64(index) + 1, of: chat))
            }
            // The third message is the first of which this node hears, so that the ones before it must be read. They are
            // not there yet: in this way the socket reads too early every time.
            hear(2)
            let socket = try await bob.client.openSocket(over: elsewhere)
            try await socket.expectSubscription(to: chat)
            hear(3)
            for _ in 0..<3 {
                try await socket.send(Messenger.Ping())
                #expect(try await socket.receive() == Messenger.Pong())
            }
            try await second.database.write { db in
                for message in messages {
                    try db.run(
                        """
                        INSERT INTO messages (id, chat_id, sender_id, content, type, created_at)
                        VALUES (\(message.id), \(chat), \(alice.id), \(message.content), 'text',
                            \(message.createdAt.milliseconds))
                        """)
                }
                try db.run("UPDATE chats SET events = events + \(messages.count) WHERE id = \(chat)")
            }
            for message in messages { #expect(try await socket.receive() == message) }
        }
    }

    /// Runs a test on a server and a second node that does not receive events yet.
    private func withTwoNodes(
        _ body: (MessengerWorld, _ second: MessengerService, _ elsewhere: InProcessSockets) async throws -> Void
    ) async throws {
        try await withMessenger(on: Stack(.postgreSQL, .inProcess)) { host in
            let group = MultiThreadedEventLoopGroup.ofTests
            let second = MessengerService(
                database: host.database, objects: host.objects, passwords: Passwords(cost: .testing),
                mailer: TestMailbox(),
                secret: .ofTests(9), group: group, time: host.clock.source)
            let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
            try await body(world, second, InProcessSockets(second.sockets(), group: group))
        }
    }
}

extension MessengerSocket {
    func expectSubscription(to chat: Messenger.Chat.ID) async throws {
        try await send(Messenger.Subscribe(chat: chat))
        #expect(try await receive() == Messenger.Subscribed(chat: chat))
    }
}
