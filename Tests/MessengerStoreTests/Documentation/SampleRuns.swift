import Foundation
import MessengerCheck
import MessengerClient
import MessengerStore
import MessengerTestHost
import Testbed
import Testing

/// The samples work on a real server.
@Suite(.timeLimit(.minutes(30))) @MainActor struct SampleRuns {
    @Test func everySampleWorks() async throws {
        try await withServer(on: Stack(.sqlite, .live)) { host in
            let (alice, bob) = try await host.people().pair()
            let direct = try await alice.directChat(with: bob)
            try await bob.send(Messenger.SendMessage(chat: direct, content: "Hi!"))
            let phone = Phone(alice, on: host)
            var listed: [String] = []
            let before = try await StoreSamples.comment(phone.client, in: phone.folder, id: direct)
            let first = before.chat(direct)
            await until { first.messages.map(\.content) == ["Hi!", "Hello!"] && first.outgoing.isEmpty }
            await before.close()

            let store = try await StoreSamples.open(phone.client, in: phone.folder) {
                listed.append("\($0) \($1) \($2)")
            }
            #expect(listed == ["\(bob.name) Hello! 0"])
            let state = store.chat(direct)
            await until { state.messages.count == 2 }
            var shown: [String] = []
            let chat = try await StoreSamples.chat(store, id: direct) { shown.append("\($0) \($1)") }
            #expect(shown == ["Hi! false", "Hello! false"])
            let photo = URL(fileURLWithPath: host.folder).appendingPathComponent("photo.jpg")
            try Data([1, 2, 3]).write(to: photo)
            try await StoreSamples.write(chat, photo: photo)
            await until { chat.messages.count == 4 }
            let file = try #require(chat.messages.last?.file)
            #expect(try Data(contentsOf: try await StoreSamples.picture(store, file: file)) == Data([1, 2, 3]))

            try await bob.send(Messenger.BlockUser(alice.id))
            try await chat.send("Refused")
            await until { chat.outgoing.first?.failure != nil }
            try await bob.send(Messenger.UnblockUser(alice.id))
            var reasons: [String] = []
            try await StoreSamples.retry(chat) { reasons.append("\($0)\($1)") }
            #expect(reasons == ["You cannot message this user"])
            await until { chat.messages.last?.content == "Refused" }

            var rows: [String] = []
            let everyday = try await EverydaySamples.read(store, id: direct) { rows.append($0) }
            #expect(rows.last == "Refused")
            try await EverydaySamples.send(everyday, photo: photo) { content, _, _ in rows.append(content) }
            await until { everyday.messages.last?.content == "Look!" && everyday.outgoing.isEmpty }
            var opened: [Messenger.Chat.ID] = []
            let token = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            try await EverydaySamples.notify(
                phone.client, everyday, token: token, tomorrow: host.clock.date + 86_400,
                ["chat_id": Int(direct.rawValue), "message_id": 1, "sender_id": 1]
            ) { opened.append($0) }
            #expect(opened == [direct])
            #expect(everyday.chat?.mute != nil)
            try await StoreSamples.signOut(store)
            #expect(!FileManager.default.fileExists(atPath: phone.folder.path))
        }
    }
}
