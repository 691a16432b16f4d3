@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of memberships: requests, and the owner's role.
extension MessengerScenarios {
    static let members: [Scenario<MessengerWorld>] = [
        Scenario(
            "Adding and removing members is for the owner; leaving for every member", clause: "POST /chats/{id}/members"
        ) { world, owner, member, outsider in
            let chat = try await owner.group(with: member)
            let (add, remove) = ("/chats/\(chat)/members", "/chats/\(chat)/members/\(member.id)")
            let leave = "/chats/\(chat)/leave"
            let body = #"{"user_ids":[\#(outsider.id)]}"#
            let calls: [(HTTPRequest.Method, path: String, body: String?, text: String?)] = [
                (.post, add, body, "Only the owner can do this"), (.delete, remove, nil, "Only the owner can do this"),
                (.delete, "\(add)/\(owner.id)", nil, "Only the owner can do this"), (.post, leave, nil, nil),
            ]
            for (method, path, body, text) in calls {
                try await world.raw.send(method, path, body: body).refused(401, "Missing Authorization header", path)
                try await outsider.raw(method, path, body: body)
                    .refused(404, "Chat not found or access denied", "\(method) \(path)")
                if let text { try await member.raw(method, path, body: body).refused(403, text, "\(method) \(path)") }
                for id in ["0", "9223372036854775807", "99999999999999999999"] {
                    let unknown = path.replacingOccurrences(of: "/chats/\(chat)/", with: "/chats/\(id)/")
                    try await owner.raw(method, unknown, body: body)
                        .refused(404, "Chat not found or access denied", "\(method) \(unknown)")
                }
            }
            // None of these requests has changed anything.
            let before = try await owner.get("/chats/\(chat)").succeeded(200)
            try expect(before["members"]?.elements.map { $0["id"] }, equals: [owner.id.json, member.id.json])

            try await owner.raw(.post, add, body: body).succeeded(200)
            try await member.raw(.delete, "\(add)/\(outsider.id)")
                .refused(403, "Only the owner can do this", "the youngest")
            for (person, method, path) in [
                (owner, HTTPRequest.Method.delete, remove), (outsider, .post, leave), (owner, .post, leave),
            ] {
                let answer = try await person.raw(method, path)
                try expect(answer.status == 204 && answer.body.isEmpty, "\(path): \(answer.status) \(answer.text)")
            }
        },
        Scenario("Who is added is in at once, last in the order of joining", clause: "POST /chats/{id}/members") {
            world in
            let people = try await world.people(4)
            let (owner, early, late, never) = try (people[2], people[3], people[0], people[1])
            let chat = try await owner.group(with: early)
            let said = try await owner.say("before", in: chat)
            let path = "/chats/\(chat)/members"
            // The caller, existing members and repetitions are skipped; unknown fields are ignored.
            let ids = [late, owner, late, early].map(\.id.json)
            let body: JSONValue = [
                "user_ids": .list(ids), "role": "owner", "owner_id": late.id.json, "member_ids": [never.id.json],
            ]
            let added = try await owner.post(path, body).succeeded(200)
            for person in [owner, early, late] {
                try expect(try await person.get("/chats/\(chat)").succeeded(200), equals: added)
            }
            try expect(added["members"]?.elements.map { $0["id"] }, equals: [owner, early, late].map(\.id.json))
            try expect(added["members"]?.elements.map { $0["role"] }, equals: ["owner", "member", "member"])
            try expect(added["owner_id"], equals: owner.id.json)
            try expect(try await late.send(Messenger.ListMessages(chat: chat)), equals: [said])
            try expect(try await late.send(Messenger.ListChats()).map(\.id), equals: [chat])
            try await late.say("hello", in: chat)
            // A repetition, and an empty list, change nothing.
            for ids in [ids, []] {
                try expect(try await owner.post(path, ["user_ids": .list(ids)]).succeeded(200), equals: added)
            }
            try expect(try await owner.post(path, [:]).succeeded(200), equals: added)
            try await never.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
        },
        Scenario("Adding refuses the first thing that is wrong", clause: "POST /chats/{id}/members") {
            _, owner, member, outsider in
            let group = try await owner.group(with: member)
            let direct = try await owner.directChat(with: member)
            let (bad, none) = ("member_ids must be an array of user ids", "Chat not found or access denied")
            let (notOwner, full) = ("Only the owner can do this", "a group has at most 500 members")
            let many = (1...499).map { JSONValue.integer(.max - $0) }
            let unknown = "Unknown member_ids: \(Int64.max - 9), \(Int64.max - 7)"
            let both: JSONValue = .list([.integer(.max - 7), outsider.id.json, .integer(.max - 9)])
            for ids in ["x", 5, ["x"], [nil], [1.5], [true], [0], [-1], [["a": 1]], ["1": 1]] as [JSONValue] {
                for person in [owner, member, outsider] {
                    let answer = try await person.post("/chats/\(group)/members", ["user_ids": ids])
                    try answer.refused(400, bad, "\(ids)")
                }
            }
            let table: [(person: Person, chat: Messenger.Chat.ID, ids: JSONValue, status: Int, text: String)] = [
                (outsider, group, .list(many), 404, none), (outsider, direct, both, 404, none),
                (member, group, .list(many), 403, notOwner), (member, direct, both, 403, notOwner),
                (owner, direct, .list(many), 400, "Not a group chat"), (owner, direct, [], 400, "Not a group chat"),
                (owner, group, .list(many + [0]), 400, bad), (owner, group, .list(many), 400, full),
                (owner, group, .list(many.dropLast() + [outsider.id.json]), 400, full),
                (owner, group, both, 400, unknown),
            ]
            for (person, chat, ids, status, text) in table {
                try await person.post("/chats/\(chat)/members", ["user_ids": ids])
                    .refused(status, text, "\(person.id) \(chat) \(ids.description.prefix(50))")
            }
            // There are two members, so 498 more are allowed: the next check refuses them.
            let most = many.dropLast() + [member.id.json] + many.dropLast()
            let answer = try await owner.post("/chats/\(group)/members", ["user_ids": .list(Array(most))])
            try expect(answer.text.hasPrefix(#"{"error":"Unknown member_ids: "#), answer.text)
            for path in ["/chats/\(group)/members", "/chats/\(group)/leave"] {
                try await owner.raw(.post, path, body: "[]").refused(400, "Invalid JSON", path)
            }
            try expect(try await owner.send(Messenger.GetChat(id: group)).members.count, equals: 2)
        },
        Scenario(
            "Removing refuses whom there is not, and oneself; a direct chat's members stay",
            clause: "DELETE /chats/{id}/members/{userId}"
        ) { _, owner, member, outsider in
            let group = try await owner.group(with: member)
            let direct = try await owner.directChat(with: member)
            for id in ["\(outsider.id)", "0", "9223372036854775807", "99999999999999999999"] {
                try await owner.raw(.delete, "/chats/\(group)/members/\(id)").refused(404, "Member not found", id)
            }
            try await owner.raw(.delete, "/chats/\(group)/members/\(owner.id)").refused(400, "Use leave")
            try await owner.raw(.delete, "/chats/\(direct)/members/\(member.id)").refused(400, "Not a group chat")
            try await member.raw(.delete, "/chats/\(direct)/members/\(owner.id)")
                .refused(403, "Only the owner can do this")
            let larger = try await owner.group(with: member, outsider)
            try await member.raw(.delete, "/chats/\(larger)/members/\(outsider.id)")
                .refused(403, "Only the owner can do this")
            for person in [owner, member] {
                try await person.raw(.post, "/chats/\(direct)/leave").refused(400, "Not a group chat")
            }
            for chat in [group, direct] {
                try expect(try await member.send(Messenger.GetChat(id: chat)).members.count, equals: 2)
            }
        },
        Scenario(
            "Who is out has no more rights, and may be brought in again", clause: "DELETE /chats/{id}/members/{userId}"
        ) { _, alice, bob in
            for leaves in [true, false] {
                let chat = try await alice.group(with: bob)
                let file = try await alice.upload()
                let own = try await bob.upload()
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
                try await bob.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: own))
                _ = try await bob.location(of: file.json)
                if leaves {
                    try await bob.send(Messenger.LeaveChat(chat: chat))
                } else {
                    try await alice.send(Messenger.RemoveMember(chat: chat, user: bob.id))
                }
                try await bob.get("/files/\(file)/download").refused(404, "File not found")
                try await bob.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
                try await bob.get("/chats/\(chat)/messages").refused(403, "Not a member of this chat")
                try await bob.post("/chats/\(chat)/messages", ["content": "x"])
                    .refused(403, "Not a member of this chat")
                try await bob.raw(.post, "/chats/\(chat)/leave").refused(404, "Chat not found or access denied")
                try await alice.raw(.delete, "/chats/\(chat)/members/\(bob.id)").refused(404, "Member not found")
                try expect(try await bob.send(Messenger.ListChats()), equals: [])
                try expect(try await alice.send(Messenger.GetChat(id: chat)).members.map(\.id), equals: [alice.id])
                // His messages stay, and his file is still his.
                try expect(
                    try await alice.send(Messenger.ListMessages(chat: chat)).map(\.sender), equals: [bob.id, alice.id])
                for person in [alice, bob] { _ = try await person.location(of: own.json) }

                try await alice.send(Messenger.AddMembers(chat: chat, users: [bob.id]))
                _ = try await bob.location(of: file.json)
                try await bob.say("back", in: chat)
                try await bob.send(Messenger.LeaveChat(chat: chat))
            }
        },
        Scenario("A leaving owner passes the role to the longest-standing member", clause: "POST /chats/{id}/leave") {
            world in
            let people = try await world.people(4)
            let (first, second, third, fourth) = try (people[1], people[3], people[0], people[2])
            let chat = try await first.group()
            for person in [second, third, fourth] {
                try await first.send(Messenger.AddMembers(chat: chat, users: [person.id]))
            }
            // The longest-standing member leaves and comes back as the newest.
            try await second.send(Messenger.LeaveChat(chat: chat))
            try await first.send(Messenger.AddMembers(chat: chat, users: [second.id]))
            var rest = [first, third, fourth, second]
            while let owner = rest.first, rest.count > 1 {
                rest = Array(rest.dropFirst())
                try await owner.send(Messenger.LeaveChat(chat: chat))
                try await owner.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
                let left = rest
                let detail = try await left[0].send(Messenger.GetChat(id: chat))
                try expect(detail.owner, equals: left[0].id)
                try expect(detail.members.map(\.id), equals: rest.map(\.id))
                try expect(detail.members.map(\.role), equals: rest.indices.map { $0 == 0 ? .owner : .member })
                // The role has effect: the new owner may add and remove members, the former one may not.
                try await left[0].send(Messenger.AddMembers(chat: chat, users: [owner.id]))
                try await owner.raw(.delete, "/chats/\(chat)/members/\(left[0].id)")
                    .refused(403, "Only the owner can do this")
                try await left[0].send(Messenger.RemoveMember(chat: chat, user: owner.id))
            }
            // A member who leaves passes nothing on.
            try await second.send(Messenger.AddMembers(chat: chat, users: [first.id]))
            try await first.send(Messenger.LeaveChat(chat: chat))
            try expect(try await second.send(Messenger.GetChat(id: chat)).owner, equals: second.id)
        },
        Scenario("The last one's leaving deletes the chat", clause: "POST /chats/{id}/leave") { _, alice, bob in
            let chat = try await alice.group(with: bob)
            try await alice.say("one", in: chat)
            let file = try await alice.upload()
            try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            let other = try await alice.group(with: bob)
            _ = try await bob.location(of: file.json)
            let kept = try await alice.upload()
            for chat in [chat, other] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: kept))
            }
            for person in [alice, bob] { try await person.send(Messenger.LeaveChat(chat: chat)) }
            for person in [alice, bob] {
                try await person.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
                try await person.get("/chats/\(chat)/messages").refused(403, "Not a member of this chat")
                try await person.post("/chats/\(chat)/messages", ["content": "x"])
                    .refused(403, "Not a member of this chat")
                try await person.raw(.post, "/chats/\(chat)/leave").refused(404, "Chat not found or access denied")
                try expect(try await person.send(Messenger.ListChats()).map(\.id), equals: [other])
                _ = try await person.location(of: kept.json)
            }
            try await bob.get("/files/\(file)/download").refused(404, "File not found")
        },
        Scenario("Many changes at once leave one truth", clause: "POST /chats/{id}/members") { _, alice, bob, carol in
            let chat = try await alice.group()
            let ids: JSONValue = .list([bob.id.json, carol.id.json])
            let added = try await together(20) { _ in
                try await alice.post("/chats/\(chat)/members", ["user_ids": ids]).status
            }
            try expect(added, equals: Array(repeating: 200, count: 20))
            try expect(
                try await bob.send(Messenger.GetChat(id: chat)).members.map(\.id),
                equals: [alice, bob, carol].map(\.id))
            let removed = try await together(10) { _ in
                try await alice.raw(.delete, "/chats/\(chat)/members/\(bob.id)").status
            }
            try expect(removed.sorted(), equals: [204] + Array(repeating: 404, count: 9))
            // Both leave several times while both send: a former member is refused, and there are no other errors.
            let statuses = try await together(40) { index in
                let person = index.isMultiple(of: 2) ? alice : carol
                if index < 20 { return try await person.post("/chats/\(chat)/messages", ["content": "x"]).status }
                return try await person.raw(.post, "/chats/\(chat)/leave").status
            }
            let sends = try statuses[..<20]
            try expect(sends.allSatisfy { [201, 403].contains($0) }, "sends: \(sends)")
            try expect(statuses[20...].sorted(), equals: [204, 204] + Array(repeating: 404, count: 18))
            for person in [alice, carol] {
                try await person.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
            }
        },
        Scenario("Members are added once under one key", clause: "Idempotency-Key") { world, alice, bob, carol in
            let chat = try await alice.group()
            let (path, key) = ("/chats/\(chat)/members", world.freshKey())
            let body: JSONValue = ["user_ids": [bob.id.json]]
            let answers = try await together(20) { _ in try await alice.post(path, body, headers: key) }
            try expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.status))")
            try expect(Set(answers.map(\.body)).count, equals: 1)
            try expect(answers.filter { $0.headers[.idempotentReplayed] == nil }.count, equals: 1)
            try await alice.post(path, ["user_ids": [carol.id.json]], headers: key)
                .refused(422, "Idempotency-Key was already used for another request")
            try await alice.post(path, body, headers: [.idempotencyKey: "é"]).refused(400, "Invalid Idempotency-Key")
            // A late repetition does not bring back a former member.
            try await bob.send(Messenger.LeaveChat(chat: chat))
            let late = try await alice.post(path, body, headers: key)
            try expect(late.body, equals: answers[0].body)
            try expect(late.headers[.idempotentReplayed], equals: "true")
            try await bob.get("/chats/\(chat)").refused(404, "Chat not found or access denied")
        },
    ]
}
