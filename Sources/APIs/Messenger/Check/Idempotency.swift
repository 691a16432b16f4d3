@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let idempotency: [Scenario<MessengerWorld>] = [
        Scenario("A repeat under one key gets the first answer again, byte for byte", clause: "Idempotency-Key") {
            world, alice, bob in
            let chat = try await alice.group(with: bob)
            for creation in creations(by: alice, with: bob, in: chat) {
                try await world.check(creation, repeats: 1, isFirstAlone: true)
            }
            try expect(try await bob.send(Messenger.ListMessages(chat: chat)).count, equals: 1)
            try expect(try await bob.send(Messenger.ListChats()).count, equals: 3)
            // An existing chat is answered again as existing.
            let key = world.freshKey()
            for _ in 0..<2 {
                let body: JSONValue = ["member_ids": [bob.id.json]]
                let existing = try await alice.post("/chats", body, headers: key).succeeded(200)
                try expect(existing["type"], equals: "existing")
            }
        },
        Scenario("Twenty repeats at once make one row and one frame", clause: "Idempotency-Key") { world, alice, bob in
            let chat = try await alice.group(with: bob)
            let socket = try await bob.socket()
            try await socket.subscribe(to: chat)
            for creation in creations(by: alice, with: bob, in: chat) { try await world.check(creation, repeats: 19) }
            let messages = try await bob.send(Messenger.ListMessages(chat: chat))
            try expect(messages.count, equals: 1)
            try expect(try await bob.send(Messenger.ListChats()).count, equals: 3)
            let last = try await alice.say("another", in: chat)
            try expect(try await socket.messages(2), equals: messages + [last])
            await socket.close()
        },
        Scenario("Another request under the same key is 422", clause: "Idempotency-Key") { world, alice, bob in
            let chat = try await alice.group(with: bob)
            for creation in creations(by: alice, with: bob, in: chat) { try await world.check(creation, repeats: 0) }
            try expect(try await bob.send(Messenger.ListMessages(chat: chat)).count, equals: 1)
        },
        Scenario("A key is 1 to 255 printable ASCII characters", clause: "Idempotency-Key") { world, alice, bob in
            let chat = try await alice.group(with: bob)
            for creation in creations(by: alice, with: bob, in: chat) {
                try await world.refuseBadKeys(of: creation)
            }
            let fresh = world.freshName()
            for key in [fresh, "\(fresh) !\"#~", fresh.padding(toLength: 255, withPad: "k", startingAt: 0)] {
                try await alice.post("/chats/\(chat)/messages", ["content": "x"], headers: [.idempotencyKey: key])
                    .succeeded(201, key)
            }
            // The key has no meaning for operations that create no row.
            let login: JSONValue = ["username": .string(alice.name), "password": .string(alice.password)]
            for _ in 0..<2 {
                let answer = try await world.post("/auth/login", login, headers: [.idempotencyKey: "é"])
                try answer.succeeded(200)
                try expect(answer.headers[.idempotentReplayed], equals: nil)
            }
        },
        Scenario("A key belongs to its user and its path", clause: "Idempotency-Key") { world, alice, bob in
            let chats = [try await alice.group(with: bob), try await alice.group(with: bob)]
            let (key, body) = (world.freshKey(), ["content": "x"] as JSONValue)
            var ids: Set<JSONValue?> = []
            for person in [alice, bob] {
                for chat in chats {
                    let answer = try await person.post("/chats/\(chat)/messages", body, headers: key)
                    let sent = try answer.succeeded(201)
                    try expect(answer.headers[.idempotentReplayed], equals: nil)
                    try expect(sent["sender_id"], equals: person.id.json)
                    ids.insert(sent["id"])
                }
                try await person.post("/chats", ["type": "group", "name": "x"], headers: key).succeeded(201)
            }
            try expect(ids.count, equals: 4)
            // It gives other users no access.
            let carol = try await world.person()
            try await carol.post("/chats/\(chats[0])/messages", body, headers: key)
                .refused(403, "Not a member of this chat")
            try await world.post("/chats/\(chats[0])/messages", body, headers: key)
                .refused(401, "Missing Authorization header")
        },
        Scenario("A refused request leaves its key free", clause: "Idempotency-Key") { world, alice, bob in
            let chat = try await alice.group(with: bob)
            let path = "/chats/\(chat)/messages"
            let key = world.freshKey()
            try await alice.post(path, ["content": " "], headers: key).refused(400, "content or file_id required")
            try await alice.post(path, ["content": "x", "file_id": 9_223_372_036_854_775_807], headers: key)
                .refused(404, "File not found")
            let answer = try await alice.post(path, ["content": "x"], headers: key)
            try answer.succeeded(201)
            try expect(answer.headers[.idempotentReplayed], equals: nil)

            // The same request is repeated, too, once it is allowed.
            let (carol, again) = (try await world.person(), world.freshKey())
            try await carol.post(path, ["content": "x"], headers: again).refused(403, "Not a member of this chat")
            try await alice.send(Messenger.AddMembers(chat: chat, users: [carol.id]))
            try await carol.post(path, ["content": "x"], headers: again).succeeded(201)

            let name = world.freshName()
            for (username, status) in [(alice.name, 409), (name, 201)] {
                let body: JSONValue = [
                    "username": .string(username), "email": .string("\(name)@b"), "password": "12345678",
                ]
                let answer = try await world.post("/auth/register", body, headers: key)
                try expect(answer.status == status, "\(answer.status) \(answer.text)")
            }
        },
    ]

    /// Returns each operation that creates a row, with a request for it and a different one.
    private static func creations(
        by alice: Person, with bob: Person, in chat: Messenger.Chat.ID
    ) -> [KeyedRequest] {
        let world = alice.world
        let (name, email) = (world.freshName(), JSONValue.string("\(world.freshName())@b"))
        @Sendable func register(_ name: String, _ key: HTTPFields) async throws -> RawAnswer {
            let body: JSONValue = ["username": .string(name), "email": email, "password": "12345678"]
            return try await world.post("/auth/register", body, headers: key)
        }
        let (token, other) = (JSONValue.string(world.freshDeviceToken()), JSONValue.string(world.freshDeviceToken()))
        let group: JSONValue = ["type": "group", "name": "x", "member_ids": [bob.id.json]]
        let direct: JSONValue = ["type": "direct", "member_ids": [bob.id.json]]
        return [
            KeyedRequest("register") { try await register($0 ? name : name + "x", $1) },
            KeyedRequest("a group") { try await alice.post("/chats", $0 ? group : direct, headers: $1) },
            KeyedRequest("a direct chat") { try await alice.post("/chats", $0 ? direct : group, headers: $1) },
            KeyedRequest("a message") {
                try await alice.post("/chats/\(chat)/messages", ["content": $0 ? "Hi" : "Ho"], headers: $1)
            },
            KeyedRequest("a report") {
                let body: JSONValue = ["user_id": bob.id.json, "reason": $0 ? "spam" : "scam"]
                return try await alice.post("/reports", body, headers: $1)
            },
            KeyedRequest("a device") {
                let body: JSONValue = ["token": $0 ? token : other, "environment": "sandbox"]
                return try await alice.post("/devices", body, headers: $1)
            },
            KeyedRequest("an upload") {
                try await alice.upload(Form(filename: "a", content: $0 ? "a" : "b"), headers: $1)
            },
        ]
    }
}
