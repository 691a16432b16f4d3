@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    private static let leave = "POST /api/groups/{groupId}/leave"
    private static let remove = "DELETE /api/groups/{groupId}/members/{userId}"

    static let members: [Scenario<DeuceDiaryWorld>] = [
        Scenario("Who leaves a group is out of it, and their entries stay", clause: leave) { _, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            let entry = try await jane.log(in: group)[0]
            let johns = try await john.log(in: group)[0]
            let answer = try await jane.post("/api/groups/\(group)/leave").succeeded()
            try expect(answer, equals: ["message": "Left group"])
            try await expectOutside(jane, group, johns.id)
            let detail = try await joan.send(DeuceDiary.GetGroup(group: group))
            try expect(detail.members.map(\.userId), equals: [joan.id, john.id])
            try expect(detail.entries.map(\.value), equals: [johns, entry])
            try expect(detail.entries.map(\.user.id), equals: [john.id, jane.id])
            let row = try await john.send(DeuceDiary.ListGroups()).first { $0.id == group }
            try expect([row?.memberCount, row?.entryCount], equals: [2, 2])
            try expect(try await jane.deuceCount(), equals: 1)
            // Another member may invite them again, as an ordinary member.
            let invite = try await joan.send(DeuceDiary.CreateInvite(group: group)).id
            try expect(try await jane.post("/api/join/\(invite)").succeeded()["message"], equals: nil)
            let again = try await jane.send(DeuceDiary.GetGroup(group: group)).members
            try expect(again.map(\.userId), equals: [jane.id, joan.id, john.id])
            try expect(again.map(\.role), equals: [.member, .member, .admin])
        },
        Scenario("When no admin is left, the longest-standing member becomes one", clause: leave) { world in
            let people = try await world.people(4)
            let group = try await people[0].group(with: people[1], people[2], people[3])
            for index in 0..<3 {
                try await people[index].send(DeuceDiary.LeaveGroup(group: group))
                let detail = try await people[3].send(DeuceDiary.GetGroup(group: group))
                try expect(detail.members.last?.userId, equals: people[index + 1].id)
                let roles = detail.members.map(\.role)
                try expect(roles.last == .admin && !roles.dropLast().contains(.admin), "\(roles)")
                // The creator of the group stays its creator.
                try expect(detail.group.createdBy, equals: people[0].id)
            }
        },
        Scenario("When other members leave, no one becomes admin", clause: leave) { _, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            let members = try await john.send(DeuceDiary.GetGroup(group: group)).members
            try expect(members.map(\.role), equals: [.member, .admin])
        },
        Scenario("The last member's leaving deletes the group, its entries and its invites", clause: leave) {
            world, john, jane in
            let (group, other) = (try await john.group(with: jane), try await john.group())
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            // One of John's logs is in another group, too.
            let both = try await john.log("both", in: group, other, at: .init(milliseconds: 0))
            let gone = try await john.log("gone", in: group)[0]
            try await jane.log("hers", in: group)
            for person in [john, jane] { try await person.send(DeuceDiary.AddReaction(entry: gone.id, emoji: "💩")) }
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            try expect(try await jane.deuceCount(), equals: 1)
            try await john.send(DeuceDiary.LeaveGroup(group: group))
            try await john.get("/api/groups/\(group)").refused(404, "Group not found")
            try await john.post("/api/groups/\(group)/leave").refused(404, "Group not found")
            try await jane.post("/api/join/\(invite)").refused(400, "Invalid or expired invite")
            try await world.raw.send(.get, "/api/groups/preview/\(invite)")
                .refused(404, "Invite not found or expired")
            try await john.get("/api/entries/\(gone.id)/reactions").refused(404, "Entry not found")
            try expect(try await john.send(DeuceDiary.ListDeuces()).map(\.id), equals: [both[1].id])
            // An entry that is in no group any more does not count.
            try expect(try await john.deuceCount(), equals: 1)
            try expect(try await john.client.topDay(), equals: .init(date: Day(daysSince1970: 0), count: 1))
            try expect(try await jane.deuceCount(), equals: 0)
            try expect(try await jane.client.topDay(), equals: nil)
        },
        Scenario("Who leaves all their groups gets Solo Deuces again", clause: leave) { _, john in
            let solo = try await john.solo()
            try await john.client.leave(solo)
            try expect(try await john.send(DeuceDiary.ListGroups()), equals: [])
            try await john.send(DeuceDiary.GetUser())
            try expect(try await john.solo() != solo, "the same group again")
        },
        Scenario("When all but one leave at once, the one is admin", clause: leave) { world in
            let people = try await world.people(8)
            let group = try await people[0].group()
            let invite = try await people[0].send(DeuceDiary.CreateInvite(group: group)).id
            for person in try people[1...] { try await person.send(DeuceDiary.JoinGroup(invite: invite)) }
            _ = try await together(7) { try await people[$0].send(DeuceDiary.LeaveGroup(group: group)) }
            let members = try await people[7].send(DeuceDiary.GetGroup(group: group)).members
            try expect(members.map(\.userId), equals: [people[7].id])
            try expect(members.map(\.role), equals: [.admin])
        },
        Scenario("A user who joins while the last member leaves is in the group, or there is none", clause: leave) {
            world in
            for _ in 0..<5 {
                let (john, jane, joan) = try await world.trio()
                let group = try await john.group()
                let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
                let answers = try await together(3) { index in
                    if index == 1 { return try await john.post("/api/groups/\(group)/leave") }
                    return try await (index == 0 ? jane : joan).post("/api/join/\(invite)")
                }
                try answers[1].succeeded()
                let joined = try zip([jane, joan], [answers[0], answers[2]]).filter { $1.status == 200 }.map(\.0)
                for answer in try [answers[0], answers[2]] where answer.status != 200 {
                    try answer.refused(400, "Invalid or expired invite")
                }
                guard let one = joined.first else {
                    try await jane.get("/api/groups/\(group)").refused(404, "Group not found")
                    continue
                }
                let members = try await one.send(DeuceDiary.GetGroup(group: group)).members
                try expect(Set(members.map(\.userId)), equals: Set(joined.map(\.id)))
                try expect(members.filter { $0.role == .admin }.count, equals: 1)
            }
        },
        Scenario("The invites of those who leave end, and no others", clause: leave) { world, john, jane, joan in
            let (group, other) = (try await john.group(with: jane), try await john.group(with: jane))
            let johns = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            let janes = try await jane.send(DeuceDiary.CreateInvite(group: group)).id
            let elsewhere = try await jane.send(DeuceDiary.CreateInvite(group: other)).id
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            try await joan.post("/api/join/\(janes)").refused(400, "Invalid or expired invite")
            try await world.raw.send(.get, "/api/groups/preview/\(janes)")
                .refused(404, "Invite not found or expired")
            try await joan.send(DeuceDiary.JoinGroup(invite: johns))
            try await joan.send(DeuceDiary.JoinGroup(invite: elsewhere))
            // Members who left by themselves may come back with the same invite.
            try await jane.send(DeuceDiary.JoinGroup(invite: johns))
            // Joining again does not restore the invites.
            try await world.person().post("/api/join/\(janes)").refused(400, "Invalid or expired invite")
        },
        Scenario("Who is no member cannot leave", clause: leave) { world, john, jane in
            let group = try await john.group()
            try await jane.post("/api/groups/\(group)/leave").refused(403, "Not authorized")
            for id in [world.unknownID(), "x", "%20"] {
                try await jane.post("/api/groups/\(id)/leave").refused(404, "Group not found", id)
            }
            // Concurrent requests act once.
            let answers = try await together(6) { _ in try await john.post("/api/groups/\(group)/leave").status }
            try expect(answers.filter { $0 == 200 }.count, equals: 1)
            try expect(answers.allSatisfy { [200, 403, 404].contains($0) }, "\(answers)")
        },
        Scenario("An admin removes a member, whose entries stay", clause: remove) { _, john, jane, joan in
            let group = try await john.group(with: jane, joan)
            let entry = try await jane.log(in: group)[0]
            let johns = try await john.log(in: group)[0]
            let answer = try await john.raw(.delete, "/api/groups/\(group)/members/\(jane.id)").succeeded()
            try expect(answer, equals: ["message": "Member removed"])
            try await expectOutside(jane, group, johns.id)
            let detail = try await joan.send(DeuceDiary.GetGroup(group: group))
            try expect(detail.members.map(\.userId), equals: [joan.id, john.id])
            try expect(detail.entries.map(\.value), equals: [johns, entry])
            // They may be invited again like any other user.
            let invite = try await joan.send(DeuceDiary.CreateInvite(group: group)).id
            try await jane.send(DeuceDiary.JoinGroup(invite: invite))
        },
        Scenario("Who is removed does not come back by the invites they made or came by", clause: remove) { world in
            let people = try await world.people(4)
            let (john, jane, joan, stranger) = try (people[0], people[1], people[2], people[3])
            let group = try await john.group()
            let (first, second, others) = (
                try await john.send(DeuceDiary.CreateInvite(group: group)).id,
                try await john.send(DeuceDiary.CreateInvite(group: group)).id,
                try await john.send(DeuceDiary.CreateInvite(group: group)).id
            )
            // Jane has joined twice, Joan with an invite by Jane.
            try await jane.send(DeuceDiary.JoinGroup(invite: first))
            try await jane.send(DeuceDiary.LeaveGroup(group: group))
            try await jane.send(DeuceDiary.JoinGroup(invite: second))
            let janes = try await jane.send(DeuceDiary.CreateInvite(group: group)).id
            try await joan.send(DeuceDiary.JoinGroup(invite: janes))
            let joans = try await joan.send(DeuceDiary.CreateInvite(group: group)).id
            try await john.send(DeuceDiary.RemoveMember(group: group, user: jane.id))
            for invite in [first, second, janes] {
                for person in [jane, stranger] {
                    try await person.post("/api/join/\(invite)").refused(400, "Invalid or expired invite")
                }
            }
            // Members whom she invited stay, and so do the invites of others.
            let members = try await joan.send(DeuceDiary.GetGroup(group: group)).members
            try expect(members.map(\.userId), equals: [joan.id, john.id])
            let left = try await john.send(DeuceDiary.ListInvites(group: group)).map(\.id)
            try expect(Set(left), equals: [others, joans])
            try await stranger.send(DeuceDiary.JoinGroup(invite: others))
        },
        Scenario("A user who joins by an invite that ends at once is in, or refused", clause: remove) { world in
            for _ in 0..<5 {
                let (john, jane, joan) = try await world.trio()
                let group = try await john.group(with: jane)
                let invite = try await jane.send(DeuceDiary.CreateInvite(group: group)).id
                let answers = try await together(2) { index in
                    index == 0
                        ? try await john.raw(.delete, "/api/groups/\(group)/members/\(jane.id)")
                        : try await joan.post("/api/join/\(invite)")
                }
                try answers[0].succeeded()
                let members = try await john.send(DeuceDiary.GetGroup(group: group)).members.map(\.userId)
                if try answers[1].status == 200 {
                    try expect(members, equals: [joan.id, john.id])
                } else {
                    try answers[1].refused(400, "Invalid or expired invite")
                    try expect(members, equals: [john.id])
                }
                try expect(
                    try await john.send(DeuceDiary.ListInvites(group: group)).contains { $0.id == invite },
                    equals: false)
            }
        },
        Scenario("Only an admin removes, and only others who are members", clause: remove) { world in
            let people = try await world.people(4)
            let (john, jane, joan, outsider) = try (people[0], people[1], people[2], people[3])
            let group = try await john.group(with: jane, joan)
            func remove(_ user: String, by person: Person, from group: String) async throws -> RawAnswer {
                try await person.raw(.delete, "/api/groups/\(group)/members/\(user)")
            }
            let (id, unknown) = (group.rawValue, world.unknownID())
            for user in [john.id.rawValue, jane.id.rawValue, outsider.id.rawValue, "x"] {
                for person in [jane, joan, outsider] {
                    try await remove(user, by: person, from: id).refused(403, "Not authorized", user)
                }
                try await remove(user, by: john, from: unknown).refused(404, "Group not found", user)
            }
            try await remove(john.id.rawValue, by: john, from: id).refused(400, "Use leave to remove yourself")
            for user in [outsider.id.rawValue, "x", "a%2Fb"] {
                try await remove(user, by: john, from: id).refused(404, "Member not found", user)
            }
            let members = try await joan.send(DeuceDiary.GetGroup(group: group)).members
            try expect(members.map(\.userId), equals: [joan.id, jane.id, john.id])
        },
    ]

    /// Fails unless everything in the group is closed to a user.
    private static func expectOutside(
        _ person: Person, _ group: DeuceDiary.Group.ID, _ entry: DeuceDiary.DeuceEntry.ID
    ) async throws {
        try await person.get("/api/groups/\(group)").refused(403, "Not authorized")
        try await person.post("/api/groups/\(group)/leave").refused(403, "Not authorized")
        try await person.post("/api/groups/\(group)/invite").refused(403, "Not authorized")
        try await person.get("/api/deuces?groupId=\(group)").refused(403, "Not authorized")
        try await person.get("/api/entries/\(entry)/reactions")
            .refused(403, "Not authorized to access this entry")
        try await person.raw(.delete, "/api/deuces/\(entry)").refused(404, "Entry not found")
        let log: JSONValue = ["groupIds": [group.json], "location": "x", "thoughts": ""]
        try await person.post("/api/deuces", log).refused(403, "Not authorized for group \(group)")
        let groups = try await person.send(DeuceDiary.ListGroups()).map(\.id)
        try expect(!groups.contains(group), "the group is listed")
    }
}
