@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of rules for every request: the order of checks, bodies, fields and numbers.
extension MessengerScenarios {
    static let errors: [Scenario<MessengerWorld>] = [
        Scenario("An unknown path is 404, whatever else is wrong", clause: "Errors") { world in
            // Not `/`, where a server may have a page for people.
            let paths = [
                "/nothing", "/me/", "/ME", "/auth", "/auth/login/1", "/users", "/users/abc", "/users/1a",
                "/users/-1", "/users/1.5", "/users/%D9%A1", "/users/search/1", "/chats/abc", "/chats/1/nothing",
                "/chats/x/messages", "/files/x/download", "/files/1/x",
            ]
            for path in paths {
                try await world.raw.send(.get, path).refused(404, "Not found", path)
                try await world.raw.send(.post, path, body: "{").refused(404, "Not found", path)
            }
        },
        Scenario("Another method is 405 with Allow, before credentials and ids", clause: "Errors") {
            world in
            let table: [(path: String, allowed: Set<String>)] = [
                ("/auth/register", ["POST"]), ("/auth/login", ["POST"]), ("/auth/refresh", ["POST"]),
                ("/me", ["GET"]), ("/users/0", ["GET"]), ("/users/search", ["GET"]), ("/chats", ["GET", "POST"]),
                ("/chats/0", ["GET"]), ("/chats/0/messages", ["GET", "POST"]), ("/files", ["POST"]),
                ("/files/0/download", ["GET"]),
            ]
            for (path, allowed) in table {
                let answer = try await world.raw.send(.patch, path, body: "{")
                try answer.refused(405, "Method not allowed", path)
                let listed = Set((answer.headers[.allow] ?? "").components(separatedBy: ", "))
                try expect(listed.isSuperset(of: allowed) && !listed.contains("PATCH"), "\(path) allows \(listed)")
            }
        },
        Scenario("Credentials come before ids, queries and bodies", clause: "Authentication") { world in
            let alice = try await world.person()
            let (head, payload) = try (alice.token.prefix { $0 != "." }, alice.token.split(separator: ".")[1])
            let unsigned = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
                .replacingOccurrences(of: "=", with: "")
            let table: [(header: String?, text: String)] = [
                (nil, "Missing Authorization header"),
                ("Basic YTpi", "Authorization header must start with 'Bearer '"),
                ("bearer \(alice.token)", "Authorization header must start with 'Bearer '"),
                (alice.token, "Authorization header must start with 'Bearer '"),
                ("Bearer nothing", "Invalid or expired token"),
                ("Bearer \(alice.token)x", "Invalid or expired token"),
                ("Bearer \(alice.token.dropLast(8))", "Invalid or expired token"),
                ("Bearer \(head).\(payload).", "Invalid or expired token"),
                ("Bearer \(unsigned).\(payload).", "Invalid or expired token"),
                ("Bearer \(alice.refreshToken)", "Expected access token"),
            ]
            for (header, text) in table {
                for (method, path) in closed {
                    var headers: HTTPFields = [.idempotencyKey: "é"]
                    if let header { headers[.authorization] = header }
                    let body = method == .post ? "{" : nil
                    try await world.raw.send(method, path, headers: headers, body: body)
                        .refused(401, text, "\(method) \(path) with \(header ?? "nothing")")
                }
            }
            let large = String(repeating: " ", count: 1_048_577)
            try await world.raw.send(.post, "/chats", body: large).refused(401, "Missing Authorization header")
        },
        Scenario("A body is one JSON object of at most 1 MiB and 64 levels", clause: "Request bodies") { world in
            func login(_ body: [UInt8]) async throws -> RawAnswer {
                try await world.raw.send(.post, "/auth/login", bytes: body)
            }
            func nested(_ levels: Int) -> String {
                #"{"x":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
            }
            let malformed = [
                "[]", "\"text\"", "1", "null", "{", "}", "{}{}", "{} x", #"{"a":}"#, "{'a':1}", #"{"a":1 "b":2}"#,
                "username=alice", nested(65),
            ]
            for body in malformed { try await login(Array(body.utf8)).refused(400, "Invalid JSON", body) }
            try await login(Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)).refused(400, "Invalid JSON")
            try await login("{}".utf16.flatMap { [UInt8($0), 0] }).refused(400, "Invalid JSON", "UTF-16")

            let padding = String(repeating: "a", count: 1_048_576 - #"{"x":""}"#.utf8.count)
            for body in ["", "{}", " {\n} ", nested(64), #"{"x":"\#(padding)"}"#] {
                try await login(Array(body.utf8)).refused(400, "username and password required", "\(body.prefix(20))")
            }
            try await login(Array(#"{"x":"\#(padding)a"}"#.utf8)).refused(413, "Request body too large")
            try await login(Array((padding + padding).utf8)).refused(413, "Request body too large")
        },
        Scenario("A compressed body is refused, and so is JSON with a key twice", clause: "Request bodies") { world in
            let alice = try await world.person()
            let body = #"{"type":"group","name":"N","member_ids":[]}"#
            for coding in ["gzip", "br", "deflate, identity"] {
                let answer = try await alice.raw(.post, "/chats", headers: [.contentEncoding: coding], body: body)
                try answer.refused(415, "Content-Encoding is not supported", coding)
                try expect(answer.headers[.acceptEncoding], equals: "identity")
            }
            try await alice.raw(.post, "/chats", headers: [.contentEncoding: "identity"], body: body).succeeded(201)
            for more in [#""name":"M""#, #""n\u0061me":"M""#, #""x":[{"y":1,"y":1}]"#] {
                let body = #"{"type":"group","name":"N","member_ids":[],\#(more)}"#
                try await alice.raw(.post, "/chats", body: body).refused(400, "Invalid JSON", more)
            }
        },
        Scenario("The content type of a JSON body does not matter", clause: "Request bodies") { world in
            let alice = try await world.person()
            let body: JSONValue = ["username": .string(alice.name), "password": .string(alice.password)]
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"] {
                try await world.post("/auth/login", body, headers: [.contentType: type])
                    .succeeded(200, type)
            }
        },
        Scenario("Unknown keys are ignored and never stored", clause: "Request bodies") { world in
            let (alice, bob) = try await world.pair()
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
        Scenario("A null or mistyped value counts as missing", clause: "Request bodies") { world in
            let (alice, bob) = try await world.pair()
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
        Scenario("Text must not contain NUL characters", clause: "Request bodies") { world in
            let (alice, bob) = try await world.pair()
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
        Scenario("Bad input is never a 5xx", clause: "Errors") { world in
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
            for path in paths {
                let answer = try await alice.get(path)
                try expect(answer.status < 500, "\(path): \(answer.status) \(answer.text)")
                _ = try answer.json()
            }
            let contents = [
                #""\ud800""#, #""\udc00\ud800""#, "1e999", "-0", "[[[]]]", #"{"a":{}}"#, #""\u202e\ufeff""#,
            ]
            for content in contents {
                for (path, body) in [
                    ("/chats/\(chat)/messages", #"{"content":\#(content),"file_id":\#(content)}"#),
                    ("/chats", #"{"type":"group","name":\#(content),"member_ids":[\#(content)]}"#),
                    ("/auth/login", #"{"username":\#(content),"password":\#(content)}"#),
                ] {
                    let answer = try await alice.raw(.post, path, body: body)
                    try expect(answer.status < 500, "\(path) \(body): \(answer.status) \(answer.text)")
                }
            }
        },
    ]

    /// Every operation that needs a caller, with ids and queries that would be refused if they were checked.
    private static let closed: [(HTTPRequest.Method, String)] = [
        (.get, "/me"), (.get, "/users/0"), (.get, "/users/search"), (.get, "/chats?limit=x"), (.post, "/chats"),
        (.get, "/chats/0"), (.get, "/chats/0/messages?limit=x"), (.post, "/chats/0/messages"), (.post, "/files"),
        (.get, "/files/0/download"),
    ]
}
