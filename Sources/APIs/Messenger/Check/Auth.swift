@_spi(Scenarios) import CheckedLists
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
        Scenario(
            "A username has 3 to 32 characters, none of them a control character or @", clause: "POST /auth/register"
        ) { world in
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
        Scenario(
            "An e-mail address has one @ with something on both sides, and at most 254 characters",
            clause: "POST /auth/register"
        ) { world in
            let name = world.freshName()
            let tail = "@\(name)"
            let fits = String(repeating: "é", count: 254 - tail.count) + tail
            let refused = [
                "", "a", "@", "@b", "a@", "a@b@c", "a b@c", "a@b\tc", "a@\u{A0}b", "x" + fits, "a,b@c", "\"@b", "<a>@b",
                ".a@b", "a..b@c",
            ]
            for email in refused {
                try await world.register(email: email).refused(400, "Invalid email", email.debugDescription)
            }
            for email in [fits, "a@\(name)x", " b@\(name) "] {
                try await world.register(email: email).succeeded(201, email)
            }
        },
        Scenario("A password has 8 to 200 characters and is taken as it is", clause: "POST /auth/register") { world in
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
        Scenario("A display name has at most 64 characters and defaults to the username", clause: "POST /auth/register")
        { world in
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
            for long in [long + "x", String(repeating: "e\u{301}", count: 33)] {
                try await world.register(more: ["display_name": .string(long)])
                    .refused(400, "Display name must be at most 64 characters")
            }
        },
        Scenario("Registering takes the version of the terms that is accepted", clause: "POST /auth/register") {
            world in
            let long = String(repeating: "é", count: 100)
            for terms: JSONValue in ["2026-11", .string(long), "", nil] {
                try await world.register(more: ["accepted_terms": terms]).succeeded(201, "\(terms)")
            }
            try await world.register(more: ["accepted_terms": .string(long + "x")])
                .refused(400, "accepted_terms must be at most 100 characters")
        },
        Scenario("Registering refuses the first thing that is wrong", clause: "POST /auth/register") { world, taken in
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
                let answer = try await world.post("/auth/register", JSONValue.object(body))
                try answer.refused(text.hasSuffix("taken") ? 409 : 400, text)
                body[key] = next
            }
        },
        Scenario("Username and e-mail are unique without regard to case", clause: "POST /auth/register") { world in
            let stem = world.freshName(of: 4)
            try await world.register(username: stem + "Alié", email: "\(stem).Á@Example.com").succeeded(201)
            let taken = "Username or email already taken"
            for name in ["Alié", "ALIÉ", "alié", "alie\u{301}", "ALIE\u{301}"] {
                try await world.register(username: stem + name).refused(409, taken, name)
            }
            for email in [".á@example.com", ".Á@EXAMPLE.COM", ".a\u{301}@example.com"] {
                try await world.register(email: stem + email).refused(409, taken, email)
            }
            // A refused registration leaves nothing behind.
            let free = world.freshName()
            try await world.register(username: stem + "ALIÉ", email: "\(free)@b").refused(409, taken)
            try await world.register(username: free, email: "\(free)@b").succeeded(201)
        },
        Scenario("Of many who register one name at once, one gets it", clause: "POST /auth/register") { world in
            let name = world.freshName()
            let statuses = try await together(12) { index in
                try await world.register(username: index.isMultiple(of: 2) ? name : name.uppercased()).status
            }
            try expect(statuses.filter { $0 == 201 }.count, equals: 1)
            try expect(statuses.filter { $0 == 409 }.count, equals: 11)
        },
    ]
}

extension MessengerWorld {
    /// Sends a registration; parameters that are not given are new and valid.
    func register(
        username: String? = nil, email: String? = nil, password: String = "12345678", more: [String: JSONValue] = [:]
    ) async throws -> RawAnswer {
        let body: [String: JSONValue] = [
            "username": .string(username ?? freshName()), "email": .string(email ?? "\(freshName())@example.com"),
            "password": .string(password),
        ]
        return try await post("/auth/register", JSONValue.object(body.merging(more) { $1 }))
    }

    func login(_ username: String, _ password: String) async throws -> RawAnswer {
        let body: JSONValue = ["username": .string(username), "password": .string(password)]
        return try await post("/auth/login", body)
    }

    func refresh(_ token: String) async throws -> RawAnswer {
        let body: JSONValue = ["refresh_token": .string(token)]
        return try await post("/auth/refresh", body)
    }
}
