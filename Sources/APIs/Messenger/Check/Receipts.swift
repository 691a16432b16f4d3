@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of read receipts and typing.
extension MessengerScenarios {
    static let receipts: [Scenario<MessengerWorld>] = [
        Scenario(
            "A read mark moves forward only, and tells of it only then",
            clause: "POST /chats/{id}/messages/{msgId}/read"
        ) { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let sent = try await bob.say(10, in: chat)
            let sockets = [try await alice.rawSocket(), try await bob.rawSocket()]
            for socket in sockets {
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            }
            var mark = try sent[5].id
            for (index, moves) in [(5, true), (3, false), (5, false), (6, true), (0, false), (9, true)] {
                let answer = try await alice.raw(.post, "/chats/\(chat)/messages/\(sent[index].id)/read")
                try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
                let receipts = try await bob.get("/chats/\(chat)/receipts").succeeded(200)
                // A user's own messages count as read.
                guard let mine = receipts[0], receipts.elements.count == 2 else { throw CheckFailure("\(receipts)") }
                try expect(mine["user_id"], equals: alice.id.json)
                try expect(receipts[1]?["last_read_message_id"], equals: sent[9].id.json)
                if moves { mark = try sent[index].id }
                try expect(
                    mine,
                    equals: [
                        "user_id": alice.id.json, "last_read_message_id": mark.json,
                        "read_at": mine["read_at"] ?? .null,
                    ])
                try mine["read_at"]?.expectTimestamp()
                guard moves else { continue }
                for socket in sockets {
                    try await socket.expect([
                        "type": "read", "chat_id": chat.json, "user_id": alice.id.json,
                        "message_id": sent[index].id.json, "read_at": mine["read_at"] ?? .null,
                    ])
                }
            }
            // Sending moves the mark, too, and no other frame announces it.
            let own = try await alice.say("mine", in: chat)
            try await alice.send(Messenger.MarkRead(chat: chat, message: own.id))
            let next = try await bob.say("next", in: chat)
            for socket in sockets {
                for message in [own, next] { try expect(try await socket.frame()["id"], equals: message.id.json) }
                await socket.close()
            }
            try expect(
                try await alice.send(Messenger.GetReceipts(chat: chat)).map(\.lastRead), equals: [own.id, next.id])
        },
        Scenario(
            "Of many marks at once the highest stays, and each that is told is higher",
            clause: "POST /chats/{id}/messages/{msgId}/read"
        ) { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let sent = try await bob.say(40, in: chat)
            let socket = try await bob.socket()
            try await socket.subscribe(to: chat)
            let order = sent.shuffled()
            _ = try await together(40) { index in
                try await alice.send(Messenger.MarkRead(chat: chat, message: order[index].id))
            }
            try expect(try await bob.send(Messenger.GetReceipts(chat: chat))[0].lastRead, equals: sent[39].id)
            let last = try await bob.say("last", in: chat)
            var told: [Messenger.Message.ID] = []
            while case let frame = try await socket.receive(), frame != last {
                guard let mark = frame as? Messenger.ReadMark else { throw CheckFailure("\(frame)") }
                try expect(mark.user, equals: alice.id)
                told.append(mark.message)
            }
            try expect(told == Set(told).sorted() && told.last == sent[39].id, "told \(told)")
            await socket.close()
        },
        Scenario("Receipts are of members who have read something, by user id", clause: "GET /chats/{id}/receipts") {
            world in
            let people = try await world.people(4)
            let (owner, silent, reader, leaver) = try (people[3], people[1], people[0], people[2])
            let chat = try await owner.group(with: silent, reader, leaver)
            let path = "/chats/\(chat)/receipts"
            try expect(try await silent.get(path).succeeded(200), equals: [])
            let sent = try await owner.say(2, in: chat)
            for person in [reader, leaver] {
                try await person.send(Messenger.MarkRead(chat: chat, message: sent[0].id))
            }
            func readers() async throws -> [JSONValue?] {
                try await silent.get(path).succeeded(200).elements.map { $0["user_id"] }
            }
            try expect(try await readers(), equals: [reader.id.json, leaver.id.json, owner.id.json])
            try await leaver.send(Messenger.LeaveChat(chat: chat))
            try expect(try await readers(), equals: [reader, owner].map(\.id.json))
            // Deleting a message does not move the mark.
            try await owner.send(Messenger.DeleteMessage(chat: chat, message: sent[0].id))
            try expect(try await silent.send(Messenger.GetReceipts(chat: chat))[0].lastRead, equals: sent[0].id)
        },
        Scenario("Who joins a group has read what was said before", clause: "POST /chats/{id}/members") {
            _, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let silent = try await alice.group()
            let sent = try await bob.say(31, in: chat)
            for group in [chat, silent] { try await alice.send(Messenger.AddMembers(chat: group, users: [carol.id])) }
            for group in [chat, silent] { try expect(try await carol.unread(in: group), equals: 0) }
            let receipts = try await alice.send(Messenger.GetReceipts(chat: chat))
            try expect(receipts.first { $0.user == carol.id }?.lastRead, equals: sent[30].id)
            try expect(try await alice.send(Messenger.GetReceipts(chat: silent)), equals: [])
            try await bob.say("new", in: chat)
            try expect(try await carol.unread(in: chat), equals: 1)
            // The members keep their marks, and a returning member has read what they missed.
            try expect(try await alice.unread(in: chat), equals: 32)
            try await carol.send(Messenger.LeaveChat(chat: chat))
            let last = try await bob.say("missed", in: chat)
            try await alice.send(Messenger.AddMembers(chat: chat, users: [bob.id, carol.id]))
            try expect(try await carol.unread(in: chat), equals: 0)
            let again = try await alice.send(Messenger.GetReceipts(chat: chat))
            try expect(again.first { $0.user == carol.id }?.lastRead, equals: last.id)
        },
        Scenario("Marks and receipts are for members, and for messages of the chat", clause: "GET /chats/{id}/receipts")
        { world, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let other = try await alice.group(with: bob)
            let message = try await alice.say("hello", in: chat)
            let calls: [(HTTPRequest.Method, path: String)] = [
                (.post, "messages/\(message.id)/read"), (.post, "messages/0/read"), (.get, "receipts"),
            ]
            for (method, path) in calls {
                try await world.raw.send(method, "/chats/\(chat)/\(path)").refused(401, "Missing Authorization header")
                for id in ["\(chat)", "0", "9223372036854775807"] {
                    try await carol.raw(method, "/chats/\(id)/\(path)").refused(403, "Not a member of this chat", path)
                }
            }
            for id in ["0", "9223372036854775807", "99999999999999999999"] {
                try await bob.raw(.post, "/chats/\(chat)/messages/\(id)/read").refused(404, "Message not found", id)
            }
            try await bob.raw(.post, "/chats/\(other)/messages/\(message.id)/read").refused(404, "Message not found")
            try await bob.raw(.post, "/chats/\(chat)/messages/\(message.id)/read", body: "[]")
                .refused(400, "Invalid JSON")
            try expect(try await bob.send(Messenger.GetReceipts(chat: chat)).map(\.user), equals: [alice.id])
            try await bob.send(Messenger.LeaveChat(chat: chat))
            for (method, path) in calls {
                try await bob.raw(method, "/chats/\(chat)/\(path)").refused(403, "Not a member of this chat", path)
            }
        },
        Scenario("include=unread counts what others sent above one's mark", clause: "GET /chats") {
            _, alice, bob, carol in
            let chat = try await alice.group(with: bob, carol)
            let empty = try await alice.group(with: bob)
            try expect(try await alice.unread(in: chat), equals: 0)
            let sent = try await bob.say(3, in: chat)
            try expect(try await alice.unread(in: chat), equals: 3)
            try expect(try await bob.unread(in: chat), equals: 0)
            try await alice.send(Messenger.MarkRead(chat: chat, message: sent[0].id))
            try expect(try await alice.unread(in: chat), equals: 2)
            try await carol.say("and I", in: chat)
            try expect(try await alice.unread(in: chat), equals: 3)
            try expect(try await carol.unread(in: chat), equals: 0)
            try expect(try await bob.unread(in: chat), equals: 1)
            try await bob.send(Messenger.DeleteMessage(chat: chat, message: sent[2].id))
            try expect(try await alice.unread(in: chat), equals: 2)
            try await alice.say("all read now", in: chat)
            try expect(try await alice.unread(in: chat), equals: 0)
            try expect(try await bob.unread(in: chat), equals: 2)

            let counts = try await alice.send(Messenger.ListChats(limit: 2, include: .unread))
            try expect(counts.map(\.unreadCount), equals: [0, 0])
            try expect(Set(counts.map(\.id)), equals: [chat, empty])
            for query in ["", "?include=", "?include=edited", "?include=Unread", "?include=unread_count"] {
                let row = try await alice.get("/chats\(query)").succeeded(200)[0]
                try expect(row?["unread_count"] == nil, "\(query): \(row ?? .null)")
            }
            for query in ["?include=x,unread", "?include=unread,%20edited", "?limit=1&include=%20unread"] {
                try expect(try await alice.get("/chats\(query)").succeeded(200)[0]?["unread_count"], equals: 0)
            }
        },
        Scenario("Typing is told to the others of the chat, once in three seconds", clause: "/ws typing") {
            _, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let aside = try await alice.group(with: bob, carol)
            let socket = try await alice.rawSocket()
            let (chatError, subscription) = ("Invalid chat_id", "Not subscribed to this chat")
            let refused: [(fields: [String: JSONValue], text: String)] = [
                ([:], chatError), (["chat_id": 0], chatError), (["chat_id": -1], chatError),
                (["chat_id": .string("\(chat)")], chatError), (["chat_id": chat.json], subscription),
                (["chat_id": 9_223_372_036_854_775_807], subscription),
            ]
            for (fields, text) in refused {
                try await socket.send(.object(fields.merging(["type": "typing"]) { $1 }))
                let answer = try await socket.frame()
                try expect(answer == ["type": "error", "message": .string(text)], "\(fields): \(answer)")
            }
            let (own, others) = (try await alice.rawSocket(), [try await bob.rawSocket(), try await bob.rawSocket()])
            for chat in [chat, aside] {
                for socket in [socket, own] + others {
                    try await socket.send(["type": "subscribe", "chat_id": chat.json])
                    try await socket.expect(["type": "subscribed", "chat_id": chat.json])
                }
            }
            // Two sockets of one user count as one; another chat counts separately.
            let begun = ContinuousClock.now
            var told: [JSONValue] = []
            for chat in [chat, aside] {
                for _ in 0..<5 {
                    for socket in [socket, own] { try await socket.send(["type": "typing", "chat_id": chat.json]) }
                }
                let frame: JSONValue = ["type": "typing", "chat_id": chat.json, "user_id": alice.id.json]
                for socket in others {
                    try expect(try await socket.frame(skipping: told, after: begun + .seconds(3)), equals: frame)
                }
                told.append(frame)
            }
            let last = try await bob.say("done", in: aside)
            for socket in [socket, own] + others {
                let frame = try await socket.frame(skipping: told, after: begun + .seconds(3))
                try expect(frame["id"], equals: last.id.json)
                await socket.close()
            }
        },
    ]
}

extension RawSocket {
    /// Returns the next frame. On a slow machine more than three seconds may pass, and typing is then told again: such frames are
    /// left out.
    fileprivate func frame(skipping told: [JSONValue], after end: ContinuousClock.Instant) async throws -> JSONValue {
        var frame = try await frame()
        while told.contains(frame), ContinuousClock.now >= end { frame = try await self.frame() }
        return frame
    }
}

extension Person {
    /// Returns the number of unread messages in the list of chats.
    fileprivate func unread(in chat: Messenger.Chat.ID, line: UInt = #line) async throws -> JSONValue? {
        let list = try await get("/chats?include=unread").succeeded(200).elements
        let row = list.first { $0["id"] == chat.json }
        guard case .object(let keys) = row ?? .null, keys.count == 6 else { throw CheckFailure("\(list)", line: line) }
        return row?["unread_count"]
    }
}
