@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

/// Scenarios of rules for every request: the order of checks, sessions, bodies.
extension DunbarScenarios {
    static let errors: [Scenario<DunbarWorld>] = [
        Scenario("An unknown path is 404, whatever else is wrong", clause: "§1 order of checks") { world in
            let paths = [
                "/", "/nothing", "/USER", "/user//", "/users", "/users//", "/users/1//", "/users/1/x",
                "/users/1/posts//", "/posts//", "/posts/1/comments//", "/posts/1/comments/1", "/feed//",
                "/followers/1", "/follow-requests", "/follow-requests/1", "/follow-requests/pending//", "/storage",
                "/storage/health//", "/login//", "/verify-email", "/verify-email//", "//user", "/users/search/x/y",
                "/forgot-password//", "/account", "/account/delete//", "/blocks//", "/blocks/1", "/comments",
                "/comments/1//", "/posts/1/report//",
            ]
            for path in paths {
                for method in [HTTPRequest.Method.get, .post] {
                    let body = method == .get ? nil : "{"
                    try await world.raw.send(method, path, headers: [.origin: "null"], body: body)
                        .refused(404, "Not found", path)
                }
            }
        },
        Scenario("Another method is 405 with Allow, before sessions and ids", clause: "§1 order of checks") { world in
            let table: [(path: String, allowed: Set<String>)] = [
                ("/login", ["POST"]), ("/user", ["GET"]), ("/users/x", ["GET", "PATCH"]), ("/users/x/photo", ["POST"]),
                ("/posts", ["GET", "POST"]), ("/posts/x", ["GET", "DELETE"]), ("/users/x/posts", ["GET"]),
                ("/feed", ["GET"]), ("/posts/x/comments", ["GET", "POST"]), ("/users/x/follow", ["POST"]),
                ("/followers/x/remove", ["POST"]), ("/users/search", ["GET"]), ("/storage/health", ["GET"]),
                ("/follow-requests/x/accept", ["POST"]), ("/follow-requests/pending", ["GET"]),
                ("/forgot-password", ["POST"]), ("/reset-password", ["POST"]), ("/account/delete", ["POST"]),
                ("/users/x/block", ["POST", "DELETE"]), ("/blocks", ["GET"]), ("/posts/x/report", ["POST"]),
                ("/comments/x", ["DELETE"]),
            ]
            for (path, allowed) in table {
                let answer = try await world.raw.send(.put, path, headers: [.origin: "null"], body: "{")
                try answer.refused(405, "Method not allowed", path)
                let listed = Set((answer.headers[.allow] ?? "").components(separatedBy: ", "))
                try expect(listed.isSuperset(of: allowed) && !listed.contains("PUT"), "\(path) allows \(listed)")
            }
        },
        Scenario("The session comes before keys, bodies and ids", clause: "§1 order of checks") { world in
            for (method, path) in closed {
                var headers: HTTPFields = [.idempotencyKey: "\u{7F}"]
                for cookie in [nil, "dunbar.session=x"] {
                    headers[.cookie] = cookie
                    try await world.raw.send(method, path, headers: headers, body: method == .get ? nil : "{")
                        .refused(401, "Unauthorized", "\(method) \(path)")
                }
            }
        },
        Scenario("A body is one JSON object of at most 1 MiB and 64 levels", clause: "§1 JSON bodies") { world in
            let john = try await world.person()
            func nested(_ levels: Int) -> String {
                #"{"x":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + "}"
            }
            for body in ["[]", "\"text\"", "1", "null", "{", "{}{}", #"{"a":}"#, "content=x", nested(65)] {
                try await john.raw(.post, "/posts", body: body).refused(400, "Malformed JSON", body)
            }
            try await john.raw(
                .post, "/posts", bytes: Array(#"{"content":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
            ).refused(400, "Malformed JSON")
            let padding = String(repeating: "a", count: 1_048_576 - #"{"x":""}"#.utf8.count)
            for body in ["", "{}", " {\n} ", nested(64), #"{"x":"\#(padding)"}"#] {
                try await john.raw(.post, "/posts", body: body)
                    .refused(400, "Post must have content or media", "\(body.prefix(20))")
            }
            try await john.raw(.post, "/posts", body: #"{"x":"\#(padding)a"}"#)
                .refused(413, "Request body too large")
        },
        Scenario("A compressed body is refused, and so is JSON with a key twice", clause: "§1 JSON bodies") { world in
            let john = try await world.person()
            for coding in ["gzip", "br", "deflate, identity"] {
                let answer = try await john.raw(
                    .post, "/posts", headers: [.contentEncoding: coding], body: #"{"content":"x"}"#)
                try answer.refused(415, "Content-Encoding is not supported", coding)
                try expect(answer.headers[.acceptEncoding], equals: "identity")
            }
            try await john.raw(.post, "/posts", headers: [.contentEncoding: "identity"], body: #"{"content":"x"}"#)
                .succeeded(201)
            for more in [#""content":"y""#, #""c\u006fntent":"y""#, #""x":[{"y":1,"y":1}]"#] {
                try await john.raw(.post, "/posts", body: #"{"content":"x",\#(more)}"#)
                    .refused(400, "Malformed JSON", more)
            }
        },
        Scenario("Unknown keys are ignored and never stored", clause: "§1 unknown keys") { world in
            let name = world.freshName()
            let body = """
                {"username":"\(name)","email":"\(name)@example.com","password":"12345678","displayName":"N","id":1,
                 "isAdmin":true,"role":"admin","emailVerified":true,"isPrivate":false,"bio":"x","createdAt":"2001-01-01"}
                """
            let answer = try await world.raw.send(.post, "/register", body: body)
            let user = try answer.succeeded(201)["user"]
            try expect(user?["isAdmin"], equals: false)
            try expect(user?["isPrivate"], equals: true)
            try expect(user?["bio"], equals: .null)
            guard let cookie = answer.cookie else { throw CheckFailure("no cookie") }
            let post = try await world.raw.send(
                .post, "/posts", headers: [.cookie: cookie],
                body:
                    #"{"content":"x","id":1,"userId":1,"media":["http://x/y.jpg"],"createdAt":"2001-01-01T00:00:00Z"}"#
            ).succeeded(201)
            try expect(post["userId"], equals: user?["id"] ?? .null)
            try expect(post["media"], equals: [])
            try expect(post["createdAt"]?.string?.hasPrefix("2001") == false, "\(post)")
        },
        Scenario("Bad input is never a 5xx, and every answer is JSON", clause: "§1") { world in
            let john = try await world.person()
            let post = try await john.publish()
            let long = String(repeating: "9", count: 400)
            for path in [
                "/users/\(long)", "/users/%ff%fe", "/users/..%2f..%2fetc", "/users/'%20OR%201=1/posts",
                "/posts?userId=%00",
                "/posts?userId=\(long)", "/feed?before=\(long)", "/feed?limit=\(long)", "/posts/\(long)/comments",
                "/posts/\(post.id)/comments?before=\(long)", "/users/search?q=%00", "/users/search?q=%ff",
                "/users/search?q=\(long)", "/users/\(john.id)/followers?before=\(long)", "/verify-email/%00",
                "/verify-email/\(long)", "/follow-requests/pending?before=\(long)", "/blocks?before=\(long)",
            ] {
                let answer = try await john.get(path)
                try expect(answer.status < 500, "\(path): \(answer.status) \(answer.text)")
                _ = try answer.json()
            }
            for value in [#""\ud800""#, "1e999", "-0", "[[[]]]", #"{"a":{}}"#, #""\u202e\ufeff""#, "true", "null"] {
                for (method, path, body) in [
                    (.post, "/login", #"{"username":\#(value),"password":\#(value)}"#),
                    (
                        .post, "/register",
                        #"{"username":\#(value),"email":\#(value),"password":\#(value),"name":\#(value)}"#
                    ),
                    (.patch, "/users/\(john.id)", #"{"displayName":\#(value),"bio":\#(value),"isPrivate":\#(value)}"#),
                    (.post, "/posts", #"{"content":\#(value)}"#),
                    (.post, "/posts/\(post.id)/comments", #"{"content":\#(value)}"#),
                    (.post, "/posts/\(post.id)/report", #"{"reason":\#(value),"details":\#(value)}"#),
                    (.post, "/forgot-password", #"{"email":\#(value)}"#),
                    (.post, "/reset-password", #"{"token":\#(value),"newPassword":\#(value)}"#),
                ] as [(HTTPRequest.Method, String, String)] {
                    let answer = try await john.raw(method, path, body: body)
                    try expect(answer.status < 500, "\(path) \(body): \(answer.status) \(answer.text)")
                    _ = try answer.json()
                }
            }
        },
    ]

    /// Every operation that needs a session, with ids and queries that would be refused if they were checked.
    static let closed: [(HTTPRequest.Method, String)] = [
        (.get, "/user"), (.patch, "/users/x"), (.post, "/users/x/photo"), (.post, "/posts"), (.get, "/users/x/posts"),
        (.get, "/posts/x"), (.get, "/posts?userId=x"), (.get, "/posts"), (.get, "/feed?limit=x"), (.delete, "/posts/x"),
        (.post, "/posts/x/comments"), (.get, "/posts/x/comments"), (.post, "/users/x/follow"),
        (.post, "/users/x/unfollow"), (.post, "/followers/x/remove"), (.get, "/users/x/followers"),
        (.get, "/users/x/following"), (.get, "/follow-requests/pending?limit=x"), (.get, "/follow-requests/outgoing"),
        (.post, "/follow-requests/x/accept"), (.post, "/follow-requests/x/reject"), (.get, "/users/search?q=a"),
        (.post, "/account/delete"), (.post, "/users/x/block"), (.delete, "/users/x/block"), (.get, "/blocks?limit=x"),
        (.post, "/posts/x/report"), (.delete, "/comments/x"),
    ]
}
