import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The SDK's live connection works with the server. ``FaultTests`` tests it on a bad network.
@Suite(.timeLimit(.minutes(30))) struct LiveTests {
    @Test("Delivers messages from the subscription on", arguments: Stack.all)
    func fromNowOn(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            try await alice.send(Messenger.SendMessage(chat: chat, content: "before"))
            let live = bob.client.live(over: host.sockets, pacing: .patient)
            await live.subscribe(to: chat)
            let events = live.makeAsyncIterator()
            try await events.expect("connected", "subscribed \(chat)")
            for text in ["one", "two", "three"] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: text))
                try await events.expect(text)
            }
        }
    }

    @Test(
        "Delivers everything after a message first, whether the server sends it or it is read in pages",
        arguments: Stack.all, [true, false])
    func since(_ stack: Stack, knowsSince: Bool) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let chats = [try await alice.group(), try await alice.group()]
            let sent = try await together(2) { chat in
                var sent: [Messenger.Message] = []
                for index in 0..<250 {
                    let message = Messenger.SendMessage(chat: chats[chat], content: "\(index)")
                    sent.append(try await alice.send(message).message)
                }
                return sent
            }
            let sockets = Interposed(host.sockets)
            if !knowsSince { sockets.forgetSince() }
            let live = alice.client.live(over: sockets, pacing: .patient)
            await live.subscribe(to: chats[0], since: 0)
            await live.subscribe(to: chats[1], since: sent[1][120].id)
            var received: [Messenger.Chat.ID: [Messenger.Message]] = [:]
            let events = live.makeAsyncIterator()
            while received.values.map(\.count).reduce(0, +) < 250 + 129 {
                if case .message(let message) = try #require(try await events.next()) {
                    received[message.chat, default: []].append(message)
                }
            }
            #expect(received[chats[0]] == sent[0])
            #expect(received[chats[1]] == Array(sent[1][121...]))
        }
    }

    @Test("Reports a chat that the caller may not read, and keeps the others", arguments: Stack.all)
    func refused(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let (own, foreign) = (try await bob.group(), try await alice.group())
            let live = bob.client.live(over: host.sockets, pacing: .patient)
            for chat in [foreign, own, .init(987_654_321)] { await live.subscribe(to: chat) }
            let events = live.makeAsyncIterator()
            try await events.expect("connected")
            let begun = [try await events.words(), try await events.words(), try await events.words()]
            #expect(Set(begun) == ["unsubscribed \(foreign)", "subscribed \(own)", "unsubscribed 987654321"])
            try await bob.send(Messenger.SendMessage(chat: own, content: "still here"))
            try await events.expect("still here")
        }
    }

    @Test("Reports a membership that ended", arguments: Stack.all)
    func removed(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            let live = bob.client.live(over: host.sockets, pacing: .patient)
            await live.subscribe(to: chat)
            let events = live.makeAsyncIterator()
            try await events.expect("connected", "subscribed \(chat)")
            try await alice.send(Messenger.SendMessage(chat: chat, content: "last"))
            try await alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
            try await alice.send(Messenger.SendMessage(chat: chat, content: "unheard"))
            try await events.expect("last", "unsubscribed \(chat)")
        }
    }

    @Test("Unsubscribes and subscribes again when the app asks for it", arguments: Stack.all)
    func unsubscribed(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let (first, second) = (try await alice.group(), try await alice.group())
            let live = alice.client.live(over: host.sockets, pacing: .patient)
            await live.subscribe(to: first)
            await live.subscribe(to: second)
            let events = live.makeAsyncIterator()
            try await events.expect("connected")
            _ = (try await events.words(), try await events.words())
            await live.unsubscribe(from: first)
            try await alice.send(Messenger.SendMessage(chat: first, content: "unheard"))
            try await alice.send(Messenger.SendMessage(chat: second, content: "heard"))
            try await events.expect("heard")
            await live.subscribe(to: first, since: 0)
            try await events.expect("subscribed \(first)", "unheard")
        }
    }

    @Test("Ends with the session, whichever client ended it", arguments: Stack.all)
    func signedOut(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let live = alice.client.live(over: host.sockets, pacing: .impatient)
            let events = live.makeAsyncIterator()
            try await events.expect("connected")
            // Another client with the refresh token ends the session.
            try await host.world().client().send(Messenger.Logout(refreshToken: alice.refreshToken))
            let rest = events
            await #expect(throws: SignedOut.self) { while try await rest.next() != nil {} }
            #expect(try await alice.client.user == nil)
        }
    }

    /// A server whose database is unavailable for a moment sends an error that does not name the chat.
    @Test(
        "Subscribes again to a chat that was refused for a moment, although the next one was not", arguments: Stack.all)
    func refusedForAMoment(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let (first, second) = (try await alice.group(), try await alice.group())
            let sockets = Interposed(host.sockets)
            sockets.replaceOnce(#"{"type":"subscribe","chat_id":0}"#) {
                $0.contains("subscribe") && $0.contains("\(first)")
            }
            let live = alice.client.live(over: sockets, pacing: .impatient)
            for chat in [first, second] { await live.subscribe(to: chat, since: 0) }
            for chat in [second, first] { try await alice.send(Messenger.SendMessage(chat: chat, content: "\(chat)")) }
            var words: Set<String> = []
            let events = live.makeAsyncIterator()
            while !words.isSuperset(of: ["\(first)", "\(second)"]) { words.insert(try await events.words()) }
            #expect(words.isSuperset(of: ["subscribed \(first)", "subscribed \(second)"]))
        }
    }

    @Test("Skips frames of types that it does not know", arguments: Stack.all)
    func unknownFrames(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let chat = try await alice.group()
            let sockets = Interposed(host.sockets)
            sockets.inject(#"{"type":"weather","chat_id":1,"rain":true}"#)
            let live = alice.client.live(over: sockets, pacing: .patient)
            await live.subscribe(to: chat)
            let events = live.makeAsyncIterator()
            try await events.expect("connected", "subscribed \(chat)")
            for frame in ["{}", #"{"type":7}"#, #"{"type":"weather"}"#] { sockets.inject(frame) }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "sunny"))
            try await events.expect("sunny")
        }
    }

    @Test("Reports new chats that are not subscribed", arguments: Stack.all)
    func newChats(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let live = bob.client.live(over: host.sockets, pacing: .patient)
            let events = live.makeAsyncIterator()
            try await events.expect("connected")
            let direct = try await alice.directChat(with: bob)
            try await events.expect("added \(direct)")
            await live.subscribe(to: direct)
            try await events.expect("subscribed \(direct)")
            try await alice.send(Messenger.SendMessage(chat: direct, content: "hello"))
            try await events.expect("hello")
            let group = try await alice.group(with: bob)
            try await events.expect("added \(group)")
            try await alice.send(Messenger.RemoveMember(chat: group, user: bob.id))
            try await events.expect("removed \(group)")
        }
    }

    @Test("Reads missed messages after a resync", arguments: Stack.all)
    func resync(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let chat = try await alice.group()
            let sockets = Interposed(host.sockets)
            let live = alice.client.live(over: sockets, pacing: .patient)
            await live.subscribe(to: chat)
            let events = live.makeAsyncIterator()
            try await events.expect("connected", "subscribed \(chat)")
            // After a gap these frames are missing, and the server sends `resync`.
            sockets.rewrite { frame in
                if frame.contains(#""content":"three""#) { return #"{"type":"resync","chat_id":\#(chat)}"# }
                return frame.contains(#""content""#) ? nil : frame
            }
            for text in ["one", "two", "three"] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: text))
            }
            try await events.expect("one", "two", "three", "Resync(chat: \(chat))")
        }
    }

    @Test("Sends a renewed token to the server before the old one expires", arguments: Stack.all)
    func renewedToken(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let clock = host.clock
            let store = MemoryTokenStore(
                StoredTokens(
                    accessToken: alice.token, refreshToken: alice.refreshToken,
                    expiresAt: clock.date.addingTimeInterval(3600), user: alice.id.description))
            let client = MessengerClient(
                baseURL: host.baseURL, store: store, transport: host.transport, now: { clock.date })
            let sockets = Interposed(host.sockets)
            let live = client.live(over: sockets, pacing: .restless)
            let events = live.makeAsyncIterator()
            // A busy machine may take longer than the patience, and then the SDK connects again.
            while try await events.words() != "connected" {}
            clock.advance(by: .seconds(3590))
            // The token is checked before each ping.
            let renewed = await sockets.sent { $0.contains(#""auth""#) && !$0.contains(alice.token) }
            let token = try #require(await store.load()?.accessToken)
            #expect(renewed.contains(token))
        }
    }
}

extension LiveConnection.Pacing {
    fileprivate static let impatient = LiveConnection.Pacing(base: .milliseconds(5), cap: .milliseconds(50))
    /// Sends pings in short intervals.
    fileprivate static let restless = LiveConnection.Pacing(pingInterval: .milliseconds(20), patience: .seconds(2))
}
