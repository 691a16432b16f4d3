@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    /// Scenarios of the promises that the published contract itself makes, in words or by example: a server that was
    /// made from that document alone passes them. ``ResponseValidator`` checks the names and types of all members.
    static let examples: [Scenario<MessengerWorld>] = [
        Scenario(
            "An account is made once, under a username of 3 to 32 characters", clause: "POST /auth/register",
            level: .contract
        ) { world in
            let (name, email) = (world.freshName(), "\(world.freshName())@example.com")
            let account = try await world.register(username: name, email: email).succeeded(201)
            try expect(account["username"], equals: .string(name))
            let taken = "Username or email already taken"
            try await world.register(username: name).refused(409, taken)
            try await world.register(email: email).refused(409, taken)
            for name in ["Al", name.padding(toLength: 33, withPad: "x", startingAt: 0)] {
                try await world.register(username: name).refused(400, "Username must be 3–32 characters")
            }
        },
        Scenario(
            "Signing in gives tokens for an hour, to who knows the password", clause: "POST /auth/login",
            level: .contract
        ) { world, alice in
            let tokens = try await world.login(alice.name, alice.password).succeeded(200)
            try expect(tokens["user_id"], equals: alice.id.json)
            let me = try await world.raw.send(.get, "/me", token: tokens["access_token"]?.string)
            try expect(try me.succeeded(200)["id"], equals: alice.id.json)
            let refused = try await world.login(alice.name, alice.password + "x")
            try refused.expect(400..<500, "a wrong password")
        },
        Scenario("A refresh token gives another access token", clause: "POST /auth/refresh", level: .contract) {
            world, alice in
            let renewed = try await world.refresh(alice.refreshToken).succeeded(200)
            let me = try await world.raw.send(.get, "/me", token: renewed["access_token"]?.string)
            try expect(try me.succeeded(200)["id"], equals: alice.id.json)
            try await world.refresh("nonsense").expect(400..<500, "an unknown refresh token")
        },
        Scenario("GET /me shows one's own account", clause: "GET /me", level: .contract) { _, alice in
            let me = try await alice.get("/me").succeeded(200)
            try expect(me["id"], equals: alice.id.json)
            try expect(me["username"], equals: .string(alice.name))
            try expect(me["email"], equals: .string("\(alice.name)@example.com"))
        },
        Scenario("GET /users/{id} shows another's profile", clause: "GET /users/{id}", level: .contract) {
            _, alice, bob in
            let profile = try await alice.get("/users/\(bob.id)").succeeded(200)
            try expect(profile["id"], equals: bob.id.json)
            try expect(profile["username"], equals: .string(bob.name))
            try await alice.get("/users/9223372036854775807").expect(400..<500, "an unknown user")
        },
        Scenario("A part of a username finds the user", clause: "GET /users/search", level: .contract) {
            _, alice, bob in
            let rows = try await alice.get("/users/search?q=\(bob.name.dropLast(2))").succeeded(200).elements
            try expect(rows.filter { $0["id"] == bob.id.json }.count, equals: 1)
            try expect(rows.first { $0["id"] == bob.id.json }?["username"], equals: .string(bob.name))
        },
        Scenario("Direct and group chats are made", clause: "POST /chats", level: .contract) { _, alice, bob, carol in
            let direct = try await alice.post("/chats", ["type": "direct", "member_ids": [bob.id.json]]).succeeded(201)
            let group = try await alice.post(
                "/chats", ["type": "group", "name": "Team Alpha", "member_ids": [bob.id.json, carol.id.json]]
            ).succeeded(201)
            try expect(direct["id"] != group["id"], "two chats, one id")
        },
        Scenario("GET /chats lists one's chats with their newest message", clause: "GET /chats", level: .contract) {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            for text in ["Hey", "Hey there!"] {
                try await alice.post("/chats/\(chat)/messages", ["content": .string(text), "type": "text"])
                    .succeeded(201)
            }
            for person in [alice, bob] {
                let rows = try await person.get("/chats").succeeded(200).elements
                try expect(rows.map { $0["id"] }, equals: [chat.json])
                try expect(rows[0]["type"], equals: "direct")
                try expect(rows[0]["name"], equals: .null)
                try expect(rows[0]["last_message"], equals: "Hey there!")
            }
            try expect(try await carol.get("/chats").succeeded(200), equals: [])
        },
        Scenario("GET /chats/{id} shows a group's members and their roles", clause: "GET /chats/{id}", level: .contract)
        { _, alice, bob, carol in
            let chat = try await alice.group(with: bob)
            for person in [alice, bob] {
                let json = try await person.get("/chats/\(chat)").succeeded(200)
                try expect(json["id"], equals: chat.json)
                try expect(json["type"], equals: "group")
                try expect(json["name"], equals: "Team")
                try expect(json["owner_id"], equals: alice.id.json)
                let members = Set((json["members"]?.elements ?? []).map { [$0["id"], $0["username"], $0["role"]] })
                try expect(
                    members,
                    equals: [
                        [alice.id.json, .string(alice.name), "owner"], [bob.id.json, .string(bob.name), "member"],
                    ])
            }
            try await carol.get("/chats/\(chat)").expect(400..<500, "a stranger")
        },
        Scenario("Text and file messages are sent", clause: "POST /chats/{id}/messages", level: .contract) {
            _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let file = try await alice.upload()
            let path = "/chats/\(chat)/messages"
            let bodies: [JSONValue] = [
                ["content": "Hello!", "type": "text"], ["content": "", "type": "file", "file_id": file.json],
            ]
            for body in bodies {
                let sent = try await alice.post(path, body).succeeded(201)
                try expect(sent["chat_id"], equals: chat.json)
                try expect(sent["sender_id"], equals: alice.id.json)
                try expect(sent["content"], equals: body["content"])
                try expect(sent["type"], equals: body["type"])
            }
            try await carol.post(path, bodies[0]).expect(400..<500, "a stranger")
            try expect(try await bob.get(path).succeeded(200).elements.count, equals: 2)
        },
        Scenario(
            "A history is shown newest first, in pages before an id", clause: "GET /chats/{id}/messages",
            level: .contract
        ) { _, alice, bob, carol in
            let chat = try await alice.directChat(with: bob)
            let path = "/chats/\(chat)/messages"
            var answered: [JSONValue] = []
            for index in 0..<5 {
                let answer = try await alice.post(path, ["content": .string("\(index)"), "type": "text"])
                guard case .object(var message) = try answer.succeeded(201) else { throw CheckFailure("no object") }
                message["message_type"] = message.removeValue(forKey: "type")
                answered.insert(.object(message), at: 0)
            }
            let sent = answered
            try expect(try await bob.get(path).succeeded(200), equals: .list(sent))
            let third = try sent[2]["id"]?.integer ?? 0
            try expect(try await bob.get("\(path)?limit=2").succeeded(200), equals: .list(Array(sent.prefix(2))))
            try expect(
                try await bob.get("\(path)?limit=50&before=\(third)").succeeded(200),
                equals: .list(Array(sent.suffix(2))))
            try await carol.get(path).expect(400..<500, "a stranger")
        },
        Scenario("A file is uploaded as the form's field file", clause: "POST /files", level: .contract) { _, alice in
            let file = try await alice.upload(Form(filename: "photo.jpg", type: "image/jpeg")).succeeded(201)
            try expect(file["filename"], equals: "photo.jpg")
            try expect(file["mime_type"], equals: "image/jpeg")
            try expect(file["object_key"]?.string?.hasSuffix("_photo.jpg"), equals: true)
        },
        Scenario(
            "A download redirects to a URL that needs no token", clause: "GET /files/{id}/download", level: .contract
        ) { _, alice, bob in
            let file = try await alice.upload("some content")
            let answer = try await alice.get("/files/\(file)/download")
            try expect(answer.status, equals: 302)
            let download = try await alice.fetch(answer.headers[.location] ?? "")
            try expect(download.status, equals: 200)
            try expect(download.text, equals: "some content")
            try await bob.get("/files/\(file)/download").expect(400..<500, "a stranger")
        },
        Scenario("A protected operation refuses a request without a token", clause: "Authentication", level: .contract)
        { world, alice in
            let chat = try await alice.group()
            let table: [(HTTPRequest.Method, path: String, body: String?)] = [
                (.get, "/me", nil), (.get, "/users/\(alice.id)", nil), (.get, "/users/search?q=ali", nil),
                (.post, "/chats", #"{"type":"group","name":"Team","member_ids":[]}"#), (.get, "/chats", nil),
                (.get, "/chats/\(chat)", nil), (.get, "/chats/\(chat)/messages", nil),
                (.post, "/chats/\(chat)/messages", #"{"content":"Hello!","type":"text"}"#),
                (.get, "/files/1/download", nil),
            ]
            for (method, path, body) in table {
                for token in [nil, "nonsense"] {
                    let answer = try await world.raw.send(method, path, token: token, body: body)
                    try answer.expect(401..<402, token ?? "no token")
                }
            }
        },
        Scenario("The first frame signs in, or ends the socket", clause: "/ws handshake", level: .contract) {
            world, alice in
            let socket = try await world.rawSocket()
            try await socket.send(["type": "auth", "token": .string(alice.token)])
            try await socket.expect(["type": "auth_ok", "user_id": alice.id.json])
            await socket.close()

            let refused = try await world.rawSocket()
            try await refused.send(["type": "auth", "token": "nonsense"])
            try await refused.expect(["type": "error", "message": "Invalid or expired access token"])
            try await refused.expectClose()
        },
        Scenario("A subscribed socket is pushed what others send", clause: "/ws messages", level: .contract) {
            _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let socket = try await alice.rawSocket()
            try await socket.send(["type": "subscribe", "chat_id": chat.json])
            try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            for text in ["Hey!", "You!"] {
                let sent = try await bob.post("/chats/\(chat)/messages", ["content": .string(text), "type": "text"])
                guard case .object(var frame) = try sent.succeeded(201) else { throw CheckFailure("no object") }
                frame["message_type"] = frame["type"]
                frame["type"] = "message"
                try await socket.expect(.object(frame))
            }
            await socket.close()
        },
        Scenario("A ping is answered with a pong", clause: "/ws keepalive", level: .contract) { _, alice in
            let socket = try await alice.rawSocket()
            for _ in 0..<3 {
                try await socket.send(["type": "ping"])
                try await socket.expect(["type": "pong"])
            }
            // The next frame answers the next message.
            let chat = try await alice.group()
            try await socket.send(["type": "subscribe", "chat_id": chat.json])
            try await socket.expect(["type": "subscribed", "chat_id": chat.json])
            await socket.close()
        },
    ]
}
