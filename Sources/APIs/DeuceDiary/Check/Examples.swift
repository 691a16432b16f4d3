@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    /// Scenarios of the promises that the published contract itself makes, in words or by example: a server that was
    /// made from that document alone passes them. They work with existing users, so that a run may use given tokens.
    /// ``ResponseValidator`` checks the names and types of all members.
    static let examples: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A user sees their own account, and Solo Deuces", clause: "GET /api/auth/user", level: .contract) {
            world, john in
            let user = try await john.get("/api/auth/user").succeeded()
            try expect(user["id"], equals: john.id.json)
            let groups = try await john.get("/api/groups").succeeded().elements
            try expect(!groups.isEmpty, "a user without any group")
            for header in [nil, "Bearer nonsense"] {
                var headers = HTTPFields()
                headers[.authorization] = header
                let answer = try await world.raw.send(.get, "/api/auth/user", headers: headers)
                try answer.expect(401..<402, header ?? "no token")
            }
        },
        Scenario("A username is changed, and taken once", clause: "PUT /api/auth/user", level: .contract) {
            world, john, jane in
            let name = world.freshName()
            func rename(_ person: Person, _ name: String) async throws -> RawAnswer {
                let body: JSONValue = ["username": .string(name)]
                return try await person.raw(.put, "/api/auth/user", body: body.description)
            }
            try expect(try await rename(john, name).succeeded()["username"], equals: .string(name))
            try expect(try await john.get("/api/auth/user").succeeded()["username"], equals: .string(name))
            try await rename(jane, name).expect(400..<401, "a taken username")
            for name in ["ab", String(repeating: "x", count: 21), "no-hyphens", "é€ü"] {
                try await rename(john, name).expect(400..<401, name)
            }
        },
        Scenario(
            "A picture goes up as profilePicture, and is shown", clause: "POST /api/auth/user/profile-picture",
            level: .contract
        ) { world, john in
            let image = SampleImage.jpeg(width: 640, height: 480)
            let user = try await john.upload(image).succeeded()
            let picture = user["profileImageUrl"]?.string ?? ""
            try expect(picture.hasPrefix("/"), "no relative path: \(picture)")
            let answer = try await world.raw.send(.get, picture)
            try expect(answer.status, equals: 200)
            let size = SampleImage.size(ofJPEG: answer.body).map { [$0.width, $0.height] }
            try expect(size, equals: [200, 200])
            try await john.upload(image, type: "text/plain").expect(400..<401, "no image")
            try await john.post("/api/auth/user/profile-picture").expect(400..<401, "no file")
        },
        Scenario("A group is made, with its maker as admin", clause: "POST /api/groups", level: .contract) { _, john in
            let group = try await john.post(
                "/api/groups", ["name": "Throne Room", "description": "Optional group description"]
            ).succeeded()
            try expect(group["name"], equals: "Throne Room")
            try expect(group["description"], equals: "Optional group description")
            try expect(group["createdBy"], equals: john.id.json)
            let detail = try await john.get("/api/groups/\(group["id"]?.string ?? "")").succeeded()
            try expect(detail["members"]?.elements.map { $0["userId"] }, equals: [john.id.json])
            try expect(detail["members"]?.elements.map { $0["role"] }, equals: ["admin"])
            try expect(try await john.post("/api/groups", ["name": "N"]).succeeded()["name"], equals: "N")
        },
        Scenario("The list of groups counts members and entries", clause: "GET /api/groups", level: .contract) {
            _, john, jane in
            let (group, quiet) = (try await john.group(with: jane), try await john.group())
            _ = try await jane.log(in: group)
            _ = try await john.log(in: group)
            let list = try await john.get("/api/groups").succeeded().elements
            let row = list.first { $0["id"] == group.json }
            try expect(row?["memberCount"], equals: 2)
            try expect(row?["entryCount"], equals: 2)
            try expect(row?["lastActivity"] != .null, "an entry is no activity")
            try expect(list.first { $0["id"] == quiet.json }?["lastActivity"], equals: .null)
        },
        Scenario(
            "A group shows members and entries, the newest first, to its members",
            clause: "GET /api/groups/{groupId}", level: .contract
        ) { world, john, jane, joan in
            let group = try await john.group(with: jane)
            let entries = [try await john.log("first", in: group)[0], try await jane.log("second", in: group)[0]]
            let detail = try await jane.get("/api/groups/\(group)").succeeded()
            try expect(detail["group"]?["id"], equals: group.json)
            try expect(
                Set(detail["members"]?.elements.map { [$0["userId"], $0["user"]?["id"], $0["role"]] } ?? []),
                equals: [[john.id.json, john.id.json, "admin"], [jane.id.json, jane.id.json, "member"]])
            try expect(detail["entries"]?.elements.map { $0["id"] }, equals: entries.reversed().map(\.id.json))
            try expect(
                detail["entries"]?.elements.map { $0["user"]?["id"] }, equals: [jane.id.json, john.id.json])
            try await joan.get("/api/groups/\(group)").expect(403..<404, "a stranger")
            try await john.get("/api/groups/\(world.unknownID())").expect(404..<405, "no group")
        },
        Scenario(
            "A member makes an invite with a link to share", clause: "POST /api/groups/{groupId}/invite",
            level: .contract
        ) { _, john, jane in
            let group = try await john.group()
            let invite = try await john.post("/api/groups/\(group)/invite").succeeded()
            let id = invite["id"]?.string ?? "none"
            try expect(invite["inviteLink"]?.string?.hasSuffix("/join/\(id)") == true, "\(invite)")
            try await jane.post("/api/groups/\(group)/invite").expect(403..<404, "a stranger")
        },
        Scenario("An invite is accepted, and again", clause: "POST /api/join/{inviteId}", level: .contract) {
            world, john, jane in
            let group = try await john.group()
            let invite = try await john.post("/api/groups/\(group)/invite").succeeded()["id"]?.string ?? ""
            let joined = try await jane.post("/api/join/\(invite)").succeeded()
            try expect(joined["group"]?["id"], equals: group.json)
            try expect(joined["message"], equals: nil)
            let again = try await jane.post("/api/join/\(invite)").succeeded()
            try expect(again["message"], equals: "Already a member of this group")
            try await jane.post("/api/join/\(world.unknownID())").expect(400..<401, "no invite")
        },
        Scenario("A browser is redirected", clause: "GET /join/{inviteId}", level: .contract) { world, john in
            let invite = try await john.post("/api/groups/\(try await john.group())/invite").succeeded()["id"]
            let answer = try await world.raw.send(.get, "/join/\(invite?.string ?? "")")
            try answer.expect(300..<400)
        },
        Scenario("A log makes an entry in each group, and counts once", clause: "POST /api/deuces", level: .contract) {
            _, john, jane in
            let groups = [try await john.group(), try await john.group()]
            let before = try await john.deuceCount()
            let logged = try await john.post(
                "/api/deuces",
                [
                    "groupIds": .list(groups.map(\.json)), "location": "Home", "thoughts": "A throne worthy of a king",
                    "loggedAt": "2025-06-10T08:00:00.000Z",
                ]
            ).succeeded()
            try expect(logged["count"], equals: 2)
            try expect(Set(logged["entries"]?.elements.map { $0["groupId"] } ?? []), equals: Set(groups.map(\.json)))
            for entry in logged["entries"]?.elements ?? [] {
                try expect(entry["userId"], equals: john.id.json)
                try expect(entry["location"], equals: "Home")
                try expect(entry["thoughts"], equals: "A throne worthy of a king")
                try expect(entry["loggedAt"], equals: "2025-06-10T08:00:00.000Z")
            }
            try expect(try await john.deuceCount(), equals: before + 1)
            // Older apps write it this way, and it means now.
            let rest: JSONValue = try ["groupId": groups[0].json, "location": "Home", "thoughts": "x"]
            try expect(try await john.post("/api/deuces", rest).succeeded()["count"], equals: 1)
            try await john.post("/api/deuces", ["groupIds": [], "location": "Home", "thoughts": "x"])
                .expect(400..<401, "no group")
            let foreign: JSONValue = try await [
                "groupIds": [jane.group().json, groups[0].json], "location": "Home", "thoughts": "secret",
            ]
            try await john.post("/api/deuces", foreign).expect(403..<404, "a group of others")
            try expect(try await john.entries(of: groups[0]).count, equals: 2)
        },
        Scenario(
            "An emoji is given once by each, to entries of one's groups",
            clause: "POST /api/entries/{entryId}/reactions", level: .contract
        ) { world, john, jane in
            let entry = try await john.log(in: try await john.group())[0].id
            let path = "/api/entries/\(entry)/reactions"
            let reaction = try await john.post(path, ["emoji": "💩"]).succeeded()
            try expect(reaction["entryId"], equals: entry.json)
            try expect(reaction["userId"], equals: john.id.json)
            try expect(reaction["emoji"], equals: "💩")
            try await john.post(path, ["emoji": "💩"]).expect(400..<401, "the same again")
            try await john.post(path).expect(400..<401, "no emoji")
            try await jane.post(path, ["emoji": "💩"]).expect(403..<404, "a stranger")
            try await john.post("/api/entries/\(world.unknownID())/reactions", ["emoji": "💩"])
                .expect(404..<405, "no entry")
        },
        Scenario("A reaction is taken back", clause: "DELETE /api/entries/{entryId}/reactions", level: .contract) {
            _, john in
            let entry = try await john.log(in: try await john.group())[0].id
            let path = "/api/entries/\(entry)/reactions"
            try await john.post(path, ["emoji": "💩"]).succeeded()
            let headers: HTTPFields = [.contentType: "application/json"]
            let answer = try await john.raw(.delete, path, headers: headers, body: #"{"emoji":"💩"}"#).succeeded()
            try expect(answer, equals: ["message": "Reaction removed"])
            try expect(try await john.get(path).succeeded(), equals: [])
            try await john.raw(.delete, path, headers: headers, body: "{}").expect(400..<401, "no emoji")
        },
        Scenario(
            "Reactions are listed with their users", clause: "GET /api/entries/{entryId}/reactions", level: .contract
        ) { _, john, jane in
            let entry = try await john.log(in: try await john.group(with: jane))[0].id
            let path = "/api/entries/\(entry)/reactions"
            for person in [john, jane] { try await person.post(path, ["emoji": "💩"]).succeeded() }
            let listed = try await jane.get(path).succeeded().elements
            try expect(
                Set(listed.map { [$0["userId"], $0["user"]?["id"], $0["emoji"]] }),
                equals: [[john.id.json, john.id.json, "💩"], [jane.id.json, jane.id.json, "💩"]])
        },
        Scenario("Locations begin with the default ones, for anybody", clause: "GET /api/locations", level: .contract) {
            world in
            let list = try await world.raw.send(.get, "/api/locations").succeeded().elements
            let defaults = list.prefix { $0["isDefault"] == true }
            try expect(!defaults.isEmpty, "no default location")
            try expect(!list.dropFirst(defaults.count).contains { $0["isDefault"] == true }, "defaults behind others")
        },
        Scenario("A location is added once", clause: "POST /api/locations", level: .contract) { world, john in
            let name = JSONValue.string("Grandma's House \(world.freshName())")
            let made = try await john.post("/api/locations", ["name": name]).succeeded()
            try expect(made["name"], equals: name)
            try expect(made["isDefault"], equals: false)
            try expect(made["createdBy"], equals: john.id.json)
            let list = try await world.raw.send(.get, "/api/locations").succeeded().elements
            try expect(list.filter { $0["name"] == name }, equals: [made])
            try await john.post("/api/locations", ["name": name]).expect(400..<401, "the same again")
            try await john.post("/api/locations", ["name": ""]).expect(400..<401, "no name")
        },
        Scenario(
            "The top day is the one with the most logs", clause: "GET /api/analytics/most-deuces", level: .contract
        ) { _, john in
            let before = try await john.get("/api/analytics/most-deuces").succeeded()
            let most = Int(before["count"]?.integer ?? 0)
            try expect((before["date"] == "") == (most == 0), "\(before)")
            guard most < 50 else { return }
            let group = try await john.group()
            // This is one more than on any day before, on a day that no other scenario uses.
            let day = Day(daysSince1970: .random(in: 1000...10_000))
            for _ in 0...most {
                _ = try await john.log(in: group, at: .init(milliseconds: day.daysSince1970 * 86_400_000 + 43_200_000))
            }
            let top = try await john.get("/api/analytics/most-deuces").succeeded()
            try expect(top["date"], equals: .string("\(day)"))
            let members = try await john.get("/api/groups/\(group)").succeeded()["members"]
            try expect(members?[0]?["personalRecord"] ?? nil, equals: top)
        },
        Scenario("Who listens to a group hears of its logs", clause: "/ws", level: .contract) { world, john, jane in
            let group = try await john.group(with: jane)
            let other = try await john.group()
            let socket = try await world.rawSocket(in: other)
            // The last group counts.
            try await socket.join(group)
            try await john.log("unheard", in: other)
            let entry = try await john.log(in: group)[0]
            let frame = try await socket.frame()
            try expect(frame["type"], equals: "deuce_logged")
            try expect(frame["userId"], equals: john.id.json)
            try expect(frame["entry"]?["id"], equals: entry.id.json)
            try expect(frame["entry"]?["user"]?["id"], equals: john.id.json)
            try expect(frame["message"]?.string?.hasSuffix(" logged a new deuce") == true, "\(frame)")
            await socket.close()
        },
    ]
}
