@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let invites: [Scenario<DeuceDiaryWorld>] = [
        Scenario("An invite brings as many as like into its group", clause: "POST /api/join/{inviteId}") { world in
            let people = try await world.people(4)
            let john = try people[0]
            let group = try await john.send(DeuceDiary.CreateGroup(name: "Throne Room", description: "d"))
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group.id))
            try expect(invite.inviteLink.hasSuffix("/join/\(invite.id)"), "the link is \(invite.inviteLink)")
            guard let link = URL(string: invite.inviteLink) else { throw CheckFailure("no URL: \(invite.inviteLink)") }
            try expect(DeuceDiary.Invite.id(in: link), equals: invite.id)
            for person in try people[1...] {
                let joined = try await person.post("/api/join/\(invite.id)").succeeded()
                try expect(joined["message"], equals: nil)
                try expect(joined["group"]?["id"], equals: group.id.json)
                try expect(try await person.client.join(invite.id), equals: .alreadyMember(group))
            }
            let again = try await john.post("/api/join/\(invite.id)").succeeded()
            try expect(again["message"], equals: "Already a member of this group")
            let detail = try await people[3].send(DeuceDiary.GetGroup(group: group.id))
            try expect(detail.members.map(\.userId), equals: people.map(\.id).reversed())
        },
        Scenario("Joining twice at once makes one membership", clause: "POST /api/join/{inviteId}") { _, john, jane in
            let group = try await john.group()
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            let answers = try await together(20) { _ in try await jane.post("/api/join/\(invite)").succeeded() }
            try expect(answers.filter { $0["message"] == nil }.count, equals: 1)
            try expect(answers.filter { $0["message"] == "Already a member of this group" }.count, equals: 19)
            let list = try await john.send(DeuceDiary.ListGroups())
            try expect(list.first { $0.id == group }?.memberCount, equals: 2)
        },
        Scenario(
            "Every call makes an invite of its own, for members only",
            clause: "POST /api/groups/{groupId}/invite"
        ) { world, john, jane, joan in
            let group = try await john.group(with: jane)
            var ids: Set<DeuceDiary.Invite.ID> = []
            for person in [john, john, jane] {
                ids.insert(try await person.send(DeuceDiary.CreateInvite(group: group)).id)
            }
            try expect(ids.count, equals: 3)
            for id in [group.rawValue, world.unknownID(), "x"] {
                try await joan.post("/api/groups/\(id)/invite").refused(403, "Not authorized", id)
            }
        },
        Scenario("What is no invite is refused", clause: "POST /api/join/{inviteId}") { world, john in
            let group = try await john.group()
            for id in [world.unknownID(), "x", group.rawValue, "%20", "a%2Fb"] {
                try await john.post("/api/join/\(id)").refused(400, "Invalid or expired invite", id)
            }
        },
        Scenario(
            "An invite shows its group to any user who holds it", clause: "GET /api/groups/preview/{inviteId}"
        ) { world, john, jane in
            let group = try await john.group("Throne Room", with: jane)
            for person in [john, jane, john] { try await person.log(in: group) }
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            let path = "/api/groups/preview/\(invite)"
            let preview = try await world.raw.send(.get, path).succeeded()
            try expect(preview["name"], equals: "Throne Room")
            try expect([preview["memberCount"], preview["deuceCount"]], equals: [2, 3])
            // The time is by the server's clock, which entries show.
            let entry = try await john.log(in: group)[0]
            let expiry = preview["expiresAt"]?.string.flatMap { DeuceDiary.Timestamp($0) }?.milliseconds ?? 0
            let days = Double(expiry - entry.createdAt.milliseconds) / 86_400_000
            try expect(6.9...7 ~= days, "it expires in \(days) days")
            for header in ["Bearer nonsense", "Bearer \(jane.token)"] {
                try await world.raw.send(.get, path, headers: [.authorization: header]).succeeded(header)
            }
            for id in [world.unknownID(), "x", "%20", group.rawValue] {
                try await world.raw.send(.get, "/api/groups/preview/\(id)")
                    .refused(404, "Invite not found or expired", id)
            }
        },
        Scenario("A browser is led to the app, with any invite and without a token", clause: "GET /join/{inviteId}") {
            world, john in
            let invite = try await john.send(DeuceDiary.CreateInvite(group: try await john.solo())).id
            for id in [invite.rawValue, world.unknownID()] {
                let answer = try await world.raw.send(
                    .get, "/join/\(id)?next=https://evil.example", headers: [.authorization: "Bearer nonsense"])
                try expect(answer.status, equals: 302)
                let location = answer.headers[.location] ?? ""
                try expect(location.contains(id) && !location.contains("evil"), "leads to \(location)")
            }
            for id in ["x", "1", "\(invite)x", "%2e%2e", "https:%2f%2fevil.example"] {
                try await world.raw.send(.get, "/join/\(id)").refused(404, "Not found", id)
            }
        },
        Scenario("Members see the invites that they made, admins all", clause: listInvites) { world, john, jane, joan in
            let group = try await john.group(with: jane)
            let elsewhere = try await john.group(with: jane)
            try await john.send(DeuceDiary.CreateInvite(group: elsewhere))
            let path = "/api/groups/\(group)/invites"
            // Jane joined with this invite.
            let first = try await john.get(path).succeeded().elements
            try expect(first.count, equals: 1)
            try expect(try await jane.get(path).succeeded(), equals: [])
            var created: [DeuceDiary.CreatedInvite] = []
            for person in [jane, john, jane] {
                try await world.tick()
                created.append(try await person.send(DeuceDiary.CreateInvite(group: group)))
            }
            let made = created
            let all = try await john.get(path).succeeded()
            try expect(all.elements.dropFirst(3), equals: first[...])
            for (index, invite) in made.reversed().enumerated() {
                let row = all[index]
                try expect(row?["id"], equals: invite.id.json)
                try expect(row?["groupId"], equals: group.json)
                try expect(row?["inviteLink"], equals: .string(invite.inviteLink))
                try expect(row?["createdBy"], equals: (index == 1 ? john : jane).id.json)
                let times = ["createdAt", "expiresAt"].compactMap { name in
                    row?[name]?.string.flatMap { DeuceDiary.Timestamp($0) }?.milliseconds
                }
                try expect(times.count == 2 && times[1] - times[0] == 7 * 86_400_000, "times \(times)")
            }
            let own = try await jane.send(DeuceDiary.ListInvites(group: group)).map(\.id)
            try expect(own, equals: [made[2].id, made[0].id])
            for id in [group.rawValue, world.unknownID(), "x", "%20"] {
                try await joan.get("/api/groups/\(id)/invites").refused(403, "Not authorized", id)
            }
        },
        Scenario("The list of invites is read in pages", clause: listInvites) { world, john, jane in
            let group = try await john.group()
            var ids: [DeuceDiary.Invite.ID] = []
            for _ in 0..<5 { ids.insert(try await john.send(DeuceDiary.CreateInvite(group: group)).id, at: 0) }
            var found: [DeuceDiary.Invite.ID] = []
            for count in [2, 2, 1] {
                let page = try await john.send(DeuceDiary.ListInvites(group: group, limit: 2, before: found.last))
                try expect(page.count, equals: count)
                found += page.map(\.id)
            }
            try expect(Set(found), equals: Set(ids))
            try expect(try await john.send(DeuceDiary.ListInvites(group: group)).map(\.id), equals: found)
            for limit in ["0", "-1", "x", "1.5"] {
                try await john.get("/api/groups/\(group)/invites?limit=\(limit)").refused(400, "Invalid limit", limit)
            }
            // It is an invite of another group, and one by another member, where a member sees only their own.
            let other = try await john.group(with: jane)
            let foreign = try await john.send(DeuceDiary.CreateInvite(group: other)).id
            try await john.get("/api/groups/\(group)/invites?before=\(foreign)").refused(400, "Invalid cursor")
            for id in [foreign.rawValue, world.unknownID(), "x"] {
                try await jane.get("/api/groups/\(other)/invites?before=\(id)").refused(400, "Invalid cursor", id)
            }
        },
        Scenario("An invite is revoked by its maker or an admin, and leads nowhere then", clause: revokeInvite) {
            world in
            let people = try await world.people(4)
            let (john, jane, joan, stranger) = try (people[0], people[1], people[2], people[3])
            let group = try await john.group(with: jane, joan)
            let (johns, janes, more) = (
                try await john.send(DeuceDiary.CreateInvite(group: group)).id,
                try await jane.send(DeuceDiary.CreateInvite(group: group)).id,
                try await jane.send(DeuceDiary.CreateInvite(group: group)).id
            )
            for person in [joan, stranger] {
                for invite in [johns, janes] {
                    try await person.raw(.delete, "/api/invites/\(invite)").refused(403, "Not authorized")
                }
            }
            try await jane.raw(.delete, "/api/invites/\(johns)").refused(403, "Not authorized")
            let answer = try await jane.raw(.delete, "/api/invites/\(janes)").succeeded()
            try expect(answer, equals: ["message": "Invite revoked"])
            try await john.client.revoke(more)
            for invite in [janes, more] {
                try await stranger.post("/api/join/\(invite)").refused(400, "Invalid or expired invite")
                try await world.raw.send(.get, "/api/groups/preview/\(invite)")
                    .refused(404, "Invite not found or expired")
            }
            for id in [janes.rawValue, more.rawValue, world.unknownID(), "x", "%20", group.rawValue] {
                for person in [john, jane, stranger] {
                    try await person.raw(.delete, "/api/invites/\(id)").refused(404, "Invite not found", id)
                }
            }
            try await stranger.send(DeuceDiary.JoinGroup(invite: johns))
            // A member who joined with it stays.
            try await john.client.revoke(johns)
            try await stranger.get("/api/groups/\(group)").succeeded()
            try expect(try await jane.send(DeuceDiary.ListInvites(group: group)), equals: [])
        },
    ]

    private static let listInvites = "GET /api/groups/{groupId}/invites"
    private static let revokeInvite = "DELETE /api/invites/{inviteId}"
}
