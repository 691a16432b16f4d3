@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let sessionLists: [Scenario<GTSDWorld>] = [
        Scenario("Each session is listed with its device, and the caller's is marked", clause: "GET /auth/sessions") {
            world in
            let (agent, email) = ("Checker/1.0 (test)", world.freshEmail())
            let signedUp = try await world.post(
                "/auth/signup",
                ["email": .string(email), "password": .string(Person.password), "deviceName": "First"]
            ).data(201)
            let first = try await world.sessions(of: signedUp["accessToken"])
            try expect(first.count, equals: 1)
            try expect(try first[0]["device"], equals: "First")
            try expect(try first[0]["createdAt"], equals: signedUp["user"]?["createdAt"])
            let long = String(repeating: "é", count: 150)
            let table: [(name: JSONValue, kept: String)] = [
                ("Anna's iPhone 📱", "Anna's iPhone 📱"), (" A\u{200B}nn\u{7}a\n", "Anna"),
                (.string(long), String(long.prefix(100))), ("", agent), (" \u{200B}", agent), (nil, agent),
            ]
            var latest: JSONValue?
            for (name, kept) in table {
                let signedIn = try await world.post(
                    "/auth/login",
                    ["email": .string(email), "password": .string(Person.password), "deviceName": name],
                    headers: [.userAgent: agent]
                ).data()
                latest = signedIn["accessToken"]
                let own = try await world.sessions(of: latest).filter { $0["current"] == true }
                try expect(own.count, equals: 1)
                try expect(try own[0]["device"], equals: .string(kept))
                try expect(try own[0]["lastUsedAt"], equals: try own[0]["createdAt"])
            }
            try await world.post(
                "/auth/login", ["email": .string(email), "password": .string(Person.password), "deviceName": 5]
            ).invalid("deviceName: Expected string")
            let listed = try await world.sessions(of: latest)
            try expect(listed.count, equals: table.count + 1)
            try expect(Set(listed.map { $0["id"] }).count, equals: listed.count)
            try expect(listed.filter { $0["current"] == true }.count, equals: 1)
            let times = listed.compactMap { $0["lastUsedAt"]?.string }
            try expect(times, equals: times.sorted(by: >))
            // All came from here.
            try expect(Set(listed.map { $0["address"] }).count, equals: 1)
        },
        Scenario("A renewal is noted as a use", clause: "GET /auth/sessions") { world, anna in
            let before: GTSD.SessionList = try await anna.send(GTSD.ListSessions())
            try await world.post("/auth/refresh", ["refreshToken": .string(anna.refreshToken)]).data()
            let after: GTSD.SessionList = try await anna.send(GTSD.ListSessions())
            try expect(after.sessions.map(\.id), equals: before.sessions.map(\.id))
            try expect(after.sessions.map(\.createdAt), equals: before.sessions.map(\.createdAt))
            try expect(
                try after.sessions[0].lastUsedAt >= before.sessions[0].lastUsedAt, "the time of the last use goes back")
        },
        Scenario("A session ends by its id", clause: "DELETE /auth/sessions/{sessionId}") { world, anna, berta in
            let other = try await world.logIn(anna.email, Person.password).data()
            func current(_ token: JSONValue?) async throws -> String {
                try await world.sessions(of: token).first { $0["current"] == true }?["id"]?.string ?? ""
            }
            let own = try await current(.string(anna.token))
            let ended = try await current(other["accessToken"])
            try expect(own != ended, "two sessions with one id")
            let foreign = try await current(.string(berta.token))
            for id in [foreign, "1", "0", "-1", "x", "0\(ended)", "9223372036854775808"] {
                try await anna.raw(.delete, "/auth/sessions/\(id)").refused(404, "Session not found", id)
            }
            let answer = try await anna.raw(.delete, "/auth/sessions/\(ended)")
            try expect(try answer.succeeded(200), equals: ["success": true, "message": "Session ended successfully"])
            try await world.post("/auth/refresh", ["refreshToken": other["refreshToken"] ?? nil])
                .refused(401, "Invalid or expired refresh token")
            try await expectSoon("an access token outlived its session") {
                try await world.raw.send(.get, "/auth/me", token: other["accessToken"]?.string).status != 200
            }
            try await world.raw.send(.get, "/auth/sessions", token: other["accessToken"]?.string)
                .refused(401, "Invalid or expired token")
            try await anna.raw(.delete, "/auth/sessions/\(ended)").refused(404, "Session not found")
            try expect(try await world.sessions(of: .string(anna.token)).map { $0["id"] }, equals: [.string(own)])
            try await berta.get("/auth/me").data()
            // The caller's own ends, too.
            _ = try await anna.client.send(GTSD.EndSession(.init(own)))
            try await expectSoon("an access token outlived its session") {
                try await anna.get("/auth/me").status != 200
            }
            try await world.post("/auth/refresh", ["refreshToken": .string(anna.refreshToken)])
                .refused(401, "Invalid or expired refresh token")
            try await world.logIn(anna.email, Person.password).data()
        },
        Scenario("All sessions but the caller's own end at once", clause: "DELETE /auth/sessions") {
            world, anna, berta in
            let others = try await together(2) { _ in try await world.logIn(anna.email, Person.password).data() }
            for _ in 0..<2 {
                let answer = try await anna.raw(.delete, "/auth/sessions")
                try expect(
                    try answer.succeeded(200),
                    equals: ["success": true, "message": "Other sessions ended successfully"])
            }
            for other in others {
                try await world.post("/auth/refresh", ["refreshToken": other["refreshToken"] ?? nil])
                    .refused(401, "Invalid or expired refresh token")
                try await expectSoon("an access token outlived its session") {
                    try await world.raw.send(.get, "/auth/me", token: other["accessToken"]?.string).status != 200
                }
            }
            let list: GTSD.SessionList = try await anna.send(GTSD.ListSessions())
            try expect(list.sessions.map(\.current), equals: [true])
            try await world.post("/auth/refresh", ["refreshToken": .string(anna.refreshToken)]).data()
            try await berta.get("/auth/me").data()
        },
    ]
}

extension GTSDWorld {
    fileprivate func sessions(of token: JSONValue?) async throws -> [JSONValue] {
        try await raw.send(.get, "/auth/sessions", token: token?.string).data()["sessions"]?.elements ?? []
    }
}
