@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let groups: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A group is made as it is named, with its maker as admin", clause: "POST /api/groups") { _, john in
            let table: [(body: JSONValue, name: JSONValue, description: JSONValue)] = [
                (["name": "Throne Room", "description": "Optional"], "Throne Room", "Optional"),
                (["name": " \tThrone\u{2003}Room\n ", "description": "  a b \n"], "Throne\u{2003}Room", "a b"),
                (["name": "N", "description": "  "], "N", nil), (["name": "N", "description": ""], "N", nil),
                (["name": "N", "description": nil], "N", nil), (["name": "N"], "N", nil),
                (["name": "<b>💩</b>"], "<b>💩</b>", nil),
            ]
            for (body, name, description) in table {
                let group = try await john.post("/api/groups", body).succeeded("\(body)")
                try expect(group["name"], equals: name)
                try expect(group["description"], equals: description)
                try expect(group["createdBy"], equals: john.id.json)
                try expect(group["createdAt"], equals: group["updatedAt"])
                let detail = try await john.get("/api/groups/\(group["id"]?.string ?? "")").succeeded()
                try expect(detail["group"] ?? nil, equals: group)
                try expect(detail["entries"], equals: [])
                try expect(detail["members"]?.elements.map { $0["userId"] }, equals: [john.id.json])
                try expect(detail["members"]?.elements.map { $0["role"] }, equals: ["admin"])
            }
        },
        Scenario("A group's name has 1 to 100 characters, its description at most 500", clause: "POST /api/groups") {
            _, john in
            let (name, description) = (
                "Invalid group data: name is required (max 100 chars)",
                "Invalid group data: description must be 500 characters or less"
            )
            let hidden = "Invalid group data: name contains invalid characters"
            let wide = JSONValue.string(String(repeating: "e\u{301}", count: 50))
            let table: [(body: JSONValue, text: String)] = [
                ([:], name), (["name": "", "description": 5], name), (["name": " \n "], name),
                (["name": "\u{200B}\u{2800}\u{FE0F}"], name), (["name": "a\u{202E}b"], hidden),
                (["name": "a\u{7}b"], hidden), (["name": "a\u{200B}b", "description": 5], hidden),
                (["name": .string(String(repeating: "x", count: 101))], name),
                (["name": .string(String(repeating: "e\u{301}", count: 51))], name),
                (["name": "N", "description": .string(String(repeating: "x", count: 501))], description),
                (["name": "N", "description": 5], description), (["name": "N", "description": ["x"]], description),
                (["name": "N", "description": false], description),
            ]
            for (body, text) in table { try await john.post("/api/groups", body).refused(400, text, "\(body)") }
            let long = JSONValue.string(" " + String(repeating: "x", count: 500) + " ")
            try await john.post("/api/groups", ["name": wide, "description": long]).succeeded()
        },
        Scenario(
            "Groups stand by their newest entry, those without entries last by their making", clause: "GET /api/groups"
        ) { world, john in
            let solo = try await john.solo()
            let (x, y) = (try await john.group("X"), try await john.group("Y"))
            try await world.tick()
            let s = try await john.group("S")
            try await world.tick()
            let t = try await john.group("T")
            try await john.log(in: x)
            try await world.tick()
            let newest = try await john.log(in: y)[0]
            let list = try await john.send(DeuceDiary.ListGroups())
            try expect(list.map(\.id), equals: [y, x, t, s, solo])
            try expect(list.map(\.entryCount), equals: [1, 1, 0, 0, 0])
            try expect(list[0].lastActivity, equals: newest.createdAt)
            try expect(list[2...].allSatisfy { $0.lastActivity == nil }, "an empty group was active")
            // An entry of long ago is as new as any other.
            try await world.tick()
            try await john.log(in: s, at: .init(milliseconds: 0))
            try expect(try await john.send(DeuceDiary.ListGroups()).map(\.id), equals: [s, y, x, t, solo])
        },
        Scenario("The list of groups is read in pages", clause: "GET /api/groups") { world, john, jane in
            for index in 0..<6 {
                let group = try await john.group("\(index)")
                if index.isMultiple(of: 2) { try await john.log(in: group) }
            }
            let foreign = try await jane.group()
            let all = try await john.send(DeuceDiary.ListGroups()).map(\.id)
            try expect(all.count, equals: 7)
            for size in 1...8 {
                let paged = try await john.client.groups(pageSize: size).elements(expecting: all.count)
                try expect(paged.map(\.id), equals: all)
            }
            for query in ["limit=0", "limit=-1", "limit=x", "limit=", "limit=1.5"] {
                try await john.get("/api/groups?\(query)").refused(400, "Invalid limit", query)
            }
            for id in [foreign.rawValue, world.unknownID(), "x", ""] {
                try await john.get("/api/groups?before=\(id)").refused(400, "Invalid cursor", id)
            }
            try expect(try await john.get("/api/groups?limit=99999").succeeded().elements.count, equals: 7)
        },
        Scenario(
            "A group shows its members, the newest first, and its entries with their authors",
            clause: "GET /api/groups/{groupId}"
        ) { world, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            let name = world.freshName()
            try await jane.send(DeuceDiary.UpdateUser(username: name))
            let first = try await jane.log("first", in: group, at: .init(milliseconds: 1_000_000_000_000))[0]
            let second = try await john.log("second", in: group)[0]
            let detail = try await joan.send(DeuceDiary.GetGroup(group: group))
            try expect(detail.members.map(\.userId), equals: [joan.id, jane.id, john.id])
            try expect(detail.members.map(\.role), equals: [.member, .member, .admin])
            try expect(detail.members.map(\.groupId), equals: [group, group, group])
            try expect(detail.members[1].personalRecord, equals: .init(date: Day(checked: "2001-09-09"), count: 1))
            try expect(detail.members[0].personalRecord, equals: nil)
            try expect(detail.entries.map(\.value), equals: [second, first])
            try expect(detail.entries.map(\.user.id), equals: [john.id, jane.id])
            try expect(detail.entries[1].user.username, equals: name)
            try expect(detail.entries[1].user.deuceCount, equals: 1)
            try expect(detail.entries[1].user, equals: detail.members[1].user)
            let list = try await joan.send(DeuceDiary.ListGroups()).first { $0.id == group }
            try expect(list?.memberCount, equals: 3)
            try expect(list?.entryCount, equals: 2)
            try expect(list?.lastActivity, equals: second.createdAt)
        },
        Scenario(
            "A group is 404 when there is none, and 403 for those who are not in it",
            clause: "GET /api/groups/{groupId}"
        ) { world, john, jane in
            let group = try await john.group()
            for id in [world.unknownID(), "x", "1", group.rawValue.uppercased(), "\(group)%20", "a%2Fb"] {
                for query in ["", "?limit=1"] {
                    try await jane.get("/api/groups/\(id)\(query)").refused(404, "Group not found", id)
                }
            }
            try await jane.get("/api/groups/\(group)").refused(403, "Not authorized")
            try await jane.get("/api/groups/\(group)?before=x").refused(403, "Not authorized")
            try await jane.get("/api/groups/\(group)?limit=0").refused(400, "Invalid limit")
        },
        Scenario(
            "The entries of a group are read in pages that new ones do not shift", clause: "GET /api/groups/{groupId}"
        ) { world, john, jane in
            let group = try await john.group(with: jane)
            let other = try await john.group()
            var logged: [DeuceDiary.DeuceEntry.ID] = []
            for index in 1...5 { logged.insert(try await john.log("e\(index)", in: group)[0].id, at: 0) }
            let ids = logged
            func page(_ query: String) async throws -> [DeuceDiary.DeuceEntry.ID] {
                let detail = try await jane.get("/api/groups/\(group)?\(query)").succeeded(query)
                return detail["entries"]?.elements.compactMap { $0["id"]?.string.map { .init($0) } } ?? []
            }
            try expect(try await page("limit=2"), equals: Array(ids[0..<2]))
            try await jane.log("e6", in: group)
            try expect(try await page("limit=2&before=\(ids[1])"), equals: Array(ids[2..<4]))
            try expect(try await page("limit=2&before=\(ids[3])"), equals: Array(ids[4..<5]))
            try expect(try await page("before=\(ids[4])"), equals: [])
            let foreign = try await john.log(in: other)[0].id
            for id in [foreign.rawValue, world.unknownID(), "x", ""] {
                try await jane.get("/api/groups/\(group)?before=\(id)").refused(400, "Invalid cursor", id)
            }
            for query in ["limit=0", "limit=-1", "limit=x", "limit="] {
                try await jane.get("/api/groups/\(group)?\(query)").refused(400, "Invalid limit", query)
            }
            let all = try await john.client.entries(of: group, pageSize: 4).elements(expecting: ids.count + 1)
            try expect(all.dropFirst().map(\.id), equals: ids)
        },
    ]
}
