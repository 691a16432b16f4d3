@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let auth: [Scenario<GTSDWorld>] = [
        Scenario("Signing up takes the version of the terms that is accepted", clause: "POST /auth/signup") { world in
            let long = String(repeating: "é", count: 100)
            func signUp(_ terms: JSONValue) async throws -> RawAnswer {
                try await world.post(
                    "/auth/signup",
                    [
                        "email": .string(world.freshEmail("anna")), "password": .string(Person.password),
                        "acceptedTerms": terms,
                    ])
            }
            for terms in ["2026-11", long, ""] { _ = try await signUp(.string(terms)).data(201, terms) }
            try await signUp(.string(long + "x"))
                .refused(400, "Validation failed: acceptedTerms: Must be at most 100 characters")
            try await signUp(7).refused(400, "Validation failed: acceptedTerms: Expected string")
        },
        Scenario("Signing up makes an account, and signs in to it", clause: "POST /auth/signup", level: .contract) {
            world in
            let email = world.freshEmail("Anna")
            let answer = try await world.post(
                "/auth/signup", ["email": .string("  \(email) "), "password": .string(Person.password)])
            let data = try answer.data(201)
            try expect(data["user"]?["email"], equals: .string(email.lowercased()))
            try expect(!answer.text.contains("assword"), "a password is told")
            let me = try await world.raw.send(.get, "/auth/me", token: data["accessToken"]?.string).data()
            try expect(me, equals: data["user"] ?? nil)
        },
        Scenario("What an account says beside the contract", clause: "§2 user") { world in
            let named = try await world.post(
                "/auth/signup",
                [
                    "email": .string(world.freshEmail()), "password": .string(Person.password), "name": " Änne ",
                    "timezone": "Europe/Berlin",
                ]
            ).data(201)["user"]
            try expect(named?["name"], equals: "Änne")
            try expect(named?["timezone"], equals: "Europe/Berlin")
            try expect(named?["emailVerified"], equals: false)
            try expect(named?["hasCompletedOnboarding"], equals: false)
            let anna = try await world.person()
            let me = try await anna.get("/auth/me").data()
            try expect(me["name"], equals: .null)
            try expect(me["timezone"], equals: "UTC")
        },
        Scenario("An address is taken without regard to case", clause: "POST /auth/signup") { world, anna in
            for email in [anna.email, anna.email.uppercased(), " \(anna.email)"] {
                try await world.post("/auth/signup", ["email": .string(email), "password": .string(Person.password)])
                    .refused(409, "User with this email already exists", email)
            }
            let email = world.freshEmail()
            let answers = try await together(10) { _ in
                try await world.post("/auth/signup", ["email": .string(email), "password": .string(Person.password)])
            }
            try expect(answers.filter { $0.status == 201 }.count, equals: 1)
            try expect(answers.filter { $0.status == 409 }.count, equals: 9)
        },
        Scenario("Each rule of a password is told", clause: "POST /auth/signup") { world in
            let all = [
                "be at least 8 characters", "contain at least one uppercase letter",
                "contain at least one lowercase letter", "contain at least one number",
                "contain at least one special character",
            ]
            func words(_ rules: some Sequence<String>) -> String {
                rules.map { "password: Password must \($0)" }.joined(separator: ", ")
            }
            let table: [(String, String)] = try [
                ("", words(all)), ("a", words(all.filter { !$0.contains("lowercase") })),
                ("Aa1!567", words(all.prefix(1))),
                ("secret-123", words([all[1]])), ("SECRET-123", words([all[2]])), ("Secret-abc", words([all[3]])),
                ("Secret123", words([all[4]])), ("Secret1 é§", words([all[4]])),
                ("Aa1!" + String(repeating: "x", count: 197), words(["be at most 200 characters"])),
            ]
            for (password, text) in table {
                try await world.post(
                    "/auth/signup", ["email": .string(world.freshEmail()), "password": .string(password)]
                ).invalid(text, password)
            }
            // The whole password counts.
            let long = "Aa1!" + String(repeating: "x", count: 195)
            let email = world.freshEmail()
            try await world.post("/auth/signup", ["email": .string(email), "password": .string(long + "y")]).data(201)
            try await world.post("/auth/login", ["email": .string(email), "password": .string(long + "z")])
                .refused(401, "Invalid email or password")
            try await world.post("/auth/login", ["email": .string(email), "password": .string(long + "y")]).data()
        },
        Scenario("Addresses, names and zones that are none", clause: "POST /auth/signup") { world in
            for email in ["", "a", "a@", "@b.c", "a@b", "a b@c.d", "a@b@c.d", "a@b..c", "a@.b", "a@b."] {
                try await world.post("/auth/login", ["email": .string(email), "password": "x"])
                    .invalid("email: Invalid email format", email)
            }
            for name in ["", "  ", String(repeating: "n", count: 256)] {
                try await world.post(
                    "/auth/signup",
                    ["email": "a@b.cd", "password": .string(Person.password), "name": .string(name)]
                ).invalid("name: Name must be 1 to 255 characters", name)
            }
            for zone in ["", "Mars/Olympus", "GMT+2", "europe/berlin", "+02:00", "../UTC"] {
                try await world.post(
                    "/auth/signup",
                    ["email": "a@b.cd", "password": .string(Person.password), "timezone": .string(zone)]
                ).invalid("timezone: Invalid timezone", zone)
            }
        },
        Scenario("Unknown address and wrong password answer alike", clause: "POST /auth/login", level: .contract) {
            world, anna in
            let data = try await world.post(
                "/auth/login", ["email": .string(anna.email.uppercased()), "password": .string(Person.password)]
            ).data()
            try expect(data["user"]?["id"], equals: anna.id.json)
            for (email, password) in [(anna.email, "Secret-124"), (world.freshEmail(), Person.password)] {
                try await world.post("/auth/login", ["email": .string(email), "password": .string(password)])
                    .refused(401, "Invalid email or password")
            }
            try await world.post("/auth/login", ["email": .string(anna.email), "password": ""])
                .invalid("password: Password is required")
        },
        Scenario("After ten wrong passwords in a minute the right one is refused too", clause: "§1 failed logins") {
            world, anna, berta in
            @Sendable func logIn(_ email: String, _ password: String) async throws -> RawAnswer {
                try await world.post("/auth/login", ["email": .string(email), "password": .string(password)])
            }
            let answers = try await together(13) { try await logIn(anna.email, "wrong \($0)") }
            try expect(answers.filter { $0.status == 401 }.count, equals: 10)
            for answer in answers.filter({ $0.status == 429 }) + [try await logIn(anna.email, Person.password)] {
                try answer.refused(429, "Too many requests, please try again later")
                let seconds = answer.headers[.retryAfter].flatMap(Int.init) ?? 0
                try expect(1...60 ~= seconds, "Retry-After is \(seconds)")
            }
            try await logIn(berta.email, Person.password).data()
        },
        Scenario("An account is deleted with all that belongs to it", clause: "§6 DELETE /auth/me") { world, anna in
            let url = try await anna.put(SampleImage.jpeg(width: 8, height: 8)).fileKey
            let size = SampleImage.jpeg(width: 8, height: 8).count
            let photo: GTSD.ConfirmedPhoto = try await anna.send(
                GTSD.ConfirmPhoto(fileKey: url, fileSize: size, contentType: "image/jpeg"))
            _ = try await anna.prove(try await anna.tasks()[0])
            try await anna.raw(.delete, "/auth/me", body: "{}").invalid("password: Required")
            try await anna.raw(.delete, "/auth/me", body: #"{"password":"Secret-124"}"#)
                .refused(403, "Invalid password")
            let answer = try await anna.raw(.delete, "/auth/me", body: #"{"password":"Secret-123"}"#)
            try expect(
                try answer.succeeded(200), equals: ["success": true, "message": "Account deleted successfully"])
            try await anna.get("/v1/badges/me").refused(401, "Invalid or expired token")
            try expect(try await world.fetch(photo.downloadUrl).status, equals: 404)
            try await world.post("/auth/login", ["email": .string(anna.email), "password": .string(Person.password)])
                .refused(401, "Invalid email or password")
            try await world.post("/auth/refresh", ["refreshToken": .string(anna.refreshToken)])
                .refused(401, "Invalid or expired refresh token")
            // The address is available again.
            try await world.post(
                "/auth/signup", ["email": .string(anna.email), "password": .string(Person.password)]
            ).data(201)
        },
    ]

    static let sessions: [Scenario<GTSDWorld>] = [
        Scenario("A refresh token is good once, and gives another pair", clause: "POST /auth/refresh", level: .contract)
        { world, anna in
            var tokens: Set = [anna.refreshToken]
            var refresh = anna.refreshToken
            for _ in 0..<3 {
                let data = try await world.post("/auth/refresh", ["refreshToken": .string(refresh)]).data()
                refresh = data["refreshToken"]?.string ?? ""
                try expect(tokens.insert(refresh).inserted, "a token came twice")
                let me = try await world.raw.send(.get, "/auth/me", token: data["accessToken"]?.string).data()
                try expect(me["id"], equals: anna.id.json)
            }
            for token in ["", "x", anna.token] {
                let answer = try await world.post("/auth/refresh", ["refreshToken": .string(token)])
                if token.isEmpty {
                    try answer.invalid("refreshToken: Refresh token is required")
                } else {
                    try answer.refused(401, "Invalid or expired refresh token")
                }
            }
            try await world.post("/auth/refresh", [:]).invalid("refreshToken: Refresh token is required")
        },
        Scenario("A lost answer is given again; a token behind it ends the session", clause: "§2 tokens, example 8") {
            world, anna in
            func renew(_ token: String) async throws -> RawAnswer {
                try await world.post("/auth/refresh", ["refreshToken": .string(token)])
            }
            let (first, again) = (try await renew(anna.refreshToken).data(), try await renew(anna.refreshToken).data())
            try expect(first["refreshToken"] != again["refreshToken"], "one token twice")
            let second = try await renew(again["refreshToken"]?.string ?? "").data()
            // The new token was used: the caller who sends the old one now has stolen it, or was stolen from.
            try await renew(anna.refreshToken).refused(401, "Invalid or expired refresh token")
            for data in [first, again, second] {
                try await renew(data["refreshToken"]?.string ?? "").refused(401, "Invalid or expired refresh token")
                try await world.raw.send(.get, "/auth/me", token: data["accessToken"]?.string)
                    .refused(401, "Invalid or expired token")
            }
            try await anna.get("/auth/me").refused(401, "Invalid or expired token")
        },
        Scenario("Of two tokens that are made from one, the first that is used ends the other", clause: "§2 tokens") {
            world, anna in
            func renew(_ token: JSONValue?) async throws -> RawAnswer {
                try await world.post("/auth/refresh", ["refreshToken": token ?? .null])
            }
            let parent = JSONValue.string(anna.refreshToken)
            let (first, again) = (try await renew(parent).data(), try await renew(parent).data())
            let next = try await renew(first["refreshToken"]).data()
            try await renew(again["refreshToken"]).refused(401, "Invalid or expired refresh token")
            // The session goes on in one line.
            let last = try await renew(next["refreshToken"]).data()
            try await renew(parent).refused(401, "Invalid or expired refresh token")
            try await renew(last["refreshToken"]).refused(401, "Invalid or expired refresh token")
        },
        Scenario("Logging out ends the session, however it is named, and no other", clause: "POST /auth/logout") {
            world, anna in
            let others = try await together(2) { _ in
                try await world.post(
                    "/auth/login", ["email": .string(anna.email), "password": .string(Person.password)]
                ).data()
            }
            let said: JSONValue = ["success": true, "message": "Logged out successfully"]
            for _ in 0..<2 {
                let answer = try await world.post("/auth/logout", ["refreshToken": .string(anna.refreshToken)])
                try expect(try answer.succeeded(200), equals: said)
            }
            try await anna.get("/auth/me").refused(401, "Invalid or expired token")
            let bearer = try others[0]["accessToken"]?.string
            try expect(try await world.raw.send(.post, "/auth/logout", token: bearer).succeeded(200), equals: said)
            try await world.raw.send(.get, "/auth/me", token: bearer).refused(401, "Invalid or expired token")
            try await world.post("/auth/refresh", ["refreshToken": others[0]["refreshToken"] ?? nil])
                .refused(401, "Invalid or expired refresh token")
            for token in ["x", anna.refreshToken] {
                try expect(
                    try await world.post("/auth/logout", ["refreshToken": .string(token)]).succeeded(200), equals: said)
            }
            for body in ["", "{}", #"{"refreshToken":null}"#, #"{"refreshToken":""}"#] {
                try await world.raw.send(.post, "/auth/logout", body: body)
                    .invalid("refreshToken: Refresh token is required", body)
            }
            try await world.raw.send(.get, "/auth/me", token: others[1]["accessToken"]?.string).data()
        },
        Scenario("Many requests of one SDK renew once", clause: "§7 one refresh in flight") { world, anna in
            let store = MemoryTokenStore(
                .init(
                    accessToken: "gone", refreshToken: anna.refreshToken, expiresAt: .distantFuture,
                    user: anna.id.rawValue))
            let client = world.client(store)
            let users = try await together(20) { _ in try await client.send(GTSD.GetMe()).data.id }
            try expect(Set(users), equals: [anna.id])
            try await client.signOut()
            do {
                try await client.send(GTSD.GetMe())
                throw CheckFailure("signed out, and it answers")
            } catch is SignedOut {}
        },
    ]
}
