import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import MessengerTestHost
import Testbed
import Testing

@testable import MessengerStore

/// The user's messages arrive once and in order, or say why not.
@Suite(.timeLimit(.minutes(30))) @MainActor struct OutboxTests {
    nonisolated private static let stack = Stack(.sqlite, .inProcess)

    @Test(arguments: [stack, Stack(.sqlite, .live)])
    func whatIsWrittenOfflineIsSentInALaterLaunch(_ stack: Stack) async throws {
        try await withServer(on: stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            let phone = Phone(alice, on: host)
            var store: MessengerStore? = try await phone.openConnected()
            await until { store?.chats.all.count == 1 }
            await phone.network.set(.offline)
            var chat = store?.chat(group)
            try await chat?.send("One")
            try await chat?.send(Upload(.bytes([1, 2, 3]), filename: "a.bin"), caption: "Two")
            try await chat?.send("Three")
            #expect(chat?.outgoing.map(\.content) == ["One", "Two", "Three"])
            await store?.close()
            (store, chat) = (nil, nil)

            let later = try await phone.open()
            let shown = later.chat(group)
            await until { shown.outgoing.count == 3 }
            #expect(shown.outgoing[1].filename == "a.bin")
            await phone.network.set(.online)
            await later.wake()
            await until { shown.messages.count == 3 && shown.outgoing.isEmpty }
            #expect(try await bob.contents(of: group) == ["One", "Two", "Three"])
            // The sender has the file without downloading it.
            await phone.network.set(.offline)
            let file = try #require(shown.messages[1].file)
            #expect(try Data(contentsOf: try await later.files.url(of: file)) == Data([1, 2, 3]))
            #expect(
                try FileManager.default.contentsOfDirectory(
                    atPath: phone.folder.appendingPathComponent("outgoing").path
                ).isEmpty)
            await later.close()
        }
    }

    @Test func aLostAnswerDoublesNothing() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            let phone = Phone(alice, on: host)
            let store = try await phone.openConnected()
            let chat = store.chat(group)
            await until { chat.members.count == 2 }
            await phone.network.set(.losingAnswers)
            try await chat.send("One")
            try await chat.send(Upload(.bytes([1]), filename: "a.bin"))
            // The message has arrived, and is shown once although its answer is missing.
            await until { chat.messages.map(\.content) == ["One"] }
            await phone.network.set(.online)
            await store.wake()
            await until { chat.messages.map(\.content) == ["One", ""] && chat.outgoing.isEmpty }
            #expect(try await bob.contents(of: group) == ["One", ""])
            await store.close()
        }
    }

    @Test func aRefusedMessageSaysWhyAndCanBeRetriedOrDiscarded() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let direct = try await alice.directChat(with: bob)
            let store = try await Phone(alice, on: host).openConnected()
            let chat = store.chat(direct)
            await until { chat.members.count == 2 }
            await #expect(throws: APIError.self) { try await chat.send(" ") }
            try await bob.send(Messenger.BlockUser(alice.id))
            let (one, two) = (try await chat.send("One"), try await chat.send("Two"))
            await until { chat.outgoing.count { $0.failure != nil } == 2 }
            let failure = try #require(chat.outgoing.first?.failure)
            #expect(failure.translationKey == "error.refused.403")
            #expect(failure.errorDescription == "You cannot message this user")
            #expect(!failure.isUncertain)
            #expect(try await chat.discard(one))
            try await bob.send(Messenger.UnblockUser(alice.id))
            try await chat.retry(two)
            await until { chat.outgoing.isEmpty && chat.messages.map(\.content) == ["Two"] }
            #expect(try await bob.contents(of: direct) == ["Two"])
            await store.close()
        }
    }

    @Test func changesAreShownAtOnceAndUndoneWhenRefused() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            let theirs = try await bob.send(Messenger.SendMessage(chat: group, content: "Theirs"))
            let own = try await alice.send(Messenger.SendMessage(chat: group, content: "Own"))
            let store = try await Phone(alice, on: host).openConnected()
            let chat = store.chat(group)
            await until { chat.messages.count == 2 }
            try await chat.edit(own.id, to: "Edited")
            #expect(chat.messages.last?.content == "Edited")
            await until { chat.messages.last?.isChanging == false }
            #expect(chat.messages.last?.content == "Edited")
            await #expect(throws: APIError.self) { try await chat.edit(theirs.id, to: "Mine") }
            await #expect(throws: APIError.self) { try await chat.delete(theirs.id) }
            #expect(chat.messages.map(\.content) == ["Theirs", "Edited"])
            try await chat.delete(own.id)
            #expect(chat.messages.map(\.content) == ["Theirs"])
            // It is gone, which is what was wanted.
            try await chat.delete(own.id)
            #expect(try await bob.contents(of: group) == ["Theirs"])
            await store.close()
        }
    }

    /// The server forgets a key after 24 hours. Then the message itself tells, where it can.
    @Test(arguments: ["arrived", "not arrived", "uncertain"])
    func anAnswerLostForDaysIsResolved(_ truth: String) async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            let phone = Phone(alice, on: host)
            let before = try await phone.openConnected()
            let chat = before.chat(group)
            await until { chat.members.count == 2 }
            await before.close()

            // The process ends after an attempt.
            await phone.network.set(.offline)
            var settings = StoreSettings()
            settings.now = { host.clock.date }
            let engine = try StoreEngine(
                client: phone.client, user: alice.id, folder: phone.folder, settings: settings)
            _ = try await engine.enqueue("Once", type: .text, file: nil, to: group)
            await engine.attemptFirst(at: host.clock.date)
            await engine.stop()
            host.clock.advance(by: .seconds(48 * 3600))
            if truth != "not arrived" {
                let sent = try await alice.send(Messenger.SendMessage(chat: group, content: "Once"))
                if truth == "uncertain" {
                    try await alice.send(Messenger.EditMessage(chat: group, message: sent.id, content: "Edited"))
                }
            }
            await phone.network.set(.online)
            let store = try await phone.openConnected()
            let shown = store.chat(group)
            if truth == "uncertain" {
                await until { shown.outgoing.first?.failure?.isUncertain == true }
                #expect(try await bob.contents(of: group) == ["Edited"])
                try await shown.retry(try #require(shown.outgoing.first?.id))
                await until { shown.messages.map(\.content) == ["Edited", "Once"] && shown.outgoing.isEmpty }
            } else {
                await until { shown.messages.map(\.content) == ["Once"] && shown.outgoing.isEmpty }
                #expect(try await bob.contents(of: group) == ["Once"])
            }
            await store.close()
        }
    }
}

extension StoreEngine {
    /// Records a first attempt, as if the process had ended during it.
    fileprivate func attemptFirst(at time: Date) {
        guard let entry = try? outbox.everything().first else { return }
        try? outbox.begin(entry, newest: 0, at: Int64(time.timeIntervalSince1970 * 1000))
        stop()
    }
}
