@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    static let sessions: [Scenario<DunbarWorld>] = [
        Scenario("Each session is listed with its device, and the caller's is marked", clause: "GET /sessions") {
            world in
            let (agent, name) = ("Checker/1.0 (test)", world.freshName())
            let registered = try await world.raw.send(
                .post, "/register",
                body: ([
                    "username": .string(name), "email": .string("\(name)@example.com"), "displayName": "John",
                    "password": .string(DunbarWorld.password), "deviceName": "First",
                ] as JSONValue).description)
            let user = try registered.succeeded(201)["user"]
            let first = try await world.sessions(of: registered.cookie)
            try expect(first.count, equals: 1)
            try expect(try first[0]["device"], equals: "First")
            try expect(try first[0]["createdAt"], equals: user?["createdAt"])
            let long = String(repeating: "é", count: 150)
            let table: [(name: JSONValue, kept: String)] = [
                ("John's iPhone 📱", "John's iPhone 📱"), (" J\u{200B}oh\u{7}n\n", "John"),
                (.string(long), String(long.prefix(100))), ("", agent), (" \u{200B}", agent), (nil, agent), (5, agent),
            ]
            var latest: String?
            for (device, kept) in table {
                let body: JSONValue = [
                    "username": .string(name), "password": .string(DunbarWorld.password), "deviceName": device,
                ]
                latest = try await world.raw.send(
                    .post, "/login", headers: [.userAgent: agent], body: body.description
                ).cookie
                let own = try await world.sessions(of: latest).filter { $0["isCurrent"] == true }
                try expect(own.count, equals: 1)
                try expect(try own[0]["device"], equals: .string(kept))
                try expect(try own[0]["lastUsedAt"], equals: try own[0]["createdAt"])
            }
            let listed = try await world.sessions(of: latest)
            try expect(listed.count, equals: table.count + 1)
            try expect(Set(listed.map { $0["id"] }).count, equals: listed.count)
            try expect(listed.filter { $0["isCurrent"] == true }.count, equals: 1)
            let times = listed.compactMap { $0["lastUsedAt"]?.string }
            try expect(times, equals: times.sorted(by: >))
            // All came from here.
            try expect(Set(listed.map { $0["address"] }).count, equals: 1)
        },
        Scenario("A session ends by its id", clause: "DELETE /sessions/{id}") { world, john, jane in
            let other = try await world.login(john.name).cookie ?? ""
            func current(_ cookie: String) async throws -> Int64 {
                try await world.sessions(of: cookie).first { $0["isCurrent"] == true }?["id"]?.integer ?? 0
            }
            let (own, ended) = (try await current(john.cookie), try await current(other))
            try expect(own != ended, "two sessions with one id")
            for id in ["0", "-1", "x", "1.5"] {
                try await john.raw(.delete, "/sessions/\(id)").refused(400, "Invalid session ID", id)
            }
            for id in [try await current(jane.cookie), 1, 9_223_372_036_854_775_807] {
                try await john.raw(.delete, "/sessions/\(id)").refused(404, "Session not found", "\(id)")
            }
            let answer = try await john.raw(.delete, "/sessions/\(ended)").said("Session ended")
            try expect(answer.headers[.setCookie], equals: nil)
            for path in ["/user", "/sessions"] {
                try await world.raw.send(.get, path, headers: [.cookie: other]).refused(401, "Unauthorized")
            }
            try await john.raw(.delete, "/sessions/\(ended)").refused(404, "Session not found")
            try expect(try await world.sessions(of: john.cookie).map { $0["id"] }, equals: [.integer(own)])
            try await jane.get("/user").succeeded(200)
            // The caller's own ends, too.
            let last = try await john.raw(.delete, "/sessions/\(own)").said("Session ended")
            try expect(try attributes(of: last).contains("Max-Age=0"), "the cookie stays")
            try await john.get("/user").refused(401, "Unauthorized")
            try await world.login(john.name).succeeded(200)
        },
        Scenario("All sessions but the caller's own end at once", clause: "DELETE /sessions") { world, john, jane in
            let others = [
                try await world.login(john.name).cookie ?? "", try await world.login(john.name).cookie ?? "",
            ]
            for _ in 0..<2 { try await john.raw(.delete, "/sessions").said("Other sessions ended") }
            for other in others {
                try await world.raw.send(.get, "/user", headers: [.cookie: other]).refused(401, "Unauthorized")
            }
            try expect(try await john.send(Dunbar.ListSessions()).map(\.isCurrent), equals: [true])
            for person in [john, jane] { try await person.get("/user").succeeded(200) }
        },
    ]
}

extension DunbarWorld {
    fileprivate func sessions(of cookie: String?) async throws -> [JSONValue] {
        try await raw.send(.get, "/sessions", headers: [.cookie: cookie ?? ""]).succeeded(200).elements
    }
}
