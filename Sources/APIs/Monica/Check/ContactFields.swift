@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let contactFields: [Scenario<MonicaWorld>] = [
        Scenario("A contact field is the same wherever shown", clause: "GET /contactfields") { world, owner in
            let phone = try await owner.fieldType("phone")
            let email = try await owner.fieldType("email")
            let person = try await owner.described(world.freshWord())["id"]?.integer.map(Int.init) ?? 0
            let bodies: [JSONValue] = [
                ["contact_id": person.json, "contact_field_type_id": phone["id"] ?? nil, "data": "+1 555 0100"],
                ["contact_id": person.json, "contact_field_type_id": email["id"] ?? nil, "data": "j@example.com"],
            ]
            try await owner.follow("contactfields", "contact field", of: person, bodies) { body in
                let isPhone = body["contact_field_type_id"] == phone["id"]
                return [
                    "content": body["data"] ?? nil, "contact_field_type": isPhone ? phone : email, "labels": [],
                ]
            } whole: {
                try await owner.get("/contacts/\(person)?with=contactfields").succeeded(200)["data"]?[
                    "contactFields"]
            }
        },
        Scenario("A contact field says what is wrong with it", clause: "POST /contactfields") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            func type(_ word: String) async throws -> JSONValue { try await owner.fieldType(word)["id"] ?? nil }
            let phone = try await type("phone")
            let draft = Monica.ContactFieldDraft(contactID: john, typeID: Int(phone.integer ?? 0), content: "1")
            let field = try await owner.client.create(draft).id
            let table: [(JSONValue, String)] = [
                (
                    [:],
                    "The contact id field is required. The contact field type id field is required. "
                        + "The data field is required."
                ),
                (["contact_id": john.json, "contact_field_type_id": phone], "The data field is required."),
                (
                    ["contact_id": john.json, "contact_field_type_id": 999_999_999, "data": "1"],
                    "The selected contact field type id is invalid."
                ),
                (
                    ["contact_id": "x", "contact_field_type_id": 999_999_999, "data": 1],
                    "The contact id must be an integer. The selected contact field type id is invalid. "
                        + "The data must be a string."
                ),
                (
                    ["contact_id": john.json, "contact_field_type_id": try await type("email"), "data": "x"],
                    "The data must be a valid email address."
                ),
                (
                    ["contact_id": john.json, "contact_field_type_id": try await type("website"), "data": "a b"],
                    "The data format is invalid."
                ),
                (
                    [
                        "contact_id": john.json, "contact_field_type_id": phone,
                        "data": .string(String(repeating: "1", count: 256)),
                    ],
                    "The data may not be greater than 255 characters."
                ),
            ]
            for (body, text) in table {
                try await owner.raw(.post, "/contactfields", body).refused(422, 32, text, "POST \(body)")
                try await owner.raw(.put, "/contactfields/\(field)", body).refused(422, 32, text, "PUT \(body)")
            }
            for contact in [jane, 999_999_999] {
                let body: JSONValue = ["contact_id": contact.json, "contact_field_type_id": phone, "data": "2"]
                try await owner.raw(.put, "/contactfields/\(field)", body)
                    .refused(404, 31, "The requested contact was not found.")
            }
            try await owner.raw(
                .post, "/contactfields", ["contact_id": 999_999_999, "contact_field_type_id": phone, "data": "2"]
            ).refused(404, 31, "The requested contact was not found.")
        },
        Scenario("Contacts are found by their fields, and exported with them", clause: "GET /contacts?query") {
            world, owner in
            let word = world.freshWord()
            let john = try await owner.contact("John", word).id
            let digits = String((0..<9).compactMap { _ in "123456789".randomElement() })
            let shown = "+1 (" + digits.prefix(3) + ") " + digits.dropFirst(3)
            let (phone, email) = (try await owner.fieldType("phone"), try await owner.fieldType("email"))
            let network = try await owner.client.create(Monica.ContactFieldTypeDraft(name: word)).id
            var made: [Int] = []
            for (type, content) in [
                (phone["id"]?.integer.map(Int.init) ?? 0, shown),
                (email["id"]?.integer.map(Int.init) ?? 0, "a@\(word).com"),
                (network, "@" + word),
            ] {
                let draft = Monica.ContactFieldDraft(contactID: john, typeID: type, content: content)
                made.append(try await owner.client.create(draft).id)
            }
            for query in [digits, "a@\(word)", "%2B1\(digits)"] {
                try expect(try await owner.ids("/contacts?query=\(query)"), equals: [Int64(john)])
            }
            let cards = try await owner.get("/export/vcard").text
            for line in [
                "TEL:\(shown)", "EMAIL:a@\(word).com", "SOCIALPROFILE;SERVICE-TYPE=\"\(word)\";VALUE=text:@\(word)",
            ] {
                try expect(cards.contains("\r\n\(line)\r\n"), "no \(line)")
            }
            let export = try await owner.get("/export/json").succeeded(200)
            let type = try await owner.get("/contactfieldtypes/\(network)").succeeded(200)["data"]
            try expect(
                export["contact_field_types"]?.elements.first { $0["id"] == network.json }, equals: type ?? nil)
            let changed = Monica.ContactFieldDraft(
                contactID: john, typeID: phone["id"]?.integer.map(Int.init) ?? 0, content: "1" + word)
            let fields = made
            _ = try await owner.client.update(try fields[0], changed)
            try expect(try await owner.ids("/contacts?query=\(digits)"), equals: [])
            try expect(try await owner.ids("/contacts?query=1\(word)"), equals: [Int64(john)])
            for id in fields { try await owner.client.delete(Monica.ContactField.self, id: id) }
            try expect(try await owner.ids("/contacts?query=1\(word)"), equals: [])
            try await owner.client.delete(Monica.ContactFieldType.self, id: network)
        },
        Scenario("Types of contact fields are made, changed and gone, unless in use", clause: "GET /contactfieldtypes")
        {
            world, owner in
            let word = world.freshWord()
            // What was listed before must not change what is listed later.
            _ = try await owner.fieldType("email")
            let whole: JSONValue = [
                "name": .string(word), "fontawesome_icon": "fa fa-x", "protocol": "x:", "type": "social",
            ]
            let made = try await owner.raw(.post, "/contactfieldtypes", whole).succeeded(201)["data"] ?? nil
            let path = "/contactfieldtypes/\(made["id"] ?? nil)"
            for (member, value) in whole.members { try expect(made[member], equals: value) }
            try expect(made["delible"], equals: true)
            try expect(try await owner.get(path).succeeded(200)["data"], equals: made)
            let list = try await owner.get("/contactfieldtypes").succeeded(200)
            let types = list["data"]?.elements ?? []
            let ids = types.map { $0["id"]?.integer ?? 0 }
            try expect(ids, equals: ids.sorted())
            try expect(types.first { $0["id"] == made["id"] }, equals: made)
            try expect(types.prefix(3).map { $0["type"] }, equals: ["email", "phone", "website"])
            for type in types.prefix(3) {
                let own = "/contactfieldtypes/\(type["id"] ?? nil)"
                try expect(try await owner.get(own).succeeded(200)["data"], equals: type)
                try expect(type["delible"], equals: false)
                try expect(type["account"], equals: made["account"])
                try await owner.raw(.delete, own).refused(422, 32, "The contact field type can't be deleted.")
            }
            for (member, number) in ["total": ids.count, "per_page": ids.count, "to": ids.count] {
                try expect(list["meta"]?[member], equals: number.json)
            }
            let plain = try await owner.raw(.put, path, ["name": .string(word + "2")]).succeeded(200)["data"]
            try expect(try await owner.get(path).succeeded(200)["data"], equals: plain ?? nil)
            try expect(plain?["name"], equals: .string(word + "2"))
            for member in ["fontawesome_icon", "protocol", "type"] { try expect(plain?[member], equals: .null) }
            for member in ["id", "uuid", "created_at", "account", "delible"] {
                try expect(plain?[member], equals: made[member])
            }
            let again = try await owner.raw(.put, path, whole).succeeded(200)["data"]
            for (member, value) in whole.members { try expect(again?[member], equals: value) }
            for (method, path) in [(HTTPRequest.Method.post, "/contactfieldtypes"), (.put, path)] {
                try await owner.raw(method, path, [:]).refused(422, 32, "The name field is required.", path)
            }
            let john = try await owner.contact("John")
            let draft = Monica.ContactFieldDraft(
                contactID: john.id, typeID: made["id"]?.integer.map(Int.init) ?? 0, content: word)
            let field = try await owner.client.create(draft)
            try await owner.raw(.delete, path).refused(422, 32, "The contact field type is in use.")
            try await owner.client.delete(Monica.ContactField.self, id: field.id)
            try expect(
                try await owner.raw(.delete, path).succeeded(200), equals: ["deleted": true, "id": made["id"] ?? nil])
            try await owner.raw(.delete, path).refused(404, 31, "The requested contact field type was not found.")
            try await owner.get(path).refused(404, 31, "The requested contact field type was not found.")
        },
    ]
}

