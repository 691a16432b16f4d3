import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    static let auth: [Scenario<MessengerWorld>] = [
        Scenario("Registering answers id and username, as typed but trimmed", clause: "POST /auth/register") { world in
            let name = world.freshName("Ålice Ö")
            let json = try await world.register(username: "  \(name)\n").succeeded(201)
            try expect(json, equals: ["id": json["id"] ?? nil, "username": .string(name)])
            try expect((json["id"]?.integer ?? 0) > 0, "the id is not positive")
        },
        Scenario("A username has 3 to 32 characters, none of them a control character or @", clause: "§2, example 1") {
            world in
            let (short, long) = ("Username must be 3–32 characters", "Username contains invalid characters")
            let refused = [
                ("", short), ("Al", short), ("  Al  ", short), (world.freshName(of: 33), short),
                ("a@", short), ("a@b", long), ("ab\tc", long), ("ab\u{7F}c", long), ("ab\u{85}c", long),
            ]
            for (name, text) in refused {
                try await world.register(username: name).refused(400, text, "username \(name.debugDescription)")
            }
            // 32 characters of two bytes, of three and of two scalars that compose to one.
            let composed = world.freshName(of: 8) + String(repeating: "é", count: 24)
            let decomposed = world.freshName(of: 8) + String(repeating: "e\u{301}", count: 24)
            for name in [world.freshName(of: 3), world.freshName(of: 32), composed, "\u{2003}\(decomposed) "] {
                let registered = try await world.register(username: name).succeeded(201, name)
                let kept = name.trimmingCharacters(in: .whitespaces).precomposedStringWithCanonicalMapping
                try expect(registered["username"]?.string.map { Array($0.utf8) }, equals: Array(kept.utf8))
            }
        },
        Scenario("An e-mail address has one @ with something on both sides, and at most 254 characters", clause: "§2") {
            world in
            let name = world.freshName()
            let tail = "@\(name)"
            let fits = String(repeating: "é", count: 254 - tail.count) + tail
            let refused = ["", "a", "@", "@b", "a@", "a@b@c", "a b@c", "a@b\tc", "a@\u{A0}b", "x" + fits]
            for email in refused {
                try await world.register(email: email).refused(400, "Invalid email", email.debugDescription)
            }
            for email in [fits, "a@\(name)x", " \"@\(name) "] {
                try await world.register(email: email).succeeded(201, email)
            }
        },
        Scenario("A password has 8 to 200 characters and is taken as it is", clause: "§1, example 1") { world in
            let table: [(password: String, text: String?)] = [
                ("1234567", "Password must be at least 8 characters"), ("12345678", nil),
                ("eeeeeee", "Password must be at least 8 characters"),
                (String(repeating: "é", count: 200), nil),
                (String(repeating: "é", count: 201), "Password must be at most 200 characters"),
                ("e\u{301}e\u{301}e\u{301}e\u{301}", nil), ("        ", nil), (" pass word ", nil),
            ]
            for (password, text) in table {
                let name = world.freshName()
                let answer = try await world.register(username: name, password: password)
                if let text {
                    try answer.refused(400, text, password)
                    continue
                }
                try answer.succeeded(201, password)
                try await world.login(name, password).succeeded(200, password)
                try await world.login(name, password + " ").refused(401, "Invalid credentials", password)
                try await world.login(name, "x" + password.dropFirst()).refused(401, "Invalid credentials", password)
            }
        },
        Scenario("A display name has at most 64 characters and defaults to the username", clause: "§2") { world in
            let long = String(repeating: "é", count: 64)
            let table: [(given: JSONValue, kept: String?)] = [
                (.string(long), long), (.string("  \(long)\n"), long), ("", nil), ("  ", nil), (nil, nil), (5, nil),
                ("Ann @ home", "Ann @ home"),
            ]
            for (given, kept) in table {
                let name = world.freshName()
                try await world.register(username: name, more: ["display_name": given]).succeeded(201, "\(given)")
                let account = try await world.signedIn(name, "12345678").send(Messenger.GetMe())
                try expect(account.displayName, equals: kept ?? name)
            }
            try await world.register(more: ["display_name": .string(long + "x")])
                .refused(400, "Display name must be at most 64 characters")
        },
        Scenario("Registering refuses the first thing that is wrong", clause: "§1 order of errors") { world in
            let taken = try await world.person()
            var body: [String: JSONValue] = [
                "username": "a@", "email": "nobody", "password": "short",
                "display_name": .string(String(repeating: "x", count: 65)),
            ]
            let steps: [(key: String, next: JSONValue, text: String)] = [
                ("username", .string("\(taken.name)@"), "Username must be 3–32 characters"),
                ("username", .string(taken.name), "Username contains invalid characters"),
                ("email", "a@b", "Invalid email"),
                ("password", .string(String(repeating: "x", count: 201)), "Password must be at least 8 characters"),
                ("password", "12345678", "Password must be at most 200 characters"),
                ("display_name", "x", "Display name must be at most 64 characters"),
                ("username", "", "Username or email already taken"),
            ]
            for (key, next, text) in steps {
                let answer = try await world.raw.send(.post, "/auth/register", body: JSONValue.object(body).text)
                try answer.refused(text.hasSuffix("taken") ? 409 : 400, text)
                body[key] = next
            }
        },
        Scenario("Username and e-mail are unique without regard to case", clause: "§2, example 1") { world in
            let stem = world.freshName(of: 4)
            try await world.register(username: stem + "Alié", email: "\(stem).Á@Example.com").succeeded(201)
            let taken = "Username or email already taken"
            for name in ["Alié", "ALIÉ", "alié", "alie\u{301}", "ALIE\u{301}"] {
                try await world.register(username: stem + name).refused(409, taken, name)
            }
            for email in [".á@example.com", ".Á@EXAMPLE.COM", ".a\u{301}@example.com"] {
                try await world.register(email: stem + email).refused(409, taken, email)
            }
            // Nothing of a refused registration stays.
            let free = world.freshName()
            try await world.register(username: stem + "ALIÉ", email: "\(free)@b").refused(409, taken)
            try await world.register(username: free, email: "\(free)@b").succeeded(201)
        },
        Scenario("Of many who register one name at once, one gets it", clause: "§4 constraints") { world in
            let name = world.freshName()
            let statuses = try await together(12) { index in
                try await world.register(username: index.isMultiple(of: 2) ? name : name.uppercased()).status
            }
            try expect(statuses.filter { $0 == 201 }.count, equals: 1)
            try expect(statuses.filter { $0 == 409 }.count, equals: 11)
        },
        Scenario("Signing in takes username or e-mail in any case, and answers the tokens", clause: "POST /auth/login") {
            world in
            let alice = try await world.person("Alice")
            let email = "\(alice.name)@example.com"
            for login in [alice.name, alice.name.uppercased(), email, email.uppercased()] {
                let json = try await world.login(login, alice.password).succeeded(200, login)
                guard case .object(let members) = json else { throw Broken("no object") }
                try expect(
                    Set(members.keys),
                    equals: ["access_token", "refresh_token", "token_type", "expires_in", "user_id"])
                try expect(members["token_type"], equals: "Bearer")
                try expect(members["expires_in"], equals: 3600)
                try expect(members["user_id"], equals: alice.id.json)
                let me = try await world.raw.send(.get, "/me", token: members["access_token"]?.string)
                try expect(try me.succeeded(200)["id"], equals: alice.id.json)
            }
        },
        Scenario("Unknown name and wrong password answer alike", clause: "§2 login") { world in
            let alice = try await world.person()
            let wrong = try await world.login(alice.name, alice.password.uppercased())
            try wrong.refused(401, "Invalid credentials")
            for name in [world.freshName(), "\(world.freshName())@example.com", "@", String(repeating: "x", count: 999)] {
                let answer = try await world.login(name, alice.password)
                try expect(answer.status, equals: wrong.status)
                try expect(answer.body, equals: wrong.body)
            }
            for body in ["", "{}", #"{"username":"x"}"#, #"{"password":"x"}"#, #"{"username":" ","password":"x"}"#,
                #"{"username":"x","password":""}"#]
            {
                try await world.raw.send(.post, "/auth/login", body: body)
                    .refused(400, "username and password required", body)
            }
        },
        Scenario("Tokens are JWT with HS256, each session its own", clause: "§2 tokens") { world in
            let first = try await world.person()
            let second = try await world.signedIn(first.name, first.password)
            var (ids, sessions): (Set<String>, [String]) = ([], [])
            for (token, type, lifetime) in [
                (first.token, "access", 3600), (first.refreshToken, "refresh", 2_592_000),
                (second.token, "access", 3600), (second.refreshToken, "refresh", 2_592_000),
            ] as [(String, JSONValue, Int64)] {
                let parts = try token.split(separator: ".").prefix(2).map(decodedJSON)
                try expect(parts.first?["alg"], equals: "HS256")
                guard case .object(let claims)? = parts.last, let issued = claims["iat"]?.integer,
                    let id = claims["jti"]?.string, let session = claims["sid"]?.string
                else { throw Broken("no claims") }
                try expect(Set(claims.keys), equals: ["sub", "type", "iat", "exp", "jti", "sid"])
                try expect(claims["sub"], equals: .string("\(first.id)"))
                try expect(claims["type"], equals: type)
                try expect(claims["exp"], equals: .integer(issued + lifetime))
                ids.insert(id)
                sessions.append(session)
            }
            try expect(ids.count, equals: 4)
            try expect(sessions[0] == sessions[1] && sessions[2] == sessions[3], "one login, two sessions")
            try expect(sessions[0] != sessions[2], "two logins, one session")
        },
        Scenario("A refresh token gives access tokens any number of times", clause: "POST /auth/refresh") { world in
            let alice = try await world.person()
            for _ in 0..<3 {
                let json = try await world.refresh(alice.refreshToken).succeeded(200)
                guard case .object(let members) = json else { throw Broken("no object") }
                try expect(Set(members.keys), equals: ["access_token", "token_type", "expires_in"])
                try expect(members["token_type"], equals: "Bearer")
                try expect(members["expires_in"], equals: 3600)
                let me = try await world.raw.send(.get, "/me", token: members["access_token"]?.string)
                try expect(try me.succeeded(200)["id"], equals: alice.id.json)
            }
            for token in ["x", "a.b.c", alice.token, alice.refreshToken + "x", String(alice.refreshToken.dropLast(9))] {
                try await world.refresh(token).refused(401, "Invalid or expired refresh token", token)
            }
            for path in ["/auth/refresh", "/auth/logout"] {
                for body in ["", "{}", #"{"refresh_token":null}"#, #"{"refresh_token":""}"#, #"{"refresh_token":5}"#] {
                    try await world.raw.send(.post, path, body: body).refused(400, "refresh_token required", body)
                }
            }
        },
        Scenario("Signing out ends that session and no other", clause: "§6 POST /auth/logout") { world in
            let first = try await world.person()
            let second = try await world.signedIn(first.name, first.password)
            for token in [first.refreshToken, first.refreshToken, "nothing", first.token] {
                let body: JSONValue = ["refresh_token": .string(token)]
                let answer = try await world.raw.send(.post, "/auth/logout", body: body.text)
                try expect(answer.status, equals: 204)
                try expect(answer.body, equals: [])
            }
            try await world.refresh(first.refreshToken).refused(401, "Invalid or expired refresh token")
            // Within a second; asking takes the rest of the time.
            let deadline = ContinuousClock.now + .seconds(1)
            while try await first.get("/me").status == 200 {
                try expect(ContinuousClock.now < deadline, "an access token outlived its session")
            }
            try await first.get("/me").refused(401, "Invalid or expired token")
            try await second.get("/me").succeeded(200)
            try await world.refresh(second.refreshToken).succeeded(200)
        },
        Scenario("GET /me shows the account, with null for what is unset", clause: "GET /me, §2") { world in
            let alice = try await world.person("Alice")
            let json = try await alice.get("/me").succeeded(200)
            try json["created_at"]?.expectTimestamp()
            try expect(
                json,
                equals: [
                    "id": alice.id.json, "username": .string(alice.name),
                    "email": .string("\(alice.name)@example.com"), "display_name": .string(alice.name), "bio": nil,
                    "avatar_file_id": nil, "created_at": json["created_at"] ?? nil,
                ])
        },
    ]

    /// The header or the claims of a token.
    private static func decodedJSON(_ part: Substring) throws -> JSONValue {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !text.count.isMultiple(of: 4) { text += "=" }
        guard let data = Data(base64Encoded: text) else { throw Broken("no Base64: \(part)") }
        return try JSONDecoder().decode(JSONValue.self, from: data)
    }
}

extension MessengerWorld {
    /// A registration; what is not given is fresh and right.
    fileprivate func register(
        username: String? = nil, email: String? = nil, password: String = "12345678", more: [String: JSONValue] = [:]
    ) async throws -> RawAnswer {
        let body: [String: JSONValue] = [
            "username": .string(username ?? freshName()), "email": .string(email ?? "\(freshName())@example.com"),
            "password": .string(password),
        ]
        return try await raw.send(.post, "/auth/register", body: JSONValue.object(body.merging(more) { $1 }).text)
    }

    fileprivate func login(_ username: String, _ password: String) async throws -> RawAnswer {
        let body: JSONValue = ["username": .string(username), "password": .string(password)]
        return try await raw.send(.post, "/auth/login", body: body.text)
    }

    fileprivate func refresh(_ token: String) async throws -> RawAnswer {
        let body: JSONValue = ["refresh_token": .string(token)]
        return try await raw.send(.post, "/auth/refresh", body: body.text)
    }
}
