import Backend
import Contract
import ContractCheck
import ContractClient
import Database
import HTTPTypes
import MessengerCheck
import MessengerClient
import MessengerService
import Testbed
import Testing

/// Memberships stay consistent with many users at once, and in the database.
@Suite(.timeLimit(.minutes(30))) struct MembershipTests {
    @Test("A group has 500 members at most, however many are added at once", arguments: Stack.Engine.available)
    func capacity(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let owner = try await world.person()
            let users = try await together(519) { _ in
                let name = world.freshName()
                let register = Messenger.Register(username: name, email: "\(name)@b", password: "12345678")
                return try await world.client().send(register).id
            }
            let chat = try await owner.group()
            let socket = try await owner.socket()
            try await socket.send(Messenger.Subscribe(chat: chat))
            #expect(try await socket.receive() == Messenger.Subscribed(chat: chat))
            try await owner.send(Messenger.AddMembers(chat: chat, users: Array(users[..<489])))
            for user in users[..<489] {
                #expect(try await socket.receive() == Messenger.MemberAdded(chat: chat, user: user))
            }
            // There is room for ten, and requests add thirty users, one or two at a time.
            let outcomes = try await together(20, width: 20) { index -> Int in
                let new = index < 10 ? [users[489 + index]] : [users[479 + 2 * index], users[480 + 2 * index]]
                do {
                    try await owner.send(Messenger.AddMembers(chat: chat, users: new))
                    return new.count
                } catch let error as APIError {
                    #expect(error.status == .badRequest && error.message == "a group has at most 500 members")
                    return 0
                }
            }
            let members = try await owner.send(Messenger.GetChat(id: chat)).members
            #expect(members.count == 490 + outcomes.reduce(0, +))
            // The group is short of a member only if the last request had two users.
            #expect(499...500 ~= members.count)
            // Users who are members already need no room.
            let again = try await owner.send(Messenger.AddMembers(chat: chat, users: members.map(\.id)))
            #expect(again.members == members)
        }
    }

    @Test("Deleting a chat deletes its messages, and the files that only they used")
    func deletedChat() async throws {
        // The file system's time is the time of an object.
        let clock = TestClock(milliseconds: TimeSource.system.milliseconds())
        var settings = MessengerService.Settings()
        settings.storageQuota = 40
        try await withMessenger(on: Stack(.sqlite, .inProcess), settings: settings, clock: clock) { host in
            let alice = try await host.world().person()
            func upload() async throws -> Messenger.File {
                try await alice.client.upload(Upload(.bytes(Array(repeating: 1, count: 10)), filename: "a"))
            }
            let (lost, shared, avatar, unsent) = (
                try await upload(), try await upload(), try await upload(), try await upload()
            )
            let (chat, other) = (try await alice.group(), try await alice.group())
            for (file, chat) in [(lost, chat), (lost, chat), (shared, chat), (shared, other), (avatar, chat)] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file.id))
            }
            let owner = alice.id
            try await host.database.write { db in
                try db.run("UPDATE users SET avatar_file_id = \(avatar.id.rawValue) WHERE id = \(owner.rawValue)")
            }
            try await expectRefusal(413, "Storage quota exceeded") { _ = try await upload() }
            try await alice.send(Messenger.LeaveChat(chat: chat))

            let left = try await host.database.read { db in
                try db.value("SELECT COUNT(*) FROM messages WHERE chat_id = \(chat.rawValue)", as: Int.self)
            }
            #expect(left == 0)
            try await expectRefusal(404, "File not found") { _ = try await alice.client.downloadURL(of: lost.id) }
            try await expectRefusal(404, "File not found") {
                try await alice.send(Messenger.SendMessage(chat: other, content: "", type: .file, file: lost.id))
            }
            for file in [shared, avatar, unsent] { #expect(try await alice.client.download(file.id).count == 10) }
            // The quota is free at once. The next sweep removes the file.
            let new = try await upload()
            clock.advance(by: .seconds(7200))
            try await host.service.sweep()
            let kept = [shared, avatar, unsent, new].map(\.objectKey)
            #expect(Set(try await host.objects.allKeys()) == Set(kept))
        }
    }

    @Test(
        "A file that is sent while its last chat is deleted is either kept or removed",
        arguments: Stack.Engine.available)
    func filesBetweenChats(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let alice = try await host.world().person()
            let kept = try await alice.group()
            for _ in 0..<20 {
                let file = try await alice.client.upload(Upload(.bytes([1]), filename: "a")).id
                let chat = try await alice.group()
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
                let statuses = try await together(8) { index -> Int in
                    if index == 4 { return try await alice.raw(.post, "/chats/\(chat)/leave").status }
                    let body = #"{"type":"file","file_id":\#(file)}"#
                    return try await alice.raw(.post, "/chats/\(index == 0 ? kept : chat)/messages", body: body).status
                }
                #expect(statuses[4] == 204)
                #expect(statuses.enumerated().allSatisfy { $0 == 4 || [201, 403, 404].contains($1) }, "\(statuses)")
                let download = try await alice.raw(.get, "/files/\(file)/download").status
                #expect(download == (statuses[0] == 201 ? 302 : 404), "\(statuses)")
            }
        }
    }
}
