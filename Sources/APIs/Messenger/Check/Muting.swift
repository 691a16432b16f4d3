@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MessengerClient

/// Scenarios of muted chats. No request shows that devices are not notified.
extension MessengerScenarios {
    static let muting: [Scenario<MessengerWorld>] = [
        Scenario("A chat is muted for its member alone, until that ends", clause: "POST /chats/{id}/mute") {
            world, alice, bob in
            let chat = try await alice.group(with: bob)
            try expect(try await alice.mute(of: chat), equals: .null)
            let ends: [(JSONValue, JSONValue)] = [
                ([:], nil), (["until": "2999-01-01T08:00:00Z"], "2999-01-01T08:00:00Z"),
                (["until": "2999-01-01T10:30:00.999+01:00", "id": 1, "muted": false], "2999-01-01T09:30:00Z"),
                (["until": nil], nil),
            ]
            for (body, shown) in ends {
                try await alice.post("/chats/\(chat)/mute", body).hasNoContent()
                try expect(try await alice.mute(of: chat), equals: ["until": shown])
                try expect(try await bob.mute(of: chat), equals: .null)
            }
            // All sessions of the user know of it, messages arrive, and they count.
            let other = try await world.signedIn(alice.name, alice.password)
            try expect(try await other.mute(of: chat), equals: ["until": nil])
            try await bob.say("Hi", in: chat)
            let row = try await alice.get("/chats?include=unread,muted").succeeded(200)[0]
            try expect(row?["unread_count"], equals: 1)
            try expect(row?["last_message"], equals: "Hi")
            // A second removal finds nothing to do.
            for _ in 0..<2 {
                try await other.raw(.delete, "/chats/\(chat)/mute").hasNoContent()
                try expect(try await alice.mute(of: chat), equals: .null)
            }
            // A list that is not asked for it does not tell.
            let plain = try await alice.get("/chats?include=mute,unread").succeeded(200)[0]
            try expect(plain?["mute"], equals: nil)
        },
        Scenario("A muted chat is muted no more after its member has left it", clause: "POST /chats/{id}/mute") {
            _, alice, bob in
            let chat = try await alice.group(with: bob)
            try await bob.send(Messenger.MuteChat(chat: chat))
            try await bob.send(Messenger.LeaveChat(chat: chat))
            try await alice.send(Messenger.AddMembers(chat: chat, users: [bob.id]))
            try expect(try await bob.mute(of: chat), equals: .null)
        },
        Scenario("Only a member mutes a chat", clause: "POST /chats/{id}/mute") { world, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let notAMember = "Not a member of this chat"
            for id in ["\(chat)", "0", "9223372036854775807"] {
                try await carol.post("/chats/\(id)/mute", [:]).refused(403, notAMember, id)
                try await carol.raw(.delete, "/chats/\(id)/mute").refused(403, notAMember, id)
            }
            for method in [HTTPRequest.Method.post, .delete] {
                try await world.raw.send(method, "/chats/\(chat)/mute")
                    .refused(401, "Missing Authorization header")
                try await alice.raw(method, "/chats/x/mute").refused(404, "Not found")
            }
            try expect(try await alice.mute(of: chat), equals: .null)
        },
        Scenario("Muting ends in the future", clause: "POST /chats/{id}/mute") { _, alice in
            let chat = try await alice.group()
            let ends: [JSONValue] = [
                "2001-01-01T08:00:00Z", "1969-12-31T23:59:59Z", "", "tomorrow", "2999-13-01T00:00:00Z", 5, true, [],
            ]
            for end in ends {
                try await alice.post("/chats/\(chat)/mute", ["until": end])
                    .refused(400, "until must be a time in the future", "\(end)")
            }
            try await alice.raw(.post, "/chats/\(chat)/mute", body: "[]").refused(400, "Invalid JSON")
            try expect(try await alice.mute(of: chat), equals: .null)
        },
    ]
}

extension Person {
    /// Returns what this user's list says of a chat.
    fileprivate func mute(of chat: Messenger.Chat.ID) async throws -> JSONValue {
        let list = try await get("/chats?include=muted").succeeded(200)
        guard let row = list.elements.first(where: { $0["id"] == chat.json }), let mute = row["mute"] else {
            throw CheckFailure("no mute in \(list)")
        }
        return mute
    }
}

extension RawAnswer {
    fileprivate func hasNoContent() throws {
        guard status == 204, body.isEmpty else { throw CheckFailure("\(status) \(text)") }
    }
}