extension Owner {
    /// Returns the type of contact fields with a word, with which every account begins.
    func fieldType(_ word: String) async throws -> JSONValue {
        let types = try await get("/contactfieldtypes").succeeded(200)["data"]?.elements ?? []
        guard let type = types.first(where: { $0["type"]?.string == word }) else { throw CheckFailure("no \(word)") }
        return type
    }

    /// Follows a detail of a contact from its creation to its deletion: every operation shows the same of it.
    ///
    /// - Parameters:
    ///   - singular: Its name in refusals.
    ///   - bodies: Two bodies that differ in every field but the contact's.
    ///   - status: The status of its creation.
    ///   - isNested: Whether it is listed under the contact's path, too.
    ///   - shown: Returns the members of an answer to a body.
    ///   - whole: Returns the list as the contact itself has it.
    func follow(
        _ plural: String, _ singular: String, of contact: Int, _ bodies: [JSONValue], status: Int = 201,
        isNested: Bool = true, shown: (JSONValue) -> [String: JSONValue], whole: () async throws -> JSONValue?
    ) async throws {
        let (missing, person) = ("The requested \(singular) was not found.", "/contacts/\(contact)")
        let (first, second) = (try bodies[0], try bodies[1])
        let lists = ["/\(plural)?contact_id=\(contact)"] + (isNested ? ["\(person)/\(plural)?"] : [])
        let made = try await raw(.post, "/\(plural)", first).succeeded(status)["data"] ?? nil
        let other = try await raw(.post, "/\(plural)", second).succeeded(status)["data"] ?? nil
        let own = "/\(plural)/\(made["id"] ?? nil)"
        try expect(try await get(own).succeeded(200)["data"], equals: made)
        for (member, value) in shown(first) { try expect(made[member], equals: value) }
        let john = try await get(person).succeeded(200)["data"]
        try made["contact"].refers(to: john)
        try expect(made["account"], equals: john?["account"])
        for path in lists { try await list(path, [made, other]) }
        try expect(try await ids("/\(plural)?contact_id=999999999"), equals: [])
        let all = try await whole()
        try expect(all?.elements.map { $0["id"] }, equals: [made["id"], other["id"]])
        for (member, value) in shown(first) where member != "country" {
            try expect(all?[0]?[member], equals: value)
        }
        let written = try await raw(.put, own, second).succeeded(200)["data"]
        try expect(try await get(own).succeeded(200)["data"], equals: written ?? nil)
        for (member, value) in shown(second) { try expect(written?[member], equals: value) }
        for member in ["id", "uuid", "created_at", "account", "contact"] {
            try expect(written?[member], equals: made[member])
        }
        try expect(
            try await raw(.delete, own).succeeded(200), equals: ["deleted": true, "id": made["id"] ?? nil])
        try await raw(.delete, own).refused(404, 31, missing)
        try await get(own).refused(404, 31, missing)
        for list in lists { try expect(try await get(list).succeeded(200)["data"], equals: [other]) }
        try await raw(.delete, person).succeeded(200)
        for list in lists.dropFirst() {
            try await get(list).refused(404, 31, "The requested contact was not found.")
        }
        try await get("/\(plural)/\(other["id"] ?? nil)").refused(404, 31, missing)
    }

    /// Checks a list of a contact's two details, its order and its pages.
    private func list(_ list: String, _ rows: [JSONValue]) async throws {
        let page = try await get(list).succeeded(200)
        try expect(page["data"], equals: .list(rows))
        try expect(page["meta"]?["total"], equals: 2)
        try expect(try await get(list + "&sort=-created_at").succeeded(200)["data"], equals: .list(rows.reversed()))
        let last = try await get(list + "&page=2&limit=1").succeeded(200)
        try expect(last["data"], equals: .list(rows.suffix(1)))
        try expect(last["meta"]?["current_page"], equals: 2)
        try expect(last["meta"]?["per_page"], equals: 1)
    }
}
