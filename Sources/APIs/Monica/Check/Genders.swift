@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let genders: [Scenario<MonicaWorld>] = [
        Scenario("Genders are made, changed and gone, and contacts stay", clause: "POST /genders") { world, owner in
            let word = world.freshWord()
            let bodies: [JSONValue] = [
                ["name": .string(word), "type": "F"], ["name": .string(word + " x"), "type": "O"],
            ]
            try await owner.followType("genders", "gender", bodies) { gender in
                let john = try await owner.client.create(
                    Monica.ContactDraft(firstName: "John", lastName: word, genderID: gender.number)
                ).id
                return { isThere in
                    let contact = try await owner.get("/contacts/\(john)").succeeded(200)["data"]
                    let shown = try await owner.get("/genders/\(gender["id"] ?? nil)").json()["data"]
                    try expect(contact?["gender_id"], equals: isThere ? gender["id"] : .null)
                    try expect(contact?["gender"], equals: isThere ? shown?["name"] : .null)
                    try expect(contact?["gender_type"], equals: isThere ? shown?["type"] : .null)
                }
            }
        },
        Scenario("A gender says what is wrong with it", clause: "POST /genders") { world, owner in
            let whole: JSONValue = ["name": .string(world.freshWord()), "type": "M"]
            try await owner.refuseTypes(
                "genders", whole,
                [
                    (["name": nil], "The name field is required."), (["name": 7], "The name must be a string."),
                    (
                        ["name": .string(String(repeating: "x", count: 256))],
                        "The name may not be greater than 255 characters."
                    ),
                    (["type": nil], "The type field is required."), (["type": 7], "The type must be a string."),
                    (["type": "X"], "The selected type is invalid."), (["type": "m"], "The selected type is invalid."),
                    (["name": " ", "type": "X"], "The name field is required. The selected type is invalid."),
                ])
        },
    ]
}

extension JSONValue {
    /// The id of a resource.
    var number: Int { self["id"]?.integer.map(Int.init) ?? 0 }
}

extension Owner {
    /// Follows a type of an account from its creation to its deletion: every operation shows the same of it.
    ///
    /// - Parameters:
    ///   - singular: Its name in refusals.
    ///   - bodies: Two bodies that differ in every field that a change may change.
    ///   - use: Makes something of the type, and returns what checks whether it still has it.
    func followType(
        _ plural: String, _ singular: String, _ bodies: [JSONValue],
        shown: (JSONValue) -> [String: JSONValue] = { $0.members },
        use: (JSONValue) async throws -> (_ isThere: Bool) async throws -> Void
    ) async throws {
        let missing = "The requested \(singular) was not found."
        func listed(_ id: JSONValue?) async throws -> JSONValue? {
            try await get("/\(plural)").succeeded(200)["data"]?.elements.first { $0["id"] == id }
        }
        let made = try await raw(.post, "/\(plural)", try bodies[0]).succeeded(201)["data"] ?? nil
        let own = "/\(plural)/\(made["id"] ?? nil)"
        try expect(try await get(own).succeeded(200)["data"], equals: made)
        try expect(try await listed(made["id"]), equals: made)
        for (member, value) in shown(try bodies[0]) { try expect(made[member], equals: value) }
        try expect(made["account"], equals: ["id": try await send(Monica.GetMe()).data.account.id.json])
        let check = try await use(made)
        try await check(true)
        let changed = try await raw(.put, own, try bodies[1]).succeeded(200)["data"] ?? nil
        try expect(try await get(own).succeeded(200)["data"], equals: changed)
        try expect(try await listed(made["id"]), equals: changed)
        for (member, value) in shown(try bodies[1]) { try expect(changed[member], equals: value) }
        for member in ["id", "uuid", "account", "created_at"] { try expect(changed[member], equals: made[member]) }
        try await check(true)
        try expect(try await raw(.delete, own).succeeded(200), equals: ["deleted": true, "id": made["id"] ?? nil])
        try await get(own).refused(404, 31, missing)
        try await raw(.put, own, try bodies[0]).refused(404, 31, missing)
        try await raw(.delete, own).refused(404, 31, missing)
        try expect(try await listed(made["id"]), equals: nil)
        try await check(false)
    }

    /// Checks the refusals of a type's writes.
    ///
    /// - Parameter table: Fields that are wrong, and the sentences that say so.
    func refuseTypes(
        _ plural: String, _ whole: JSONValue, _ table: [([String: JSONValue], String)]
    ) async throws {
        let made = try await raw(.post, "/\(plural)", whole).succeeded(201)["data"]
        let own = "/\(plural)/\(made?["id"] ?? nil)"
        for (fields, text) in table {
            let body = JSONValue.object(whole.members.merging(fields) { $1 })
            try await raw(.post, "/\(plural)", body).refused(422, 32, text, "POST \(body)")
            try await raw(.put, own, body).refused(422, 32, text, "PUT \(body)")
        }
        try expect(try await get(own).succeeded(200)["data"], equals: made)
        try await raw(.delete, own).succeeded(200)
    }
}
