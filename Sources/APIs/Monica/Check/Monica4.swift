@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient

/// A server of Monica 4 under test: Monica itself, or another one with a token of its dialect. Its answers may have members
/// that are not looked for.
package struct Monica4World: Sendable {
    /// Sends requests without a token.
    let stranger: RawClient
    private let token: @Sendable () async throws -> String

    /// - Parameter token: Returns a token of the account.
    package init(_ server: Server, token: @escaping @Sendable () async throws -> String) {
        stranger = RawClient(baseURL: server.baseURL, transport: server.transport)
        self.token = token
    }

    fileprivate func raw(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil
    ) async throws -> RawAnswer {
        let client = stranger.signed(token: try await token())
        guard let body else { return try await client(method, path) }
        return try await client(method, path, body, headers: [.contentType: "application/json"])
    }

    fileprivate func get(_ path: String) async throws -> JSONValue {
        try await raw(.get, path).succeeded(200, "GET \(path)")
    }

    /// Returns the first elements of a list. The scenario is skipped on a server without the list.
    fileprivate func list(_ path: String) async throws -> [JSONValue] {
        let answer = try await raw(.get, path)
        if [404, 405, 501].contains(answer.status) { throw Skipped("the server has no \(path.prefix { $0 != "?" })") }
        return try answer.succeeded(200, "GET \(path)")["data"]?.elements ?? []
    }

    /// Checks a list on its one page.
    fileprivate func expectList(_ path: String, _ records: [JSONValue]) async throws {
        let list = try await get(path)
        try expect(list["data"]?.elements.map { $0["id"] }, equals: records.map { $0["id"] })
        try expect(list["meta"]?["total"], equals: records.count.json)
    }

    /// Creates a record, and returns it.
    fileprivate func make(_ plural: String, _ body: JSONValue) async throws -> JSONValue {
        let answer = try await raw(.post, "/\(plural)", body)
        try answer.expect(200..<202, "POST /\(plural)")
        return try answer.json()["data"] ?? nil
    }

    fileprivate func contact(_ name: String = "John") async throws -> JSONValue {
        let made = try await make(
            "contacts",
            [
                "first_name": .string(name), "is_birthdate_known": false, "is_deceased": false,
                "is_deceased_date_known": false,
            ])
        return made["id"] ?? nil
    }
}

/// A kind of records that Monica 4 keeps.
private struct Monica4Records: Sendable {
    /// The name in paths.
    let plural: String
    /// The value of the member `object`.
    let object: String
    /// Whether a contact has a list of them.
    var isOfContact = true
    /// The members with which a record is made, and which it then has.
    let body: @Sendable (_ contact: JSONValue, _ world: Monica4World) async throws -> [String: JSONValue]
    /// The members that a change gives, beside those with which the record was made.
    let change: [String: JSONValue]
    /// The members that an answer has as they were sent.
    var shown: Set<String>

    static let all: [Monica4Records] = [
        .init(
            plural: "notes", object: "note", body: { contact, _ in ["contact_id": contact, "body": "a"] },
            change: ["body": "b"],
            shown: ["body"]),
        .init(
            plural: "tasks", object: "task",
            body: { contact, _ in ["contact_id": contact, "title": "a", "completed": false] },
            change: ["title": "b"], shown: ["title"]),
        .init(
            plural: "gifts", object: "gift",
            body: { contact, _ in ["contact_id": contact, "name": "a", "status": "idea"] },
            change: ["name": "b"], shown: ["name", "status"]),
        .init(
            plural: "calls", object: "call",
            body: { contact, _ in ["contact_id": contact, "called_at": "2024-10-20", "content": "a"] },
            change: ["content": "b"], shown: ["content"]),
        .init(
            plural: "reminders", object: "reminder",
            body: { contact, _ in
                [
                    "contact_id": contact, "title": "a", "initial_date": "2024-10-20", "frequency_type": "year",
                    "frequency_number": 1,
                ]
            }, change: ["title": "b"], shown: ["title", "frequency_type", "frequency_number"]),
        .init(
            plural: "debts", object: "debt",
            body: { contact, _ in
                ["contact_id": contact, "in_debt": "yes", "status": "inprogress", "amount": 12, "reason": "a"]
            },
            change: ["reason": "b"], shown: ["in_debt", "status", "reason"]),
        .init(
            plural: "pets", object: "pet",
            body: { contact, _ in ["contact_id": contact, "pet_category_id": 4, "name": "a"] },
            change: ["name": "b"], shown: ["name"]),
        .init(
            plural: "addresses", object: "address",
            body: { contact, _ in ["contact_id": contact, "name": "home", "city": "Paris", "country": "FR"] },
            change: ["city": "Lyon"],
            shown: ["name", "city"]),
        .init(
            plural: "contactfields", object: "contactfield",
            body: { contact, world in
                ["contact_id": contact, "contact_field_type_id": try await world.fieldType(), "data": "a@example.com"]
            }, change: ["data": "b@example.com"], shown: []),
        .init(
            plural: "conversations", object: "conversation",
            body: { contact, world in
                [
                    "contact_id": contact, "contact_field_type_id": try await world.fieldType(),
                    "happened_at": "2024-10-20",
                ]
            }, change: ["happened_at": "2024-10-21"], shown: []),
        .init(
            plural: "activities", object: "activity",
            body: { contact, _ in ["contacts": .list([contact]), "summary": "a", "happened_at": "2024-10-20"] },
            change: ["summary": "b"],
            shown: ["summary"]),
        .init(
            plural: "journal", object: "entry", isOfContact: false,
            body: { _, _ in ["title": "a", "post": "a", "date": "2024-10-20"] }, change: ["post": "b"],
            shown: ["title", "post"]),
        .init(
            plural: "genders", object: "gender", isOfContact: false, body: { _, _ in ["name": "a", "type": "O"] },
            change: ["name": "b"], shown: ["name", "type"]),
        .init(
            plural: "tags", object: "tag", isOfContact: false,
            body: { _, _ in ["name": .string(UUID().uuidString.lowercased())] },
            change: ["name": .string(UUID().uuidString.lowercased())], shown: ["name"]),
    ]

