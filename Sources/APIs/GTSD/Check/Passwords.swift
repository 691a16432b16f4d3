@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let passwords: [Scenario<GTSDWorld>] = [
        Scenario("A changed password signs in, and the old one does not", clause: "POST /auth/password") {
            world, anna in
            let answer = try await anna.change(from: Person.password, to: "Other-456 🎉")
            try expect(
                try answer.succeeded(200), equals: ["success": true, "message": "Password changed successfully"])
            try await world.logIn(anna.email, Person.password).refused(401, "Invalid email or password")
            try await world.logIn(anna.email, "Other-456 🎉").data()
            try await anna.change(from: Person.password, to: "Third-789").refused(403, "Invalid password")
            // The SDK's session goes on, also with the same password again.
            try await anna.client.changePassword(from: "Other-456 🎉", to: "Other-456 🎉")
            try await anna.client.changePassword(from: "Other-456 🎉", to: Person.password)
            try expect(try await anna.client.send(GTSD.GetMe()).data.id, equals: anna.id)
            try await world.logIn(anna.email, Person.password).data()
        },
        Scenario("All sessions but the caller's own end", clause: "POST /auth/password") { world, anna, berta in
            let others = try await together(2) { _ in try await world.logIn(anna.email, Person.password).data() }
            try await anna.client.changePassword(from: Person.password, to: "Other-456")
            for other in others {
                // It takes at most a second, plus the time of the network.
                try await expectSoon("an access token outlived its session") {
                    try await world.raw.send(.get, "/auth/me", token: other["accessToken"]?.string).status != 200
                }
                try await world.post("/auth/refresh", ["refreshToken": other["refreshToken"] ?? nil])
                    .refused(401, "Invalid or expired refresh token")
            }
            try await world.post("/auth/refresh", ["refreshToken": .string(anna.refreshToken)]).data()
            for person in [anna, berta] { try await person.get("/auth/me").data() }
            try await world.logIn(berta.email, Person.password).data()
        },
        Scenario("A repeated sign-up is no way in with the old password", clause: "POST /auth/password") { world in
            let (key, email) = (world.freshKey(), world.freshEmail())
            let body: JSONValue = ["email": .string(email), "password": .string(Person.password)]
            try await world.post("/auth/signup", body, headers: key).data(201)
            let again = try await world.post("/auth/signup", body, headers: key).data(201)
            try await world.raw.send(
                .post, "/auth/password", token: again["accessToken"]?.string,
                body: #"{"currentPassword":"\#(Person.password)","newPassword":"Other-456"}"#
            ).succeeded(200)
            try await world.post("/auth/signup", body, headers: key).refused(401, "Invalid or expired token")
        },
        Scenario("An invalid new password changes nothing", clause: "POST /auth/password") { world, anna in
            let rules = "newPassword: Password must be at least 8 characters"
            let table: [(body: JSONValue, text: String)] = [
                ([:], "currentPassword: Required, newPassword: Required"),
                (
                    ["currentPassword": "", "newPassword": "Secret1"],
                    "currentPassword: Password is required, \(rules), "
                        + "newPassword: Password must contain at least one special character"
                ),
                (
                    ["currentPassword": 5, "newPassword": ["a"]],
                    "currentPassword: Expected string, newPassword: Expected string"
                ),
                (["currentPassword": "x", "newPassword": "Aa1!567"], rules),
                (
                    ["currentPassword": "x", "newPassword": .string("Aa1!" + String(repeating: "x", count: 197))],
                    "newPassword: Password must be at most 200 characters"
                ),
                (["currentPassword": "x", "newPassword": "Secret-123\u{0}"], "newPassword: Invalid newPassword"),
            ]
            for (body, text) in table { try await anna.post("/auth/password", body).invalid(text, "\(body)") }
            for wrong in ["Secret-124", Person.password + " ", Person.password.uppercased()] {
                try await anna.change(from: wrong, to: "Other-456").refused(403, "Invalid password")
            }
            try await world.post("/auth/password", [:]).refused(401, "Authentication required")
            try await anna.get("/auth/me").data()
            try await world.logIn(anna.email, Person.password).data()
        },
        Scenario("Wrong passwords count as at a sign-in", clause: "POST /auth/password") { world, anna, berta in
            let answers = try await together(13) { try await anna.change(from: "wrong \($0)", to: "Other-456") }
            for answer in answers where answer.status != 429 { try answer.refused(403, "Invalid password") }
            try expect(answers.filter { $0.status == 429 }.count, equals: 3)
            for limited in [
                try await anna.change(from: Person.password, to: "Other-456"),
                try await world.logIn(anna.email, Person.password),
            ] {
                try limited.refused(429, "Too many requests, please try again later")
                try expect(1...60 ~= limited.headers[.retryAfter].flatMap(Int.init) ?? 0, "no Retry-After")
            }
            try await anna.get("/auth/me").data()
            try await berta.change(from: Person.password, to: "Other-456").succeeded(200)
        },
        Scenario("A change that is repeated under its key is one", clause: "POST /auth/password") { world, anna in
            let request = KeyedRequest("a new password", 200) { usual, key in
                try await anna.change(from: Person.password, to: usual ? "Other-456" : "Third-789", headers: key)
            }
            try await world.check(request, repeats: 4, isFirstAlone: true)
            try await world.refuseBadKeys(of: request)
            try await world.logIn(anna.email, "Other-456").data()
            // The repeats were no attempts to guess.
            for _ in 0..<10 { try await anna.change(from: "wrong", to: "Third-789").refused(403, "Invalid password") }
            try await anna.change(from: "wrong", to: "Third-789")
                .refused(429, "Too many requests, please try again later")
        },
        Scenario("Of many changes at once, one is made", clause: "POST /auth/password") { world, anna in
            let answers = try await together(6) { try await anna.change(from: Person.password, to: "Other-45\($0)") }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                if answer.status == 200 {
                    try await world.logIn(anna.email, "Other-45\(index)").data()
                } else {
                    try answer.refused(403, "Invalid password")
                }
            }
        },
    ]
}

extension GTSDWorld {
    func logIn(_ email: String, _ password: String) async throws -> RawAnswer {
        try await post("/auth/login", ["email": .string(email), "password": .string(password)])
    }
}

extension Person {
    func change(from present: String, to new: String, headers: HTTPFields = [:]) async throws -> RawAnswer {
        let body: JSONValue = ["currentPassword": .string(present), "newPassword": .string(new)]
        return try await post("/auth/password", body, headers: headers)
    }
}
