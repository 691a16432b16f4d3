import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let invites: [Scenario<DeuceDiaryWorld>] = [
        Scenario("An invite brings as many as like into its group", clause: "POST /api/join/{inviteId}") {
            world in
            let people = try await world.people(4)
            let john = people[0]
            let group = try await john.send(DeuceDiary.CreateGroup(name: "Throne Room", description: "d"))
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group.id))
            try expect(invite.inviteLink.hasSuffix("/join/\(invite.id)"), "the link is \(invite.inviteLink)")
            guard let link = URL(string: invite.inviteLink) else { throw Broken("no URL: \(invite.inviteLink)") }
            try expect(DeuceDiary.Invite.id(in: link), equals: invite.id)
            for person in people[1...] {
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
        Scenario("Joining twice at once makes one membership", clause: "POST /api/join/{inviteId}") { world in
            let (john, jane) = try await world.pair()
            let group = try await john.group()
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            let answers = try await together(20) { _ in try await jane.post("/api/join/\(invite)").succeeded() }
            try expect(answers.filter { $0["message"] == nil }.count, equals: 1)
            try expect(answers.filter { $0["message"] == "Already a member of this group" }.count, equals: 19)
            let list = try await john.send(DeuceDiary.ListGroups())
            try expect(list.first { $0.id == group }?.memberCount, equals: 2)
        },
        Scenario(
            "Every call makes an invite of its own, for any member and nobody else",
            clause: "POST /api/groups/{groupId}/invite"
        ) {
            world in
            let (john, jane, joan) = try await world.trio()
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
        Scenario("What is no invite is refused", clause: "POST /api/join/{inviteId}") { world in
            let john = try await world.person()
            let group = try await john.group()
            for id in [world.unknownID(), "x", group.rawValue, "%20", "a%2Fb"] {
                try await john.post("/api/join/\(id)").refused(400, "Invalid or expired invite", id)
            }
        },
        Scenario(
            "An invite shows what it leads to, to whoever holds it", clause: "GET /api/groups/preview/{inviteId}"
        ) {
            world in
            let (john, jane) = try await world.pair()
            let group = try await john.group("Throne Room", with: jane)
            for person in [john, jane, john] { try await person.log(in: group) }
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            let path = "/api/groups/preview/\(invite)"
            let preview = try await world.raw.send(.get, path).succeeded()
            try expect(preview["name"], equals: "Throne Room")
            try expect([preview["memberCount"], preview["deuceCount"]], equals: [2, 3])
            // By the server's clock, which entries show.
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
        Scenario("A browser is led to the app, whoever asks and whatever the invite", clause: "GET /join/{inviteId}") {
            world in
            let john = try await world.person()
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
    ]
}
