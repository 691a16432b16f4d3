@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let pets: [Scenario<MonicaWorld>] = [
        Scenario("A pet is the same wherever shown", clause: "GET /pets") { world, owner in
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let (cat, hamster) = (Monica.PetCategory.cat.shown, Monica.PetCategory.hamster.shown)
            let bodies: [JSONValue] = [
                ["pet_category_id": cat["id"] ?? nil, "contact_id": person.json, "name": "Tom"],
                ["pet_category_id": hamster["id"] ?? nil, "contact_id": person.json, "name": "Boo"],
            ]
            try await owner.follow("pets", "pet", of: person, bodies) { body in
                ["name": body["name"] ?? nil, "pet_category": body["name"] == "Tom" ? cat : hamster]
            } whole: {
                try await owner.get("/contacts/\(person)/pets").succeeded(200)["data"]
            }
        },
        Scenario("A pet is of one of eleven categories, and may lack its name", clause: "POST /pets") { _, owner in
            let john = try await owner.contact("John").id
            for category in Monica.PetCategory.known {
                let body: JSONValue = ["pet_category_id": category.id.json, "contact_id": john.json]
                let made = try await owner.raw(.post, "/pets", body).succeeded(201)["data"]
                try expect(made?["pet_category"], equals: category.shown)
                try expect(made?["name"], equals: .null)
            }
        },
        Scenario("A pet says what is wrong with it", clause: "POST /pets") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let whole: JSONValue = ["pet_category_id": 4, "contact_id": john.json, "name": "Rex"]
            let made = try await owner.raw(.post, "/pets", whole).succeeded(201)["data"]
            let own = "/pets/\(made?["id"] ?? nil)"
            let none = "The selected pet category id is invalid."
            let table: [([String: JSONValue], String)] = [
                (["pet_category_id": nil], "The pet category id field is required."),
                (["pet_category_id": "dog"], "The pet category id must be an integer."),
                (["pet_category_id": 0], none), (["pet_category_id": 12], none),
                (["contact_id": nil], "The contact id field is required."),
                (["name": 7], "The name must be a string."),
                (
                    ["name": .string(String(repeating: "x", count: 256))],
                    "The name may not be greater than 255 characters."
                ),
                (
                    ["pet_category_id": 12, "contact_id": "x", "name": 7],
                    "\(none) The contact id must be an integer. The name must be a string."
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.members.merging(fields) { $1 })
                try await owner.raw(.post, "/pets", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let nobody = "The requested contact was not found."
            for contact in [jane, 999_999_999] {
                let body = JSONValue.object(whole.members.merging(["contact_id": contact.json]) { $1 })
                try await owner.raw(.put, own, body).refused(404, 31, nobody)
                if contact != jane { try await owner.raw(.post, "/pets", body).refused(404, 31, nobody) }
            }
        },
    ]
}

extension Monica.PetCategory {
    /// The category as answers have it.
    fileprivate var shown: JSONValue {
        ["id": id.json, "object": "pet_category", "name": .string(name), "is_common": .bool(isCommon)]
    }
}
