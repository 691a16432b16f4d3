@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let phoneCalls: [Scenario<MonicaWorld>] = [
        Scenario("A call is the same wherever shown", clause: "GET /calls") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let bodies: [JSONValue] = [
                [
                    "contact_id": person.json, "called_at": "2024-10-20T18:30:00Z", "content": "The party",
                    "contact_called": true,
                ],
                [
                    "contact_id": person.json, "called_at": "2024-10-19T07:05:09Z", "content": "The dinner",
                    "contact_called": false,
                ],
            ]
            try await owner.follow("calls", "call", of: person, bodies) { body in
                var shown = body.members
                (shown["contact_id"], shown["emotions"]) = (nil, [])
                return shown
            } whole: {
                let list = "/contacts/\(person)/calls"
                let calls = try await owner.get(list).succeeded(200)["data"]
                for call in calls?.elements ?? [] {
                    let end = "/api/calls/\(call["id"] ?? nil)"
                    try expect(call["url"]?.string?.hasSuffix(end) == true, "the URL of \(call)")
                }
                let latest = try await owner.get(list + "?sort=-called_at").succeeded(200)["data"]
                try expect(latest, equals: calls ?? nil)
                let earliest = try await owner.get(list + "?sort=called_at").succeeded(200)["data"]
                try expect(earliest?.elements, equals: calls?.elements.reversed())
                let contact = try await owner.get("/contacts/\(person)").succeeded(200)["data"]
                try expect(contact?["statistics"]?["number_of_calls"], equals: 2)
                try expect(contact?["last_called"], equals: "2024-10-20T18:30:00Z")
                return calls
            }
        },
        Scenario("A call says what is wrong with it, and may lack its text", clause: "POST /calls") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            func post(_ body: JSONValue) async throws -> RawAnswer { try await owner.raw(.post, "/calls", body) }
            for (sent, shown) in [
                ("2024-02-29", "2024-02-29T00:00:00Z"), ("2024-02-29 23:59:59", "2024-02-29T23:59:59Z"),
                ("2024-02-29T23:59:59+02:00", "2024-02-29T21:59:59Z"),
            ] {
                let made = try await post(["contact_id": john.json, "called_at": .string(sent)]).succeeded(201)["data"]
                try expect(made?["called_at"], equals: .string(shown))
                try expect(made?["content"], equals: .null)
                try expect(made?["contact_called"], equals: false)
            }
            let call = try await owner.client.create(
                Monica.CallDraft(contactID: john, calledAt: Day(checked: "2024-02-29").start))
            let own = "/calls/\(call.id)"
            let unread = "The called at is not a valid date."
            let table: [(JSONValue, String)] = [
                (["contact_id": john.json], "The called at field is required."),
                (["contact_id": john.json, "called_at": "2023-02-29"], unread),
                (["contact_id": john.json, "called_at": "2023-02-29 12:00:00"], unread),
                (["contact_id": john.json, "called_at": 7], unread),
                (
                    ["contact_id": "x", "called_at": "soon", "content": 7, "contact_called": "perhaps"],
                    "The contact id must be an integer. \(unread) The content must be a string. "
                        + "The contact called field must be true or false."
                ),
            ]
            for (body, text) in table {
                try await post(body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            try await post([:]).refused(
                422, 32, "The contact id field is required. The called at field is required.")
            // Monica's clients leave the contact out when they change a call.
            let moved = try await owner.raw(.put, own, ["called_at": "2024-03-01"]).succeeded(200)["data"]
            try expect(moved?["contact"]?["id"], equals: john.json)
            try expect(moved?["called_at"], equals: "2024-03-01T00:00:00Z")
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                try await owner.raw(.put, own, ["contact_id": contact.json, "called_at": "2024-03-01"])
                    .refused(404, 31, nobody)
            }
            try await post(["contact_id": 999_999_999, "called_at": "2024-03-01"]).refused(404, 31, nobody)
        },
    ]
}
