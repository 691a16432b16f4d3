@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

/// Scenarios of forgotten passwords and of other e-mail addresses.
extension GTSDScenarios {
    private static let told = "If an account exists with this email, you will receive password reset instructions."

    static let recovery: [Scenario<GTSDWorld>] = [
        Scenario("A forgotten password is answered alike for every address", clause: "POST /auth/forgot-password") {
            world, anna in
            for email in [anna.email, " \(anna.email.uppercased()) ", world.freshEmail()] {
                let answer = try await world.post("/auth/forgot-password", ["email": .string(email)])
                try expect(try answer.succeeded(200), equals: ["success": true, "message": .string(told)])
            }
            try await world.post("/auth/forgot-password", [:]).invalid("email: Required")
            for email in ["", "a", "a@b", "a b@c.d", String(repeating: "x", count: 100_000) + "@example.com"] {
                try await world.post("/auth/forgot-password", ["email": .string(email)])
                    .invalid("email: Invalid email format")
            }
            try await world.post("/auth/forgot-password", ["email": 5]).invalid("email: Expected string")
            // A request alone changes nothing.
            try await world.logIn(anna.email, Person.password).data()
            try await anna.get("/auth/me").data()
        },
        Scenario("A wrong token sets no password", clause: "POST /auth/reset-password") { world in
            let token = String(repeating: "A", count: 43)
            try await world.post("/auth/reset-password", [:]).invalid("token: Required, newPassword: Required")
            try await world.post("/auth/reset-password", ["token": "", "newPassword": 5])
                .invalid("token: Token is required, newPassword: Expected string")
            try await world.post("/auth/reset-password", ["token": .string(token), "newPassword": "Aa1!567"])
                .invalid("newPassword: Password must be at least 8 characters")
            for token in [token, "x"] {
                try await world.reset(token, "Other-456").refused(400, "Invalid or expired reset token")
            }
        },
        Scenario("A wrong token verifies no address", clause: "POST /auth/verify-email") { world in
            try await world.post("/auth/verify-email", [:]).invalid("token: Required")
            try await world.post("/auth/verify-email", ["token": ""]).invalid("token: Token is required")
            for token in [String(repeating: "A", count: 43), "x"] {
                try await world.verify(token).refused(400, "Invalid or expired verification token")
            }
        },
        Scenario("Another address needs the password, and one that is free", clause: "POST /auth/email") {
            world, anna, berta in
            let free = world.freshEmail("new")
            try await anna.post("/auth/email", [:]).invalid("email: Required, password: Required")
            try await anna.post("/auth/email", ["email": "nobody", "password": ""])
                .invalid("email: Invalid email format, password: Password is required")
            try await anna.change(emailTo: free, "Secret-124").refused(403, "Invalid password")
            try await anna.change(emailTo: berta.email.uppercased())
                .refused(409, "User with this email already exists")
            try await world.post("/auth/email", [:]).refused(401, "Authentication required")
            let answer = try await anna.change(emailTo: " \(free) ")
            try expect(try answer.succeeded(200), equals: ["success": true, "message": "Verification email sent"])
            // The present address counts until the new one is verified.
            try expect(try await anna.get("/auth/me").data()["email"], equals: .string(anna.email))
            try await world.logIn(anna.email, Person.password).data()
            try await world.logIn(free, Person.password).refused(401, "Invalid email or password")
        },
    ]

