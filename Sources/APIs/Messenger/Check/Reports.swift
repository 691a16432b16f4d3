@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of reports to the operator. No request shows that they arrive.
extension MessengerScenarios {
    static let reports: [Scenario<MessengerWorld>] = [
        Scenario("Who can see a user or a message can report it", clause: "POST /reports") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let message = try await bob.say("rude", in: chat)
            let longest = JSONValue.string(String(repeating: "é", count: 100))
            let details = JSONValue.string(String(repeating: "\u{1F600}", count: 2000))
            let bodies: [JSONValue] = [
                ["user_id": bob.id.json, "reason": "spam"],
                ["message_id": message.id.json, "reason": " x ", "details": nil],
                ["user_id": bob.id.json, "message_id": message.id.json, "reason": longest, "details": details],
                ["user_id": bob.id.json, "message_id": "x", "reason": "spam", "details": 5, "id": 7],
                ["user_id": nil, "message_id": message.id.json, "reason": "spam", "details": ""],
                ["user_id": alice.id.json, "reason": "myself"],
            ]
            var ids: [Int64] = []
            for body in bodies {
                let report = try await alice.post("/reports", body).succeeded(201, "\(body.description.prefix(80))")
                guard case .object(let members) = report, let id = members["id"]?.integer else {
                    throw CheckFailure("no id")
                }
                try expect(Set(members.keys), equals: ["id"])
                ids.append(id)
            }
            try expect(Set(ids).count == ids.count && ids == ids.sorted(), "ids \(ids)")
            // The reported message is unchanged, and a block hides no message of a chat that the user is in.
            try expect(try await bob.send(Messenger.ListMessages(chat: chat)), equals: [message])
            try await bob.send(Messenger.BlockUser(alice.id))
            try await alice.post("/reports", ["message_id": message.id.json, "reason": "rude"]).succeeded(201)
        },
        Scenario("What cannot be seen cannot be reported", clause: "POST /reports") { _, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            let message = try await alice.say("private", in: chat)
            try await alice.send(Messenger.BlockUser(carol.id))
            let (noUser, noMessage) = ("User not found", "Message not found")
            let table: [(person: Person, user: JSONValue, message: JSONValue, text: String)] = [
                (carol, alice.id.json, nil, noUser), (carol, nil, message.id.json, noMessage),
                (carol, alice.id.json, message.id.json, noUser), (carol, bob.id.json, message.id.json, noMessage),
                (bob, 0, nil, noUser), (bob, -1, nil, noUser), (bob, 9_223_372_036_854_775_807, nil, noUser),
                (bob, .integer(.min), nil, noUser), (bob, nil, .integer(.min), noMessage),
                (bob, nil, 0, noMessage), (bob, nil, 9_223_372_036_854_775_807, noMessage),
            ]
            for (person, user, message, text) in table {
                try await person.post("/reports", ["user_id": user, "message_id": message, "reason": "x"])
                    .refused(404, text, "\(user) \(message)")
            }
            try await alice.send(Messenger.DeleteMessage(chat: chat, message: message.id))
            let second = try await alice.say("another", in: chat)
            try await bob.send(Messenger.LeaveChat(chat: chat))
            for id in [message.id, second.id] {
                try await bob.post("/reports", ["message_id": id.json, "reason": "x"]).refused(404, noMessage)
            }
        },
        Scenario("A report names something and has a reason", clause: "POST /reports") { world, alice in
            let (named, reason) = ("user_id or message_id required", "reason must be 1 to 100 characters")
            let details = "details must be at most 2000 characters"
            func text(_ count: Int) -> JSONValue { .string(String(repeating: "é", count: count)) }
            let table: [(body: JSONValue, text: String)] = [
                ([:], named), (["reason": "x"], named), (["user_id": nil, "message_id": nil, "reason": ""], named),
                (["user_id": "1", "message_id": true, "reason": "x"], named), (["user_id": 0], reason),
                (["user_id": 0, "reason": ""], reason), (["user_id": 0, "reason": " \n"], reason),
                (["user_id": 0, "reason": 5], reason), (["message_id": 0, "reason": text(101)], reason),
                (["user_id": 0, "reason": "", "details": text(2001)], reason),
                (["user_id": 0, "reason": "x", "details": text(2001)], details),
                (["user_id": 0, "reason": "a\u{0}"], "Text must not contain NUL characters"),
                (["user_id": 0, "reason": "x", "details": "a\u{0}"], "Text must not contain NUL characters"),
            ]
            for (body, text) in table {
                try await alice.post("/reports", body).refused(400, text, "\(body.description.prefix(80))")
            }
            try await alice.raw(.post, "/reports", body: "[]").refused(400, "Invalid JSON")
            try await world.post("/reports", [:]).refused(401, "Missing Authorization header")
        },
    ]
}
