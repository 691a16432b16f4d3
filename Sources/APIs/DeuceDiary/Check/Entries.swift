@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let entries: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A log makes an entry in each of its groups, and counts once", clause: "POST /api/deuces") {
            world, john, jane in
            let (one, two) = (try await john.group(with: jane), try await john.group())
            let before = try await john.send(DeuceDiary.GetUser())
            try await world.tick()
            let logged = try await john.post(
                "/api/deuces",
                [
                    "groupIds": [one.json, two.json, one.json], "location": "  Home ",
                    "thoughts": " A throne <b>worthy</b> of a king\n", "loggedAt": "2025-06-10T08:00:00.000Z",
                ]
            ).succeeded()
            try expect(logged["count"], equals: 2)
            try expect(logged["entries"]?.elements.map { $0["groupId"] }, equals: [one.json, two.json])
            for entry in logged["entries"]?.elements ?? [] {
                try expect(entry["userId"], equals: john.id.json)
                try expect(entry["location"], equals: "Home")
                try expect(entry["thoughts"], equals: " A throne <b>worthy</b> of a king\n")
                try expect(entry["loggedAt"], equals: "2025-06-10T08:00:00.000Z")
                try expect(entry["createdAt"], equals: logged["entries"]?[0]?["createdAt"])
            }
            let ids = Set(logged["entries"]?.elements.compactMap { $0["id"] } ?? [])
            try expect(ids.count, equals: 2)
            let after = try await john.send(DeuceDiary.GetUser())
            try expect(after.deuceCount, equals: before.deuceCount + 1)
            try expect(after.updatedAt > before.updatedAt, "updatedAt stood still")
            let entries = try await jane.entries(of: one)
            try expect(entries.map(\.id.json), equals: [logged["entries"]?[0]?["id"]])
        },
        Scenario("A log into a group of others is refused, and written nowhere", clause: "POST /api/deuces") {
            world, john, jane in
            let (own, foreign) = (try await john.group(), try await jane.group())
            let (unknown, other) = (world.unknownID(), try await jane.group())
            let socket = try await world.rawSocket(in: own)
            let table: [(ids: JSONValue, named: String)] = [
                ([own.json, foreign.json], foreign.rawValue), ([own.json, .string(unknown)], unknown),
                ([foreign.json, other.json, own.json], foreign.rawValue), ([other.json, foreign.json], other.rawValue),
                ([own.json, "x", foreign.json], "x"),
            ]
            for (ids, named) in table {
                let body: JSONValue = ["groupIds": ids, "location": "Home", "thoughts": "secret"]
                try await john.post("/api/deuces", body).refused(403, "Not authorized for group \(named)", "\(ids)")
            }
            try expect(try await john.entries(of: own), equals: [])
            try expect(try await jane.entries(of: foreign), equals: [])
            try expect(try await john.deuceCount(), equals: 0)
            let list = try await john.send(DeuceDiary.ListGroups()).first { $0.id == own }
            try expect(list?.entryCount, equals: 0)
            try expect(list?.lastActivity, equals: nil)
            // If there had been a frame, it would come before this one.
            let entry = try await john.log("heard", in: own)[0]
            try expect(try await socket.entry()["id"], equals: entry.id.json)
            await socket.close()
        },
        Scenario("Groups are an array of 1 to 50, or one as older apps name it", clause: "POST /api/deuces") {
            world, john in
            let (one, two) = (try await john.group(), try await john.group())
            let none = "At least one group must be selected"
            let rest: [String: JSONValue] = ["location": "Home", "thoughts": ""]
            let refused: [[String: JSONValue]] = [
                [:], ["groupIds": []], ["groupIds": nil], ["groupIds": one.json], ["groupIds": [one.json, 5]],
                ["groupIds": [nil]], ["groupIds": [], "groupId": one.json],
                ["groupIds": one.json, "groupId": one.json], ["groupId": 5], ["groupId": nil],
                ["groupIds": ["a": one.json]], ["groupIds": [[one.json]], "groupId": one.json],
            ]
            for body in refused {
                try await john.post("/api/deuces", .object(body.merging(rest) { $1 })).refused(400, none, "\(body)")
            }
            let accepted: [([String: JSONValue], [DeuceDiary.Group.ID])] = [
                (["groupId": one.json], [one]), (["groupIds": nil, "groupId": two.json], [two]),
                (["groupIds": [two.json], "groupId": one.json], [two]),
                (["groupIds": [two.json], "groupId": 5], [two]),
                (["groupIds": [two.json, one.json, two.json]], [two, one]),
            ]
            for (body, groups) in accepted {
                let logged = try await john.post("/api/deuces", .object(body.merging(rest) { $1 })).succeeded("\(body)")
                try expect(logged["entries"]?.elements.map { $0["groupId"] }, equals: groups.map(\.json))
                try expect(logged["count"], equals: .integer(Int64(groups.count)))
            }
            let many = (0..<51).map { _ in JSONValue.string(world.unknownID()) }
            try await john.post("/api/deuces", .object(["groupIds": .list(many)]))
                .refused(400, "At most 50 groups can be selected")
            let repeated = Array(repeating: one.json, count: 60)
            try await john.post("/api/deuces", .object(rest.merging(["groupIds": .list(repeated)]) { $1 })).succeeded()
        },
        Scenario("A log refuses the first thing that is wrong", clause: "POST /api/deuces") { _, john in
            let group = try await john.group()
            let long = JSONValue.string(String(repeating: "x", count: 501))
            let ids: JSONValue = [group.json]
            let table: [(body: JSONValue, text: String)] = [
                (["location": "", "thoughts": nil, "loggedAt": "x"], "At least one group must be selected"),
                (["groupIds": ids, "location": " \n", "loggedAt": "x"], "Location is required"),
                (["groupIds": ids, "location": long, "loggedAt": "x"], "Location must be 100 characters or less"),
                (["groupIds": ids, "location": "x", "loggedAt": "x"], "Thoughts are required"),
                (
                    ["groupIds": ids, "location": "x", "thoughts": long, "loggedAt": "x"],
                    "Thought must be 500 characters or less"
                ),
                (
                    ["groupIds": ids, "location": "x", "thoughts": "", "loggedAt": "x"],
                    "loggedAt must be a valid ISO 8601 date string"
                ),
                (
                    ["groupIds": ["x"], "location": "x", "thoughts": "", "loggedAt": "9999-12-31"],
                    "Cannot log a deuce in the future"
                ),
            ]
            for (body, text) in table { try await john.post("/api/deuces", body).refused(400, text, "\(body)") }
            let wide = String(repeating: "e\u{301}", count: 50)
            let full: JSONValue = [
                "groupIds": ids, "location": .string(" \(wide) "),
                "thoughts": .string(String(repeating: "💩", count: 500)),
            ]
            let logged = try await john.post("/api/deuces", full).succeeded()
            try expect(logged["entries"]?[0]?["location"], equals: .string(wide))
        },
        Scenario(
            "The time of a log is a day or a date-time with its zone, from 1970 on", clause: "POST /api/deuces"
        ) { _, john in
            let group = try await john.group()
            func log(_ time: String) async throws -> RawAnswer {
                let body: JSONValue = [
                    "groupIds": [group.json], "location": "x", "thoughts": "", "loggedAt": .string(time),
                ]
                return try await john.post("/api/deuces", body)
            }
            let table = [
                ("2025-05-21T01:30:00+02:00", "2025-05-20T23:30:00.000Z"),
                ("2025-06-10T08:00:00Z", "2025-06-10T08:00:00.000Z"),
                ("2025-06-10T08:00:00.5Z", "2025-06-10T08:00:00.500Z"),
                ("2025-06-10T08:00:00.123456789Z", "2025-06-10T08:00:00.123Z"),
                ("2025-06-10", "2025-06-10T00:00:00.000Z"), ("2024-02-29", "2024-02-29T00:00:00.000Z"),
                ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ]
            for (sent, kept) in table {
                let logged = try await log(sent).succeeded(sent)
                try expect(logged["entries"]?[0]?["loggedAt"], equals: .string(kept))
            }
            let invalid = [
                "yesterday", "2025-06-10T08:00:00", "2025-06-31", "2025-02-29", "2025-13-01", "2025-06-10T24:00:00Z",
                "2025-06-10T08:00:00.1234567890Z", "1969-12-31T23:59:59Z", "1749542400000", " 2025-06-10", "2025-6-1",
            ]
            for time in invalid {
                try await log(time).refused(400, "loggedAt must be a valid ISO 8601 date string", time)
            }
            // The time is by the server's clock, which the entry shows.
            let now = try await john.log(in: group)[0]
            try expect(now.loggedAt, equals: now.createdAt)
            let near = DeuceDiary.Timestamp(milliseconds: now.createdAt.milliseconds + 50_000)
            try await log(near.description).succeeded(near.description)
            for far in [
                DeuceDiary.Timestamp(milliseconds: now.createdAt.milliseconds + 3_600_000).description, "9999-12-31",
            ] {
                try await log(far).refused(400, "Cannot log a deuce in the future", far)
            }
        },
        Scenario("Entries of a group stand in the order in which they were made", clause: "GET /api/groups/{groupId}") {
            _, john, jane in
            let group = try await john.group(with: jane)
            let logged = try await together(40) { index in
                try await (index.isMultiple(of: 2) ? john : jane).log("\(index)", in: group)[0]
            }
            let entries = try await john.entries(of: group).map(\.value)
            try expect(entries, equals: logged.sorted { $0.createdAt > $1.createdAt })
            try expect(Set(entries.map(\.createdAt)).count, equals: 40)
            for person in [john, jane] { try expect(try await person.deuceCount(), equals: 20) }
            let list = try await john.send(DeuceDiary.ListGroups()).first { $0.id == group }
            try expect(list?.entryCount, equals: 40)
        },
    ]
}
