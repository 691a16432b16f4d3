@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of rules for every request: the order of checks, bodies, fields and numbers.
extension MessengerScenarios {
    private static let rules = RequestRules<MessengerWorld>(
        noCredentials: "Missing Authorization header",
        badCredentials: { world in
            let alice = try await world.person()
            let (head, payload) = try (alice.token.prefix { $0 != "." }, alice.token.split(separator: ".")[1])
            let unsigned = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
                .replacingOccurrences(of: "=", with: "")
            return [
                "Authorization header must start with 'Bearer '": [
                    "Basic YTpi", "bearer \(alice.token)", alice.token,
                ],
                "Invalid or expired token": [
                    "Bearer nothing", "Bearer \(alice.token)x", "Bearer \(alice.token.dropLast(8))",
                    "Bearer \(head).\(payload).", "Bearer \(unsigned).\(payload).",
                ],
                "Expected access token": ["Bearer \(alice.refreshToken)"],
            ]
        },
        empty: .init("/auth/login") { try $0.refused(400, "username and password required", $1) },
        whole: .init("/chats", #"{"name":"N","type":"group","member_ids":[]}"#) { try $0.succeeded(201, $1) })

    static let errors: [Scenario<MessengerWorld>] = [
        rules.unknownPaths(clause: "Errors"), rules.otherMethods(clause: "Errors"),
        rules.credentials("Credentials come before ids, queries and bodies", clause: "Authentication"),
        rules.bodies(clause: "Request bodies"), rules.plainBodies(clause: "Request bodies"),
        Scenario("The content type of a JSON body does not matter", clause: "Request bodies") { world, alice in
            let body: JSONValue = ["username": .string(alice.name), "password": .string(alice.password)]
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"] {
                try await world.post("/auth/login", body, headers: [.contentType: type])
                    .succeeded(200, type)
            }
        },
        Scenario("Unknown keys are ignored and never stored", clause: "Request bodies") { world, alice, bob in
            let other = try await bob.group()
            let foreign: JSONValue = 9_007_199_254_740_993
            let name = world.freshName()
            let registered = try await world.post(
                "/auth/register",
                [
                    "username": .string(name), "email": .string("\(name)@b"), "password": "12345678", "id": foreign,
                    "role": "owner", "x": "\u{0}",
                ]
            ).succeeded(201)
            try expect(registered["id"] != foreign, "an id was taken from the body")

            let created = try await alice.post(
                "/chats",
                ["type": "group", "name": "Team", "id": foreign, "owner_id": bob.id.json, "role": "member"])
            guard let chat = try created.succeeded(201)["id"]?.integer else { throw CheckFailure("no id") }
            let detail = try await alice.get("/chats/\(chat)").succeeded(200)
            try expect(detail["owner_id"], equals: alice.id.json)
            try expect(detail["members"]?.elements.map { $0["role"] }, equals: ["owner"])

            let sent = try await alice.post(
                "/chats/\(chat)/messages",
                [
                    "content": "hi", "id": other.json, "chat_id": other.json, "sender_id": bob.id.json,
                    "created_at": "2001-01-01T00:00:00Z", "message_type": "voice",
                ]
            ).succeeded(201)
            try expect(sent["chat_id"], equals: .integer(chat))
            try expect(sent["sender_id"], equals: alice.id.json)
            try expect(sent["type"], equals: "text")
            try expect(sent["created_at"] != "2001-01-01T00:00:00Z", "a time was taken from the body")
        },
        Scenario("A null or mistyped value counts as missing", clause: "Request bodies") { world, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let (send, name) = ("/chats/\(chat)/messages", world.freshName())
            let refused: [(path: String, body: String, text: String)] = [
                ("/auth/register", #"{"username":null}"#, "Username must be 3–32 characters"),
                ("/auth/register", #"{"username":["abc"]}"#, "Username must be 3–32 characters"),
                ("/auth/register", #"{"username":"\#(name)","email":5}"#, "Invalid email"),
                (
                    "/auth/register", #"{"username":"\#(name)","email":"\#(name)@b","password":12345678}"#,
                    "Password must be at least 8 characters"
                ),
                ("/auth/login", #"{"username":5,"password":"x"}"#, "username and password required"),
                ("/auth/login", #"{"username":"x","password":null}"#, "username and password required"),
                ("/auth/refresh", #"{"refresh_token":true}"#, "refresh_token required"),
                ("/chats", #"{"type":"group","name":5}"#, "name required for group chats"),
                ("/chats", #"{"type":7,"member_ids":null}"#, "direct chat requires exactly one other member_id"),
                (send, #"{"content":5}"#, "content or file_id required"),
                (send, #"{"content":null}"#, "content or file_id required"),
                (send, #"{"content":"","type":"file","file_id":null}"#, "content or file_id required"),
            ]
            for (path, body, text) in refused {
                try await alice.raw(.post, path, body: body).refused(400, text, body)
            }
            try await alice.raw(.post, send, body: #"{"content":"a","type":null,"file_id":null}"#).succeeded(201)
            try await alice.raw(.post, send, body: #"{"content":"a","type":5}"#).succeeded(201)
            try await alice.raw(.post, "/chats", body: #"{"type":null,"member_ids":[\#(bob.id)]}"#).succeeded(200)
        },
        Scenario("Text must not contain NUL characters", clause: "Request bodies") { _, alice, bob in
            let chat = try await alice.directChat(with: bob)
            let bodies: [(path: String, body: JSONValue)] = [
                ("/auth/register", ["username": "ab\u{0}c", "email": "a@b", "password": "12345678"]),
                ("/auth/login", ["username": "ab\u{0}c", "password": "12345678"]),
                ("/chats", ["type": "group", "name": "a\u{0}"]),
                ("/chats/\(chat)/messages", ["content": "a\u{0}b"]),
            ]
            for (path, body) in bodies {
                try await alice.post(path, body).refused(400, "Text must not contain NUL characters", path)
            }
            try await alice.get("/users/search?q=a%00").refused(400, "Text must not contain NUL characters")
        },
        rules.oddInput(clause: "Errors") { world in
            let (alice, bob) = try await world.pair()
            let chat = try await alice.directChat(with: bob)
            let long = String(repeating: "9", count: 400)
            let paths = [
                "/users/\(long)", "/chats/\(long)", "/chats/\(long)/messages", "/files/\(long)/download", "/users/0",
                "/chats/0", "/files/0/download", "/users/9223372036854775807", "/users/9223372036854775808", "/%zz",
                "/users/%31", "/users/search?q=%ff%fe", "/users/search?q=%25%25_%5C", "/users/search?q=\(long)",
                "/users/search?q=%F0%9F%98%80", "/chats?limit=\(long)", "/chats?before=\(long)",
                "/chats/\(chat)/messages?limit=\(long)&before=\(long)", "/chats/\(chat)/messages?after=\(long)",
                "/chats/\(chat)/messages?&&==&limit=3&limit=x", "/objects/x", "/objects/..%2f..%2fetc?expires=1",
            ]
            return (
                alice.raw, paths,
                [
                    (.post, "/chats/\(chat)/messages", #"{"content":?,"file_id":?}"#),
                    (.post, "/chats", #"{"type":"group","name":?,"member_ids":[?]}"#),
                    (.post, "/auth/login", #"{"username":?,"password":?}"#),
                ]
            )
        },
    ]
}
