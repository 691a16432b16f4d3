@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let passwords: [Scenario<DunbarWorld>] = [
        Scenario("A changed password signs in, and the old one does not", clause: "POST /account/password") {
            world, john in
            let (old, new) = (DunbarWorld.password, "p\\ss/word 🎉")
            try await john.change(from: old, to: new).said("Password changed")
            try await world.login(john.name, old).refused(401, "Invalid username or password")
            try await world.login(john.name, new).succeeded(200)
            try await john.change(from: old, to: "another one").refused(400, "Invalid password")
            // The SDK's session goes on, also with the same password again.
            try await john.client.changePassword(from: new, to: new)
            try await john.client.changePassword(from: new, to: old)
            try expect(try await john.client.currentUser()?.id, equals: john.id)
            try await world.login(john.name, old).succeeded(200)
        },
        Scenario("All sessions but the caller's own end", clause: "POST /account/password") { world, john, jane in
            let others = [
                try await world.login(john.name).cookie ?? "", try await world.login(john.name).cookie ?? "",
            ]
            // The first cookie that is a session's is the caller's, and that session stays.
            let answer = try await world.raw.send(
                .post, "/account/password", headers: [.cookie: "\(john.cookie); \(try others[0])"],
                body: #"{"currentPassword":"\#(DunbarWorld.password)","newPassword":"another one"}"#)
            try answer.said("Password changed")
            for cookie in others {
                try await world.raw.send(.get, "/user", headers: [.cookie: cookie]).refused(401, "Unauthorized")
            }
            for person in [john, jane] { try await person.get("/user").succeeded(200) }
            try await world.login(jane.name).succeeded(200)
        },
        Scenario("An invalid new password changes nothing", clause: "POST /account/password") { world, john in
            let (short, long) = ("Password must be at least 8 characters", "Password must be at most 200 characters")
            let table: [(body: JSONValue, text: String)] = [
                ([:], "Password is required"), (["newPassword": "x"], "Password is required"),
                (["currentPassword": "", "newPassword": "x"], "Password is required"),
                (["currentPassword": 5, "newPassword": "another one"], "Password is required"),
                (["currentPassword": "x"], short), (["currentPassword": "x", "newPassword": "1234567"], short),
                (["currentPassword": "x", "newPassword": .string(String(repeating: "é", count: 201))], long),
                (["currentPassword": "x", "newPassword": "12345678\u{0}"], "Text must not contain NUL characters"),
            ]
            for (body, text) in table {
                try await john.post("/account/password", body).refused(400, text, "\(body.description.prefix(80))")
            }
            for wrong in ["wrong", DunbarWorld.password + " ", DunbarWorld.password.uppercased()] {
                try await john.change(from: wrong, to: "another one").refused(400, "Invalid password")
            }
            try await world.raw.send(.post, "/account/password", body: "{").refused(401, "Unauthorized")
            try await john.get("/user").succeeded(200)
            try await world.login(john.name).succeeded(200)
        },
        Scenario("A change that is repeated under its key is one", clause: "POST /account/password") { world, john in
            let request = KeyedRequest("a new password", 200) { usual, key in
                try await john.change(
                    from: DunbarWorld.password, to: usual ? "another one" : "a third one", headers: key)
            }
            try await world.check(request, repeats: 4, isFirstAlone: true)
            try await world.refuseBadKeys(of: request)
            try await world.login(john.name, "another one").succeeded(200)
        },
        Scenario("Of many changes at once, one is made", clause: "POST /account/password") { world, john in
            let answers = try await together(6) {
                try await john.change(from: DunbarWorld.password, to: "password \($0)")
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for (index, answer) in answers.enumerated() {
                if answer.status == 200 {
                    try await world.login(john.name, "password \(index)").succeeded(200)
                } else {
                    try answer.refused(400, "Invalid password")
                }
            }
        },
    ]
}

extension Person {
    func change(from present: String, to new: String, headers: HTTPFields = [:]) async throws -> RawAnswer {
        let body: JSONValue = ["currentPassword": .string(present), "newPassword": .string(new)]
        return try await post("/account/password", body, headers: headers)
    }
}
