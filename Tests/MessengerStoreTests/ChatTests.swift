import ContractClient
import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import MessengerStore
import MessengerTestHost
import Testbed
import Testing

/// A store shows what the server has, live and after an absence.
@Suite(.timeLimit(.minutes(30))) @MainActor struct ChatTests {
    nonisolated private static let stack = Stack(.sqlite, .inProcess)

    @Test(arguments: [stack, Stack(.sqlite, .live)])
    func everythingAppearsAsItHappens(_ stack: Stack) async throws {
        try await withServer(on: stack) { host in
            let (alice, bob) = try await host.people().pair()
            let (first, second) = (try await alice.directChat(with: bob), try await alice.group(with: bob))
            try await bob.send(Messenger.SendMessage(chat: first, content: "One"))
            host.clock.advance(by: .seconds(10))
            try await bob.send(Messenger.SendMessage(chat: second, content: "Two"))
            let store = try await Phone(alice, on: host).openConnected()
            await until { store.chats.all.map(\.lastMessage) == ["Two", "One"] }
            #expect(store.chats.all.map(\.id) == [second, first])
            #expect(store.chats.all.map(\.unreadCount) == [1, 1])
            #expect(store.chats.unreadCount == 2)

            let chat = store.chat(first)
            await until { chat.messages.map(\.content) == ["One"] && chat.members.count == 2 }
            #expect(chat.chat?.title == bob.name)
            #expect(store.chat(first) === chat)
            host.clock.advance(by: .seconds(10))
            let sent = try await bob.send(Messenger.SendMessage(chat: first, content: "Three"))
            await until { chat.messages.last?.content == "Three" }
            await until { store.chats.all.first?.id == first && store.chats.all.first?.unreadCount == 2 }
            try await bob.send(Messenger.EditMessage(chat: first, message: sent.id, content: "Four"))
            await until { chat.messages.last?.content == "Four" && store.chats.all.first?.lastMessage == "Four" }
            #expect(chat.messages.last?.editedAt != nil)
            await chat.markRead()
            await until { store.chats.unreadCount == 1 }
            await until { chat.readMarks[alice.id] == sent.id }
            let receipts = try await bob.send(Messenger.GetReceipts(chat: first))
            #expect(receipts.contains { $0.user == alice.id && $0.lastRead == sent.id })
            try await bob.send(Messenger.DeleteMessage(chat: first, message: sent.id))
            await until { chat.messages.map(\.content) == ["One"] && store.chats.all.last?.lastMessage == "One" }

            let socket = try await bob.socket()
            try await socket.send(Messenger.Subscribe(chat: first))
            while !(try await socket.receive() is Messenger.Subscribed) {}
            try await socket.send(Messenger.StartTyping(chat: first))
            await until { chat.typing == [bob.id] }
            await chat.startTyping()
            while true {
                guard let typing = try await socket.receive() as? Messenger.Typing else { continue }
                #expect(typing.user == alice.id)
                break
            }
            try await bob.send(Messenger.SendMessage(chat: first, content: "Five"))
            await until { chat.typing.isEmpty && chat.messages.last?.content == "Five" }
            await store.close()
        }
    }

    @Test func aRelaunchShowsEverythingWithoutANetwork() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            for text in ["One", "Two"] { try await bob.send(Messenger.SendMessage(chat: group, content: text)) }
            let phone = Phone(alice, on: host)
            var store: MessengerStore? = try await phone.openConnected()
            var chat = store?.chat(group)
            await until { chat?.messages.count == 2 && chat?.members.count == 2 }
            await store?.close()
            (store, chat) = (nil, nil)

            await phone.network.set(.offline)
            let offline = try await phone.open()
            #expect(offline.chats.all.map(\.lastMessage) == ["Two"])
            #expect(offline.chats.all.map(\.unreadCount) == [2])
            let shown = offline.chat(group)
            await until { shown.messages.map(\.content) == ["One", "Two"] && shown.members.count == 2 }
            await until { if case .disconnected = offline.connection { true } else { false } }
            await shown.markRead()
            #expect(shown.chat?.unreadCount == 0)
            await #expect(throws: (any Error).self) {
                try await shown.edit(try #require(shown.messages.first?.id), to: "No")
            }

            // What happened meanwhile, and the mark, once there is a network.
            let first = try #require(shown.messages.first?.id)
            try await bob.send(Messenger.EditMessage(chat: group, message: first, content: "Edited"))
            try await bob.send(Messenger.DeleteMessage(chat: group, message: try #require(shown.messages.last?.id)))
            try await bob.send(Messenger.SendMessage(chat: group, content: "Three"))
            await phone.network.set(.online)
            await offline.wake()
            await until { shown.messages.map(\.content) == ["Edited", "Three"] }
            #expect(shown.messages.first?.editedAt != nil)
            await until { shown.chat?.unreadCount == 1 && offline.chats.unreadCount == 1 }
            await offline.close()
        }
    }

    @Test func aLongAbsenceLeavesAGapThatIsFilled() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            func say(_ range: Range<Int>) async throws {
                for number in range { try await bob.send(Messenger.SendMessage(chat: group, content: "\(number)")) }
            }
            try await say(0..<20)
            let phone = Phone(alice, on: host, pageSize: 10)
            let before = try await phone.openConnected()
            let first = before.chat(group)
            await until { first.messages.count == 10 }
            await before.close()
            try await say(20..<150)

            let store = try await phone.openConnected()
            let chat = store.chat(group)
            await until { chat.messages.last?.content == "149" }
            #expect(chat.messages.map(\.content) == (140..<150).map { "\($0)" })
            #expect(chat.messages.map(\.followsGap) == [true] + Array(repeating: false, count: 9))
            await until { store.chats.all.first?.unreadCount == 150 }
            // Without a network what is on the device is shown, with the gap.
            await phone.network.set(.offline)
            await #expect(throws: (any Error).self) { try await chat.loadOlder() }
            let known = [10..<20, 140..<150].flatMap { $0.map { "\($0)" } }
            #expect(chat.messages.map(\.content) == known)
            #expect(chat.messages.indices.filter { chat.messages[$0].followsGap } == [10])
            await phone.network.set(.online)
            await store.wake()
            while chat.hasOlder || chat.messages.contains(where: \.followsGap) { try await chat.loadOlder() }
            #expect(chat.messages.map(\.content) == (0..<150).map { "\($0)" })
            await store.close()
        }
    }

    @Test func forgottenDeletionsHaveAChatReadAgain() async throws {
        var settings = MessengerService.Settings()
        settings.keptDeletions = 2
        try await withServer(on: Self.stack, settings: settings) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await alice.group(with: bob)
            var sent: [Messenger.Message.ID] = []
            for number in 0..<8 {
                sent.append(try await bob.send(Messenger.SendMessage(chat: group, content: "\(number)")).id)
            }
            let phone = Phone(alice, on: host)
            let before = try await phone.openConnected()
            let chat = before.chat(group)
            await until { chat.messages.count == 8 }
            await before.close()
            for id in sent.prefix(5) { try await bob.send(Messenger.DeleteMessage(chat: group, message: id)) }
            let store = try await phone.openConnected()
            let again = store.chat(group)
            await until { again.messages.map(\.content) == ["5", "6", "7"] }
            await store.close()
        }
    }

    @Test func aChatThatIsLeftDisappears() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let group = try await bob.group(with: alice)
            try await bob.send(Messenger.SendMessage(chat: group, content: "One"))
            let store = try await Phone(alice, on: host).openConnected()
            let chat = store.chat(group)
            await until { chat.messages.count == 1 }
            try await bob.send(Messenger.RemoveMember(chat: group, user: alice.id))
            await until { store.chats.all.isEmpty && chat.messages.isEmpty }
            try await bob.send(Messenger.AddMembers(chat: group, users: [alice.id]))
            try await store.reload()
            await until { store.chats.all.map(\.id) == [group] && chat.messages.count == 1 }
            let direct = try await store.open(.direct(with: bob.id))
            await until { direct.chat?.title == bob.name }
            await store.close()
        }
    }

    @Test func aMutedChatIsMutedOnEveryDevice() async throws {
        try await withServer(on: Self.stack) { host in
            let (alice, bob) = try await host.people().pair()
            let direct = try await alice.directChat(with: bob)
            let file = try await bob.client.upload(
                Upload(.bytes(Array("GIF89a".utf8)), filename: "a.gif", contentType: "image/gif"))
            try await bob.send(Messenger.UpdateMe(displayName: "Bob B.", avatar: .to(file.id)))
            let phones = [Phone(alice, on: host, "phone"), Phone(alice, on: host, "pad")]
            let stores = [try await phones[0].openConnected(), try await phones[1].openConnected()]
            let chats = stores.map { $0.chat(direct) }
            await until { chats.allSatisfy { $0.chat != nil } }
            // The other user's picture comes with the list.
            #expect(chats[0].chat?.peer?.avatar == file.id)
            #expect(chats[0].chat?.title == "Bob B.")
            #expect(chats[0].chat?.mute == nil)
            let end = host.clock.date + 7200
            try await chats[0].mute(until: end)
            #expect(chats[0].chat?.mute == .init(until: .init(end)))
            try await stores[1].reload()
            await until { chats[1].chat?.mute?.until.map { abs($0.date.timeIntervalSince(end)) < 1 } ?? false }
            try await chats[1].mute()
            #expect(chats[1].chat?.mute == .init(until: nil))
            try await chats[1].unmute()
            #expect(chats[1].chat?.mute == nil)
            try await stores[0].reload()
            await until { chats[0].chat?.mute == nil }
            // Without a network a chat stays as it is.
            await phones[0].network.set(.offline)
            await #expect(throws: URLError.self) { try await chats[0].mute() }
            #expect(chats[0].chat?.mute == nil)
            for store in stores { await store.close() }
        }
    }
}
