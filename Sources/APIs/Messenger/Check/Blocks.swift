@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of blocking.
extension MessengerScenarios {
    static let blocks: [Scenario<MessengerWorld>] = [
        Scenario("Neither side can open or write to their direct chat", clause: "POST /users/{id}/block") {
            _, alice, bob, carol in
            let direct = try await alice.directChat(with: bob)
            let others = [try await alice.directChat(with: carol), try await bob.directChat(with: carol)]
            let before = [try await alice.say("mine", in: direct), try await bob.say("his", in: direct)]
            for (blocker, blocked) in [(alice, bob), (bob, alice)] {
                for _ in 0..<2 {
                    let answer = try await blocker.raw(.post, "/users/\(blocked.id)/block")
                    try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
                }
                for (person, other, own) in try [(alice, bob, before[0]), (bob, alice, before[1])] {
                    let refusal = "You cannot message this user"
                    try await person.post("/chats", ["member_ids": [other.id.json]]).refused(403, refusal)
                    let path = "/chats/\(direct)/messages"
                    for body in [["content": "x"], ["type": "file", "file_id": 999_999_999]] as [JSONValue] {
                        try await person.post(path, body).refused(403, refusal, body.description)
                    }
                    try await person.raw(.put, "\(path)/\(own.id)", body: #"{"content":"x"}"#).refused(403, refusal)
                    // Reading is still allowed.
                    try expect(try await person.send(Messenger.ListMessages(chat: direct)), equals: before.reversed())
                    try await person.send(Messenger.GetChat(id: direct))
                    try await person.send(
                        Messenger.MarkRead(chat: direct, message: before[1].id))
                    try expect(try await person.send(Messenger.ListChats()).count, equals: 2)
                }
                // A mistake in the request is reported first, and a caller who is not a member learns only that.
                try await blocked.post("/chats/\(direct)/messages", ["content": " "])
                    .refused(400, "content or file_id required")
                try await blocked.post("/chats", ["member_ids": [blocker.id.json, 999_999_999]])
                    .refused(400, "direct chat requires exactly one other member_id")
                try await carol.post("/chats/\(direct)/messages", ["content": "x"])
                    .refused(403, "Not a member of this chat")
                for (person, chat) in try [
                    (alice, others[0]), (bob, others[1]), (carol, others[0]), (carol, others[1]),
                ] {
                    try await person.say("others go on", in: chat)
                }
                let answer = try await blocker.raw(.delete, "/users/\(blocked.id)/block")
                try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
                // Everything is as before.
                for (person, other) in [(alice, bob), (bob, alice)] {
                    try expect(try await person.directChat(with: other), equals: direct)
                }
                let both = [try await alice.say("again", in: direct), try await bob.say("again", in: direct)]
                for (message, person) in zip(both, [alice, bob]) {
                    try await person.send(Messenger.DeleteMessage(chat: direct, message: message.id))
                }
            }
        },
        Scenario("A direct chat that never was cannot begin either", clause: "POST /users/{id}/block") {
            _, alice, bob in
            try await alice.send(Messenger.BlockUser(bob.id))
            for (person, other) in [(alice, bob), (bob, alice)] {
                try await person.post("/chats", ["type": "direct", "member_ids": [other.id.json]])
                    .refused(403, "You cannot message this user")
                try expect(try await person.send(Messenger.ListChats()), equals: [])
            }
            // Blocks are independent: the other user's unblocking changes nothing.
            try await bob.send(Messenger.UnblockUser(alice.id))
            try await bob.post("/chats", ["member_ids": [alice.id.json]]).refused(403, "You cannot message this user")
            try await alice.send(Messenger.UnblockUser(bob.id))
            _ = try await bob.directChat(with: alice)
        },
        Scenario("Shared groups are as they were", clause: "POST /users/{id}/block") { _, alice, bob, carol in
            let chat = try await carol.group(with: alice, bob)
            let sockets = [try await alice.socket(), try await bob.socket()]
            for socket in sockets { try await socket.subscribe(to: chat) }
            try await alice.send(Messenger.BlockUser(bob.id))
            for person in [alice, bob, carol] {
                let said = try await person.say("in the group", in: chat)
                for socket in sockets { try expect(try await socket.message(), equals: said) }
                try expect(try await person.send(Messenger.GetChat(id: chat)).members.count, equals: 3)
            }
            let file = try await bob.upload()
            try await bob.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            try expect(try await alice.client.download(file), equals: Array("content".utf8))
            // A new group works as well.
            let another = try await bob.group(with: alice)
            try await alice.say("hello", in: another)
            for socket in sockets { await socket.close() }
        },
        Scenario("Whom one has blocked sees no profile, and neither finds the other", clause: "POST /users/{id}/block")
        { world in
            let stem = world.freshName(of: 8)
            let (alice, bob, carol) = (
                try await world.person(stem), try await world.person(stem), try await world.person(stem)
            )
            let all = Set([alice, bob, carol].map(\.id))
            func found(by person: Person) async throws -> Set<Messenger.User.ID> {
                Set(try await person.send(Messenger.SearchUsers(stem)).map(\.id))
            }
            for person in [alice, bob, carol] { try expect(try await found(by: person), equals: all) }
            try await alice.send(Messenger.BlockUser(bob.id))
            try expect(try await found(by: alice), equals: [alice.id, carol.id])
            try expect(try await found(by: bob), equals: [bob.id, carol.id])
            try expect(try await found(by: carol), equals: all)
            try await bob.get("/users/\(alice.id)").refused(404, "User not found")
            for (person, other) in [(alice, bob), (carol, alice), (carol, bob), (bob, bob)] {
                try await person.get("/users/\(other.id)").succeeded(200)
            }
            // A blocked user can block, too.
            try await bob.send(Messenger.BlockUser(alice.id))
            try await alice.send(Messenger.UnblockUser(bob.id))
            try await alice.get("/users/\(bob.id)").refused(404, "User not found")
            try await bob.get("/users/\(alice.id)").succeeded(200)
            try expect(try await found(by: alice), equals: [alice.id, carol.id])
            try await bob.send(Messenger.UnblockUser(alice.id))
            for person in [alice, bob] { try expect(try await found(by: person), equals: all) }
        },
        Scenario("Blocks are one's own, as rows of a search, by username", clause: "GET /me/blocks") { world, alice in
            let stem = world.freshName(of: 6)
            var made: [Person] = []
            for name in ["b", "C", "A", "d"] { made.append(try await world.person(stem + name)) }
            let people = made
            try await alice.get("/me/blocks").expectRows([])
            for person in people { try await alice.send(Messenger.BlockUser(person.id)) }
            try await people[0].send(Messenger.BlockUser(alice.id))
            func rows(_ people: [Person]) -> [JSONValue] {
                people.map {
                    ["id": $0.id.json, "username": .string($0.name), "display_name": .string($0.name)]
                }
            }
            let sorted = try [people[2], people[0], people[1], people[3]]
            try await alice.get("/me/blocks").expectRows(rows(sorted))
            try await people[0].get("/me/blocks").expectRows(rows([alice]))
            try await people[1].get("/me/blocks").expectRows([])
            let free = try people[0].id
            for _ in 0..<2 { try await alice.send(Messenger.UnblockUser(free)) }
            try await alice.get("/me/blocks").expectRows(rows(sorted.filter { $0.id != free }))
            try await world.raw.send(.get, "/me/blocks").refused(401, "Missing Authorization header")
        },
        Scenario("No user blocks themselves, or a user who does not exist", clause: "POST /users/{id}/block") {
            world, alice in
            for method in [HTTPRequest.Method.post, .delete] {
                try await alice.raw(method, "/users/\(alice.id)/block").refused(400, "Cannot block yourself")
                for id in ["0", "9223372036854775807", "99999999999999999999"] {
                    try await alice.raw(method, "/users/\(id)/block").refused(404, "User not found", id)
                }
                try await alice.raw(method, "/users/x/block").refused(404, "Not found")
                try await world.raw.send(method, "/users/0/block").refused(401, "Missing Authorization header")
            }
            try await alice.raw(.post, "/users/\(alice.id)/block", body: "[]").refused(400, "Invalid JSON")
        },
        Scenario("Behind a block nothing of the other comes any more", clause: "POST /users/{id}/block") {
            _, alice, bob in
            let direct = try await alice.directChat(with: bob)
            let aside = try await alice.group(with: bob)
            for _ in 0..<5 {
                let socket = try await alice.socket()
                for chat in [direct, aside] { try await socket.subscribe(to: chat) }
                let old = try await bob.say("old", in: direct)
                try expect(try await socket.message(), equals: old)
                async let sending = together(40, width: 8) { index -> Int in
                    if index % 4 == 3 {
                        return try await bob.raw(
                            .put, "/chats/\(direct)/messages/\(old.id)", body: #"{"content":"\#(index)"}"#
                        ).status
                    }
                    return try await bob.post("/chats/\(direct)/messages", ["content": "x"]).status
                }
                try await alice.send(Messenger.BlockUser(bob.id))
                let known = try await alice.send(Messenger.ListMessages(chat: direct, limit: 100))
                let statuses = try await sending
                try expect(Set(statuses).isSubset(of: [200, 201, 403]), "\(statuses)")
                try await bob.post("/chats/\(direct)/messages", ["content": "x"])
                    .refused(403, "You cannot message this user")
                let later = try await alice.send(Messenger.ListMessages(chat: direct, limit: 100))
                try expect(later, equals: known)
                // The socket has received the accepted messages, and no others.
                let last = try await bob.say("aside", in: aside)
                var heard = 0
                while true {
                    let frame = try await socket.receive()
                    if frame == last { break }
                    heard += 1
                }
                try expect(heard, equals: statuses.filter { $0 != 403 }.count)
                await socket.close()
                try await alice.send(Messenger.UnblockUser(bob.id))
            }
        },
        Scenario("Who is blocked is not heard typing", clause: "POST /users/{id}/block") { _, alice, bob in
            let (direct, aside) = (try await alice.directChat(with: bob), try await alice.group(with: bob))
            let (listener, typist) = (try await alice.socket(), try await bob.socket())
            for chat in [direct, aside] {
                for socket in [listener, typist] { try await socket.subscribe(to: chat) }
            }
            try await alice.send(Messenger.BlockUser(bob.id))
            for chat in [direct, aside] { try await typist.send(Messenger.StartTyping(chat: chat)) }
            try expect(try await listener.receive(), is: Messenger.Typing(chat: aside, user: bob.id))
            let last = try await bob.say("last", in: aside)
            try expect(try await listener.receive(), is: last)
            for socket in [listener, typist] { await socket.close() }
        },
    ]
}

extension RawAnswer {
    fileprivate func expectRows(_ rows: [JSONValue], line: UInt = #line) throws {
        try ContractCheck.expect(try succeeded(200, line: line), equals: .list(rows), line: line)
    }
}
