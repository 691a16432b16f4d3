@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import DeuceDiaryClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    static let idempotency: [Scenario<DeuceDiaryWorld>] = [
        Scenario("A repeat under one key gets the first answer again, and does nothing", clause: "Idempotency-Key") {
            world, john, jane in
            let group = try await john.group()
            let socket = try await world.rawSocket(in: group)
            let entry = try await john.log(in: group)[0].id
            try expect(try await socket.entry()["id"], equals: entry.json)
            for creation in try await creations(by: john, in: group, on: entry, reporting: jane) {
                try await world.check(creation, repeats: 10, isFirstAlone: true)
            }
            try expect(try await john.deuceCount(), equals: 2)
            try expect(try await john.entries(of: group).count, equals: 2)
            try expect(try await john.send(DeuceDiary.ListReactions(entry: entry)).count, equals: 1)
            _ = try await socket.entry()
            let last = try await john.log("last", in: group)[0]
            try expect(try await socket.entry()["id"], equals: last.id.json)
            await socket.close()
        },
        Scenario("Twenty at once under one key are one", clause: "Idempotency-Key") { world, john, jane in
            let group = try await john.group()
            let entry = try await john.log(in: group)[0].id
            for creation in try await creations(by: john, in: group, on: entry, reporting: jane) {
                try await world.check(creation, repeats: 19)
            }
            try expect(try await john.deuceCount(), equals: 2)
        },
        Scenario(
            "A key is 1 to 255 printable ASCII characters, and belongs to its user and path", clause: "Idempotency-Key"
        ) { world, john, jane in
            let group = try await john.group(with: jane)
            let entry = try await john.log(in: group)[0].id
            for creation in try await creations(by: john, in: group, on: entry, reporting: jane) {
                try await world.refuseBadKeys(of: creation)
            }
            let key = world.freshKey()
            let body: JSONValue = ["groupIds": [group.json], "location": "x", "thoughts": ""]
            for person in [john, jane] {
                let logged = try await person.post("/api/deuces", body, headers: key)
                try expect(try logged.succeeded()["entries"]?[0]?["userId"], equals: person.id.json)
                try await person.post("/api/groups", ["name": "N"], headers: key).succeeded()
            }
            // Joining is idempotent by itself, and ignores keys.
            let invite = try await john.send(DeuceDiary.CreateInvite(group: group)).id
            for _ in 0..<2 {
                let joined = try await jane.post("/api/join/\(invite)", headers: [.idempotencyKey: "é"])
                try expect(joined.headers[.idempotentReplayed], equals: nil)
                try expect(try joined.succeeded()["message"], equals: "Already a member of this group")
            }
        },
        Scenario("A refused request leaves its key free", clause: "Idempotency-Key") { world, john, jane in
            let foreign = try await jane.group()
            let own = try await john.group()
            let key = world.freshKey()
            for (group, status) in [(foreign, 403), (own, 200)] {
                let body: JSONValue = ["groupIds": [group.json], "location": "x", "thoughts": ""]
                let answer = try await john.post("/api/deuces", body, headers: key)
                try expect(answer.status == status, "\(answer.status) \(answer.text)")
                try expect(answer.headers[.idempotentReplayed], equals: nil)
            }
        },
    ]

    /// Returns each operation that takes a key, with a request for it and a different one.
    private static func creations(
        by john: Person, in group: DeuceDiary.Group.ID, on entry: DeuceDiary.DeuceEntry.ID, reporting jane: Person
    ) async throws -> [KeyedRequest] {
        // John reports Jane and her entry, because an own one cannot be reported.
        let written = try await jane.log(in: try await jane.group(with: john))[0].id
        @Sendable func report(_ path: String, _ usual: Bool, _ key: HTTPFields) async throws -> RawAnswer {
            try await john.post(path + "/report", ["reason": usual ? "rude" : "cruel"], headers: key)
        }
        let place = john.world.freshName()
        let (small, large) = (SampleImage.jpeg(width: 8, height: 8), SampleImage.jpeg(width: 16, height: 16))
        return [
            KeyedRequest("a group", 200) { try await john.post("/api/groups", ["name": $0 ? "N" : "M"], headers: $1) },
            KeyedRequest("a log", 200) { usual, key in
                let body: JSONValue = ["groupIds": [group.json], "location": usual ? "x" : "y", "thoughts": ""]
                return try await john.post("/api/deuces", body, headers: key)
            },
            KeyedRequest("a reaction", 200) {
                try await john.post("/api/entries/\(entry)/reactions", ["emoji": $0 ? "x" : "y"], headers: $1)
            },
            KeyedRequest("a location", 200) {
                try await john.post("/api/locations", ["name": .string($0 ? place : place + "x")], headers: $1)
            },
            KeyedRequest("an invite", 200, varies: false) { _, key in
                try await john.post("/api/groups/\(group)/invite", headers: key)
            },
            KeyedRequest("a report of a user", 200) { try await report("/api/users/\(jane.id)", $0, $1) },
            KeyedRequest("a report of an entry", 200) { try await report("/api/entries/\(written)", $0, $1) },
            KeyedRequest("a picture", 200) { try await john.upload($0 ? small : large, headers: $1) },
        ]
    }
}
