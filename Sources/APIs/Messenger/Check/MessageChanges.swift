@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of edited and deleted messages.
extension MessengerScenarios {
    static let messageChanges: [Scenario<MessengerWorld>] = [
        Scenario(
            "An edited message has its new text everywhere, and its time where asked for",
            clause: "PUT /chats/{id}/messages/{msgId}"
        ) { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let file = try await alice.upload()
            let untouched = try await bob.say("untouched", in: chat)
            let sent = try await alice.send(Messenger.SendMessage(chat: chat, content: "one", file: file))
            let updated = try await alice.send(Messenger.ListChats())[0].updatedAt
            let contents = [
                "two", " two\n", "\u{1F468}\u{200D}\u{1F469}", String(repeating: "é", count: 16_384), "last",
            ]
            for content in contents {
                let body: JSONValue = ["content": .string(content), "type": "voice", "file_id": nil, "sender_id": 1]
                let answer = try await alice.raw(.put, "/chats/\(chat)/messages/\(sent.id)", body: body.description)
                let json = try answer.succeeded(200)
                try json["edited_at"]?.expectTimestamp()
                // The answer is that of the send with one more key, the last one.
                var message: [String: JSONValue] = [
                    "id": sent.id.json, "chat_id": chat.json, "sender_id": alice.id.json, "content": .string(content),
                    "type": "text", "file_id": file.json, "created_at": .string("\(sent.createdAt)"),
                    "edited_at": json["edited_at"] ?? .null,
                ]
                try expect(json, equals: .object(message))
                try expect(answer.text.contains(#""created_at":"\#(sent.createdAt)","edited_at":"#), answer.text)
                message["message_type"] = message.removeValue(forKey: "type")
                let path = "/chats/\(chat)/messages"
                for query in ["?include=edited", "?after=0&include=x,%20edited,unread", "?include=edited&limit=7"] {
                    let listed = try await bob.get(path + query).succeeded(200)
                    try expect(listed[0], equals: .object(message))
                    try expect(listed[1]?["edited_at"], equals: .null)
                    try expect(listed[1]?["id"], equals: untouched.id.json)
                }
                message["edited_at"] = nil
                for query in ["", "?include=", "?include=unread", "?include=Edited", "?include=edited2"] {
                    try expect(try await bob.get(path + query).succeeded(200)[0], equals: .object(message))
                }
            }
            let summary = try await bob.send(Messenger.ListChats())[0]
            try expect(summary.lastMessage, equals: "last")
            try expect(summary.updatedAt, equals: updated)
        },
        Scenario("A deleted message is in no list, and opens no file", clause: "DELETE /chats/{id}/messages/{msgId}") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let first = try await bob.say("first", in: chat)
            let file = try await alice.upload()
            let kinds: [Messenger.MessageType] = [.text, .file, .voice]
            var answered: [Messenger.SentMessage] = []
            for type in kinds {
                answered.append(
                    try await alice.send(
                        Messenger.SendMessage(chat: chat, content: "\(type)", type: type, file: file)))
            }
            let sent = answered
            let newest = try sent[2].id
            for message in try [sent[1], sent[2], sent[0]] {
                _ = try await bob.location(of: file.json)
                let path = "/chats/\(chat)/messages/\(message.id)"
                let answer = try await alice.raw(.delete, path)
                try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
                for (method, path) in [(.delete, path), (.put, path), (.post, path + "/read")]
                    as [(HTTPRequest.Method, String)]
                {
                    let body = method == .put ? #"{"content":"x"}"# : nil
                    try await alice.raw(method, path, body: body).refused(404, "Message not found", path)
                }
                answered.removeAll { $0.id == message.id }
                let left = [first] + answered.map(\.message)
                for person in [alice, bob] {
                    let listed = try await person.send(Messenger.ListMessages(chat: chat))
                    try expect(listed, equals: left.reversed())
                    let row = try await person.send(Messenger.ListChats())[0]
                    try expect(row.lastMessage, equals: left.last?.content)
                    try expect(row.updatedAt, equals: left.last?.createdAt)
                }
                try expect(
                    try await bob.send(Messenger.ListMessages(chat: chat, before: message.id)).map(\.id),
                    equals: left.map(\.id).filter { $0 < message.id }.reversed())
            }
            try await bob.get("/files/\(file)/download").refused(404, "File not found")
            try await bob.send(Messenger.DeleteMessage(chat: chat, message: first.id))
            let empty = try await alice.send(Messenger.ListChats())[0]
            try expect(empty.lastMessage, equals: nil)
            try expect(empty.updatedAt, equals: try await alice.send(Messenger.GetChat(id: chat)).createdAt)
            // Ids are not reused.
            try expect(try await bob.say("next", in: chat).id > newest, "an id came again")
        },
        Scenario(
            "Only the sender, in the chat, changes a message, and only a text's text",
            clause: "PUT /chats/{id}/messages/{msgId}"
        ) { world, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let other = try await alice.group(with: bob)
            let message = try await alice.say("text", in: chat)
            let file = try await alice.upload()
            let bare = try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            let path = "/chats/\(chat)/messages/\(message.id)"
            let long = JSONValue.string(String(repeating: "x", count: 16_385))
            let refused: [(body: JSONValue, text: String)] = [
                ([:], "content or file_id required"), (["content": " \n"], "content or file_id required"),
                (["content": 5], "content or file_id required"), (["content": nil], "content or file_id required"),
                (["content": long], "content too long (max 16384 characters)"),
                (["content": "a\u{0}"], "Text must not contain NUL characters"),
            ]
            // The body is checked before everything else.
            for (body, text) in refused {
                for person in [alice, bob, carol] {
                    for id in [message.id, 0] {
                        try await person.raw(.put, "/chats/\(chat)/messages/\(id)", body: body.description)
                            .refused(400, text, "\(body.description.prefix(50))")
                    }
                }
            }
            try await alice.raw(.put, path, body: "[]").refused(400, "Invalid JSON")
            let body = #"{"content":"changed"}"#
            for method in [HTTPRequest.Method.put, .delete] {
                let body = method == .put ? body : nil
                try await world.raw.send(method, path, body: body).refused(401, "Missing Authorization header")
                for id in ["\(message.id)", "0", "9223372036854775807", "99999999999999999999"] {
                    try await carol.raw(method, "/chats/\(chat)/messages/\(id)", body: body)
                        .refused(403, "Not a member of this chat", id)
                    try await alice.raw(method, "/chats/0/messages/\(id)", body: body)
                        .refused(403, "Not a member of this chat", id)
                }
                // A message of another chat does not exist in this one.
                for id in ["0", "9223372036854775807", "99999999999999999999"] {
                    try await alice.raw(method, "/chats/\(chat)/messages/\(id)", body: body)
                        .refused(404, "Message not found", id)
                }
                try await alice.raw(method, "/chats/\(other)/messages/\(message.id)", body: body)
                    .refused(404, "Message not found")
                for id in [message.id, bare.id] {
                    try await bob.raw(method, "/chats/\(chat)/messages/\(id)", body: body)
                        .refused(403, "Only the sender can change a message")
                }
            }
            try await alice.raw(.put, "/chats/\(chat)/messages/\(bare.id)", body: body)
                .refused(400, "Only text messages can be changed")
            // The owner of the chat has no more rights than others, and a former member has none.
            let his = try await bob.say("his", in: chat)
            try await alice.raw(.delete, "/chats/\(chat)/messages/\(his.id)")
                .refused(403, "Only the sender can change a message")
            try await bob.send(Messenger.LeaveChat(chat: chat))
            for method in [HTTPRequest.Method.put, .delete] {
                try await bob.raw(method, "/chats/\(chat)/messages/\(his.id)", body: method == .put ? body : nil)
                    .refused(403, "Not a member of this chat")
            }
            let contents = try await alice.send(Messenger.ListMessages(chat: chat)).map(\.content)
            try expect(contents, equals: ["his", "", "text"])
        },
        Scenario(
            "Who was away asks for what was edited and deleted since", clause: "GET /chats/{id}/changes"
        ) { _, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let path = "/chats/\(chat)/changes"
            let sent = try await alice.say(4, in: chat)
            let (first, second, third) = (try sent[0].id, try sent[1].id, try sent[2].id)
            let start = try await bob.changes(of: chat)
            try expect(start.isComplete && start.changes.isEmpty, "\(start)")
            // Neither a message nor a read mark nor a member is a change of a message.
            try await alice.send(Messenger.AddMembers(chat: chat, users: [carol.id]))
            try await bob.send(Messenger.MarkRead(chat: chat, message: third))
            try await alice.say("new", in: chat)
            try expect(try await bob.changes(of: chat, after: start.version).changes.isEmpty, "nothing was changed")
            try await alice.send(Messenger.EditMessage(chat: chat, message: first, content: "one"))
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: second))
            let edit = try await alice.send(Messenger.EditMessage(chat: chat, message: first, content: "two"))
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: third))
            let deletion = { (id: Messenger.Message.ID) -> JSONValue in
                ["id": id.json, "content": nil, "edited_at": nil]
            }
            guard let time = edit.editedAt else { throw CheckFailure("no edited_at") }
            // Each once, as it is now, in the order of the last changes.
            let expected: [JSONValue] = [
                deletion(second), ["id": first.json, "content": "two", "edited_at": .string("\(time)")],
                deletion(third),
            ]
            for person in [alice, bob, carol] {
                let all = try await person.get("\(path)?after=\(start.version)").succeeded(200)
                try expect(
                    all,
                    equals: [
                        "version": all["version"] ?? .null, "is_complete": true, "changes": .list(expected),
                    ])
            }
            // Pages follow each other by the version of the answer.
            var version = start.version
            for change in expected {
                let page = try await bob.get("\(path)?after=\(version)&limit=1").succeeded(200)
                try expect(page["changes"], equals: [change])
                version = page["version"]?.integer.map { Int($0) } ?? -1
            }
            let end = try await bob.changes(of: chat, after: version)
            try expect(end.isComplete && end.changes.isEmpty, "\(end)")
            try expect(try await bob.client.changes(of: chat, after: start.version).changes.count, equals: 3)
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: first))
            try expect(try await bob.changes(of: chat, after: end.version).changes.map(\.id), equals: [first])
            try expect(
                try await bob.changes(of: chat, after: start.version).changes.map(\.id), equals: [second, third, first])
            // The changes after a version that the chat has not reached are not known.
            let future = try await bob.changes(of: chat, after: end.version + 1000)
            try expect(!future.isComplete && future.changes.isEmpty, "\(future)")
        },
        Scenario("Only members ask for a chat's changes", clause: "GET /chats/{id}/changes") {
            world, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let path = "/chats/\(chat)/changes"
            try await world.raw.send(.get, path).refused(401, "Missing Authorization header")
            try await carol.get(path).refused(403, "Not a member of this chat")
            try await carol.get(path + "?after=0").refused(403, "Not a member of this chat")
            try await alice.get("/chats/0/changes").refused(403, "Not a member of this chat")
            try await alice.get(path + "?after=-1").refused(400, "Invalid after")
            for limit in ["0", "-1"] { try await alice.get(path + "?limit=\(limit)").refused(400, "Invalid limit") }
            try await bob.send(Messenger.LeaveChat(chat: chat))
            try await bob.get(path + "?after=0").refused(403, "Not a member of this chat")
        },
        Scenario("Subscribers hear of edits and deletions, with exactly their keys", clause: "/ws message_edited") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let message = try await alice.say("one", in: chat)
            let sockets = [try await alice.rawSocket(), try await bob.rawSocket(), try await bob.rawSocket()]
            for socket in sockets {
                try await socket.send(["type": "subscribe", "chat_id": chat.json])
                try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            }
            // The second text is larger than what a database carries between nodes.
            for content in ["two", String(repeating: "\u{1F600}", count: 16_384)] {
                let edited = try await alice.send(
                    Messenger.EditMessage(chat: chat, message: message.id, content: content))
                guard let time = edited.editedAt else { throw CheckFailure("no edited_at") }
                for socket in sockets {
                    try await socket.expect([
                        "type": "message_edited", "id": message.id.json, "chat_id": chat.json,
                        "content": .string(content), "edited_at": .string("\(time)"),
                    ])
                }
            }
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: message.id))
            for socket in sockets {
                try await socket.expect(["type": "message_deleted", "id": message.id.json, "chat_id": chat.json])
                await socket.close()
            }
        },
        Scenario("Who applies what a socket hears has what a list shows", clause: "/ws message_edited") {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let early = try await alice.say(10, in: chat)
            async let changing: [Void] = together(90, width: 8) { index in
                let person = index.isMultiple(of: 2) ? alice : bob
                let sent = try await person.say("\(index)", in: chat)
                switch index % 3 {
                case 0: try await person.send(Messenger.DeleteMessage(chat: chat, message: sent.id))
                case 1:
                    try await person.send(
                        Messenger.EditMessage(chat: chat, message: sent.id, content: "edited \(index)"))
                default: break
                }
                guard early.indices.contains(index) else { return }
                let old = try early[index].id
                try await alice.send(Messenger.EditMessage(chat: chat, message: old, content: "again \(index)"))
                if index > 5 { try await alice.send(Messenger.DeleteMessage(chat: chat, message: old)) }
            }
            // Each socket subscribes at another moment while others are sending, and receives everything up to the end.
            async let copying = together(4) { index in
                for _ in 0..<15 * index { try await bob.get("/me").succeeded(200) }
                let socket = try await bob.socket()
                try await socket.subscribe(to: chat, since: 0)
                var copy: [Messenger.Message.ID: String] = [:]
                while true {
                    switch try await socket.receive() {
                    case let message as Messenger.Message where message.content == "end":
                        await socket.close()
                        return copy
                    case let message as Messenger.Message: copy[message.id] = message.content
                    case let edit as Messenger.MessageEdit: if copy[edit.id] != nil { copy[edit.id] = edit.content }
                    case let deletion as Messenger.MessageDeletion where deletion.chat == chat: copy[deletion.id] = nil
                    case let other: throw CheckFailure("\(other)")
                    }
                }
            }
            _ = try await changing
            try await alice.say("end", in: chat)
            var list: [Messenger.Message.ID: String] = [:]
            for message in try await bob.send(Messenger.ListMessages(chat: chat, limit: 100)) {
                list[message.id] = message.content
            }
            list = list.filter { $1 != "end" }
            for copy in try await copying { try expect(copy, equals: list) }
        },
    ]
}

extension Person {
    /// Returns a page of a chat's changes.
    fileprivate func changes(
        of chat: Messenger.Chat.ID, after version: Int? = nil
    ) async throws -> Messenger.MessageChanges {
        try await send(Messenger.ListChanges(chat: chat, after: version))
    }
}
