@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of passwords that their owners change.
extension MessengerScenarios {
    static let passwords: [Scenario<MessengerWorld>] = [
        Scenario("A changed password signs in, and the old one does not", clause: "POST /me/password") { world, alice in
            let new = "p\\ss/word 🎉 \(world.freshName())"
            let answer = try await alice.change(from: alice.password, to: new)
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            try await world.login(alice.name, alice.password).refused(401, "Invalid credentials")
            try await world.login(alice.name, new).succeeded(200)
            try await alice.change(from: alice.password, to: "another one").refused(403, "Invalid password")
            // The SDK's session goes on, also with the same password again.
            try await alice.client.changePassword(from: new, to: new)
            try await alice.client.changePassword(from: new, to: alice.password)
            try expect(try await alice.send(Messenger.GetMe()).id, equals: alice.id)
            try await world.login(alice.name, alice.password).succeeded(200)
        },
        Scenario("All sessions but the caller's own end, with their sockets", clause: "POST /me/password") {
            world, alice, bob in
            let others = [
                try await world.signedIn(alice.name, alice.password),
                try await world.signedIn(alice.name, alice.password),
            ]
            var closing: [RawSocket] = []
            for other in others { closing.append(try await other.rawSocket()) }
            let staying = [try await alice.rawSocket(), try await bob.rawSocket()]
            try await alice.client.changePassword(from: alice.password, to: "another one")
            for socket in closing { try await socket.expectClose(4001) }
            for other in others {
                // It takes at most a second, plus the time of the network.
                try await expectSoon("an access token outlived its session") {
                    try await other.get("/me").status != 200
                }
                try await other.get("/me").refused(401, "Invalid or expired token")
                try await world.refresh(other.refreshToken).refused(401, "Invalid or expired refresh token")
            }
            for socket in staying {
                try await socket.send(["type": "ping"])
                try await socket.expect(["type": "pong"])
                await socket.close()
            }
            try await world.refresh(alice.refreshToken).succeeded(200)
            for person in [alice, bob] { try await person.get("/me").succeeded(200) }
            try await world.login(bob.name, bob.password).succeeded(200)
        },
        Scenario("An invalid new password changes nothing", clause: "POST /me/password") { world, alice, bob in
            let (short, long) = ("Password must be at least 8 characters", "Password must be at most 200 characters")
            let table: [(body: JSONValue, text: String)] = [
                ([:], "current_password required"), (["new_password": "x"], "current_password required"),
                (["current_password": "", "new_password": "x"], "current_password required"),
                (["current_password": 5, "new_password": "another one"], "current_password required"),
                (["current_password": "x"], short), (["current_password": "x", "new_password": nil], short),
                (["current_password": "x", "new_password": "1234567"], short),
                (["current_password": "x", "new_password": .string(String(repeating: "é", count: 201))], long),
                (["current_password": "x", "new_password": "12345678\u{0}"], "Text must not contain NUL characters"),
            ]
            for (body, text) in table {
                try await alice.post("/me/password", body).refused(400, text, "\(body.description.prefix(80))")
            }
            for wrong in [bob.password, alice.password + " ", alice.password.uppercased()] {
                try await alice.change(from: wrong, to: "another one").refused(403, "Invalid password")
            }
            try await world.raw.send(.post, "/me/password", body: "[").refused(401, "Missing Authorization header")
            let other = try await world.signedIn(alice.name, alice.password)
            for person in [alice, other] { try await person.get("/me").succeeded(200) }
        },
        Scenario("Wrong passwords count as at a sign-in", clause: "POST /me/password") { world, alice, bob in
            let answers = try await together(13) { try await alice.change(from: "wrong \($0)", to: "another one") }
            for answer in answers where answer.status != 429 { try answer.refused(403, "Invalid password") }
            try expect(answers.filter { $0.status == 429 }.count, equals: 3)
            for limited in [
                try await alice.change(from: alice.password, to: "another one"),
                try await world.login(alice.name, alice.password),
            ] {
                try limited.refused(429, "Too many requests, please try again later")
                try expect(1...60 ~= limited.headers[.retryAfter].flatMap(Int.init) ?? 0, "no Retry-After")
            }
            try await alice.get("/me").succeeded(200)
            try expect(try await bob.change(from: bob.password, to: "another one").status, equals: 204)
        },
        Scenario("A change that is repeated under its key is one", clause: "POST /me/password") { world, alice in
            let request = KeyedRequest("a new password", 204) { usual, key in
                try await alice.change(from: alice.password, to: usual ? "another one" : "a third one", headers: key)
            }
            try await world.check(request, repeats: 4, isFirstAlone: true)
            try await world.refuseBadKeys(of: request)
            try await world.login(alice.name, "another one").succeeded(200)
            // The repeats were no attempts to guess.
            for _ in 0..<10 {
                try await alice.change(from: "wrong", to: "a third one").refused(403, "Invalid password")
            }
            try await alice.change(from: "wrong", to: "a third one")
                .refused(429, "Too many requests, please try again later")
        },
        Scenario("Of many changes at once, one is made", clause: "POST /me/password") { world, alice in
            let answers = try await together(6) { try await alice.change(from: alice.password, to: "password \($0)") }
            try expect(answers.filter { $0.status == 204 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                if answer.status == 204 {
                    try await world.login(alice.name, "password \(index)").succeeded(200)
                } else {
                    try answer.refused(403, "Invalid password")
                }
            }
        },
    ]
}

extension Person {
    func change(from present: String, to new: String, headers: HTTPFields = [:]) async throws -> RawAnswer {
        let body: JSONValue = ["current_password": .string(present), "new_password": .string(new)]
        return try await post("/me/password", body, headers: headers)
    }
}
