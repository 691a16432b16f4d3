@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    private static let list = "GET /api/deuces"
    private static let delete = "DELETE /api/deuces/{entryId}"

    static let feed: [Scenario<DeuceDiaryWorld>] = [
        Scenario("The feed has the entries of all one's groups with their reactions, the newest first", clause: list) {
            world, john, jane in
            let (one, two) = (try await john.group(with: jane), try await john.group())
            let foreign = try await jane.group()
            try expect(try await john.get("/api/deuces").succeeded(), equals: [])
            let first = try await john.log("first", in: one)[0]
            try await world.tick()
            try await jane.log("unseen", in: foreign)
            let second = try await jane.log("second", in: one)[0]
            try await world.tick()
            // The entry is of long ago, and written last.
            let third = try await john.log("third", in: two, at: .init(milliseconds: 0))[0]
            var reactions = [try await jane.send(DeuceDiary.AddReaction(entry: first.id, emoji: "💩"))]
            reactions.append(try await john.send(DeuceDiary.AddReaction(entry: first.id, emoji: "💩")))
            let feed = try await john.send(DeuceDiary.ListDeuces())
            try expect(feed.map(\.entry.value), equals: [third, second, first])
            try expect(feed.map(\.reactions), equals: [[], [], reactions])
            try expect(feed.map(\.user.id), equals: [john.id, jane.id, john.id])
            let own = "\(john.id)@example.com"
            try expect(feed.map(\.user.email), equals: [own, nil, own])
            // They are the same as in the group itself.
            let detail = try await john.entries(of: one)
            try expect(try await john.send(DeuceDiary.ListDeuces(group: one)).map(\.entry), equals: detail)
            try expect(try await jane.send(DeuceDiary.ListDeuces(group: one)).map(\.id), equals: [second.id, first.id])
        },
        Scenario("The feed is read in pages that new entries do not shift", clause: list) { _, john, jane in
            let groups = [try await john.group(with: jane), try await john.group(with: jane), try await john.group()]
            for index in 0..<9 {
                // Some of the entries have the same time.
                _ = try await (index.isMultiple(of: 2) ? john : jane).send(
                    DeuceDiary.LogDeuce(
                        groups: index.isMultiple(of: 3) ? Array(groups[0..<2]) : [groups[index % 2]], location: "x",
                        thoughts: "\(index)"))
            }
            try await john.log("mine alone", in: groups[2])
            let all = try await john.send(DeuceDiary.ListDeuces()).map(\.id)
            try expect(all.count, equals: 13)
            let page = try await john.get("/api/deuces?limit=2&before=\(all[1])").succeeded().elements
            try expect(page.map { $0["id"] }, equals: all[2..<4].map(\.json))
            func entries(_ groups: some Collection<DeuceDiary.Group.ID>) async throws -> [DeuceDiary.FeedEntry] {
                var entries: [DeuceDiary.FeedEntry] = []
                for group in groups { entries += try await john.entries(of: group) }
                return entries.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            }
            try expect(all, equals: try await entries(groups).map(\.id))
            for size in [1, 2, 3, 5, 12, 13, 14] {
                var paged: [DeuceDiary.DeuceEntry.ID] = []
                for try await item in john.client.feed(pageSize: size).prefix(2 * all.count) {
                    if paged.count == 1 { try await jane.log("meanwhile", in: groups[0]) }
                    paged.append(item.id)
                }
                try expect(Array(paged.suffix(13)), equals: all)
                let entriesOfOne = try await john.entries(of: groups[1])
                let ofOne = try await john.client.feed(of: groups[1], pageSize: size)
                    .elements(expecting: entriesOfOne.count)
                try expect(ofOne.map(\.id), equals: entriesOfOne.map(\.id))
            }
        },
        Scenario("A page of the feed has 50 entries, and up to 100", clause: list) { _, john in
            var groups: [DeuceDiary.Group.ID] = []
            for _ in 0..<30 { groups.append(try await john.group()) }
            for _ in 0..<4 { try await john.send(DeuceDiary.LogDeuce(groups: groups, location: "x", thoughts: "")) }
            for (query, count) in [("", 50), ("?limit=1", 1), ("?limit=100", 100), ("?limit=99999", 100)] {
                let page = try await john.get("/api/deuces\(query)").succeeded().elements
                try expect(page.count, equals: count)
            }
        },
        Scenario("The feed refuses groups of others, and cursors that are not in it", clause: list) {
            world, john, jane in
            let (group, other, foreign) = (
                try await john.group(), try await john.group(), try await jane.group()
            )
            let entry = try await john.log(in: group)[0].id
            let unseen = try await jane.log(in: foreign)[0].id
            for id in [world.unknownID(), "x", ""] {
                try await john.get("/api/deuces?groupId=\(id)").refused(404, "Group not found", id)
                try await john.get("/api/deuces?before=\(id)").refused(400, "Invalid cursor", id)
            }
            try await john.get("/api/deuces?groupId=\(foreign)&before=x").refused(403, "Not authorized")
            try await john.get("/api/deuces?before=\(unseen)").refused(400, "Invalid cursor")
            try await john.get("/api/deuces?groupId=\(other)&before=\(entry)").refused(400, "Invalid cursor")
            for limit in ["0", "-1", "x", "", "1.5"] {
                try await john.get("/api/deuces?groupId=x&limit=\(limit)").refused(400, "Invalid limit", limit)
            }
            try expect(try await john.get("/api/deuces?before=\(entry)").succeeded(), equals: [])
        },
        Scenario("One's own entry is deleted from its group, with its reactions", clause: delete) { _, john, jane in
            let (one, two) = (try await john.group(with: jane), try await john.group())
            let older = try await jane.log("older", in: one)[0]
            let log = try await john.log("newer", in: one, two, at: .init(milliseconds: 0))
            for person in [john, jane] {
                try await person.send(DeuceDiary.AddReaction(entry: log[0].id, emoji: "💩"))
            }
            let answer = try await john.raw(.delete, "/api/deuces/\(log[0].id)").succeeded()
            try expect(answer, equals: ["message": "Entry deleted"])
            try await john.get("/api/entries/\(log[0].id)/reactions").refused(404, "Entry not found")
            try expect(try await jane.entries(of: one).map(\.id), equals: [older.id])
            try expect(try await john.send(DeuceDiary.ListDeuces()).map(\.id), equals: [log[1].id, older.id])
            let row = try await john.send(DeuceDiary.ListGroups()).first { $0.id == one }
            try expect(row?.entryCount, equals: 1)
            try expect(row?.lastActivity, equals: older.createdAt)
            // The log is still in another group.
            try expect(try await john.deuceCount(), equals: 1)
            try expect(try await john.client.topDay(), equals: .init(date: Day(daysSince1970: 0), count: 1))
            try await john.client.delete(log[1].id)
            try expect(try await john.deuceCount(), equals: 0)
            try expect(try await john.get("/api/analytics/most-deuces").succeeded(), equals: ["date": "", "count": 0])
            let rest = try await john.send(DeuceDiary.ListGroups()).first { $0.id == two }
            try expect(rest?.entryCount, equals: 0)
            try expect(rest?.lastActivity, equals: nil)
            try expect(try await jane.deuceCount(), equals: 1)
        },
        Scenario("The top day follows what is deleted", clause: delete) { _, john in
            let group = try await john.group()
            var logged: [DeuceDiary.DeuceEntry.ID] = []
            for day in ["2025-05-20", "2025-05-20", "2025-05-20", "2025-05-21", "2025-05-21"] {
                let time = DeuceDiary.Timestamp("\(day)T12:00:00Z")
                logged.append(try await john.log(in: group, at: time)[0].id)
            }
            let ids = logged
            for (index, expected) in [("2025-05-20", 3), ("2025-05-21", 2), ("2025-05-21", 2), ("2025-05-21", 2)]
                .enumerated()
            {
                let top = try DeuceDiary.TopDay(date: Day(checked: expected.0), count: expected.1)
                try expect(try await john.client.topDay(), equals: top)
                if index < 3 { try await john.client.delete(ids[index]) }
            }
            let members = try await john.send(DeuceDiary.GetGroup(group: group)).members
            try expect(members[0].personalRecord, equals: .init(date: Day(checked: "2025-05-21"), count: 2))
            try expect(try await john.deuceCount(), equals: 2)
        },
        Scenario("Entries of others are not deleted, and those of closed groups are not there", clause: delete) {
            world, john, jane, joan in
            let group = try await john.group(with: jane)
            let entry = try await jane.log(in: group)[0].id
            // An admin may not either.
            try await john.raw(.delete, "/api/deuces/\(entry)").refused(403, "Not authorized to delete this entry")
            for id in [entry.rawValue, world.unknownID(), "x", "%20"] {
                try await joan.raw(.delete, "/api/deuces/\(id)").refused(404, "Entry not found", id)
            }
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            let johns = try await john.log(in: group)[0].id
            try await jane.raw(.delete, "/api/deuces/\(johns)").refused(404, "Entry not found")
            try expect(try await john.entries(of: group).map(\.id), equals: [johns, entry])
        },
        Scenario("Authors delete their entries after they have left, and after they were removed", clause: delete) {
            _, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            let own = try await jane.group()
            let both = try await jane.log(in: group, own)
            let joans = try await joan.log(in: group)[0]
            try await joan.send(DeuceDiary.AddReaction(entry: both[0].id, emoji: "💩"))
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            try await john.send(DeuceDiary.RemoveMember(group: group, user: joan.id))
            // The export shows them.
            let ids = try await joan.send(DeuceDiary.ExportUser()).entries.map(\.id)
            try expect(ids, equals: [joans.id])
            try await jane.client.delete(both[0].id)
            let answer = try await joan.raw(.delete, "/api/deuces/\(joans.id)").succeeded()
            try expect(answer, equals: ["message": "Entry deleted"])
            try await joan.raw(.delete, "/api/deuces/\(joans.id)").refused(404, "Entry not found")
            try expect(try await john.entries(of: group), equals: [])
            let row = try await john.send(DeuceDiary.ListGroups()).first { $0.id == group }
            try expect(row?.entryCount, equals: 0)
            try expect(try await joan.deuceCount(), equals: 0)
            // The log is still in another group.
            try expect(try await jane.deuceCount(), equals: 1)
        },
        Scenario("Deleted at once from all its groups, a log is taken back once", clause: delete) { _, john in
            var made: [DeuceDiary.Group.ID] = []
            for _ in 0..<6 { made.append(try await john.group()) }
            let groups = made
            try await john.log("kept", in: groups[0])
            let log = try await john.send(DeuceDiary.LogDeuce(groups: groups, location: "x", thoughts: "")).entries
            let answers = try await together(18) { index in
                try await john.raw(.delete, "/api/deuces/\(log[index % 6].id)")
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 6)
            for answer in answers where answer.status != 200 { try answer.refused(404, "Entry not found") }
            try expect(try await john.deuceCount(), equals: 1)
            try expect(try await john.client.topDay()?.count, equals: 1)
            let list = try await john.send(DeuceDiary.ListGroups())
            try expect(list.map(\.entryCount).reduce(0, +), equals: 1)
        },
    ]
}
