@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    private static let delete = "DELETE /api/auth/user"
    private static let export = "GET /api/auth/user/export"

    static let accounts: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A deleted account leaves nothing of its user behind", clause: delete) { world, john, jane, joan in
            let name = world.freshName()
            try await john.send(DeuceDiary.UpdateUser(username: name))
            let picture = try await john.client.uploadProfilePicture(.sample).profileImageUrl ?? ""
            let (shared, own) = (try await john.group(with: jane, joan), try await john.group())
            let janes = try await jane.log("hers", in: shared)[0]
            let johns = try await john.log("his", in: shared, own)
            let guest = try await jane.group(with: john)
            try await john.log("elsewhere", in: guest)
            // Entries in a group that the user has left are removed, too.
            try await john.send(DeuceDiary.LeaveGroup(group: guest))
            for entry in try [janes, johns[0]] {
                for person in [john, jane] {
                    try await person.send(DeuceDiary.AddReaction(entry: entry.id, emoji: "💩"))
                }
            }
            let invite = try await john.send(DeuceDiary.CreateInvite(group: shared)).id
            let janesInvite = try await jane.send(DeuceDiary.CreateInvite(group: shared)).id
            let place = try await john.send(DeuceDiary.CreateLocation(name: world.freshName()))
            let answer = try await john.raw(.delete, "/api/auth/user").succeeded()
            try expect(answer, equals: ["message": "Account deleted"])

            let text = try await jane.get("/api/groups/\(shared)").text
            try expect(!text.contains(john.id.rawValue) && !text.contains(name), "\(text)")
            let detail = try await jane.send(DeuceDiary.GetGroup(group: shared))
            try expect(detail.members.map(\.userId), equals: [joan.id, jane.id])
            try expect(detail.members.map(\.role), equals: [.member, .admin])
            try expect(detail.group.createdBy, equals: jane.id)
            try expect(detail.entries.map(\.value), equals: [janes])
            let list = try await jane.send(DeuceDiary.ListGroups())
            let (row, left) = (list.first { $0.id == shared }, list.first { $0.id == guest })
            try expect([row?.memberCount, row?.entryCount, left?.entryCount], equals: [2, 1, 0])
            try expect([row?.lastActivity, left?.lastActivity], equals: [janes.createdAt, nil])
            let reactions = try await jane.send(DeuceDiary.ListReactions(entry: janes.id))
            try expect(reactions.map(\.user.id), equals: [jane.id])
            try await jane.get("/api/entries/\(johns[0].id)/reactions").refused(404, "Entry not found")
            try await jane.get("/api/groups/\(own)").refused(404, "Group not found")
            try await world.raw.send(.get, picture).refused(404, "Not found")
            // John's invite ends with his account, Jane's stays valid.
            let guestOfJane = try await world.person()
            try await guestOfJane.post("/api/join/\(invite)").refused(400, "Invalid or expired invite")
            try await guestOfJane.post("/api/join/\(janesInvite)").succeeded()
            let places = try await jane.client.locations()
            try expect(places.first { $0.id == place.id }?.name, equals: place.name)
            try expect(places.first { $0.id == place.id }?.createdBy, equals: nil)
            try await jane.send(DeuceDiary.UpdateUser(username: name))
        },
        Scenario("A token from before is refused for good, and a later one begins an empty account", clause: delete) {
            world, john, jane in
            let group = try await john.group(with: jane)
            try await john.log(in: group)
            let key = world.freshKey()
            let before = try await john.post("/api/groups", ["name": "N"], headers: key).succeeded()
            try await john.client.deleteAccount()
            for (method, path) in Rules.closed() {
                try await john.raw(method, path).refused(401, "Unauthorized", "\(method) \(path)")
            }
            let again = try await world.afresh(john)
            let user = try await again.send(DeuceDiary.GetUser())
            try expect(user.id, equals: john.id)
            try expect(user.deuceCount, equals: 0)
            try expect(user.username, equals: nil)
            try expect(user.profileImageUrl, equals: nil)
            try expect(try await again.send(DeuceDiary.ListGroups()).map(\.name), equals: ["Solo Deuces"])
            try expect(try await again.send(DeuceDiary.ListDeuces()), equals: [])
            try expect(try await again.client.topDay(), equals: nil)
            try await again.get("/api/groups/\(group)").refused(403, "Not authorized")
            // An earlier answer belongs to no account any more.
            let made = try await again.post("/api/groups", ["name": "N"], headers: key)
            try expect(made.headers[.idempotentReplayed], equals: nil)
            try expect(try made.succeeded()["id"] != before["id"], "an answer of before")
            try await john.get("/api/auth/user").refused(401, "Unauthorized")
            try await john.raw(.delete, "/api/auth/user").refused(401, "Unauthorized")
            try expect(try await again.send(DeuceDiary.GetUser()), equals: user)
        },
        Scenario("An account that is deleted while it logs leaves no entry", clause: delete) { world in
            for _ in 0..<3 {
                let (john, jane) = try await world.pair()
                let group = try await jane.group(with: john)
                let own = try await john.group()
                let kept = try await jane.log("kept", in: group)[0]
                let log: JSONValue = ["groupIds": [group.json, own.json], "location": "x", "thoughts": ""]
                let attempts: [@Sendable () async throws -> RawAnswer] = [
                    { try await john.post("/api/deuces", log) },
                    { try await john.post("/api/groups", ["name": "N"]) },
                    { try await john.post("/api/entries/\(kept.id)/reactions", ["emoji": "💩"]) },
                    { try await john.post("/api/groups/\(group)/invite") },
                    { try await john.post("/api/locations", ["name": .string(world.freshName())]) },
                    { try await john.get("/api/auth/user") },
                ]
                let answers = try await together(24) { index in
                    if index == 11 { return try await john.raw(.delete, "/api/auth/user") }
                    return try await attempts[index % 6]()
                }
                try answers[11].succeeded()
                for answer in answers { try expect(answer.status < 500, "\(answer.status) \(answer.text)") }
                let detail = try await jane.send(DeuceDiary.GetGroup(group: group))
                try expect(detail.members.map(\.userId), equals: [jane.id])
                try expect(detail.entries.map(\.id), equals: [kept.id])
                let row = try await jane.send(DeuceDiary.ListGroups()).first { $0.id == group }
                try expect(row?.entryCount, equals: 1)
                try expect(row?.lastActivity, equals: kept.createdAt)
                try expect(try await jane.send(DeuceDiary.ListReactions(entry: kept.id)), equals: [])
                try await john.get("/api/groups").refused(401, "Unauthorized")
            }
        },
        Scenario("Of several deletions at once one is done", clause: delete) { _, john in
            let answers = try await together(10) { _ in try await john.raw(.delete, "/api/auth/user") }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 { try answer.refused(401, "Unauthorized") }
        },
        Scenario("An export has all that is kept of a user", clause: export) { world, john, jane in
            let solo = try await john.solo()
            let group = try await jane.group("Hers", with: john)
            let left = try await jane.group(with: john)
            let older = try await john.log("in both", in: group, left)
            try await world.tick()
            let newer = try await john.log("newer", in: solo)[0]
            let janes = try await jane.log("hers", in: group)[0]
            var reactions = [try await john.send(DeuceDiary.AddReaction(entry: janes.id, emoji: "💩"))]
            try await world.tick()
            reactions.append(try await john.send(DeuceDiary.AddReaction(entry: older[0].id, emoji: "x")))
            try await jane.send(DeuceDiary.AddReaction(entry: older[0].id, emoji: "hers"))
            let place = try await john.send(DeuceDiary.CreateLocation(name: world.freshName()))
            try await jane.send(DeuceDiary.CreateLocation(name: world.freshName()))
            try await john.send(DeuceDiary.LeaveGroup(group: left))
            let answer = try await john.get("/api/auth/user/export")
            try expect(answer.headers[.contentDisposition], equals: "attachment")
            try answer.succeeded()
            try expect(answer.headers[.cacheControl], equals: "private, no-cache")
            try expect(answer.headers[.vary]?.contains("Accept-Encoding") == true, "an export is never compressed")
            let export = try await john.send(DeuceDiary.ExportUser())
            try expect(export.user, equals: try await john.send(DeuceDiary.GetUser()))
            try expect(export.groups.map(\.name), equals: ["Hers", "Solo Deuces"])
            try expect(export.groups.map(\.role), equals: [.member, .admin])
            let members = try await john.send(DeuceDiary.GetGroup(group: group)).members
            try expect(export.groups[0].joinedAt, equals: members.first { $0.userId == john.id }?.joinedAt)
            try expect(export.entries.first, equals: newer)
            try expect(Set(export.entries), equals: Set(older + [newer]))
            try expect(export.reactions, equals: reactions)
            try expect(export.locations, equals: [place])
            try expect(export.exportedAt >= newer.createdAt, "exported at \(export.exportedAt)")
        },
    ]
}

extension DeuceDiaryWorld {
    /// Returns a new account of a deleted user, with a token of a later second.
    func afresh(_ person: Person) async throws -> Person {
        while true {
            let again = try await stranger(Bearer(subject: person.id.rawValue))
            if try await again.get("/api/auth/user").status != 401 { return again }
            try await tick()
        }
    }
}

extension HTTPField.Name {
    fileprivate static let contentDisposition = Self("Content-Disposition")!
}
