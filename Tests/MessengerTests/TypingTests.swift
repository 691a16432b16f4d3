import Contract
import MessengerCheck
import MessengerClient
import Testbed
import Testing

/// Typing is passed on in intervals.
@Suite(.timeLimit(.minutes(30))) struct TypingTests {
    @Test("Three seconds later typing is passed on again")
    func interval() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let world = MessengerWorld(baseURL: host.baseURL, transport: host.transport, sockets: host.sockets)
            let (alice, bob) = try await world.pair()
            let chat = try await alice.directChat(with: bob)
            let (typist, other) = (try await alice.socket(), try await bob.socket())
            for socket in [typist, other] {
                try await socket.send(Messenger.Subscribe(chat: chat))
                #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            }
            for (milliseconds, passes) in [(0, true), (2999, false), (1, true), (2999, false), (3000, true)] {
                host.clock.advance(by: .milliseconds(milliseconds))
                try await typist.send(Messenger.StartTyping(chat: chat))
                // The answer shows that the frame before it was handled.
                try await typist.send(Messenger.Ping())
                #expect(try await typist.receive() == Messenger.Pong())
                if passes { #expect(try await other.receive() == Messenger.Typing(chat: chat, user: alice.id)) }
            }
            try await other.send(Messenger.Ping())
            #expect(try await other.receive() == Messenger.Pong())
        }
    }
}