    /// Checks a record from its creation to its deletion.
    func follow(_ world: Monica4World) async throws {
        _ = try await world.list("/\(plural)?limit=1")
        let contact = try await world.contact()
        let body = try await body(contact, world)
        let made = try await world.make(plural, .object(body))
        try expect(made["object"], equals: .string(object))
        try expect(made["id"]?.integer != nil, "the id of \(made)")
        for member in shown.sorted() { try expect(made[member], equals: body[member]) }
        let own = "/\(plural)/\(made["id"] ?? nil)"
        let read = try await world.get(own)["data"]
        for member in shown.union(["id", "object"]).sorted() { try expect(read?[member], equals: made[member]) }
        if isOfContact { try await world.expectList("/contacts/\(contact)/\(plural)", [made]) }
        let changed = body.merging(change) { $1 }
        let written = try await world.raw(.put, own, .object(changed)).succeeded(200, "PUT \(own)")["data"]
        for member in shown.sorted() { try expect(written?[member], equals: changed[member]) }
        let deleted = try await world.raw(.delete, own).succeeded(200, "DELETE \(own)")
        try expect(deleted["deleted"], equals: true)
        try await world.raw(.get, own).refused(404, 31)
        try await world.raw(.delete, own).refused(404, 31)
    }
}

extension Monica4World {
    /// Returns the id of a type of contact fields.
    fileprivate func fieldType() async throws -> JSONValue {
        let types = try await list("/contactfieldtypes?limit=100")
        return types.first { $0["type"] == "email" }?["id"] ?? types.first?["id"] ?? nil
    }
}

extension RawAnswer {
    /// Fails unless this is a refusal in Monica's form, with a code, and with any message.
    @discardableResult
    fileprivate func refused(
        _ status: Int, _ errorCode: Int64, line: UInt = #line, file: StaticString = #fileID
    ) throws -> JSONValue {
        try expect(status..<(status + 1), line: line, file: file)
        let error = try json()["error"]
        try ContractCheck.expect(error?["error_code"]?.integer, equals: errorCode, line: line, file: file)
        try ContractCheck.expect(error?["message"] != nil, "a message in \(text.prefix(200))", line: line, file: file)
        return error ?? nil
    }
}

