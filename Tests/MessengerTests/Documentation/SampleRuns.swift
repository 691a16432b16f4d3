import Foundation
import MessengerCheck
import MessengerClient
import MessengerMocks
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The samples work on a real server. Those of Testing.md are tests themselves.
@Suite(.timeLimit(.minutes(30))) struct SampleRuns {
    private static let stack = Stack(.sqlite, .live)

    /// The values that a sample showed, in order.
    private final class Shown<Value: Sendable>: Sendable {
        private let values = NIOLockedValueBox<[Value]>([])

        var all: [Value] { values.withLockedValue { $0 } }
        func add(_ value: Value) { values.withLockedValue { $0.append(value) } }
    }

    /// Runs a sample that follows a live connection, until it has shown a number of values.
    private func following(
        until count: Int, _ body: @escaping @Sendable (_ show: (Messenger.Message) -> Void) async throws -> Void
    ) async throws -> [String] {
        let shown = Shown<String>()
        try await Task {
            try await body { message in
                shown.add(message.content)
                if shown.all.count == count { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }.value
        return shown.all
    }

    @Test func overview() async throws {
        try await withMessenger(on: Self.stack) { host in
            let bob = try await host.world().person("bob")
            let alice = Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123")
            try await bob.client.send(alice)
            let begun = Shown<(MessengerClient, Messenger.SentMessage)>()
            try await OverviewSamples.begin(host.baseURL) { begun.add(($0, $1)) }
            let (messenger, sent) = try #require(begun.all.first)
            #expect(sent.content == "Hello!")
            try await bob.send(Messenger.SendMessage(chat: sent.chat, content: "Hi!"))

            let photo = URL(fileURLWithPath: host.folder).appendingPathComponent("photo.jpg")
            try Data([1, 2, 3]).write(to: photo)
            let live = try await host.liveClient(of: messenger)
            let shown = try await following(until: 3) { show in
                try await OverviewSamples.readme(
                    live, chat: .init(id: sent.chat, type: "created"), sent: sent, photo: photo, show: show)
            }
            #expect(shown == ["Hi!", "Hello!", "Hi!"])
        }
    }

    @Test func signingIn() async throws {
        try await withMessenger(on: Self.stack) { host in
            let messenger = SigningInSamples.client(host.baseURL)
            let shown = Shown<String>()
            try await SigningInSamples.start(messenger) { _ in
                shown.add("chats")
            } showSignIn: {
                shown.add("sign in")
            }
            let me = try await SigningInSamples.register(messenger)
            #expect(me.username == "alice")
            try await SigningInSamples.start(messenger) {
                shown.add("chats of \($0)")
            } showSignIn: {
                shown.add("sign in")
            }
            #expect(shown.all == ["sign in", "chats of \(me.id)"])
            let pages = AsyncStream<String>.makeStream()
            let observing = Task {
                await SigningInSamples.observe(messenger) {
                    pages.continuation.yield("chats")
                } signIn: {
                    pages.continuation.yield("sign in: \($0.map { "\($0)" } ?? "signed out")")
                }
            }
            var page = pages.stream.makeAsyncIterator()
            #expect(await page.next() == "chats")
            try await SigningInSamples.signOut(messenger)
            #expect(await page.next() == "sign in: signed out")
            observing.cancel()

            try await messenger.signIn(username: "alice", password: "secret123")
            let photo = URL(fileURLWithPath: host.folder).appendingPathComponent("me.jpg")
            try Data([1, 2, 3]).write(to: photo)
            try await SigningInSamples.profile(messenger, url: photo)
            let changed = try await messenger.send(Messenger.GetMe())
            #expect(changed.displayName == "Alice A.")
            #expect(try await messenger.download(try #require(changed.avatar)) == [1, 2, 3])
            let named = Shown<Int>()
            try await messenger.signIn(username: "alice", password: "secret123", deviceName: "Alice's iPad")
            await #expect(throws: APIError.self) {
                try await SigningInSamples.recover(
                    messenger, address: "a@example.com", code: "x", newPassword: "Secret-456")
            }
            await #expect(throws: APIError.self) {
                try await SigningInSamples.move(messenger, to: "new@example.org", code: "x", password: "secret123")
            }
            try await SigningInSamples.sessions(messenger, password: "secret123") { (values: Any?...) in
                named.add(values.count)
            }
            #expect(named.all.contains(3))
            #expect(try await messenger.send(Messenger.ListSessions()).map(\.device) == ["Alice's iPhone"])
            try await SigningInSamples.change(messenger, password: "secret123", newPassword: "another one")
            try await withTemporaryFolder { folder in
                let place = URL(fileURLWithPath: folder + "/archive.zip")
                try await SigningInSamples.archive(messenger, to: place) { #expect($0 == place) }
            }
            try await SigningInSamples.delete(messenger, password: "another one")
            #expect(try await messenger.user == nil)
        }
    }

    @Test func messages() async throws {
        try await withMessenger(on: Self.stack) { host in
            let alice = try await host.world().person("alice")
            let messenger = alice.client
            try await MessagesSamples.open(messenger) { _, _ in Issue.record("there is no Bob yet") }
            let bob = try await host.world().person("bob")
            let opened = Shown<(Messenger.Chat.ID, Messenger.Chat.ID)>()
            try await MessagesSamples.open(messenger) { opened.add(($0, $1)) }
            let (chat, team) = try #require(opened.all.first)
            #expect(chat != team)

            let sent = try await MessagesSamples.send(messenger, chat: chat)
            let draft = Draft(chat: chat, text: "once")
            let first = try await deliver(draft, with: messenger)
            #expect(try await deliver(draft, with: messenger) == first)
            let (page, older) = try await MessagesSamples.read(messenger, chat: chat)
            #expect(page.map(\.id) == [first, sent.id])
            #expect(older.isEmpty)

            let unread = Shown<String>()
            try await MessagesSamples.unread(messenger, chat: chat, lastRead: sent.id) { unread.add($0) }
            #expect(unread.all == ["once"])
            let listed = Shown<String>()
            try await MessagesSamples.list(messenger, me: alice.id) { listed.add("\($0) \($1) \($2)") }
            #expect(Set(listed.all) == ["\(bob.name) You: once 0", "Team Alpha nothing yet 0"])

            for text in ["Hi", "Are you there?"] {
                try await bob.send(Messenger.SendMessage(chat: chat, content: text))
            }
            let newest = try await messenger.send(Messenger.ListMessages(chat: chat))
            #expect(try await MessagesSamples.badge(messenger, chat: chat, newest: newest[1].id) == 1)
            #expect(try await MessagesSamples.badge(messenger, chat: chat, newest: newest[0].id) == 0)
            try await MessagesSamples.change(messenger, sent: sent)
            let left = try await messenger.send(Messenger.ListMessages(chat: chat))
            #expect(left == newest.filter { $0.id != sent.id })
            let blocked = try await MessagesSamples.keepAway(messenger, message: newest[0])
            #expect(blocked.map(\.id) == [bob.id])
        }
    }

    @Test func files() async throws {
        try await withMessenger(on: Self.stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            let folder = URL(fileURLWithPath: host.folder)
            let (photo, destination) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
            try Data([1, 2, 3]).write(to: photo)
            let file = try await FilesSamples.photo(alice.client, chat: chat, url: photo)
            try await FilesSamples.voice(alice.client, chat: chat, recording: [4, 5])
            let sent = try await bob.send(Messenger.ListMessages(chat: chat))
            #expect(sent.map(\.type) == [.voice, .file])
            try await FilesSamples.fetch(bob.client, message: try #require(sent.last), to: destination)
            #expect(try Data(contentsOf: destination) == Data([1, 2, 3]))
            let picture = try await FilesSamples.picture(bob.client, file: file.id)
            #expect(picture.absoluteString.hasPrefix(host.baseURL.absoluteString))
        }
    }

    @Test func live() async throws {
        try await withMessenger(on: Self.stack) { host in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.directChat(with: bob)
            for text in ["One", "Two"] { try await bob.send(Messenger.SendMessage(chat: chat, content: text)) }
            let shown = try await following(until: 2) { show in
                try await LiveSamples.follow(alice.client, chat: chat, newest: 0, show: show)
            }
            #expect(shown == ["One", "Two"])
            let opened = try await following(until: 2) { show in
                try await LiveSamples.open(alice.client, chat: chat, newest: 0, show: show)
            }
            #expect(opened == ["One", "Two"])
        }
    }

    /// The model reads the history, follows the chat, and receives its own messages.
    @Test @MainActor func model() async throws {
        let mock = MessengerMock()
        let model = ChatModel(mock.client(), chat: 5)
        let running = Task { try await model.run() }
        // The model makes progress with each turn of the main actor. The suite's time limit ends the test otherwise.
        while !model.isConnected { await Task.yield() }
        try await model.send("From the model")
        mock.push("From Bob")
        while model.messages.count < 3 { await Task.yield() }
        #expect(model.messages.map(\.content) == ["Hello!", "From the model", "From Bob"])
        try await mock.client().send(Messenger.EditMessage(chat: 5, message: 100, content: "Edited"))
        try await mock.client().send(Messenger.DeleteMessage(chat: 5, message: 99))
        while model.messages.count > 2 { await Task.yield() }
        #expect(model.messages.map(\.content) == ["Edited", "From Bob"])
        running.cancel()
        try await running.value
    }

    @Test func errors() async throws {
        try await withMessenger(on: Self.stack) { host in
            let alice = try await host.world().person()
            let chat = try await alice.group()
            let shown = Shown<String>()
            func send(_ messenger: MessengerClient, to chat: Messenger.Chat.ID, _ text: String) async throws {
                try await ErrorsSamples.send(messenger, chat: chat, text: text) {
                    shown.add($0)
                } showSignIn: {
                    shown.add("sign in")
                }
            }
            try await send(alice.client, to: chat, "fine")
            try await send(alice.client, to: 999, "not there")
            try await send(alice.client, to: chat, " ")
            try await send(host.world().client(), to: chat, "who?")
            let mock = MessengerMock()
            let client = mock.client()
            mock.offline()
            try await send(client, to: 5, "Hi")
            #expect(
                shown.all == [
                    "You cannot write to this chat.", "content or file_id required", "sign in",
                    "You are offline. Your message is kept.",
                ])
        }
    }

    @Test func forms() {
        let shown = Shown<String>()
        for text in ["", "Hello"] {
            ErrorsSamples.form(chat: 5, text: text) {
                shown.add("\($0)")
            } hint: {
                shown.add($0)
            }
        }
        #expect(shown.all == ["false", "content or file_id required", "true"])
    }

    @Test func patience() async throws {
        try await withMessenger(on: Self.stack) { host in
            let messenger = ErrorsSamples.patient(host.baseURL, store: MemoryTokenStore())
            await #expect(throws: APIError.self) { try await messenger.signIn(username: "nobody", password: "nothing") }
        }
    }
}

extension MessengerHost {
    /// Returns a client of the same user with sockets, which Linux's own transport does not support.
    fileprivate func liveClient(of messenger: MessengerClient) async throws -> MessengerClient {
        let client = MessengerClient(baseURL: baseURL, transport: transport, sockets: sockets)
        try await client.signIn(username: try await messenger.send(Messenger.GetMe()).username, password: "secret123")
        return client
    }
}
