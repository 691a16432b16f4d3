@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let analytics: [Scenario<DeuceDiaryWorld>] = [
        Scenario(
            "The top day is the UTC day with the most logs, the most recent of several",
            clause: "GET /api/analytics/most-deuces"
        ) { _, john, jane in
            let groups = [try await john.group(with: jane), try await john.group(), try await john.group()]
            let path = "/api/analytics/most-deuces"
            try expect(try await john.get(path).succeeded(), equals: ["date": "", "count": 0])
            try expect(try await john.client.topDay(), equals: nil)
            func log(_ time: String, into groups: [DeuceDiary.Group.ID]) async throws {
                let ids = JSONValue.list(groups.map(\.json))
                try await john.post(
                    "/api/deuces",
                    ["groupIds": ids, "location": "x", "thoughts": "", "loggedAt": .string(time)]
                ).succeeded(time)
            }
            try await log("2025-05-20T23:59:59.999Z", into: groups)
            try await log("2025-05-20T00:00:00Z", into: [groups[0]])
            try await log("2025-05-21T00:00:00Z", into: [groups[1]])
            try await log("2025-05-21T01:30:00+02:00", into: [groups[2]])
            try expect(try await john.get(path).succeeded(), equals: ["date": "2025-05-20", "count": 3])
            try expect(try await john.deuceCount(), equals: 4)
            try expect(try await john.send(DeuceDiary.ListGroups()).map(\.entryCount).reduce(0, +), equals: 6)
            for _ in 0..<2 { try await log("2025-05-21T12:00:00Z", into: [groups[1]]) }
            let top = try DeuceDiary.TopDay(date: Day(checked: "2025-05-21"), count: 3)
            try expect(try await john.client.topDay(), equals: top)
            // Members show the same number, over all their groups, whether or not the viewer is in them.
            let members = try await jane.send(DeuceDiary.GetGroup(group: groups[0])).members
            try expect(members.map(\.personalRecord), equals: [nil, top])
            let raw = try await jane.get("/api/groups/\(groups[0])").succeeded()
            try expect(raw["members"]?[0]?["personalRecord"], equals: .null)
        }
    ]
}
