@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let authentication: [Scenario<DunbarWorld>] = [
        Scenario("Registering makes a private account and signs in", clause: "POST /register", level: .contract) {
            world in
            let name = world.freshName("Älice")
            let answer = try await world.register(name, displayName: " Älice \"b\" ", email: " \(name)@Example.com ")
            let body = try answer.succeeded(201)
            try expect(body["isFollowing"], equals: false)
            try expect(body["isPending"], equals: false)
            let user = body["user"]
            try expect(user?["username"], equals: .string(name))
            try expect(user?["displayName"], equals: "Älice \"b\"")
            try expect(user?["email"], equals: .string("\(name)@Example.com"))
            try expect(user?["message"], equals: "Please check your email to verify your account")
            for (field, value) in [
                ("bio", .null), ("photo", .null), ("isAdmin", false), ("isPrivate", true),
            ] as [(String, JSONValue)] { try expect(user?[field], equals: value) }
            guard let cookie = answer.cookie else { throw CheckFailure("no cookie") }
            let me = try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).succeeded(200)
            try expect(me["user"]?["id"], equals: user?["id"] ?? .null)
            try expect(me["user"]?["emailVerified"], equals: false)
        },
        Scenario("Registering takes a form with the same fields", clause: "§2 register") { world in
            let name = world.freshName()
            let fields = [
                ("username", name), ("email", "\(name)@example.com"), ("password", "12345678"),
                ("confirmPassword", "12345678"), ("name", "By another name"),
            ]
            let answer = try await world.raw.send(
                .post, "/register", headers: [.contentType: Form.type], bytes: Form(fields: fields).bytes)
            try expect(try answer.succeeded(201)["user"]?["displayName"], equals: "By another name")
            try await world.login(name, "12345678").succeeded(200)
            let broken = Array("--b0undary\r\nContent-Disposition: form-data; name=username\r\n\r\nx".utf8)
            try await world.raw.send(.post, "/register", headers: [.contentType: Form.type], bytes: broken)
                .refused(400, "Malformed form")
        },
        Scenario("What is wrong with a registration is said in the contract's order", clause: "§1 POST /register") {
            world, taken in
            let long = String(repeating: "x", count: 51)
            // Each row corrects the mistake of the one before.
            let table: [(JSONValue, String)] = [
                ([:], "Username is required"), (["username": ""], "Username is required"),
                (["username": .string(long)], "Username must be at most 50 characters"),
                (["username": "a b"], "Username must not contain spaces"),
                (["username": "a\u{7}b"], "Username must not contain spaces"),
                (["username": "ab\u{a0}"], "Username must not contain spaces"),
                (["username": "ab"], "Invalid email address"),
                (["username": "ab", "email": "a b@c"], "Invalid email address"),
                (["username": "ab", "email": "@c"], "Invalid email address"),
                (["username": "ab", "email": "a@b@c"], "Invalid email address"),
                (
                    ["username": "ab", "email": .string(String(repeating: "x", count: 253) + "@c")],
                    "Invalid email address"
                ),
                (["username": "ab", "email": "a@c"], "Password must be at least 8 characters"),
                (
                    ["username": "ab", "email": "a@c", "password": .string(String(repeating: "x", count: 201))],
                    "Password must be at most 200 characters"
                ),
                (
                    ["username": "ab", "email": "a@c", "password": "12345678", "confirmPassword": ""],
                    "Passwords don't match"
                ),
                (["username": "ab", "email": "a@c", "password": "12345678"], "Name is required"),
                (["username": "ab", "email": "a@c", "password": "12345678", "displayName": " "], "Name is required"),
                (
                    [
                        "username": "ab", "email": "a@c", "password": "12345678",
                        "displayName": .string(String(repeating: "x", count: 101)),
                    ], "Name must be at most 100 characters"
                ),
                (
                    [
                        "username": .string(taken.name.uppercased()), "email": .string("\(taken.name)@EXAMPLE.com"),
                        "password": "12345678", "displayName": "N",
                    ], "Username already exists"
                ),
                (
                    [
                        "username": .string(world.freshName()), "email": .string("\(taken.name)@EXAMPLE.com"),
                        "password": "12345678", "displayName": "N",
                    ], "Email already exists"
                ),
            ]
            for (body, text) in table {
                let answer = try await world.raw.send(.post, "/register", body: body.description)
                try answer.refused(400, text, "\(body)".prefix(100).description)
                try expect(answer.headers[.setCookie], equals: nil)
            }
        },
        Scenario("Registering takes the version of the terms that is accepted", clause: "POST /register") { world in
            let long = String(repeating: "é", count: 100)
            func register(_ terms: String) async throws -> RawAnswer {
                let name = world.freshName("terms")
                return try await world.post(
                    "/register",
                    [
                        "username": .string(name), "email": .string("\(name)@example.com"), "password": "secret123",
                        "displayName": "John Doe", "acceptedTerms": .string(terms),
                    ])
            }
            for terms in ["2026-11", long, ""] { try await register(terms).succeeded(201, terms) }
            try await register(long + "x").refused(400, "acceptedTerms must be at most 100 characters")
        },
        Scenario("Two registrations of one name at once make one account", clause: "§2 register") { world in
            let name = world.freshName()
            let answers = try await together(8) { index in
                try await world.register(
                    index % 2 == 0 ? name : name.uppercased(), email: "\(name)\(index)@example.com")
            }
            try expect(answers.filter { $0.status == 201 }.count, equals: 1)
            for answer in answers where answer.status != 201 { try answer.refused(400, "Username already exists") }
        },
        Scenario("Logging in takes the name in any case, and trimmed", clause: "POST /login", level: .contract) {
            world, john in
            for name in [john.name, john.name.uppercased(), " \t\(john.name)\n "] {
                let answer = try await world.login(name)
                try expect(try answer.succeeded(200)["user"]?["id"], equals: john.id.json)
                guard let cookie = answer.cookie, cookie != john.cookie else { throw CheckFailure("no new cookie") }
                let me = try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).succeeded(200)
                try expect(me["user"]?["id"], equals: john.id.json)
            }
        },
        Scenario("A wrong name or password is 401, an empty one 400", clause: "POST /login") { world, john in
            for (name, password) in [
                (john.name, "wrong"), (john.name, DunbarWorld.password + " "),
                (world.freshName(), DunbarWorld.password),
                ("\(john.name)@example.com", DunbarWorld.password),
            ] {
                let answer = try await world.login(name, password)
                try answer.refused(401, "Invalid username or password", name)
                try expect(answer.headers[.setCookie], equals: nil)
            }
            for body in [
                "{}", #"{"username":"","password":"x"}"#, #"{"username":" \n","password":"x"}"#, #"{"username":"x"}"#,
                #"{"username":1,"password":2}"#,
            ] {
                try await world.raw.send(.post, "/login", body: body)
                    .refused(400, "Username and password are required", body)
            }
        },
        Scenario("Logging in ends the session it came with", clause: "§2 Cookie, example 6") { world, john in
            let other = try await world.login(john.name)
            let answer = try await world.login(john.name, headers: [.cookie: john.cookie])
            try answer.succeeded(200)
            guard let cookie = answer.cookie, cookie != john.cookie else { throw CheckFailure("the session goes on") }
            try await john.get("/user").refused(401, "Unauthorized")
            for cookie in [cookie, other.cookie ?? ""] {
                try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).succeeded(200)
            }
        },
        Scenario("Of several cookies the first that is a session counts", clause: "§2 Cookie") { world, john, jane in
            let name = john.cookie.prefix { $0 != "=" }
            let old = "\(name)=old"
            for cookies in ["\(old); \(john.cookie)", "\(old); \(old); \(john.cookie); \(jane.cookie)"] {
                let me = try await world.raw.send(.get, "/user", headers: [.cookie: cookies]).succeeded(200)
                try expect(me["user"]?["id"], equals: john.id.json)
            }
            // A request is not looked at for ever.
            let many = (0..<100).map { "\(name)=\($0)" }.joined(separator: "; ")
            try await world.raw.send(.get, "/user", headers: [.cookie: "\(many); \(john.cookie)"])
                .refused(401, "Unauthorized")
            // Signing out ends all of them: no other cookie of the browser goes on.
            try await world.raw.send(.post, "/logout", headers: [.cookie: "\(old); \(john.cookie); \(jane.cookie)"])
                .said("Logged out successfully")
            for person in [john, jane] { try await person.get("/user").refused(401, "Unauthorized") }
        },
        Scenario("A cookie is of no use after the logout", clause: "POST /logout") { world, john in
            let answer = try await john.raw(.post, "/logout").said("Logged out successfully")
            let attributes = try Self.attributes(of: answer)
            try expect(attributes.contains("Max-Age=0"), "\(attributes)")
            for _ in 0..<2 { try await john.get("/user").refused(401, "Unauthorized") }
            try await john.get("/feed").refused(401, "Unauthorized")
            try await john.raw(.post, "/logout").said("Logged out successfully")
            try await world.raw.send(.post, "/logout").said("Logged out successfully")
        },
        Scenario("The cookie is HttpOnly, for the whole site, for 30 days", clause: "§2 Cookie") { world, john in
            let answer = try await world.login(john.name)
            let attributes = try Self.attributes(of: answer)
            try expect(
                attributes == ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=2592000"]
                    || attributes == ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=2592000", "Secure"],
                "\(attributes)")
            let value = answer.cookie?.split(separator: "=").last ?? ""
            // The value is 32 random bytes in base64url, or more in any alphabet.
            try expect(value.count >= 43, "a session's id of \(value.count) characters")
            let others = try await together(4) { _ in try await world.login(john.name).cookie }
            try expect(Set(others).count, equals: 4)
        },
        Scenario("A cookie that is none is no session", clause: "§2 Cookie") { world, john in
            let name = try john.cookie.split(separator: "=")[0]
            for cookie in [
                "", name + "=", "\(name)=x", john.cookie + "x", String(john.cookie.dropLast()), "x=" + john.cookie,
            ] {
                try await world.raw.send(.get, "/user", headers: [.cookie: String(cookie)])
                    .refused(401, "Unauthorized", String(cookie))
                try await world.raw.send(.get, "/users/\(john.id)", headers: [.cookie: String(cookie)]).succeeded(200)
            }
            let among = "a=b; \(john.cookie); c=\"d\""
            try await world.raw.send(.get, "/user", headers: [.cookie: among]).succeeded(200)
        },
        Scenario("What another site makes a browser send is refused", clause: "§1 Origin") { _, john in
            for origin in ["https://evil.example", "null", "http://test.evil.example", ""] {
                for (method, path) in [
                    (.post, "/logout"), (.post, "/posts"), (.patch, "/users/\(john.id)"), (.delete, "/posts/1"),
                    (.post, "/login"), (.post, "/register"),
                ] as [(HTTPRequest.Method, String)] {
                    try await john.raw(method, path, headers: [.origin: origin], body: "{")
                        .refused(403, "Cross-site request refused", "\(path) \(origin)")
                }
                try await john.raw(.get, "/feed", headers: [.origin: origin]).succeeded(200, origin)
            }
            try await john.get("/user").succeeded(200)
            // The server's public URL may differ from the one that is used here; a photo is below it.
            let photo = try await john.client.uploadPhoto(.sample, of: john.id).profile.photo ?? ""
            guard let parts = URLComponents(string: photo), let scheme = parts.scheme, let host = parts.host else {
                throw CheckFailure("no URL: \(photo)")
            }
            let own = "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
            try await john.raw(.post, "/logout", headers: [.origin: own]).said("Logged out successfully")
        },
        Scenario("The SDK signs in, stays signed in and signs out", clause: "Authentication", level: .contract) {
            world, john in
            let store = MemoryCookieStore()
            func client() -> DunbarClient {
                DunbarClient(
                    baseURL: world.baseURL, store: store, transport: world.transport, retry: .never,
                    patience: DunbarWorld.patience, isConnected: { true })
            }
            try expect(try await client().currentUser(), equals: nil)
            try expect(
                try await client().signIn(username: john.name, password: DunbarWorld.password).id, equals: john.id)
            // This is another launch of the app.
            try expect(try await client().currentUser()?.id, equals: john.id)
            try await client().signOut()
            try expect(try await client().currentUser(), equals: nil)
            try expect(await store.load(), equals: [])
        },
    ]

    static func attributes(of answer: RawAnswer) throws -> [String] {
        guard let header = answer.headers[.setCookie] else { throw CheckFailure("no Set-Cookie", in: answer.exchange) }
        return header.components(separatedBy: "; ").dropFirst().map { $0 }
    }
}

/// A hand-written form.
struct Form {
    static let type = "multipart/form-data; boundary=b0undary"

    var fields: [(String, String)] = []
    /// The field's name, the file's name, its declared type and its bytes.
    var files: [(String, String, String, [UInt8])] = []

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += Array("--b0undary\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        for (field, name, type, content) in files {
            bytes += Array(
                """
                --b0undary\r
                Content-Disposition: form-data; name="\(field)"; filename="\(name)"\r
                Content-Type: \(type)\r
                \r

                """.utf8)
            bytes += content + Array("\r\n".utf8)
        }
        return bytes + Array("--b0undary--\r\n".utf8)
    }
}