/// The promises on which apps of Monica 4 rely, as scenarios.
package enum Monica4Scenarios {
    package static let all: [Scenario<Monica4World>] =
        Monica4Records.all.map { kind in
            Scenario(
                "A record of \(kind.plural) is made, read, changed and deleted", clause: kind.plural, level: .dialect,
                run: kind.follow)
        } + lists + contacts + errors

    private static let lists: [Scenario<Monica4World>] = [
        Scenario("A list comes in pages of fifteen, with absolute links", clause: "lists", level: .dialect) { world in
            let contact = try await world.contact()
            for number in 0..<16 {
                _ = try await world.make("notes", ["contact_id": contact, "body": .string("note \(number)")])
            }
            let path = "/contacts/\(contact)/notes"
            let first = try await world.get(path)
            try expect(first["data"]?.elements.count, equals: 15)
            let url = world.stranger.baseURL.absoluteString + path
            try expect(first["meta"]?["path"], equals: .string(url))
            for (member, value) in [("current_page", 1), ("from", 1), ("last_page", 2), ("to", 15), ("total", 16)] {
                try expect(first["meta"]?[member], equals: value.json)
            }
            try expect(first["meta"]?["per_page"] != nil, "meta.per_page")
            try expect(first["links"]?["prev"], equals: .null)
            for link in ["first", "last", "next"] {
                try expect(first["links"]?[link]?.string?.hasPrefix(url + "?") == true, "links.\(link) of \(first)")
            }
            let second = try await world.get(path + "?page=2")
            try expect(second["data"]?.elements.count, equals: 1)
            try expect(second["links"]?["next"], equals: .null)
            try expect(try await world.get(path + "?limit=100")["data"]?.elements.count, equals: 16)
            try await world.raw(.get, path + "?limit=101").refused(400, 30)
        },
        Scenario("A page has its numbered links", clause: "lists", level: .dialect) { world in
            guard case .list(let links)? = try await world.get("/contacts?limit=1")["meta"]?["links"] else {
                throw Skipped("its pages have no meta.links, as those of older versions")
            }
            for link in links {
                for member in ["url", "label", "active"] { try expect(link[member] != nil, "\(member) of \(link)") }
            }
        },
        Scenario("Lists of what an account chooses from", clause: "types", level: .dialect) { world in
            for (path, object) in [
                ("/genders", "gender"), ("/contactfieldtypes", "contactfieldtype"), ("/currencies", "currency"),
                ("/activitytypes", "activityType"), ("/activitytypecategories", "activityTypeCategory"),
                ("/relationshiptypes", "relationshiptype"), ("/relationshiptypegroups", "relationshiptypegroup"),
            ] {
                let page = try await world.get(path)
                let first = page["data"]?.elements.first
                try expect(first?["object"], equals: .string(object))
                try expect(page["meta"]?["current_page"], equals: 1)
                try expect(try await world.get("\(path)/\(first?["id"] ?? nil)")["data"]?["id"], equals: first?["id"])
            }
            try expect(try await world.get("/countries")["data"] != nil, "the countries")
        },
        Scenario("Activities are counted by year", clause: "lists", level: .dialect) { world in
            let contact = try await world.contact()
            let body: JSONValue = ["contacts": [contact], "summary": "a", "happened_at": "2019-10-20"]
            _ = try await world.make("activities", body)
            let years = try await world.get("/contacts/\(contact)/activities")["meta"]?["statistics"]
            try expect(years?["2019"] != nil, "2019 in \(years ?? nil)")
        },
    ]

    private static let contacts: [Scenario<Monica4World>] = [
        Scenario("A contact has a picture", clause: "contacts", level: .dialect) { world in
            let contact = try await world.get("/contacts/\(try await world.contact())")["data"]
            let avatar = contact?["information"]?["avatar"]
            let url = avatar?["url"]?.string ?? ""
            try expect(url.hasPrefix("http"), "information.avatar.url in \(avatar ?? nil)")
            try expect(avatar?["source"]?.string != nil, "information.avatar.source in \(avatar ?? nil)")
        },
        Scenario("An address has a country with a code", clause: "addresses", level: .dialect) { world in
            let contact = try await world.contact()
            let body: JSONValue = ["contact_id": contact, "city": "Paris", "country": "FR"]
            let address = try await world.make("addresses", body)
            for country in [
                address["country"], try await world.get("/contacts/\(contact)")["data"]?["addresses"]?[0]?["country"],
            ] {
                try expect(country?["iso"], equals: "FR")
                try expect(country?["object"], equals: "country")
                try expect(country?["name"]?.string != nil, "the name of \(country ?? nil)")
            }
        },
        Scenario("A photo is sent as text, and shown by its URL", clause: "photos", level: .dialect) { world in
            _ = try await world.list("/photos?limit=1")
            let data = "data:image/jpeg;base64," + Data(Samples.jpeg).base64EncodedString()
            let contact = try await world.contact()
            let photo = try await world.make("photos", ["contact_id": contact, "data": .string(data)])
            try expect(photo["object"], equals: "photo")
            let listed = try await world.get("/contacts/\(contact)/photos")["data"]?.elements
            try expect(listed?.map { $0["id"] }, equals: [photo["id"]])
            for member in ["link", "dataUrl", "original_filename"] {
                try expect(listed?.first?[member]?.string?.isEmpty == false, "\(member) of \(listed ?? [])")
            }
            try await world.raw(.delete, "/photos/\(photo["id"] ?? nil)").succeeded(200)
        },
        Scenario("A gift's amount is text", clause: "gifts", level: .dialect) { world in
            let contact = try await world.contact()
            let body: JSONValue = ["contact_id": contact, "name": "a", "status": "idea", "amount": 12.5]
            let gift = try await world.make("gifts", body)
            for member in ["amount", "value"] {
                try expect(Double(gift[member]?.string ?? ""), equals: 12.5)
            }
        },
        Scenario("Two contacts are related, each to the other", clause: "relationships", level: .dialect) { world in
            let types = try await world.list("/relationshiptypes?limit=100")
            let type = types.first { $0["name"] == "parent" } ?? types.first
            let (john, jane) = (try await world.contact(), try await world.contact("Jane"))
            let made = try await world.make(
                "relationships",
                ["contact_is": john, "of_contact": jane, "relationship_type_id": type?["id"] ?? nil])
            try expect(made["contact_is"]?["id"], equals: john)
            try expect(made["of_contact"]?["id"], equals: jane)
            try expect(made["url"]?.string != nil, "the URL of \(made)")
            let back = try await world.get("/contacts/\(jane)/relationships")["data"]?.elements
            try expect(back?.count, equals: 1)
            try await world.raw(.delete, "/relationships/\(made["id"] ?? nil)").succeeded(200)
            try expect(try await world.get("/contacts/\(jane)/relationships")["data"]?.elements.count, equals: 0)
        },
        Scenario("A conversation has messages", clause: "conversations", level: .dialect) { world in
            let contact = try await world.contact()
            let body: JSONValue = [
                "contact_id": contact, "contact_field_type_id": try await world.fieldType(),
                "happened_at": "2024-10-20",
            ]
            let path = "/conversations/\(try await world.make("conversations", body)["id"] ?? nil)"
            let message: JSONValue = [
                "contact_id": contact, "written_at": "2024-10-20", "written_by_me": true, "content": "a",
            ]
            try await world.raw(.post, path + "/messages", message).expect(200..<202, "a message")
            let messages = try await world.get(path)["data"]?["messages"]
            try expect(messages?.elements.map { $0["content"] }, equals: ["a"])
        },
        Scenario("A contact is tagged by names", clause: "tags", level: .dialect) { world in
            let contact = try await world.contact()
            let name = JSONValue.string(UUID().uuidString.lowercased())
            let tagged = try await world.raw(.post, "/contacts/\(contact)/setTags", ["tags": [name]]).succeeded(200)
            try expect(tagged["data"]?["tags"]?.elements.map { $0["name"] }, equals: [name])
        },
    ]

    private static let errors: [Scenario<Monica4World>] = [
        Scenario("A refused body has its messages as a list", clause: "errors", level: .dialect) { world in
            let refusal = try await world.raw(.post, "/notes", ["body": "a"]).refused(422, 32)
            guard case .list(let messages)? = refusal["message"] else {
                throw CheckFailure("error.message is not a list: \(refusal)")
            }
            try expect(messages.contains { $0.string?.contains("contact id") == true }, "\(messages)")
        },
        Scenario("What is not there is not found", clause: "errors", level: .dialect) { world in
            for path in ["/contacts", "/notes", "/activities", "/tasks", "/gifts", "/tags"] {
                try await world.raw(.get, path + "/999999999").refused(404, 31)
            }
            try await world.raw(.post, "/notes", ["contact_id": 999_999_999, "body": "a"]).refused(404, 31)
        },
        Scenario("A stranger sees nothing", clause: "errors", level: .dialect) { world in
            for path in ["/me", "/contacts", "/journal"] {
                try await world.stranger(.get, path, headers: [.accept: "application/json"]).expect(401..<402, path)
            }
        },
    ]

    /// Returns the scenarios of `concord check monica --level monica4`, for any server of Monica 4.
    ///
    /// - Parameter tokens: Tokens of one account, which are used in turn.
    package static func checklist(_ tokens: [String]) -> Checklist {
        let purse = Purse(tokens)
        return Checklist(
            api: "monica", scenarios: all, probe: "/me", tokens: tokens, isLimited: { _ in true },
            noting: { CreatedResources() },
            enter: { server in Monica4World(server, token: { try await purse.token(of: nil, on: server) }) })
    }
}
