@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient

/// Scenarios of the sessions that an account's user sees and ends.
extension MessengerScenarios {
    static let sessionLists: [Scenario<MessengerWorld>] = [
        Scenario("Each session is listed with its device, and the caller's is marked", clause: "GET /me/sessions") {
            world, alice in
            let agent = "Checker/1.0 (test)"
            let long = String(repeating: "é", count: 150)
            let table: [(name: JSONValue, kept: String)] = [
                ("Alice's iPhone 📱", "Alice's iPhone 📱"), (" A\u{200B}li\u{7}ce\n", "Alice"),
                (.string(long), String(long.prefix(100))), ("", agent), (" \u{200B}", agent), (nil, agent), (5, agent),
            ]
            for (name, kept) in table {
                let signedIn = try await world.post(
                    "/auth/login",
                    [
                        "username": .string(alice.name), "password": .string(alice.password), "device_name": name,
                    ], headers: [.userAgent: agent]
                ).succeeded(200)
                let token = signedIn["access_token"]?.string
                let own = try await world.sessions(of: token).filter { $0["current"] == true }
                try expect(own.count, equals: 1)
                try expect(try own[0]["device"], equals: .string(kept))
                try own[0]["created_at"]?.expectTimestamp()
                try expect(try own[0]["last_used_at"], equals: try own[0]["created_at"])
                try expect(try own[0]["created_at"] != .null, "no time of the sign-in")
            }
            let listed = try await alice.get("/me/sessions").succeeded(200).elements
            try expect(listed.count, equals: table.count + 1)
            try expect(Set(listed.map { $0["id"] }).count, equals: listed.count)
            try expect(listed.filter { $0["current"] == true }.count, equals: 1)
            let times = listed.compactMap { $0["last_used_at"]?.string }
            try expect(times, equals: times.sorted(by: >))
            // All came from here.
            try expect(Set(listed.map { $0["address"] }).count, equals: 1)
        },
        Scenario("A renewal is noted as a use", clause: "GET /me/sessions") { world, alice in
            let before = try await alice.send(Messenger.ListSessions())
            try await world.refresh(alice.refreshToken).succeeded(200)
            let after = try await alice.send(Messenger.ListSessions())
            try expect(after.map(\.id), equals: before.map(\.id))
            try expect(after.map(\.createdAt), equals: before.map(\.createdAt))
            try expect(try after[0].lastUsedAt >= before[0].lastUsedAt, "the time of the last use goes back")
        },
        Scenario("A session ends by its id, with its sockets", clause: "DELETE /me/sessions/{id}") {
            world, alice, bob in
            let other = try await world.signedIn(alice.name, alice.password)
            let foreign = try await bob.send(Messenger.ListSessions())[0].id
            let socket = try await other.rawSocket()
            let own = try await alice.send(Messenger.ListSessions()).first { $0.current }?.id ?? 0
            let ended = try await other.send(Messenger.ListSessions()).first { $0.current }?.id ?? 0
            try expect(own != ended, "two sessions with one id")
            for id in [foreign.rawValue, 1, 9_223_372_036_854_775_807] {
                try await alice.raw(.delete, "/me/sessions/\(id)").refused(404, "Session not found", "\(id)")
            }
            let answer = try await alice.raw(.delete, "/me/sessions/\(ended)")
            try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            try await world.refresh(other.refreshToken).refused(401, "Invalid or expired refresh token")
            try await socket.expectClose(4001)
            try await expectSoon("an access token outlived its session") { try await other.get("/me").status != 200 }
            try await other.get("/me/sessions").refused(401, "Invalid or expired token")
            try await alice.raw(.delete, "/me/sessions/\(ended)").refused(404, "Session not found")
            try expect(try await alice.send(Messenger.ListSessions()).map(\.id), equals: [own])
            try await bob.get("/me").succeeded(200)
            // The caller's own ends, too.
            try await alice.send(Messenger.EndSession(id: own))
            try await expectSoon("an access token outlived its session") { try await alice.get("/me").status != 200 }
            try await world.refresh(alice.refreshToken).refused(401, "Invalid or expired refresh token")
            try await world.login(alice.name, alice.password).succeeded(200)
        },
        Scenario("All sessions but the caller's own end at once", clause: "DELETE /me/sessions") { world, alice, bob in
            let others = [
                try await world.signedIn(alice.name, alice.password),
                try await world.signedIn(alice.name, alice.password),
            ]
            var closing: [RawSocket] = []
            for other in others { closing.append(try await other.rawSocket()) }
            let stays = try await alice.rawSocket()
            for _ in 0..<2 {
                let answer = try await alice.raw(.delete, "/me/sessions")
                try expect(answer.status == 204 && answer.body.isEmpty, "\(answer.status) \(answer.text)")
            }
            for (other, socket) in zip(others, closing) {
                try await world.refresh(other.refreshToken).refused(401, "Invalid or expired refresh token")
                try await socket.expectClose(4001)
                try await expectSoon("an access token outlived its session") {
                    try await other.get("/me").status != 200
                }
            }
            try await stays.send(["type": "ping"])
            try await stays.expect(["type": "pong"])
            await stays.close()
            try await world.refresh(alice.refreshToken).succeeded(200)
            try expect(try await alice.send(Messenger.ListSessions()).map(\.current), equals: [true])
            try await bob.get("/me").succeeded(200)
        },
    ]
}

extension MessengerWorld {
    fileprivate func sessions(of token: String?) async throws -> [JSONValue] {
        try await raw.send(.get, "/me/sessions", token: token).succeeded(200).elements
    }
}
