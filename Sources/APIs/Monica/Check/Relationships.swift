@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let relationships: [Scenario<MonicaWorld>] = [
        Scenario("A relationship is seen from both sides", clause: "POST /relationships") { world, owner in
            let (john, jane) = (
                try await owner.described(world.freshWord()), try await owner.described(world.freshWord())
            )
            let (johnID, janeID) = (john["id"] ?? nil, jane["id"] ?? nil)
            let types = try await owner.relationshipTypes()
            let made = try await owner.relate(johnID, "parent", janeID)
            try made["contact_is"].refers(to: john)
            try made["of_contact"].refers(to: jane)
            try expect(made["relationship_type"], equals: types["parent"])
            try expect(made["account"], equals: john["account"])
            let own = "/relationships/\(made["id"] ?? nil)"
            try expect(try await owner.get(own).succeeded(200)["data"], equals: made)
            let reverse = try await owner.relationships(of: janeID)[0]
            try expect(reverse["id"] == made["id"], equals: false)
            for (member, value) in ["contact_is": made["of_contact"], "of_contact": made["contact_is"]] {
                try expect(reverse[member], equals: value)
            }
            try expect(reverse["relationship_type"], equals: types["child"])
            let second = try await owner.relate(johnID, "colleague", janeID)
            try expect(try await owner.relationships(of: johnID), equals: [made, second])
            let changed =
                try await owner.raw(.put, own, ["relationship_type_id": types["godfather"]?["id"] ?? nil])
                .succeeded(200)["data"] ?? nil
            try expect(changed["relationship_type"], equals: types["godfather"])
            for member in ["id", "uuid", "created_at", "contact_is", "of_contact", "account"] {
                try expect(changed[member], equals: made[member])
            }
            try expect(try await owner.get(own).succeeded(200)["data"], equals: changed)
            let other = "/relationships/\(reverse["id"] ?? nil)"
            let turned = try await owner.get(other).succeeded(200)["data"]
            try expect(turned?["relationship_type"], equals: types["godson"])
            try expect(
                try await owner.raw(.delete, other).succeeded(200),
                equals: ["deleted": true, "id": reverse["id"] ?? nil])
            let missing = "The requested relationship was not found."
            try await owner.raw(.delete, other).refused(404, 31, missing)
            for path in [own, other] { try await owner.get(path).refused(404, 31, missing) }
            try expect(try await owner.relationships(of: johnID), equals: [second])
            try await owner.raw(.delete, "/contacts/\(janeID)").succeeded(200)
            try expect(try await owner.relationships(of: johnID), equals: [])
            try await owner.get("/relationships/\(second["id"] ?? nil)").refused(404, 31, missing)
            try await owner.get("/contacts/\(janeID)/relationships")
                .refused(404, 31, "The requested contact was not found.")
        },
        Scenario("Every type of relationships has a reverse one", clause: "GET /relationshiptypes") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let groups = try await owner.get("/relationshiptypegroups").succeeded(200)["data"]?.elements ?? []
            try expect(groups.map { $0["name"] }, equals: ["love", "family", "friend", "work"])
            let types = try await owner.get("/relationshiptypes").succeeded(200)["data"]?.elements ?? []
            let known = Dictionary(types.map { ($0["name"]?.string ?? "", $0) }) { first, _ in first }
            for (kind, all) in [("relationshiptypegroups", groups), ("relationshiptypes", types)] {
                let ids = all.map { $0["id"]?.integer ?? 0 }
                try expect(ids, equals: ids.sorted())
                for one in all {
                    try expect(try await owner.get("/\(kind)/\(one["id"] ?? nil)").succeeded(200)["data"], equals: one)
                }
            }
            for (name, reverse, group) in [
                ("partner", "partner", 0), ("parent", "child", 1), ("child", "parent", 1),
                ("uncle", "nephew", 1), ("stepchild", "stepparent", 1), ("bestfriend", "bestfriend", 2),
                ("boss", "subordinate", 3), ("protege", "mentor", 3),
            ] {
                let type = known[name]
                try expect(type?["name_reverse_relationship"], equals: .string(reverse))
                try expect(type?["relationship_type_group_id"], equals: try groups[group]["id"])
                let made = try await owner.relate(john.json, name, jane.json)
                let turned = try await owner.relationships(of: jane.json)[0]
                try expect(turned["relationship_type"], equals: known[reverse])
                try await owner.raw(.delete, "/relationships/\(made["id"] ?? nil)").succeeded(200)
            }
            for (kind, singular) in [
                ("relationshiptypes", "relationship type"), ("relationshiptypegroups", "relationship type group"),
            ] {
                for id in ["0", "999999999", "x", "-9223372036854775808"] {
                    try await owner.get("/\(kind)/\(id)").refused(
                        404, 31, "The requested \(singular) was not found.", id)
                }
            }
        },
        Scenario("A relationship says what is wrong with it", clause: "POST /relationships") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let (jim, gone) = (try await owner.contact("Jim").id, try await owner.contact("Joe").id)
            try await owner.raw(.delete, "/contacts/\(gone)").succeeded(200)
            let friend = try await owner.relationshipTypes()["friend"]?["id"] ?? nil
            let whole: [String: JSONValue] = [
                "contact_is": john.json, "of_contact": jane.json, "relationship_type_id": friend,
            ]
            let own = "/relationships/\(try await owner.relate(john.json, "spouse", jane.json)["id"] ?? nil)"
            let (type, same) = (
                "The selected relationship type id is invalid.", "The of contact and contact is must be different."
            )
            let table: [([String: JSONValue], String)] = [
                (["relationship_type_id": nil], "The relationship type id field is required."),
                (["relationship_type_id": "spouse"], "The relationship type id must be an integer."),
                (["relationship_type_id": 0], type), (["relationship_type_id": 999_999_999], type),
                (["relationship_type_id": .integer(.min)], type), (["of_contact": john.json], same),
                (["contact_is": nil], "The contact is field is required."),
                (
                    ["contact_is": "x", "of_contact": nil, "relationship_type_id": 0],
                    "The contact is must be an integer. The of contact field is required. \(type)"
                ),
            ]
            for (fields, text) in table {
                let body = JSONValue.object(whole.merging(fields) { $1 })
                try await owner.raw(.post, "/relationships", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
            }
            let (nobody, taken) = ("The requested contact was not found.", "The relationship already exists.")
            for contact in [jim, gone, 999_999_999] {
                for member in ["contact_is", "of_contact"] {
                    let body = JSONValue.object(whole.merging([member: contact.json]) { $1 })
                    try await owner.raw(.put, own, body).refused(404, 31, nobody, "PUT \(body)")
                    if contact != jim { try await owner.raw(.post, "/relationships", body).refused(404, 31, nobody) }
                }
            }
            // It exists from either side.
            _ = try await owner.relate(jane.json, "friend", john.json)
            try await owner.raw(.post, "/relationships", .object(whole)).refused(422, 32, taken)
            try await owner.raw(.put, own, .object(whole)).refused(422, 32, taken)
            let spouse = try await owner.relationshipTypes()["spouse"]?["id"] ?? nil
            try await owner.raw(.put, own, .object(whole.merging(["relationship_type_id": spouse]) { $1 }))
                .succeeded(200)
        },
    ]
}

extension Owner {
    /// Returns the types of relationships by their names.
    func relationshipTypes() async throws -> [String: JSONValue] {
        let types = try await get("/relationshiptypes").succeeded(200)["data"]?.elements ?? []
        return Dictionary(types.map { ($0["name"]?.string ?? "", $0) }) { first, _ in first }
    }

    /// Creates a relationship.
    func relate(_ contact: JSONValue, _ type: String, _ other: JSONValue) async throws -> JSONValue {
        let type = try await relationshipTypes()[type]?["id"] ?? nil
        let body: JSONValue = ["contact_is": contact, "relationship_type_id": type, "of_contact": other]
        return try await raw(.post, "/relationships", body).succeeded(201)["data"] ?? nil
    }

    func relationships(of contact: JSONValue) async throws -> [JSONValue] {
        try await get("/contacts/\(contact)/relationships").succeeded(200)["data"]?.elements ?? []
    }
}
