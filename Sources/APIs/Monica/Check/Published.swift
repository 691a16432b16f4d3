@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    /// Scenarios of the published document. It has no writes, so they read whatever the account has.
    static let published: [Scenario<MonicaWorld>] = [
        Scenario("A token is good or it is not", clause: "GET /contacts?limit=1", level: .contract) { world, owner in
            try expect(try await owner.client.validateToken(), equals: true)
            let stranger = try await world.raw.send(.get, "/contacts?limit=1", token: world.freshWord())
            try expect(stranger.status, equals: 401)
        },
        Scenario("Contacts come in pages", clause: "GET /contacts", level: .contract) { _, owner in
            try expect(try await owner.client.listContacts(page: 1).meta?.per_page, equals: 50)
            let first = try await owner.client.listContacts(page: 1, limit: 2, query: nil)
            guard let meta = first.meta, let links = first.links else { throw CheckFailure("no meta, or no links") }
            try expect(meta.current_page, equals: 1)
            try expect(meta.per_page, equals: 2)
            try expect(first.data.count, equals: min(2, meta.total))
            try expect(links.prev, equals: nil)
            try expect(links.next != nil, equals: meta.total > 2)
            let beyond = try await owner.client.listContacts(page: meta.total + 2, limit: 100, query: nil)
            try expect(beyond.data, equals: [])
        },
        Scenario("Contacts are read by their id, unknown ones are 404", clause: "GET /contacts/{id}", level: .contract)
        { _, owner in
            for contact in try await owner.client.listContacts(page: 1, limit: 1, query: nil).data {
                let answer = try await owner.get("/contacts/\(contact.id)")
                // The contact may be deleted by now: other scenarios create and delete contacts.
                if answer.status == 404 { continue }
                try expect(try answer.succeeded(200)["data"]?["id"], equals: contact.id.json)
            }
            for path in ["/contacts/2147483647", "/activities/2147483647"] {
                let answer = try await owner.get(path)
                try expect(answer.status, equals: 404)
                let error = try answer.json()["error"]
                try expect(error?["code"], equals: 404)
                try expect(error?["message"] != nil, "no message")
            }
        },
        Scenario("Whatever belongs to contacts comes in pages of ten", clause: "GET /activities", level: .contract) {
            _, owner in
            for path in ["/activities", "/notes", "/tasks", "/gifts"] {
                let page = try await owner.get(path).succeeded(200, path)
                try expect(page["meta"]?["per_page"], equals: 10)
                let one = try await owner.get(path + "?page=1&limit=1").succeeded(200, path)
                try expect(one["meta"]?["per_page"], equals: 1)
                try expect((one["data"]?.elements.count ?? 0) <= 1, "more than was asked for of \(path)")
            }
            try await owner.get("/tags").succeeded(200)
        },
    ]
}
