@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let personalTokens: [Scenario<MonicaWorld>] = [
        Scenario("An owner makes, names and revokes tokens", clause: "POST /me/tokens") { world, owner in
            let name = world.freshWord()
            let before = try await owner.send(Monica.ListTokens()).data
            try expect(before.filter(\.isCurrent).count, equals: 1)
            let made = try await owner.send(Monica.CreateToken(name: " \(name) ", dialect: .monica4)).data
            try expect(made.name, equals: name)
            try expect(made.dialect, equals: .monica4)
            guard let text = made.text, text.utf8.count >= 27 else {
                throw CheckFailure(expected: "a token of 160 bits or more", found: made.text ?? "none")
            }
            // It signs in to the same account, and is not shown again.
            let (mine, its) = (
                try await owner.get("/me").succeeded(200), try await world.raw.send(.get, "/me", token: text)
            )
            try expect(try its.succeeded(200)["data"]?["id"], equals: mine["data"]?["id"])
            let listed = try await owner.send(Monica.ListTokens()).data
            guard let shown = listed.first(where: { $0.id == made.id }) else {
                throw CheckFailure(expected: "the new token", found: "\(listed.map(\.name))")
            }
            try expect(shown.name, equals: name)
            try expect(shown.dialect, equals: .monica4)
            try expect(shown.isCurrent, equals: false)
            try expect(shown.createdAt, equals: made.createdAt)
            guard let used = shown.lastUsedAt else {
                throw CheckFailure(expected: "the time of its use", found: "none")
            }
            let since = used.milliseconds &- made.createdAt.milliseconds
            try expect((-600_000...600_000).contains(since), "it was used \(since) ms after it was made")
            try expect(listed.map(\.id), equals: listed.map(\.id).sorted())
            try expect(listed.allSatisfy { $0.text == nil }, "a token is shown again")
            try expect(before.contains { $0.id == made.id }, equals: false)
            try expect(try await owner.send(Monica.RevokeToken(id: made.id)), equals: .init(id: made.id))
            try await owner.raw(.delete, "/me/tokens/\(made.id)").refused(404, 31, "The requested token was not found.")
            try await expectSoon("a revoked token is still taken") {
                try await world.raw.send(.get, "/me", token: text).status == 401
            }
            try expect(try await owner.get("/me").status, equals: 200)
            try expect(try await owner.send(Monica.ListTokens()).data.contains { $0.id == made.id }, equals: false)
        },
        Scenario("A token says what is wrong with it", clause: "POST /me/tokens") { world, owner in
            for (body, text) in [
                ([:], "The name field is required."), (["name": 7], "The name must be a string."),
                (["name": " "], "The name field is required."),
                (
                    ["name": .string(String(repeating: "x", count: 256))],
                    "The name may not be greater than 255 characters."
                ),
                (["name": "a", "dialect": "latin"], "The selected dialect is invalid."),
                (["name": "a", "dialect": 4], "The dialect must be a string."),
                (["dialect": "x"], "The name field is required. The selected dialect is invalid."),
            ] as [(JSONValue, String)] {
                try await owner.raw(.post, "/me/tokens", body).refused(422, 32, text, "\(body)")
            }
            let plain = try await owner.send(Monica.CreateToken(name: world.freshWord())).data
            try expect(plain.dialect, equals: .contract)
            try await owner.send(Monica.RevokeToken(id: plain.id))
            for path in ["/me/tokens/0", "/me/tokens/x", "/me/tokens/999999999999"] {
                try await owner.raw(.delete, path).refused(404, 31, "The requested token was not found.", path)
            }
        },
        Scenario("A token is its own account's", clause: "§3 DELETE /me/tokens/:id") { world, first, second in
            let made = try await first.send(Monica.CreateToken(name: world.freshWord())).data
            try await second.raw(.delete, "/me/tokens/\(made.id)")
                .refused(404, 31, "The requested token was not found.")
            try expect(try await second.send(Monica.ListTokens()).data.contains { $0.id == made.id }, equals: false)
            try await first.send(Monica.RevokeToken(id: made.id))
        },
    ]
}
