@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

extension MessengerScenarios {
    /// The remaining scenarios of the contract's section on authentication: signing in, refreshing, signing out.
    static let sessions: [Scenario<MessengerWorld>] = [
        Scenario("Signing in takes username or e-mail in any case, and answers the tokens", clause: "POST /auth/login")
        { world in
            let alice = try await world.person("Alice")
            let email = "\(alice.name)@example.com"
            for login in [alice.name, alice.name.uppercased(), email, email.uppercased()] {
                let json = try await world.login(login, alice.password).succeeded(200, login)
                guard case .object(let members) = json else { throw CheckFailure("no object") }
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
        Scenario("Unknown name and wrong password answer alike", clause: "POST /auth/login") { world, alice in
            let wrong = try await world.login(alice.name, alice.password.uppercased())
            try wrong.refused(401, "Invalid credentials")
            for name in [
                world.freshName(), "\(world.freshName())@example.com", "@", String(repeating: "x", count: 999),
            ] {
                let answer = try await world.login(name, alice.password)
                try expect(answer.status, equals: wrong.status)
                try expect(answer.text, equals: wrong.text)
            }
            for body in [
                "", "{}", #"{"username":"x"}"#, #"{"password":"x"}"#, #"{"username":" ","password":"x"}"#,
                #"{"username":"x","password":""}"#,
            ] {
                try await world.raw.send(.post, "/auth/login", body: body)
                    .refused(400, "username and password required", body)
            }
        },
        Scenario("After ten wrong passwords in a minute the right one is refused too", clause: "POST /auth/login") {
            world, alice, bob in
            // The requests are concurrent, so that it takes no minute and no request slips through.
            let answers = try await together(13) { index in
                try await world.login(alice.name, "wrong \(index)")
            }
            let limited = answers.filter { $0.status == 429 }
            try expect(limited.count, equals: 3)
            for answer in answers where answer.status != 429 { try answer.refused(401, "Invalid credentials") }
            for answer in limited + [try await world.login(alice.name, alice.password)] {
                try answer.refused(429, "Too many requests, please try again later")
                let seconds = answer.headers[.retryAfter].flatMap(Int.init) ?? 0
                try expect(1...60 ~= seconds, "Retry-After: \(answer.headers[.retryAfter] ?? "absent")")
            }
            // Other users are not affected, and sessions continue.
            try await world.login(bob.name, bob.password).succeeded(200)
            try await alice.get("/me").succeeded(200)
        },
        Scenario("Tokens are JWT with HS256, each session its own", clause: "POST /auth/login") { world, first in
            let second = try await world.signedIn(first.name, first.password)
            var (ids, found): (Set<String>, [String]) = ([], [])
            for (token, type, lifetime) in [
                (first.token, "access", 3600), (first.refreshToken, "refresh", 2_592_000),
                (second.token, "access", 3600), (second.refreshToken, "refresh", 2_592_000),
            ] as [(String, JSONValue, Int64)] {
                let parts = try token.split(separator: ".").prefix(2).map(decodedJSON)
                try expect(parts.first?["alg"], equals: "HS256")
                guard case .object(let claims)? = parts.last, let issued = claims["iat"]?.integer,
                    let id = claims["jti"]?.string, let session = claims["sid"]?.string
                else { throw CheckFailure("no claims") }
                try expect(Set(claims.keys), equals: ["sub", "type", "iat", "exp", "jti", "sid"])
                try expect(claims["sub"], equals: .string("\(first.id)"))
                try expect(claims["type"], equals: type)
                try expect(claims["exp"], equals: .integer(issued + lifetime))
                ids.insert(id)
                found.append(session)
            }
            let sessions = found
            try expect(ids.count, equals: 4)
            try expect(sessions[0] == sessions[1] && sessions[2] == sessions[3], "one login, two sessions")
            try expect(sessions[0] != sessions[2], "two logins, one session")
        },
        Scenario("A refresh token gives access tokens any number of times", clause: "POST /auth/refresh") {
            world, alice in
            for _ in 0..<3 {
                let json = try await world.refresh(alice.refreshToken).succeeded(200)
                guard case .object(let members) = json else { throw CheckFailure("no object") }
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
        Scenario("Signing out ends that session and no other", clause: "POST /auth/logout") { world, first in
            let second = try await world.signedIn(first.name, first.password)
            for token in [first.refreshToken, first.refreshToken, "nothing", first.token] {
                let body: JSONValue = ["refresh_token": .string(token)]
                let answer = try await world.post("/auth/logout", body)
                try expect(answer.status, equals: 204)
                try expect(answer.body, equals: [])
            }
            try await world.refresh(first.refreshToken).refused(401, "Invalid or expired refresh token")
            // It takes at most a second, plus the time of the network.
            try await expectSoon("an access token outlived its session") { try await first.get("/me").status != 200 }
            try await first.get("/me").refused(401, "Invalid or expired token")
            try await second.get("/me").succeeded(200)
            try await world.refresh(second.refreshToken).succeeded(200)
        },
        Scenario("GET /me shows the account, with null for what is unset", clause: "GET /me") { world in
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

    /// Returns the header or the claims of a token.
    private static func decodedJSON(_ part: Substring) throws -> JSONValue {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while !text.count.isMultiple(of: 4) { text += "=" }
        guard let data = Data(base64Encoded: text) else { throw CheckFailure("no Base64: \(part)") }
        return try JSONDecoder().decode(JSONValue.self, from: data)
    }
}
