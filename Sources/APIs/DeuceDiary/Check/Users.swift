@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let users: [Scenario<DeuceDiaryWorld>] = [
        Scenario("The first token of somebody makes their account and Solo Deuces", clause: "GET /api/auth/user") {
            world in
            let id = world.freshID()
            let john = try await world.stranger(
                Bearer(subject: id, email: "john@example.com", firstName: "John", lastName: "Doe"))
            let user = try await john.get("/api/auth/user").succeeded()
            let created = user["createdAt"] ?? nil
            try expect(
                user,
                equals: [
                    "id": .string(id), "email": "john@example.com", "firstName": "John", "lastName": "Doe",
                    "username": nil, "profileImageUrl": nil, "deuceCount": 0, "createdAt": created,
                    "updatedAt": created,
                ])
            let groups = try await john.get("/api/groups").succeeded()
            try expect(groups.elements.count, equals: 1)
            let solo = groups[0] ?? nil
            try expect(solo["name"], equals: "Solo Deuces")
            try expect(solo["description"], equals: "Your personal throne log")
            try expect(solo["createdBy"], equals: .string(id))
            try expect(solo["memberCount"], equals: 1)
            try expect(solo["entryCount"], equals: 0)
            try expect(solo["lastActivity"], equals: .null)
            let detail = try await john.get("/api/groups/\(solo["id"]?.string ?? "")").succeeded()
            try expect(detail["members"]?.elements.map { $0["role"] }, equals: ["admin"])
        },
        Scenario("Any endpoint makes the account, and parallel first calls make one", clause: "GET /api/auth/user") {
            world in
            for (method, path) in Rules.closed() where path != "/api/auth/user" || method == .put {
                let john = try await world.stranger(Bearer(subject: world.freshID()))
                _ = try await together(12) { _ in try await john.raw(method, path) }
                let groups = try await john.send(DeuceDiary.ListGroups())
                try expect(groups.map(\.name) == ["Solo Deuces"], "\(method) \(path): \(groups.map(\.name))")
                try expect(groups.first?.memberCount, equals: 1)
            }
        },
        Scenario("What a token says of a person is taken over by GET /api/auth/user", clause: "GET /api/auth/user") {
            world in
            let id = world.freshID()
            func seen(_ bearer: Bearer) async throws -> [String?] {
                let user = try await world.stranger(bearer).send(DeuceDiary.GetUser())
                return [user.email, user.firstName, user.lastName]
            }
            try expect(try await seen(Bearer(subject: id)), equals: [nil, nil, nil])
            let full = Bearer(subject: id, email: "a@b", firstName: "John", lastName: "Doe")
            try expect(try await seen(full), equals: ["a@b", "John", "Doe"])
            // Absent claims change nothing.
            try expect(try await seen(Bearer(subject: id, lastName: "Roe")), equals: ["a@b", "John", "Roe"])
            try expect(try await seen(Bearer(subject: id)), equals: ["a@b", "John", "Roe"])
            let user = try await world.stranger(Bearer(subject: id)).send(DeuceDiary.GetUser())
            let again = try await world.stranger(Bearer(subject: id, email: "a@b")).send(DeuceDiary.GetUser())
            try expect(again, equals: user)
        },
        Scenario("An address is shown to its owner alone", clause: "GET /api/auth/user") { _, john, jane in
            let group = try await john.group(with: jane)
            let entry = try await john.log(in: group)[0].id
            for person in [john, jane] { try await person.send(DeuceDiary.AddReaction(entry: entry, emoji: "💩")) }
            for viewer in [john, jane] {
                let detail = try await viewer.send(DeuceDiary.GetGroup(group: group))
                let reactions = try await viewer.send(DeuceDiary.ListReactions(entry: entry))
                let users = detail.members.map(\.user) + detail.entries.map(\.user) + reactions.map(\.user)
                try expect(users.count, equals: 5)
                for user in users {
                    try expect(user.email, equals: user.id == viewer.id ? "\(viewer.id)@example.com" : nil)
                }
            }
        },
        Scenario("A username has 3 to 20 letters, digits, underscores and spaces", clause: "PUT /api/auth/user") {
            world, john in
            let (short, long) = (
                "String must contain at least 3 character(s)", "String must contain at most 20 character(s)"
            )
            let pattern = "Username can only contain letters, numbers, underscores, and spaces"
            let table = [
                ("", "Username is required"), ("ab", short), ("é", short), (String(repeating: "a", count: 21), long),
                (String(repeating: "é", count: 21), long), ("Zoë", pattern), ("a-b", pattern), ("abc!", pattern),
                ("a\tb", pattern), ("٠١٢", pattern), ("   ", "Username must not be blank"),
            ]
            for (name, text) in table {
                try await john.raw(.put, "/api/auth/user", body: (["username": .string(name)] as JSONValue).description)
                    .refused(400, text, name.debugDescription)
            }
            try await john.raw(.put, "/api/auth/user").refused(400, "Username is required")
            let stem = world.freshName()
            for name in [stem, "\(stem) A_9", " \(stem) ", stem.padding(toLength: 20, withPad: "x", startingAt: 0)] {
                try expect(try await john.send(DeuceDiary.UpdateUser(username: name)).username, equals: name)
            }
        },
        Scenario("A username is unique by lower case; one's own is one's own in any case", clause: "PUT /api/auth/user")
        { world, john, jane in
            let name = world.freshName("john")
            let before = try await john.send(DeuceDiary.GetUser())
            try await world.tick()
            let after = try await john.send(DeuceDiary.UpdateUser(username: name))
            try expect(after.updatedAt > before.updatedAt, "updatedAt stood still")
            try expect(after.createdAt, equals: before.createdAt)
            for taken in [name, name.uppercased(), name.capitalized] {
                try await expectRefusal(400, "Username already taken") {
                    try await jane.send(DeuceDiary.UpdateUser(username: taken))
                }
            }
            try await john.send(DeuceDiary.UpdateUser(username: name.uppercased()))
            try expect(try await john.send(DeuceDiary.GetUser()).username, equals: name.uppercased())
            // A username that was given up is available again.
            try await john.send(DeuceDiary.UpdateUser(username: world.freshName()))
            try await jane.send(DeuceDiary.UpdateUser(username: name))
        },
        Scenario("Of fifty who claim a username at once one gets it", clause: "PUT /api/auth/user") { world in
            let name = world.freshName()
            let people = try await world.people(50)
            let answers = try await together(50) { index in
                try await people[index].raw(.put, "/api/auth/user", body: #"{"username":"\#(name)"}"#)
            }
            try expect(answers.filter { $0.status == 200 }.count, equals: 1)
            for answer in answers where answer.status != 200 { try answer.refused(400, "Username already taken") }
        },
    ]
}