    /// Scenarios that need the e-mails.
    static let mailed: [Scenario<GTSDWorld>] = [
        Scenario("The code of an e-mail sets a new password, once", clause: "POST /auth/reset-password") {
            world, anna in
            let other = try await world.logIn(anna.email, Person.password).data()
            try await world.post("/auth/forgot-password", ["email": .string(anna.email.uppercased())]).succeeded(200)
            let code = try await world.code(at: anna.email)
            for wrong in [String(code.dropLast()), code + "x", code.lowercased() + "A"] {
                try await world.reset(wrong, "Other-456").refused(400, "Invalid or expired reset token")
            }
            // An invalid password does not use the token up.
            try await world.reset(code, "Aa1!567").invalid("newPassword: Password must be at least 8 characters")
            try await anna.get("/auth/me").data()
            let answer = try await world.reset(code, "Other-456")
            try expect(try answer.succeeded(200), equals: ["success": true, "message": "Password reset successfully"])
            for token in [.string(anna.refreshToken), other["refreshToken"] ?? .null] {
                try await world.post("/auth/refresh", ["refreshToken": token])
                    .refused(401, "Invalid or expired refresh token")
            }
            try await expectSoon("an access token outlived its session") {
                try await anna.get("/auth/me").status != 200
            }
            try await world.logIn(anna.email, Person.password).refused(401, "Invalid email or password")
            // The owner has read the e-mail: the address is verified.
            let signedIn = try await world.logIn(anna.email, "Other-456").data()
            try expect(signedIn["user"]?["emailVerified"], equals: true)
            try await world.reset(code, "Third-789").refused(400, "Invalid or expired reset token")
            try await world.logIn(anna.email, "Other-456").data()
        },
        Scenario("Of two resets with one code at once, one succeeds", clause: "POST /auth/reset-password") {
            world, anna in
            _ = try await anna.client.send(GTSD.ForgotPassword(email: anna.email))
            let code = try await world.code(at: anna.email)
            let answers = try await together(6) { try await world.reset(code, "Other-45\($0)") }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                let login = try await world.logIn(anna.email, "Other-45\(index)")
                if answer.status == 200 {
                    try login.data()
                } else {
                    try answer.refused(400, "Invalid or expired reset token")
                    try login.refused(401, "Invalid email or password")
                }
            }
        },
        Scenario("A reset, and a changed password, end the codes of all e-mails", clause: "POST /auth/reset-password") {
            world, anna in
            let new = world.freshEmail("new")
            var sent: [String] = []
            for _ in 0..<2 {
                _ = try await anna.client.send(GTSD.ForgotPassword(email: anna.email))
                sent.append(try await world.code(at: anna.email, besides: sent))
            }
            let codes = sent
            try expect(codes[0] != codes[1], "the same code again")
            try await anna.change(emailTo: new).succeeded(200)
            let verification = try await world.code(at: new)
            // Codes of earlier e-mails stay valid until one is used.
            try await world.reset(codes[0], "Other-456").succeeded(200)
            try await world.reset(codes[1], "Third-789").refused(400, "Invalid or expired reset token")
            try await world.verify(verification).refused(400, "Invalid or expired verification token")

            let again = try await world.logIn(anna.email, "Other-456").data()
            let token = again["accessToken"]?.string
            _ = try await anna.client.send(GTSD.ForgotPassword(email: anna.email))
            try await world.raw.send(
                .post, "/auth/email", token: token, body: #"{"email":"\#(new)","password":"Other-456"}"#
            ).succeeded(200)
            let reset = try await world.code(at: anna.email, besides: codes)
            let last = try await world.code(at: new, besides: [verification])
            try await world.raw.send(
                .post, "/auth/password", token: token,
                body: #"{"currentPassword":"Other-456","newPassword":"Third-789"}"#
            ).succeeded(200)
            try await world.reset(reset, "Other-456").refused(400, "Invalid or expired reset token")
            try await world.verify(last).refused(400, "Invalid or expired verification token")
            try await world.logIn(anna.email, "Third-789").data()
        },
        Scenario("The code of an e-mail gives an account its new address, once", clause: "POST /auth/verify-email") {
            world, anna, berta in
            let new = world.freshEmail("New")
            _ = try await anna.client.send(GTSD.ForgotPassword(email: anna.email))
            let reset = try await world.code(at: anna.email)
            let before = try await world.emails(to: anna.email).count
            try await anna.change(emailTo: world.freshEmail()).succeeded(200)
            try await anna.change(emailTo: new).succeeded(200)
            let code = try await world.code(at: new.lowercased())
            // The present address is notified of each request, without the code.
            let told = try await world.emails(to: anna.email)
            try expect(told.count, equals: before + 2)
            try expect(!told.contains { $0.contains(code) }, "the old address receives the code")
            try expect(try await anna.get("/auth/me").data()["email"], equals: .string(anna.email))
            let answer = try await world.verify(code)
            try expect(try answer.succeeded(200), equals: ["success": true, "message": "Email verified successfully"])
            let me = try await anna.get("/auth/me").data()
            try expect(me["email"], equals: .string(new.lowercased()))
            try expect(me["emailVerified"], equals: true)
            try await world.logIn(new.uppercased(), Person.password).data()
            try await world.logIn(anna.email, Person.password).refused(401, "Invalid email or password")
            try await world.verify(code).refused(400, "Invalid or expired verification token")
            // A code that was sent to the former address is no longer accepted.
            try await world.reset(reset, "Other-456").refused(400, "Invalid or expired reset token")
            try await world.post(
                "/auth/signup", ["email": .string(anna.email), "password": .string(Person.password)]
            ).data(201)
            try await berta.change(emailTo: new).refused(409, "User with this email already exists")
        },
        Scenario("The present address is verified in the same way", clause: "POST /auth/email") { world, anna in
            try await anna.change(emailTo: anna.email.uppercased()).succeeded(200)
            let all = try await world.emails(to: anna.email)
            try expect(all.count, equals: 1)
            try await world.verify(try await world.code(at: anna.email)).succeeded(200)
            let me = try await anna.get("/auth/me").data()
            try expect(me["emailVerified"], equals: true)
            try expect(me["email"], equals: .string(anna.email))
        },
        Scenario("Of two who ask for one address, the first to verify it gets it", clause: "POST /auth/verify-email") {
            world, anna, berta in
            let address = world.freshEmail("new")
            var sent: [String] = []
            for person in [anna, berta] {
                try await person.change(emailTo: address).succeeded(200)
                let all = try await world.codes(at: address)
                sent += all.filter { !sent.contains($0) }
            }
            let codes = sent
            try expect(codes.count, equals: 2)
            let answers = try await together(2) { try await world.verify(try codes[$0]) }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 {
                try answer.refused(409, "User with this email already exists")
            }
        },
    ]
}

extension Person {
    fileprivate func change(emailTo address: String, _ password: String = Person.password) async throws -> RawAnswer {
        try await post("/auth/email", ["email": .string(address), "password": .string(password)])
    }
}

extension GTSDWorld {
    fileprivate func reset(_ code: String, _ password: String) async throws -> RawAnswer {
        try await post("/auth/reset-password", ["token": .string(code), "newPassword": .string(password)])
    }

    fileprivate func verify(_ code: String) async throws -> RawAnswer {
        try await post("/auth/verify-email", ["token": .string(code)])
    }
}
