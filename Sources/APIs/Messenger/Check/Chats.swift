@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let chats: [Scenario<MessengerWorld>] = [
        Scenario("A direct chat of two people exists once", clause: "POST /chats") { _, alice, bob in
            let answers = try await together(50) { index in
                let (from, to) = index.isMultiple(of: 2) ? (alice, bob) : (bob, alice)
                return try await from.client.answer(Messenger.CreateChat.direct(with: to.id))
            }
            let outputs = answers.compactMap { if case .output(let chat) = $0.content { chat } else { nil } }
            try expect(Set(outputs.map(\.id)).count, equals: 1)
            try expect(answers.filter { $0.status == .created }.count, equals: 1)
            try expect(outputs.filter { $0.type == "created" }.count, equals: 1)
            try expect(answers.filter { $0.status == .ok }.count, equals: 49)
        },
        Scenario("A direct chat has one other member; one's own id and repeats are dropped", clause: "POST /chats") {
            _, alice, bob, carol in
            let (a, b, c) = (alice.id.json, bob.id.json, carol.id.json)
            for ids in [[], [b], [a, c], [a, a, c, b], [c, a]] as [[JSONValue]] {
                try await bob.post("/chats", ["type": "direct", "member_ids": .list(ids)])
                    .refused(400, "direct chat requires exactly one other member_id", "\(ids)")
            }
            try await bob.post("/chats", [:]).refused(400, "direct chat requires exactly one other member_id")
            let created = try await bob.post("/chats", ["type": "direct", "member_ids": [a, a, b]]).succeeded(201)
            try expect(created, equals: ["id": created["id"] ?? .null, "type": "created"])
            let existing: JSONValue = ["id": created["id"] ?? .null, "type": "existing"]
            // The type is direct when absent, and a direct chat has no name.
            let long = JSONValue.string(String(repeating: "x", count: 101))
            for body in [["member_ids": [b]], ["type": "direct", "name": long, "member_ids": [b, b]]] as [JSONValue] {
                try expect(try await alice.post("/chats", body).succeeded(200), equals: existing)
            }
            try expect(try await alice.get("/chats").succeeded(200)[0]?["name"], equals: .null)
        },
        Scenario("Making a chat refuses the first thing that is wrong", clause: "POST /chats") { _, alice in
            let (unknown, bad) = (
                [7, 9].map { JSONValue.integer(.max - $0) }, "member_ids must be an array of user ids"
            )
            let many = (0..<500).map { JSONValue.integer(.max - $0) }
            let name = JSONValue.string(String(repeating: "e\u{301}", count: 50) + "x")
            let unknownText = "Unknown member_ids: \(Int64.max - 9), \(Int64.max - 7)"
            let table: [(body: JSONValue, text: String)] = [
                (["type": "channel", "name": " ", "member_ids": "x"], "type must be 'direct' or 'group'"),
                (["type": "", "member_ids": "x"], "type must be 'direct' or 'group'"),
                (["type": "Group", "member_ids": "x"], "type must be 'direct' or 'group'"),
                (["type": "group", "name": " \n", "member_ids": "x"], "name required for group chats"),
                (["type": "group", "member_ids": "x"], "name required for group chats"),
                (["type": "group", "name": "\u{200B}\u{2800}", "member_ids": "x"], "name required for group chats"),
                (["type": "group", "name": "a\u{202E}b", "member_ids": "x"], "name contains invalid characters"),
                (["type": "group", "name": "a\u{7}b", "member_ids": "x"], "name contains invalid characters"),
                (["type": "group", "name": "ab\u{200B}", "member_ids": "x"], "name contains invalid characters"),
                (["type": "group", "name": name, "member_ids": "x"], "name must be at most 100 characters"),
                (["type": "group", "name": "x", "member_ids": "x"], bad),
                (["type": "group", "name": "x", "member_ids": 5], bad),
                (["type": "group", "name": "x", "member_ids": ["x"]], bad),
                (["type": "group", "name": "x", "member_ids": [nil]], bad),
                (["type": "group", "name": "x", "member_ids": [1.5]], bad),
                (["type": "group", "name": "x", "member_ids": [true]], bad),
                (["type": "group", "name": "x", "member_ids": .list(many + [0])], bad),
                (["type": "group", "name": "x", "member_ids": .list(many + [-1])], bad),
                (["type": "group", "name": "x", "member_ids": ["1": 1]], bad),
                (["type": "direct", "member_ids": [0, -1]], bad),
                (["member_ids": .list(unknown)], "direct chat requires exactly one other member_id"),
                (["member_ids": .list([try unknown[0]])], "Unknown member_ids: \(Int64.max - 7)"),
                (["type": "group", "name": "x", "member_ids": .list(many)], "a group has at most 500 members"),
                (
                    ["type": "group", "name": "x", "member_ids": .list(unknown + [alice.id.json] + unknown)],
                    unknownText
                ),
            ]
            for (body, text) in table {
                try await alice.post("/chats", body).refused(400, text, "\(body.description.prefix(99))")
            }
            // 499 others are allowed: the next check refuses them.
            let most = Array(many.dropLast()) + [alice.id.json] + many.dropLast()
            let refused = try await alice.post("/chats", ["type": "group", "name": "x", "member_ids": .list(most)])
            try expect(refused.text.hasPrefix(#"{"error":"Unknown member_ids: "#), refused.text)
            try expect(try await alice.get("/chats").succeeded(200), equals: [])
        },
        Scenario("GET /chats/{id} shows a group with its members, its maker as owner", clause: "GET /chats/{id}") {
            world in
            let people = try await world.people(4)
            let (owner, others) = try (people[2], [people[3], people[0], people[1]])
            let name = String(repeating: "é", count: 100)
            let chat = try await owner.send(Messenger.CreateChat.group(" \(name)\n", members: others.map(\.id))).id
            for person in people {
                let json = try await person.get("/chats/\(chat)").succeeded(200)
                try json["created_at"]?.expectTimestamp()
                let members = people.map { member -> JSONValue in
                    [
                        "id": member.id.json, "username": .string(member.name), "display_name": .string(member.name),
                        "role": member.id == owner.id ? "owner" : "member",
                    ]
                }
                try expect(
                    json,
                    equals: [
                        "id": chat.json, "type": "group", "name": .string(name), "owner_id": owner.id.json,
                        "created_at": json["created_at"] ?? .null, "members": .list(members),
                    ])
            }
        },
        Scenario("GET /chats/{id} shows a direct chat without a name, its maker as owner", clause: "GET /chats/{id}") {
            _, alice, bob in
            let chat = try await bob.directChat(with: alice)
            let json = try await alice.get("/chats/\(chat)").succeeded(200)
            try expect(json["type"], equals: "direct")
            try expect(json["name"], equals: .null)
            try expect(json["owner_id"], equals: bob.id.json)
            try expect(json["members"]?.elements.map { $0["id"] }, equals: [alice.id.json, bob.id.json])
            try expect(json["members"]?.elements.map { $0["role"] }, equals: ["member", "owner"])
            // A group may have no other member, and the same users may have two groups.
            let groups = [try await alice.group(), try await alice.group(with: bob), try await alice.group(with: bob)]
            try expect(Set(groups).count, equals: 3)
            try expect(try await alice.send(Messenger.GetChat(id: groups[0])).members.map(\.id), equals: [alice.id])
        },
        Scenario("An unknown chat and a foreign one answer alike", clause: "GET /chats/{id}") { _, alice, bob, carol in
            let foreign = try await alice.directChat(with: bob)
            for id in ["\(foreign)", "0", "9223372036854775807", "99999999999999999999"] {
                try await carol.get("/chats/\(id)").refused(404, "Chat not found or access denied", id)
            }
        },
        Scenario("GET /chats shows one's own chats, with the newest message", clause: "GET /chats") {
            _, alice, bob, carol in
            let direct = try await alice.directChat(with: bob)
            _ = try await carol.directChat(with: alice)
            func row(_ person: Person) async throws -> JSONValue? {
                try await person.get("/chats").succeeded(200).elements.first { $0["id"] == direct.json }
            }
            let created = try await alice.send(Messenger.GetChat(id: direct)).createdAt
            let file = try await alice.upload()
            var expected: JSONValue? = .null
            var time: JSONValue = .string("\(created)")
            let messages: [(text: String, type: Messenger.MessageType)] = [
                ("Hey there! \u{1F600}", .text), ("", .file), ("  caption\n", .voice), (" x ", .text),
            ]
            for next in messages + [("", .text)] {
                let found = try await row(bob)
                let all: JSONValue = [
                    "id": direct.json, "type": "direct", "name": nil, "updated_at": time,
                    "last_message": expected ?? .null,
                ]
                try expect(found, equals: all)
                if next == ("", .text) { break }
                let sent = try await alice.send(
                    Messenger.SendMessage(
                        chat: direct, content: next.text, type: next.type, file: next.type == .text ? nil : file))
                (expected, time) = (.string(next.text), .string("\(sent.createdAt)"))
            }
            try expect(try await bob.get("/chats").succeeded(200).elements.count, equals: 1)
            try expect(try await alice.get("/chats").succeeded(200).elements.count, equals: 2)
            try expect(try await row(carol), equals: nil)
        },
        Scenario("A list describes peers and newest messages when it is asked to", clause: "GET /chats") {
            _, alice, bob, carol in
            let picture =
                try await bob.upload(Form(filename: "me.png", type: "image/png")).succeeded(201)["id"] ?? .null
            try await bob.raw(.put, "/me", body: (["avatar_file_id": picture] as JSONValue).description).succeeded(200)
            let direct = try await alice.directChat(with: bob)
            let silent = try await carol.directChat(with: alice)
            let group = try await alice.group(with: bob, carol)
            func list(_ query: String, of person: Person) async throws -> [JSONValue: JSONValue] {
                let rows = try await person.get("/chats" + query).succeeded(200).elements
                return Dictionary(rows.map { ($0["id"] ?? .null, $0) }) { first, _ in first }
            }
            func peer(_ person: Person, picture: JSONValue = .null) async throws -> JSONValue {
                let user = try await alice.send(Messenger.GetUser(id: person.id))
                return [
                    "id": person.id.json, "username": .string(user.username), "display_name": .string(user.displayName),
                    "avatar_file_id": picture,
                ]
            }
            try await alice.say("first", in: direct)
            let file = try await bob.upload()
            try await bob.send(Messenger.SendMessage(chat: direct, content: "caption", type: .file, file: file))
            try await carol.say("hello", in: group)
            let plain = try await list("", of: alice)
            for query in [
                "?include=peer", "?include=newest", "?include=newest,%20peer,unread", "?include=unread,peer&limit=3",
            ] {
                let found = try await list(query, of: alice)
                for chat in [direct, silent, group] {
                    guard case .object(var row)? = found[chat.json] else { throw CheckFailure("\(found)") }
                    let expectedPeer: JSONValue =
                        switch chat {
                        case direct: try await peer(bob, picture: picture)
                        case silent: try await peer(carol)
                        default: .null
                        }
                    let newest = try await alice.get("/chats/\(chat)/messages?limit=1").succeeded(200)[0] ?? .null
                    try expect(
                        row.removeValue(forKey: "peer"),
                        equals: query.contains("peer") ? expectedPeer : .none as JSONValue?)
                    try expect(
                        row.removeValue(forKey: "newest_message"),
                        equals: query.contains("newest") ? newest : .none as JSONValue?)
                    let unread = row.removeValue(forKey: "unread_count")
                    try expect(
                        unread, equals: query.contains("unread") ? (chat == silent ? 0 : 1) : .none as JSONValue?)
                    // All else is as without the words.
                    try expect(.object(row), equals: plain[chat.json])
                }
            }
            try expect(try await list("?include=peer", of: bob)[direct.json]?["peer"], equals: try await peer(alice))

            // Blocking hides the blocker's picture from the blocked user. A deleted account is not shown as a peer.
            try await bob.send(Messenger.BlockUser(alice.id))
            try expect(
                try await list("?include=peer", of: alice)[direct.json]?["peer"]?["avatar_file_id"], equals: .null)
            try await carol.send(Messenger.DeleteMe(password: carol.password))
            try expect(try await list("?include=peer", of: alice)[silent.json]?["peer"], equals: .null)
        },
        Scenario("A new message moves its chat to the top of everybody's list", clause: "GET /chats") { _, alice, bob in
            var order: [Messenger.Chat.ID] = []
            for _ in 0..<4 { order.insert(try await alice.group(with: bob), at: 0) }
            let newest = order
            var last = try await alice.send(Messenger.GetChat(id: newest[0])).createdAt
            for index in [2, 0, 3, 3, 1] {
                // Lists are ordered by whole seconds.
                let before = order
                let chat = try before[index]
                order.removeAll { $0 == chat }
                last = try await (index == 3 ? alice : bob).say("hi", in: chat, after: last).createdAt
                order.insert(chat, at: 0)
                for person in [alice, bob] {
                    try expect(try await person.send(Messenger.ListChats()).map(\.id), equals: order)
                }
            }
        },
        Scenario("A chat's time is that of its newest message", clause: "GET /chats") { _, alice in
            let chat = try await alice.group()
            let created = try await alice.send(Messenger.GetChat(id: chat)).createdAt
            let first = try await alice.get("/chats").succeeded(200)[0]
            try expect(first?["updated_at"], equals: .string("\(created)"))
            let sent = try await alice.say("hi", in: chat, after: created)
            let row = try await alice.get("/chats").succeeded(200)[0]
            try expect(row?["updated_at"], equals: .string("\(sent.createdAt)"))
            try expect(
                try await alice.get("/chats/\(chat)").succeeded(200)["created_at"], equals: .string("\(created)"))
        },
        Scenario("Chats of one second are in the order of their ids, in pages too", clause: "GET /chats") {
            _, alice, bob in
            let chats = try await together(6) { _ in try await alice.group(with: bob) }
            _ = try await together(30) { try await alice.say("\($0)", in: chats[$0 % 6]) }
            let rows = try await bob.send(Messenger.ListChats())
            let expected = rows.sorted { ($0.updatedAt, $0.id) > ($1.updatedAt, $1.id) }
            try expect(Set(rows.map(\.id)), equals: Set(chats))
            try expect(rows.map(\.id), equals: expected.map(\.id))
            for size in [1, 2, 4] {
                let paged = try await bob.client.chats(pageSize: size).elements(expecting: rows.count)
                try expect(paged.map(\.id), equals: rows.map(\.id))
            }
        },
        Scenario("GET /chats goes on from a chat, and takes a limit", clause: "GET /chats") { _, alice, bob in
            var made: [Messenger.Chat.ID] = []
            for _ in 0..<5 { made.insert(try await alice.group(), at: 0) }
            let order = made
            let table: [(query: String, rows: ArraySlice<Messenger.Chat.ID>)] = try [
                ("", order[...]), ("?limit=2", order[..<2]), ("?limit=1000", order[...]), ("?limit=5000", order[...]),
                ("?limit=2&before=\(order[1])", order[2..<4]), ("?before=\(order[3])", order[4...]),
                ("?before=\(order[4])", []), ("?limit=99999999999999999999", order[...]),
            ]
            for (query, rows) in table {
                let found = try await alice.get("/chats\(query)").succeeded(200, query).elements.map { $0["id"] }
                try expect(found == rows.map(\.json), "\(query): \(found)")
            }
            for value in ["0", "-1", "abc", "1.5", "", "0x1", "%20"] {
                try await alice.get("/chats?before=x&limit=\(value)").refused(400, "Invalid limit", value)
                try await alice.get("/chats?limit=1&before=\(value)").refused(400, "Invalid before", value)
            }
            let paged = try await alice.client.chats(pageSize: 2).elements(expecting: order.count)
            try expect(paged.map(\.id), equals: order)
            try expect(try await bob.send(Messenger.ListChats()), equals: [])
        },
        Scenario("A list has 1,000 chats at most, and one socket takes as many", clause: "GET /chats") { _, alice in
            let chats = try await together(1001) { _ in try await alice.group() }.sorted { $0 > $1 }
            for limit in [nil, 1000, 1001] {
                let listed = try await alice.send(Messenger.ListChats(limit: limit)).map(\.id)
                try expect(listed.count == 1000 && Set(listed).isSubset(of: chats), "\(listed.count) chats")
            }
            let socket = try await alice.socket()
            for chat in chats.prefix(1000) { try await socket.send(Messenger.Subscribe(chat: chat)) }
            for chat in chats.prefix(1000) {
                try expect(try await socket.receive(), is: Messenger.Subscribed(chat: chat))
            }
            for chat in try [chats[0], chats[999]] {
                let sent = try await alice.say("hi", in: chat)
                try expect(try await socket.message(), equals: sent)
            }
            await socket.close()
        },
        Scenario("A chat is there for every member when its maker hears of it", clause: "POST /chats") { world in
            let people = try await world.people(5)
            let others = people.dropFirst()
            for _ in 0..<5 {
                let chat = try await people[0].send(Messenger.CreateChat.group("Team", members: others.map(\.id))).id
                _ = try await together(5) { index in
                    let list = try await people[index].send(Messenger.ListChats())
                    try expect(list.first?.id, equals: chat)
                    try await people[index].say("hi", in: chat)
                }
            }
        },
    ]
}
