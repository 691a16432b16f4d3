import Backend
import Contract
import ContractCheck
import Database
import Foundation
import MessengerCheck
import MessengerClient
import MessengerService
import MessengerTestHost
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Devices are notified of messages by Apple's push service, for which a stand-in stands.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct PushTests {
    /// Runs a test on a server that notifies devices.
    private func run(
        _ nodes: Int = 1, on stack: Stack, showsText: Bool = true,
        _ body: (APNsStandIn, [MessengerHost]) async throws -> Void
    ) async throws {
        let clock = TestClock()
        try await APNsStandIn.run(by: clock) { service async throws in
            var settings = MessengerService.Settings()
            // A busy machine must not look like a node that does not answer.
            settings.pushes = PushSettings(
                client: try service.client(), showsText: showsText, patience: .seconds(300))
            try await withMessengerNodes(nodes, on: stack, settings: settings, clock: clock) { hosts in
                try await body(service, hosts)
            }
        }
    }

    @Test("Each device of a member who does not see the message is notified once", arguments: Stack.all)
    func members(_ stack: Stack) async throws {
        try await run(on: stack) { service, hosts async throws in
            let world = hosts[0].world()
            let (alice, bob, carol) = try await world.trio()
            let other = try await world.signedIn(bob.name, bob.password)
            let chat = try await alice.send(
                Messenger.CreateChat.group("Team Alpha", members: [bob.id, carol.id])
            ).id
            let direct = try await alice.directChat(with: bob)
            for text in ["one", "two"] { try await alice.send(Messenger.SendMessage(chat: direct, content: text)) }
            try await hosts[0].drain()
            _ = try await alice.register()
            let devices = [try await bob.register(), try await other.register()]
            _ = try await carol.register()
            let socket = try await carol.socket()
            try await socket.expectSubscription(to: chat)

            let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "Hello!"))
            #expect(try await socket.receive() == sent.message)
            try await hosts[0].drain()
            let taken = service.taken
            #expect(taken.map(\.token).sorted() == devices.map(\.token).sorted())
            for push in taken {
                #expect(push.display("badge") == 3)
                #expect(push.display("thread-id") == .string("chat-\(chat)"))
                #expect(push.display("mutable-content") == 1)
                let alert = push.display("alert")
                #expect(alert?["title"] == .string(alice.name))
                #expect(alert?["subtitle"] == "Team Alpha")
                #expect(alert?["body"] == "Hello!")
                #expect(push.headers["apns-collapse-id"] == "message-\(sent.id)")
                // The SDK reads it, and reads the message behind it.
                let read = try #require(MessengerPush(userInfo: try push.userInfo))
                #expect(read.chat == chat)
                #expect(read.message == sent.id)
                #expect(read.sender == alice.id)
                #expect(read.text == "Hello!")
                let shown = try await bob.client.notification(for: read)
                #expect(shown?.message == sent.message)
                #expect(shown?.title == alice.name)
                #expect(shown?.subtitle == "Team Alpha")
            }
            // Who does not listen any more is notified, and who has removed a device is not.
            await socket.close()
            try await bob.client.removeDevice(devices[0].id)
            try await bob.client.removeDevice(devices[0].id)
            try await other.client.signOut()
            try await hosts[0].untilNobodyListens(to: chat)
            let next = try await bob.send(Messenger.SendMessage(chat: chat, content: "Bye"))
            try await hosts[0].drain()
            let later = service.taken.dropFirst(taken.count)
            #expect(later.count == 2)
            #expect(later.allSatisfy { $0.payload["message_id"] == next.id.json })
            #expect(Set(later.map(\.token)).isDisjoint(with: devices.map(\.token)))
        }
    }

    @Test("Who is suspended is not notified", arguments: Stack.Engine.available)
    func suspended(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let (alice, bob, carol) = try await hosts[0].world().trio()
            let chat = try await alice.group(with: bob, carol)
            _ = try await bob.register()
            let device = try await carol.register()
            try await hosts[0].database.write { db in
                try db.run("UPDATE users SET suspended_at = 1, suspension_reason = 'spam' WHERE id = \(bob.id)")
            }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "Hello!"))
            try await hosts[0].drain()
            #expect(service.taken.map(\.token) == [device.token])
        }
    }

    @Test("Without text a notification has only ids", arguments: Stack.Engine.available)
    func idsOnly(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess), showsText: false) { service, hosts async throws in
            let (alice, bob) = try await hosts[0].world().pair()
            let chat = try await alice.group(with: bob)
            _ = try await bob.register()
            let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "secret"))
            let push = try #require(await service.taken(1).first)
            let expected: JSONValue = [
                "aps": [
                    "alert": ["loc-key": "New message"], "badge": 1, "sound": "default",
                    "thread-id": .string("chat-\(chat)"), "mutable-content": 1,
                ],
                "chat_id": chat.json, "message_id": sent.id.json, "sender_id": alice.id.json,
            ]
            #expect(push.payload == expected)
            let read = try #require(MessengerPush(userInfo: try push.userInfo))
            #expect(read.text == nil)
            #expect(try await bob.client.notification(for: read)?.body == "secret")
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: sent.id))
            #expect(try await bob.client.notification(for: read) == nil)
            try await bob.send(Messenger.LeaveChat(chat: chat))
            #expect(try await bob.client.notification(for: read) == nil)
        }
    }

    /// The stand-in refuses what is longer than 4,096 bytes.
    @Test("A text is cut so that it fits, and a file has words", arguments: Stack.Engine.available)
    func texts(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let (alice, bob) = try await hosts[0].world().pair()
            let chat = try await alice.directChat(with: bob)
            _ = try await bob.register()
            for text in ["👨‍👩‍👧‍👦", "\u{1}", "é", "\"", "x"] {
                let content = String(String(repeating: text, count: 16_384).unicodeScalars.prefix(16_384))
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: content))
                try await hosts[0].drain()
                let push = try #require(service.taken.last)
                #expect(push.payload["message_id"] == sent.id.json)
                let shown = try #require(push.display("alert")?["body"]?.string)
                #expect(shown.hasSuffix("…"))
                #expect(content.hasPrefix(shown.dropLast()))
                #expect(shown.utf8.count > 400)
                #expect(push.display("alert")?["subtitle"] == nil)
            }
            let file = try await alice.client.upload(Upload(.bytes([1]), filename: "a.txt")).id
            for (type, key) in [(Messenger.MessageType.file, "New file"), (.voice, "New voice message")] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: type, file: file))
                try await hosts[0].drain()
                #expect(service.taken.last?.display("alert")?["loc-key"] == .string(key))
            }
        }
    }

    @Test("A device that Apple does not know any more is removed", arguments: Stack.Engine.available)
    func goneDevices(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let (alice, bob) = try await hosts[0].world().pair()
            let chat = try await alice.group(with: bob)
            let devices = [try await bob.register(), try await bob.register(), try await bob.register()]
            let now = hosts[0].clock.source.milliseconds()
            service.reply { push in
                switch push.token {
                case devices[0].token: .refuse(400, reason: "BadDeviceToken")
                case devices[1].token: .refuse(410, reason: "Unregistered", timestamp: now)
                // It has been registered again since.
                default: .refuse(410, reason: "ExpiredToken", timestamp: now - 1)
                }
            }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "one"))
            try await hosts[0].drain()
            service.reply { _ in .take }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "two"))
            try await hosts[0].drain()
            #expect(service.taken.map(\.token) == [devices[2].token])
        }
    }

    @Test("What cannot be sent is sent later, to those alone who were missed", arguments: Stack.Engine.available)
    func later(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let host = hosts[0]
            let (alice, bob, carol) = try await host.world().trio()
            let chat = try await alice.group(with: bob, carol)
            let devices = [try await bob.register(), try await carol.register(), try await carol.register()]
            let busy = Set(devices.prefix(2).map(\.token))
            service.reply { push in
                busy.contains(push.token) ? .refuse(429, reason: "TooManyRequests", retryAfter: 120) : .take
            }
            let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "Hi"))
            try await host.untilJobsWait()
            #expect(service.taken.map(\.token) == [devices[2].token])
            service.reply { _ in .take }
            host.clock.advance(by: .seconds(119))
            try await host.service.sendDuePushes()
            #expect(service.taken.count == 1)
            // Bob has read it in the meantime.
            try await bob.send(Messenger.MarkRead(chat: chat, message: sent.id))
            host.clock.advance(by: .seconds(1))
            try await host.service.sendDuePushes()
            try await host.drain()
            #expect(service.taken.map(\.token) == [devices[2].token, devices[1].token])
        }
    }

    @Test("What cannot be sent for a day is given up", arguments: Stack.Engine.available)
    func expiry(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let host = hosts[0]
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            _ = try await bob.register()
            service.reply { _ in .refuse(503, reason: "ServiceUnavailable") }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "Hi"))
            try await host.untilJobsWait()
            for _ in 0..<22 {
                host.clock.advance(by: .seconds(3600))
                try await host.service.sendDuePushes()
            }
            #expect(try await host.jobs == 1)
            host.clock.advance(by: .seconds(7200))
            service.reply { _ in .take }
            try await host.service.sendDuePushes()
            try await host.drain()
            #expect(service.taken.isEmpty)
        }
    }

    @Test("A deleted message is not told, a blocked one neither", arguments: Stack.Engine.available)
    func whatIsGone(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let host = hosts[0]
            let (alice, bob) = try await host.world().pair()
            let (direct, group) = (try await alice.directChat(with: bob), try await alice.group(with: bob))
            _ = try await bob.register()
            service.reply { _ in .refuse(503, reason: "ServiceUnavailable") }
            for chat in [direct, group] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "stays"))
            }
            let deleted = try await alice.send(Messenger.SendMessage(chat: group, content: "goes"))
            try await host.untilJobsWait(3)
            try await alice.send(Messenger.DeleteMessage(chat: group, message: deleted.id))
            try await bob.send(Messenger.BlockUser(alice.id))
            service.reply { _ in .take }
            host.clock.advance(by: .seconds(10))
            try await host.service.sendDuePushes()
            try await host.drain()
            // A block does not concern the group.
            #expect(service.taken.map { $0.payload["chat_id"] } == [group.json])
        }
    }

    @Test("A muted chat notifies nobody until that ends", arguments: Stack.Engine.available)
    func mutedChats(_ engine: Stack.Engine) async throws {
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let host = hosts[0]
            let (alice, bob, carol) = try await host.world().trio()
            let (group, direct) = (try await alice.group(with: bob, carol), try await alice.directChat(with: bob))
            let (muting, other) = (try await bob.register(), try await carol.register())
            let end = host.clock.source.milliseconds() + 3_600_000
            try await bob.send(Messenger.MuteChat(chat: group, until: .init(milliseconds: end)))
            func tokens(of chat: Messenger.Chat.ID) async throws -> Set<String> {
                let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "Hi"))
                try await host.drain()
                return Set(service.taken.filter { $0.payload["message_id"] == sent.id.json }.map(\.token))
            }
            #expect(try await tokens(of: group) == [other.token])
            #expect(try await tokens(of: direct) == [muting.token])
            // What is unread in a muted chat counts.
            #expect(service.taken.last?.display("badge") == 2)
            host.clock.advance(by: .seconds(3601))
            #expect(try await tokens(of: group) == [muting.token, other.token])
            try await bob.send(Messenger.MuteChat(chat: group))
            // That stays muted.
            host.clock.advance(by: .seconds(20 * 86_400))
            #expect(try await tokens(of: group) == [other.token])
            try await bob.send(Messenger.UnmuteChat(chat: group))
            #expect(try await tokens(of: group) == [muting.token, other.token])
        }
    }

    @Test("A large group is notified in parts", arguments: Stack.Engine.available)
    func manyDevices(_ engine: Stack.Engine) async throws {
        let people = Torture.isOn ? 500 : 12
        try await run(on: Stack(engine, .inProcess)) { service, hosts async throws in
            let host = hosts[0]
            let world = host.world()
            let alice = try await world.person()
            let others = try await world.people(people - 1)
            let chat = try await alice.send(
                Messenger.CreateChat.group("All", members: others.map(\.id))
            ).id
            let devices = try await together(others.count * 20) { try await others[$0 / 20].register().token }
            let seen = NIOLockedValueBox(0)
            service.reply { _ in
                let number = seen.withLockedValue { seen in
                    seen += 1
                    return seen
                }
                return number.isMultiple(of: 50) ? .refuse(500, reason: "InternalServerError") : .take
            }
            try await alice.send(Messenger.SendMessage(chat: chat, content: "Hi"))
            for _ in 0..<1000 where try await host.jobs > 0 {
                try await host.service.sendDuePushes()
                // A reservation that ended during a delivery would have the devices notified twice. It lasts a minute, and a
                // delivery may begin behind this wait: the next one comes before the minute is over.
                try await host.untilNoJobIsDelivered()
                host.clock.advance(by: .seconds(30))
            }
            #expect(try await host.jobs == 0)
            let taken = service.taken.map(\.token)
            #expect(taken.count == devices.count)
            #expect(Set(taken) == Set(devices))
            #expect(service.taken.allSatisfy { $0.display("badge") == 1 })
        }
    }

    @Test("Two nodes notify each device once, and know each other's sockets")
    func twoNodes() async throws {
        guard Stack.postgreSQL != nil else { return }
        try await run(2, on: Stack(.postgreSQL, .inProcess)) { service, hosts async throws in
            let (first, second) = (hosts[0].world(), hosts[1].world())
            let (alice, bob, carol) = try await first.trio()
            let chat = try await alice.group(with: bob, carol)
            let (device, quiet) = (try await bob.register(), try await carol.register())
            let elsewhere = try await second.signedIn(carol.name, carol.password)
            let socket = try await elsewhere.socket()
            try await socket.expectSubscription(to: chat)
            let senders = [alice, try await second.signedIn(alice.name, alice.password)]
            let sent = try await together(20, width: 10) { index in
                try await senders[index % 2].send(Messenger.SendMessage(chat: chat, content: "\(index)")).id
            }
            for _ in sent { _ = try await socket.receive() }
            try await hosts[0].drain()
            #expect(service.taken.count == sent.count)
            #expect(Set(service.taken.compactMap { $0.payload["message_id"]?.integer }) == Set(sent.map(\.rawValue)))
            #expect(service.taken.allSatisfy { $0.token == device.token && $0.token != quiet.token })
        }
    }

    @Test("Where nobody is notified nothing waits", arguments: Stack.Engine.available)
    func withoutAKey(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host async throws in
            let (alice, bob) = try await host.world().pair()
            let chat = try await alice.group(with: bob)
            _ = try await bob.register()
            try await alice.send(Messenger.SendMessage(chat: chat, content: "Hi"))
            #expect(try await host.jobs == 0)
        }
    }
}
