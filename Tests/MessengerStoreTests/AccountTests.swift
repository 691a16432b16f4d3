import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import MessengerStore
import MessengerTestHost
import Testbed
import Testing

/// A store belongs to one account, survives damage, and goes with the session.
@Suite(.timeLimit(.minutes(30))) @MainActor struct AccountTests {
    nonisolated private static let stack = Stack(.sqlite, .inProcess)

    /// Runs a test with a store that knows a chat with a message and has another one that cannot be sent.
    private func withStore(
        _ body:
            @escaping @MainActor (MessengerHost, Phone, MessengerStore, ChatState, Person, Person) async throws -> Void
    ) async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let direct = try await alice.directChat(with: bob)
            try await bob.send(Messenger.SendMessage(chat: direct, content: "One"))
            let phone = Phone(alice, on: host)
            let store = try await phone.openConnected()
            let chat = store.chat(direct)
            await until { chat.messages.count == 1 && chat.members.count == 2 }
            await phone.network.set(.offline)
            try await chat.send(Upload(.bytes([1]), filename: "a.bin"), caption: "Unsent")
            try await body(host, phone, store, chat, alice, bob)
        }
    }

    @Test func signingOutRemovesEverything() async throws {
        try await withStore { _, phone, store, chat, _, _ in
            await #expect(throws: (any Error).self) { try await store.signOut() }
            #expect(store.connection.isEnded)
            #expect(!FileManager.default.fileExists(atPath: phone.folder.path))
            await until { store.chats.all.isEmpty && chat.messages.isEmpty && chat.outgoing.isEmpty }
            await #expect(throws: SignedOut.self) { try await phone.open() }
        }
    }

    @Test func aSessionThatEndsTakesEverythingWithIt() async throws {
        try await withStore { _, phone, store, _, alice, _ in
            try await alice.send(Messenger.Logout(refreshToken: alice.refreshToken))
            await phone.network.set(.online)
            await store.wake()
            await until { store.connection.isEnded }
            #expect(!FileManager.default.fileExists(atPath: phone.folder.path))
        }
    }

    @Test func anotherAccountSeesNothing() async throws {
        try await withStore { host, phone, store, _, _, bob in
            await store.close()
            let other = Phone(bob, on: host)
            #expect(other.folder.path == phone.folder.path)
            await other.network.set(.offline)
            let theirs = try await other.open()
            #expect(theirs.chats.all.isEmpty)
            let files = try FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)
            #expect(!files.contains { $0.hasPrefix("outgoing/") || $0.hasPrefix("files/") }, "\(files)")
            await other.network.set(.online)
            await theirs.wake()
            await until { theirs.chats.all.count == 1 }
            let chat = theirs.chat(theirs.chats.all[0].id)
            await until { chat.messages.map(\.content) == ["One"] }
            #expect(chat.outgoing.isEmpty)
            await theirs.close()
        }
    }

    /// Overwrites a file, with what SQLite keeps beside it.
    private func damage(_ name: String, of phone: Phone) throws -> URL {
        let file = phone.folder.appendingPathComponent(name)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try Data(repeating: 7, count: 20_000).write(to: file)
        return file
    }

    @Test func aDamagedCacheIsReadAgainAndTheOutboxStays() async throws {
        try await withStore { _, phone, store, chat, _, _ in
            await store.close()
            _ = try damage("cache.sqlite", of: phone)
            let again = try await phone.open()
            #expect(again.chats.all.isEmpty)
            let shown = again.chat(chat.id)
            await until { shown.outgoing.map(\.content) == ["Unsent"] }
            await phone.network.set(.online)
            await again.wake()
            await until { shown.messages.map(\.content) == ["One", "Unsent"] && shown.outgoing.isEmpty }
            await again.close()
        }
    }

    @Test func aDamagedOutboxIsSetAside() async throws {
        try await withStore { _, phone, store, chat, _, _ in
            await store.close()
            let outbox = try damage("outbox.sqlite", of: phone)
            let again = try await phone.open()
            let shown = again.chat(chat.id)
            await until { shown.messages.map(\.content) == ["One"] }
            #expect(shown.outgoing.isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: outbox.path + ".damaged")).first == 7)
            await again.close()
        }
    }

    @Test func filesAreKeptUpToALimit() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let direct = try await alice.directChat(with: bob)
            var sent: [Messenger.File.ID] = []
            for number in 0..<4 {
                let bytes = [UInt8](repeating: UInt8(number), count: 400)
                let file = try await bob.client.upload(Upload(.bytes(bytes), filename: "../\(number).bin"))
                try await bob.send(Messenger.SendMessage(chat: direct, content: "", type: .file, file: file.id))
                sent.append(file.id)
            }
            let phone = Phone(alice, on: host, fileLimit: 1000)
            let store = try await phone.openConnected()
            for (number, file) in sent.enumerated() {
                host.clock.advance(by: .seconds(1))
                let place = try await store.files.url(of: file)
                #expect(place.lastPathComponent == "\(number).bin")
                #expect(try Data(contentsOf: place) == Data(repeating: UInt8(number), count: 400))
                // The first is used each time.
                host.clock.advance(by: .seconds(1))
                _ = try await store.files.url(of: sent[0])
            }
            await until { store.files.downloads.isEmpty }
            var kept: [Bool] = []
            for file in sent { kept.append(try await store.files.localURL(of: file) != nil) }
            #expect(kept == [true, false, false, true])
            // A deleted message takes its file along.
            let chat = store.chat(direct)
            await until { chat.messages.count == 4 }
            try await bob.send(Messenger.DeleteMessage(chat: direct, message: chat.messages[3].id))
            await until { chat.messages.count == 3 }
            #expect(try await store.files.localURL(of: sent[3]) == nil)
            await #expect(throws: APIError.self) { try await store.files.url(of: sent[3]) }
            await store.close()
        }
    }
}
