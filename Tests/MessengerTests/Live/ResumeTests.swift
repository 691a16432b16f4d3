import ContractClient
import Foundation
import HTTPTypes
import MessengerCheck
import MessengerClient
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A live connection costs little when it comes back, and one chat's trouble stays with that chat.
@Suite(.timeLimit(.minutes(30))) struct ResumeTests {
    @Test("Reads no history after a reconnect if the server knows since", arguments: [true, false])
    func requests(knowsSince: Bool) async throws {
        try await withMessenger(on: .all[0]) { host in
            let alice = try await host.world().person()
            var chats: [Messenger.Chat.ID: Messenger.Message.ID] = [:]
            for _ in 0..<40 {
                let chat = try await alice.group()
                chats[chat] = try await alice.send(Messenger.SendMessage(chat: chat, content: "known")).message.id
            }
            let counting = CountingTransport(host.transport)
            let clock = host.clock
            let store = MemoryTokenStore(
                StoredTokens(
                    accessToken: alice.token, refreshToken: alice.refreshToken,
                    expiresAt: clock.date.addingTimeInterval(3600), user: alice.id.description))
            let client = MessengerClient(
                baseURL: host.baseURL, store: store, transport: counting, now: { clock.date })
            let sockets = Interposed(host.sockets)
            if !knowsSince { sockets.forgetSince() }
            let live = client.live(over: sockets, pacing: .impatient)
            for (chat, last) in chats { await live.subscribe(to: chat, since: last) }
            let events = live.makeAsyncIterator()
            var begun = 0
            while begun < chats.count { if case .subscribed? = try await events.next() { begun += 1 } }

            let before = (requests: counting.count, frames: sockets.sentFrames.count)
            await sockets.drop()
            var words: [String] = []
            while words.last != "connected" { words.append(try await events.words()) }
            let chat = try #require(chats.keys.max())
            try await alice.send(Messenger.SendMessage(chat: chat, content: "missed or live"))
            while words.last != "missed or live" { words.append(try await events.words()) }
            // The subscriptions are sent one after the other, and this chat is the last.
            let (requests, frames) = (counting.count - before.requests, sockets.sentFrames.count - before.frames)
            print(
                "a reconnect of 40 chats, since \(knowsSince ? "known" : "unknown"): \(requests) requests, \(frames) frames"
            )
            #expect(knowsSince ? requests == 0 : requests >= 1)
            #expect(!words.contains("known"))
        }
    }

    @Test("A refused subscription is asked for again by itself, and the others go on", arguments: Stack.all)
    func refusedAlone(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let (good, bad) = (try await alice.group(), try await alice.group())
            let sockets = Interposed(host.sockets)
            // The server refuses this chat without saying which one it means.
            sockets.rewriteSent {
                $0.contains("subscribe") && $0.contains("\(bad)") ? #"{"type":"subscribe","chat_id":0}"# : $0
            }
            var pacing = LiveConnection.Pacing.patient
            pacing.base = .seconds(86_400)
            pacing.cap = .seconds(86_400)
            let live = alice.client.live(over: sockets, pacing: pacing)
            for chat in [bad, good] { await live.subscribe(to: chat) }
            let events = live.makeAsyncIterator()
            try await events.expect("connected")
            let words = [try await events.words(), try await events.words()]
            #expect(Set(words) == ["subscribed \(good)", "refused \(bad): Invalid chat_id"])
            try await alice.send(Messenger.SendMessage(chat: good, content: "still here"))
            try await events.expect("still here")
            #expect(sockets.sentFrames.filter { $0.contains("auth") }.count == 1)
            // The network came back, or the app to the front.
            sockets.rewriteSent { $0 }
            live.wake()
            try await events.expect("subscribed \(bad)")
        }
    }

    @Test("A chat that is left and joined again before the first answer goes on", arguments: Stack.all)
    func again(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let (first, second) = (try await alice.group(), try await alice.group())
            let sockets = Interposed(host.sockets)
            let isHeld = NIOLockedValueBox(true)
            let answer = #"{"type":"subscribed","chat_id":\#(second)}"#
            sockets.rewrite { frame in
                guard frame == answer else { return frame }
                return isHeld.withLockedValue { isHeld in
                    defer { isHeld = false }
                    return isHeld ? nil : frame
                }
            }
            let live = alice.client.live(over: sockets, pacing: .patient)
            await live.subscribe(to: first, since: 0)
            let events = live.makeAsyncIterator()
            try await events.expect("connected", "subscribed \(first)")
            await live.subscribe(to: second, since: 0)
            await live.unsubscribe(from: second)
            // The first answer arrives late.
            sockets.inject(answer)
            await live.subscribe(to: second, since: 0)
            try await events.expect("subscribed \(second)")
            try await alice.send(Messenger.SendMessage(chat: second, content: "still here"))
            try await events.expect("still here")
        }
    }

    @Test("Several views follow chats over one connection, and leave them", arguments: Stack.all)
    func views(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            let (first, second) = (try await alice.group(), try await alice.group())
            let sockets = Interposed(host.sockets)
            let live = alice.client.live(over: sockets, pacing: .patient)
            await live.subscribe(to: second, since: 0)
            let all = live.makeAsyncIterator()
            try await all.expect("connected", "subscribed \(second)")
            do {
                let (one, other) = (live.events(in: first), live.events(in: first))
                let (left, right) = (one.makeAsyncIterator(), other.makeAsyncIterator())
                try await all.expect("subscribed \(first)")
                try await alice.send(Messenger.SendMessage(chat: second, content: "elsewhere"))
                try await alice.send(Messenger.SendMessage(chat: first, content: "here"))
                for view in [left, right] {
                    var words = try await view.words()
                    if words == "subscribed \(first)" { words = try await view.words() }
                    #expect(words == "here")
                }
                try await all.expect("elsewhere", "here")
            }
            // No view shows the first chat any more.
            _ = await sockets.sent { $0.contains("unsubscribe") && $0.contains("\(first)") }
            try await alice.send(Messenger.SendMessage(chat: second, content: "still here"))
            try await all.expect("still here")
            #expect(sockets.sentFrames.filter { $0.contains("auth") }.count == 1)
        }
    }

    @Test("Typing is sent once in three seconds, and heard", arguments: Stack.all)
    func typing(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            let sockets = Interposed(host.sockets)
            let hers = alice.client.live(over: sockets, pacing: .patient)
            let his = bob.client.live(over: host.sockets, pacing: .patient)
            for live in [hers, his] { await live.subscribe(to: chat) }
            let (writer, reader) = (hers.makeAsyncIterator(), his.makeAsyncIterator())
            for events in [writer, reader] { try await events.expect("connected", "subscribed \(chat)") }
            for _ in 0..<20 { await hers.startTyping(in: chat) }
            try await reader.expect("\(Messenger.Typing(chat: chat, user: alice.id))")
            #expect(sockets.sentFrames.filter { $0.contains("typing") }.count <= 3)
        }
    }
}

extension LiveConnection.Pacing {
    fileprivate static let impatient = LiveConnection.Pacing(
        patience: .seconds(1200), base: .milliseconds(5), cap: .milliseconds(50))
}

/// Counts the requests that pass.
private final class CountingTransport: Transport {
    private let base: any Transport
    private let requests = NIOLockedValueBox(0)

    init(_ base: any Transport) { self.base = base }

    var count: Int { requests.withLockedValue { $0 } }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        requests.withLockedValue { $0 += 1 }
        return try await base.send(request, progress: progress)
    }
}
