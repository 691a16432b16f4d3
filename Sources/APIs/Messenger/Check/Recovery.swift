@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of forgotten passwords and of other e-mail addresses.
extension MessengerScenarios {
    static let recovery: [Scenario<MessengerWorld>] = [
        Scenario("A forgotten password is answered alike for every address", clause: "POST /auth/forgot-password") {
            world, alice in
            let address = "\(alice.name)@example.com"
            for body in [
                #"{"email":"\#(address)"}"#, #"{"email":" \#(address.uppercased()) "}"#,
                #"{"email":"\#(world.freshName())@example.com"}"#, #"{"email":"none"}"#, #"{"email":""}"#,
                #"{"email":5}"#, #"{"email":null}"#, "{}", "",
                #"{"email":"\#(String(repeating: "x", count: 100_000))@example.com"}"#,
            ] {
                let answer = try await world.raw.send(.post, "/auth/forgot-password", body: body)
                try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(body.prefix(60))")
            }
            try await world.raw.send(.post, "/auth/forgot-password", body: "[").refused(400, "Invalid JSON")
            // A request alone changes nothing.
            try await world.login(alice.name, alice.password).succeeded(200)
            try await alice.get("/me").succeeded(200)
        },
        Scenario("A wrong token sets no password", clause: "POST /auth/reset-password") { world in
            let token = String(repeating: "A", count: 43)
            for body in [
                "{}", #"{"token":""}"#, #"{"token":5,"new_password":"12345678"}"#, #"{"new_password":"12345678"}"#,
                #"{"token":"\#(token)","new_password":"12345678"}"#,
            ] {
                try await world.raw.send(.post, "/auth/reset-password", body: body)
                    .refused(400, "Invalid or expired reset token", body)
            }
            try await world.raw.send(.post, "/auth/reset-password", body: #"{"token":"\#(token)","new_password":"x"}"#)
                .refused(400, "Password must be at least 8 characters")
        },
        Scenario("A wrong token verifies no address", clause: "POST /auth/verify-email") { world in
            for body in [
                "{}", #"{"token":""}"#, #"{"token":5}"#, #"{"token":"\#(String(repeating: "A", count: 43))"}"#,
            ] {
                try await world.raw.send(.post, "/auth/verify-email", body: body)
                    .refused(400, "Invalid or expired verification token", body)
            }
        },
        Scenario("Another address needs the password, and one that is free", clause: "POST /me/email") {
            world, alice, bob in
            let free = "\(world.freshName())@example.org"
            let table: [(email: JSONValue, password: JSONValue, status: Int, text: String)] = [
                ("nobody", .string(alice.password), 400, "Invalid email"), (nil, "x", 400, "Invalid email"),
                (5, "x", 400, "Invalid email"), ("a@b@c", "x", 400, "Invalid email"),
                (.string(free), "", 400, "password required"), (.string(free), nil, 400, "password required"),
                (.string(free), "wrong", 403, "Invalid password"),
                (.string(free), .string(bob.password), 403, "Invalid password"),
                (
                    .string("\(bob.name)@EXAMPLE.com"), .string(alice.password), 409,
                    "Username or email already taken"
                ),
            ]
            for (email, password, status, text) in table {
                try await alice.post("/me/email", ["email": email, "password": password])
                    .refused(status, text, "\(email)")
            }
            try await world.post("/me/email", [:]).refused(401, "Missing Authorization header")
            let answer = try await alice.post(
                "/me/email", ["email": .string(" \(free) "), "password": .string(alice.password)])
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            // The present address counts until the new one is verified.
            try expect(try await alice.send(Messenger.GetMe()).email, equals: "\(alice.name)@example.com")
            try await world.login("\(alice.name)@example.com", alice.password).succeeded(200)
            try await world.login(free, alice.password).refused(401, "Invalid credentials")
        },
    ]

    /// Scenarios that need the e-mails.
    static let mailed: [Scenario<MessengerWorld>] = [
        Scenario("The code of an e-mail sets a new password, once", clause: "POST /auth/reset-password") {
            world, alice in
            let other = try await world.signedIn(alice.name, alice.password)
            let socket = try await other.rawSocket()
            let address = "\(alice.name)@example.com"
            try await alice.send(Messenger.ForgotPassword(email: " \(address.uppercased())"))
            let code = try await world.code(at: address)
            for wrong in [String(code.dropLast()), code + "x", code.lowercased() + "A"] {
                try await world.reset(wrong, "new password").refused(400, "Invalid or expired reset token")
            }
            // An invalid password does not use the token up.
            for (password, text) in [
                ("", "Password must be at least 8 characters"), (5, "Password must be at least 8 characters"),
                (.string(String(repeating: "x", count: 201)), "Password must be at most 200 characters"),
                ("12345678\u{0}", "Text must not contain NUL characters"),
            ] as [(JSONValue, String)] { try await world.reset(code, json: password).refused(400, text) }
            try await alice.get("/me").succeeded(200)
            let answer = try await world.reset(code, "new password")
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            try await socket.expectClose(4001)
            for person in [alice, other] {
                try await world.refresh(person.refreshToken).refused(401, "Invalid or expired refresh token")
                try await expectSoon("an access token outlived its session") {
                    try await person.get("/me").status != 200
                }
            }
            try await world.login(alice.name, alice.password).refused(401, "Invalid credentials")
            try await world.login(alice.name, "new password").succeeded(200)
            try await world.reset(code, "another one").refused(400, "Invalid or expired reset token")
            try await world.login(alice.name, "new password").succeeded(200)
        },
        Scenario("Of two resets with one code at once, one succeeds", clause: "POST /auth/reset-password") {
            world, alice in
            try await alice.send(Messenger.ForgotPassword(email: "\(alice.name)@example.com"))
            let code = try await world.code(at: "\(alice.name)@example.com")
            let answers = try await together(6) { try await world.reset(code, "password \($0)") }
            try expect(answers.filter { $0.status == 204 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                let login = try await world.login(alice.name, "password \(index)")
                if answer.status == 204 {
                    try login.succeeded(200)
                } else {
                    try answer.refused(400, "Invalid or expired reset token")
                    try login.refused(401, "Invalid credentials")
                }
            }
        },
        Scenario("A reset, and a changed password, end the codes of all e-mails", clause: "POST /auth/reset-password") {
            world, alice in
            let (old, new) = ("\(alice.name)@example.com", "\(world.freshName())@example.org")
            var sent: [String] = []
            for _ in 0..<2 {
                try await alice.send(Messenger.ForgotPassword(email: old))
                sent.append(try await world.code(at: old, besides: sent))
            }
            let codes = sent
            try expect(codes[0] != codes[1], "the same code again")
            try await alice.send(Messenger.ChangeEmail(email: new, password: alice.password))
            let verification = try await world.code(at: new)
            // Codes of earlier e-mails stay valid until one is used.
            try expect(try await world.reset(codes[0], "new password").status, equals: 204)
            try await world.reset(codes[1], "another one").refused(400, "Invalid or expired reset token")
            try await world.verify(verification).refused(400, "Invalid or expired verification token")

            let again = try await world.signedIn(alice.name, "new password")
            try await again.send(Messenger.ForgotPassword(email: old))
            try await again.send(Messenger.ChangeEmail(email: new, password: "new password"))
            let reset = try await world.code(at: old, besides: codes)
            let last = try await world.code(at: new, besides: [verification])
            try await again.client.changePassword(from: "new password", to: "another one")
            try await world.reset(reset, "a third one").refused(400, "Invalid or expired reset token")
            try await world.verify(last).refused(400, "Invalid or expired verification token")
            try await world.login(old, "another one").succeeded(200)
        },
        Scenario("The code of an e-mail gives an account its new address, once", clause: "POST /auth/verify-email") {
            world, alice, bob in
            let (old, new) = ("\(alice.name)@example.com", "\(world.freshName())@Example.org")
            let before = try await world.emails(to: old).count
            try await alice.send(Messenger.ForgotPassword(email: old))
            let reset = try await world.code(at: old)
            try await alice.send(
                Messenger.ChangeEmail(email: "\(world.freshName())@example.org", password: alice.password))
            try await alice.send(Messenger.ChangeEmail(email: new, password: alice.password))
            let code = try await world.code(at: new)
            // The present address is notified of each request, without the code.
            let told = try await world.emails(to: old)
            try expect(told.count, equals: before + 3)
            try expect(!told.contains { $0.contains(code) }, "the old address receives the code")
            try expect(try await alice.send(Messenger.GetMe()).email, equals: old)
            let answer = try await world.verify(code)
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            try expect(try await alice.send(Messenger.GetMe()).email, equals: new)
            try await world.login(new.uppercased(), alice.password).succeeded(200)
            try await world.login(old, alice.password).refused(401, "Invalid credentials")
            try await world.verify(code).refused(400, "Invalid or expired verification token")
            // A code that was sent to the former address is no longer accepted.
            try await world.reset(reset, "new password").refused(400, "Invalid or expired reset token")
            try await alice.get("/me").succeeded(200)
            // The former address is free, and its codes are sent no more.
            try await world.register(email: old).succeeded(201)
            try await bob.post("/me/email", ["email": .string(new), "password": .string(bob.password)])
                .refused(409, "Username or email already taken")
        },
        Scenario("Of two who ask for one address, the first to verify it gets it", clause: "POST /auth/verify-email") {
            world, alice, bob in
            let address = "\(world.freshName())@example.org"
            var sent: [String] = []
            for person in [alice, bob] {
                try await person.send(Messenger.ChangeEmail(email: address, password: person.password))
                let all = try await world.codes(at: address)
                sent += all.filter { !sent.contains($0) }
            }
            let codes = sent
            try expect(codes.count, equals: 2)
            let answers = try await together(2) { try await world.verify(try codes[$0]) }
            try expect(answers.filter { $0.status == 204 }.count, equals: 1)
            for answer in answers where answer.status != 204 {
                try answer.refused(409, "Username or email already taken")
            }
            let addresses = [
                try await alice.send(Messenger.GetMe()).email, try await bob.send(Messenger.GetMe()).email,
            ]
            try expect(addresses.filter { $0 == address }.count, equals: 1)
        },
    ]
}

extension MessengerWorld {
    fileprivate func reset(_ code: String, json password: JSONValue) async throws -> RawAnswer {
        try await post("/auth/reset-password", ["token": .string(code), "new_password": password])
    }

    fileprivate func reset(_ code: String, _ password: String) async throws -> RawAnswer {
        try await reset(code, json: .string(password))
    }

    fileprivate func verify(_ code: String) async throws -> RawAnswer {
        try await post("/auth/verify-email", ["token": .string(code)])
    }
}
