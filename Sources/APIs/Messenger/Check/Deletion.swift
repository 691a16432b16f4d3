@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of deleted accounts.
extension MessengerScenarios {
    static let deletion: [Scenario<MessengerWorld>] = [
        Scenario("An account is deleted with its password only", clause: "DELETE /me") { world, alice, bob in
            try await world.raw.send(.delete, "/me", body: "[").refused(401, "Missing Authorization header")
            for body in ["", "{}", #"{"password":null}"#, #"{"password":""}"#, #"{"password":5}"#] {
                try await alice.raw(.delete, "/me", body: body).refused(400, "password required", body)
            }
            try await alice.raw(.delete, "/me", body: "[]").refused(400, "Invalid JSON")
            for password in [bob.password, alice.password + " ", alice.password.uppercased()] {
                try await alice.delete(password).refused(403, "Invalid password", password)
            }
            try await alice.get("/me").succeeded(200)
            try await bob.get("/users/\(alice.id)").succeeded(200)
            let answer = try await alice.delete(alice.password)
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            // Other accounts are unchanged.
            try await bob.get("/me").succeeded(200)
        },
        Scenario("Wrong passwords count as at a sign-in", clause: "DELETE /me") { _, alice, bob in
            let answers = try await together(13) { try await alice.delete("wrong \($0)") }
            for answer in answers where answer.status != 429 { try answer.refused(403, "Invalid password") }
            try expect(answers.filter { $0.status == 429 }.count, equals: 3)
            let limited = try await alice.delete(alice.password)
            try limited.refused(429, "Too many requests, please try again later")
            try expect(1...60 ~= limited.headers[.retryAfter].flatMap(Int.init) ?? 0, "no Retry-After")
            try await alice.get("/me").succeeded(200)
            try expect(try await bob.delete(bob.password).status, equals: 204)
        },
        Scenario("Sessions and sockets end with the account, everywhere", clause: "DELETE /me") { world, alice, bob in
            let other = try await world.signedIn(alice.name, alice.password)
            let sockets = [try await alice.rawSocket(), try await other.rawSocket(), try await other.rawSocket()]
            let stays = try await bob.rawSocket()
            try await alice.client.deleteAccount(password: alice.password)
            try expect(try await alice.client.user, equals: nil)
            for socket in sockets { try await socket.expectClose(4001) }
            for person in [alice, other] {
                // It takes at most a second, plus the time of the network.
                try await expectSoon("an access token outlived its account") {
                    try await person.get("/me").status != 200
                }
                for path in ["/me", "/chats", "/users/\(bob.id)"] {
                    try await person.get(path).refused(401, "Invalid or expired token", path)
                }
                try await person.delete(alice.password).refused(401, "Invalid or expired token")
                let body: JSONValue = ["refresh_token": .string(person.refreshToken)]
                try await world.post("/auth/refresh", body).refused(401, "Invalid or expired refresh token")
            }
            try await stays.send(["type": "ping"])
            try await stays.expect(["type": "pong"])
            await stays.close()
        },
        Scenario("A deleted user is found nowhere, and the name is free", clause: "DELETE /me") { world, alice, bob in
            try await alice.send(Messenger.UpdateMe(displayName: "Display \(alice.name)", bio: .to("Hi")))
            try await bob.send(Messenger.BlockUser(alice.id))
            try await alice.send(Messenger.BlockUser(bob.id))
            try expect(try await alice.delete(alice.password).status, equals: 204)
            let email = "\(alice.name)@example.com"
            for login in [alice.name, email, "\(alice.id)", "@\(alice.id)", ""] {
                let body: JSONValue = ["username": .string(login), "password": .string(alice.password)]
                let answer = try await world.post("/auth/login", body)
                try answer.refused(
                    login.isEmpty ? 400 : 401,
                    login.isEmpty ? "username and password required" : "Invalid credentials", login)
            }
            try await bob.get("/users/\(alice.id)").refused(404, "User not found")
            try expect(try await bob.send(Messenger.ListBlocks()), equals: [])
            for query in [alice.name, "@\(alice.id)"] {
                try expect(try await bob.send(Messenger.SearchUsers(query)), equals: [])
            }
            for method in [HTTPRequest.Method.post, .delete] {
                try await bob.raw(method, "/users/\(alice.id)/block").refused(404, "User not found")
            }
            try await bob.post("/reports", ["user_id": alice.id.json, "reason": "x"]).refused(404, "User not found")
            for body in [
                ["member_ids": [alice.id.json]], ["type": "group", "name": "x", "member_ids": [alice.id.json]],
            ] as [JSONValue] {
                try await bob.post("/chats", body).refused(400, "Unknown member_ids: \(alice.id)")
            }
            let group = try await bob.group()
            try await bob.post("/chats/\(group)/members", ["user_ids": [alice.id.json]])
                .refused(400, "Unknown member_ids: \(alice.id)")
            // Another user may take the name, and is a different user.
            let register: JSONValue = [
                "username": .string(alice.name), "email": .string(email), "password": "another one",
            ]
            let registered = try await world.post("/auth/register", register).succeeded(201)
            try expect(registered["id"] != alice.id.json, "an id came again")
            try await world.post(
                "/auth/login", ["username": .string(alice.name), "password": .string(alice.password)]
            ).refused(401, "Invalid credentials")
            let namesake = try await world.signedIn(alice.name, "another one")
            try expect(try await namesake.send(Messenger.ListChats()), equals: [])
            try expect(try await namesake.send(Messenger.GetMe()).bio, equals: nil)
        },
        Scenario("Messages and their files stay, and files that no message uses are gone", clause: "DELETE /me") {
            _, alice, bob, carol in
            let direct = try await alice.directChat(with: bob)
            let (sent, unsent) = (try await alice.upload("kept"), try await alice.upload("lost"))
            let said = try await alice.say("text", in: direct)
            let held = try await alice.send(Messenger.SendMessage(chat: direct, content: "", type: .file, file: sent))
            let answer = try await bob.say("answer", in: direct)
            let picture = try await alice.upload(Form(filename: "a.png", type: "image/png")).succeeded(201)["id"]
            guard let avatar = picture?.integer else { throw CheckFailure("no id") }
            try await alice.send(Messenger.UpdateMe(avatar: .to(.init(avatar))))
            _ = try await bob.location(of: picture)
            try expect(try await alice.delete(alice.password).status, equals: 204)

            let listed = try await bob.send(Messenger.ListMessages(chat: direct))
            try expect(listed, equals: [answer, held.message, said])
            try expect(listed.map(\.sender), equals: [bob.id, alice.id, alice.id])
            try expect(try await bob.client.download(sent), equals: Array("kept".utf8))
            for file in [unsent, .init(avatar)] {
                try await bob.get("/files/\(file)/download").refused(404, "File not found")
            }
            try await carol.get("/files/\(sent)/download").refused(404, "File not found")
            // Bob can still read the chat, but has no one to write to.
            let chat = try await bob.send(Messenger.GetChat(id: direct))
            try expect(chat.members.map(\.id), equals: [bob.id])
            try expect(chat.members.map(\.role), equals: [.owner])
            try expect(chat.owner, equals: bob.id)
            try expect(try await bob.send(Messenger.ListChats()).map(\.lastMessage), equals: ["answer"])
            try await bob.post("/chats/\(direct)/messages", ["content": "hello?"])
                .refused(403, "You cannot message this user")
        },
        Scenario("Groups pass to the longest-standing member, whom everybody hears of", clause: "DELETE /me") { world in
            let people = try await world.people(4)
            let (alice, bob, carol, dave) = try (people[3], people[2], people[1], people[0])
            let owned = try await alice.group(with: carol)
            try await alice.send(Messenger.AddMembers(chat: owned, users: [bob.id]))
            let (joined, alone) = (try await dave.group(with: alice, bob), try await alice.group())
            let file = try await alice.upload()
            for chat in [owned, joined, alone] {
                try await alice.send(Messenger.SendMessage(chat: chat, content: "", type: .file, file: file))
            }
            let socket = try await bob.socket()
            for chat in [owned, joined] { try await socket.subscribe(to: chat) }
            try expect(try await alice.delete(alice.password).status, equals: 204)
            // The frames are of two chats and may come in any order.
            let frames = [try await socket.receive(), try await socket.receive()]
            for chat in [owned, joined] {
                let removed = Messenger.MemberRemoved(chat: chat, user: alice.id)
                try expect(frames.contains { $0 == removed }, "not told of chat \(chat): \(frames)")
            }
            let chat = try await bob.send(Messenger.GetChat(id: owned))
            try expect(chat.owner, equals: carol.id)
            try expect(chat.members.map(\.id), equals: [carol.id, bob.id])
            try expect(chat.members.map(\.role), equals: [.owner, .member])
            let other = try await bob.send(Messenger.GetChat(id: joined))
            try expect(other.owner, equals: dave.id)
            try expect(Set(other.members.map(\.id)), equals: [bob.id, dave.id])
            // The new owner has the role, and the chat continues.
            try await carol.send(Messenger.AddMembers(chat: owned, users: [dave.id]))
            try expect(try await socket.receive(), is: Messenger.MemberAdded(chat: owned, user: dave.id))
            let said = try await carol.say("on", in: owned)
            try expect(try await socket.message(), equals: said)
            await socket.close()
        },
        Scenario("Of somebody who is deleted while sending nothing comes after", clause: "DELETE /me") { world, bob in
            for _ in 0..<5 {
                let alice = try await world.person()
                let chat = try await bob.group(with: alice)
                let socket = try await bob.socket()
                try await socket.subscribe(to: chat)
                async let deletion = alice.delete(alice.password)
                let statuses = try await together(40, width: 8) { index in
                    try await alice.post("/chats/\(chat)/messages", ["content": .string("\(index)")]).status
                }
                try expect(try await deletion.status, equals: 204)
                try expect(Set(statuses).isSubset(of: [201, 401, 403]), "\(statuses)")
                let count = statuses.filter { $0 == 201 }.count
                let last = try await bob.say("end", in: chat)
                // All acknowledged messages come, then the removal, and then nothing more by the removed user.
                for _ in 0..<count {
                    let message = try await socket.message()
                    try expect(message.sender, equals: alice.id)
                }
                try expect(try await socket.receive(), is: Messenger.MemberRemoved(chat: chat, user: alice.id))
                try expect(try await socket.message(), equals: last)
                await socket.close()
                let listed = try await bob.send(Messenger.ListMessages(chat: chat, limit: 100))
                try expect(listed.filter { $0.sender == alice.id }.count, equals: count)
            }
        },
        Scenario("A user who is deleted while others add them is in no chat", clause: "DELETE /me") {
            world, bob, carol in
            for _ in 0..<5 {
                let alice = try await world.person()
                let group = try await bob.group(with: carol)
                let body: JSONValue = ["member_ids": [alice.id.json], "name": "x"]
                async let deletion = alice.delete(alice.password)
                let answers = try await together(12, width: 12) { index -> RawAnswer in
                    switch index % 4 {
                    case 0: try await bob.post("/chats", body)
                    case 1: try await bob.post("/chats/\(group)/members", ["user_ids": [alice.id.json]])
                    case 2: try await carol.raw(.post, "/users/\(alice.id)/block")
                    default:
                        try await alice.post("/chats", ["type": "group", "name": "x", "member_ids": [bob.id.json]])
                    }
                }
                try expect(try await deletion.status, equals: 204)
                for answer in answers { try expect(answer.status < 500, "\(answer.status) \(answer.text)") }
                for person in [bob, carol] {
                    for chat in try await person.send(Messenger.ListChats()) {
                        let members = try await person.send(Messenger.GetChat(id: chat.id))
                        try expect(!members.members.map(\.id).contains(alice.id), "a member who is gone")
                        try expect(members.owner != alice.id, "an owner who is gone")
                    }
                }
                try expect(try await carol.send(Messenger.ListBlocks()), equals: [])
            }
        },
        Scenario("Two deletions at once are one, and all of a group may go together", clause: "DELETE /me") { world in
            let people = try await world.people(5)
            let watcher = try await world.person()
            let chat = try await people[0].send(
                Messenger.CreateChat.group("All", members: people.dropFirst().map(\.id) + [watcher.id])
            ).id
            let direct = try await people[0].directChat(with: people[1])
            let statuses = try await together(10, width: 10) { index in
                try await people[index / 2].delete(people[index / 2].password).status
            }
            for index in people.indices {
                try expect(Set(statuses[2 * index...2 * index + 1]), equals: [204, 401])
            }
            let left = try await watcher.send(Messenger.GetChat(id: chat))
            try expect(left.members.map(\.id), equals: [watcher.id])
            try expect(left.owner, equals: watcher.id)
            try expect(left.members.map(\.role), equals: [.owner])
            try await watcher.get("/chats/\(direct)").refused(404, "Chat not found or access denied")
        },
    ]
}

extension Person {
    /// Sends a raw `DELETE /me`.
    func delete(_ password: String) async throws -> RawAnswer {
        try await raw(.delete, "/me", body: (["password": .string(password)] as JSONValue).description)
    }
}
