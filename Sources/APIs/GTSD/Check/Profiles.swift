@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import GTSDClient
import HTTPTypes

extension GTSDScenarios {
    static let profiles: [Scenario<GTSDWorld>] = [
        Scenario("Name and zone change, each alone and together", clause: "PATCH /auth/me") { world, anna in
            var expected = try await anna.get("/auth/me").data()
            func change(_ body: JSONValue, _ changed: [String: JSONValue]) async throws {
                let answer = try await anna.raw(.patch, "/auth/me", body: body.description).data()
                if case .object(let members) = expected {
                    let updatedAt = answer["updatedAt"] ?? .null
                    expected = .object(members.merging(changed) { $1 }.merging(["updatedAt": updatedAt]) { $1 })
                }
                try expect(answer, equals: expected)
                try expect(try await anna.get("/auth/me").data(), equals: expected)
            }
            try await change(["name": " Änne \"b\" "], ["name": "Änne \"b\""])
            try await change(["timezone": "Europe/Berlin"], ["timezone": "Europe/Berlin"])
            try await change([:], [:])
            try await change(["name": nil, "timezone": nil, "email": "x@example.com", "id": "1"], [:])
            let long = String(repeating: "é", count: 255)
            try await change(
                ["name": .string(long), "timezone": "Pacific/Auckland"],
                ["name": .string(long), "timezone": "Pacific/Auckland"])
            try await change(["timezone": "UTC"], ["timezone": "UTC"])
        },
        Scenario("An invalid name or zone changes nothing", clause: "PATCH /auth/me") { world, anna in
            let before = try await anna.get("/auth/me").data()
            let table: [(body: JSONValue, text: String)] = [
                (["name": ""], "name: Name must be 1 to 255 characters"),
                (["name": "  "], "name: Name must be 1 to 255 characters"),
                (["name": .string(String(repeating: "n", count: 256))], "name: Name must be 1 to 255 characters"),
                (["name": "a\u{202E}b"], "name: Name contains invalid characters"),
                (["name": 5, "timezone": 5], "name: Expected string, timezone: Expected string"),
                (["name": "Anna", "timezone": "Mars/Olympus"], "timezone: Invalid timezone"),
                (["name": "Anna", "timezone": "GMT+2"], "timezone: Invalid timezone"),
                (["timezone": "europe/berlin"], "timezone: Invalid timezone"),
            ]
            for (body, text) in table {
                try await anna.raw(.patch, "/auth/me", body: body.description).invalid(text, "\(body)")
            }
            try await world.raw.send(.patch, "/auth/me", body: "{").refused(401, "Authentication required")
            try expect(try await anna.get("/auth/me").data(), equals: before)
        },
        Scenario("A new zone decides about the next answers", clause: "PATCH /auth/me") { _, anna in
            // It is never the same day in both of these zones.
            var days: Set<Day> = []
            for zone in ["Pacific/Pago_Pago", "Pacific/Kiritimati"] {
                let _: GTSD.User = try await anna.send(GTSD.UpdateMe(timezone: zone))
                if let day = try await anna.tasks().first?.dueDate { days.insert(day) }
            }
            try expect(days.count >= 1, "no day has tasks")
            if days.count == 2 { try expect(days.max() != days.min(), "one day in both zones") }
        },
    ]
}
