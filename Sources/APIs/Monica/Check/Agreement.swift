@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient
import MonicaExamples

/// Operations that show the same thing show the same values.
extension MonicaScenarios {
    static let agreement: [Scenario<MonicaWorld>] = [
        Scenario("A contact is the same wherever shown", clause: "§2 contact") { world, owner in
            let word = world.freshWord()
            let john = try await owner.described(word)
            let id = john["id"]?.integer ?? 0
            let path = "/contacts/\(id)"
            let jane = try await owner.client.create(
                Monica.ContactDraft(
                    firstName: "Jane", lastName: word, nickname: "Janie",
                    genderID: (john["gender_id"]?.integer).map(Int.init)))
            let known: JSONValue = ["job": "Baker", "company": "Bakery"]
            try await owner.raw(.put, path + "/work", known).succeeded(200)
            try await owner.raw(.put, path + "/food", ["food_preferences": "No nuts"]).succeeded(200)
            try await owner.raw(
                .put, path + "/introduction",
                [
                    "general_information": "At school", "met_through_contact_id": jane.id.json, "is_date_known": true,
                    "day": 2, "month": 3, "year": 2020,
                ]
            ).succeeded(200)
            let tagged = try await owner.raw(.post, path + "/setTags", ["tags": [.string(word)]]).succeeded(200)["data"]
            let tag = tagged?["tags"]?[0]?["id"]?.integer ?? 0
            try await owner.client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day(checked: "2024-10-20"), contacts: [.init(id)]))
            try await owner.client.create(Monica.NoteDraft(contactID: .init(id), body: "x"))
            let called = try Day(checked: "2024-10-20").start
            try await owner.client.create(Monica.CallDraft(contactID: .init(id), calledAt: called))
            try await owner.client.create(
                Monica.ReminderDraft(contactID: .init(id), title: "x", initialDate: called.day))
            try await owner.client.create(Monica.DebtDraft(contactID: .init(id), inDebt: .yes, amount: "1"))
            let photo = try await owner.client.store(photo: .photo, of: .init(id))
            try await owner.send(Monica.SetAvatar(id: .init(id), .photo(photo.id)))
            var related: [String: JSONValue] = [:]
            for (group, name) in [
                ("love", "partner"), ("family", "parent"), ("friend", "friend"), ("work", "boss"),
            ] {
                let relationship = try await owner.relate(.integer(id), name, jane.id.json)
                related[group] = [
                    "total": 1,
                    "contacts": [
                        [
                            "relationship": [
                                "id": relationship["id"] ?? nil, "uuid": relationship["uuid"] ?? nil,
                                "name": .string(name),
                            ],
                            "contact": relationship["of_contact"] ?? nil,
                        ]
                    ],
                ]
            }
            // Written again, it is as it is read, but for the time at which it was changed.
            var again = Owner.described(word).members
            again["gender_id"] = john["gender_id"]
            let written = try await owner.raw(.put, path, .object(again)).succeeded(200)["data"]
            let read = try await owner.get(path).succeeded(200)["data"]
            try expect(read, equals: written)
            for (member, value) in Owner.described(word).members where john[member] != nil {
                try expect(read?[member], equals: value)
            }
            let expected: [String: JSONValue] = [
                "complete_name": .string("John Quincy \(word)"),
                "initials": .string("JQ\(word.prefix(1).uppercased())"),
                "is_dead": true, "is_partial": false, "last_activity_together": "2024-10-20T00:00:00Z",
                "last_called": "2024-10-20T00:00:00Z",
            ]
            for (member, value) in expected { try expect(read?[member], equals: value) }
            for member in ["id", "uuid", "hash_id", "url", "created_at", "account"] {
                try expect(read?[member], equals: john[member])
            }
            let information = read?["information"]
            try expect(information?["relationships"], equals: .object(related))
            try expect(information?["avatar"]?["url"]?.unsigned, equals: JSONValue.string(photo.link).unsigned)
            try expect(information?["career"], equals: known)
            try expect(information?["food_preferences"], equals: "No nuts")
            let dates = information?["dates"]
            try expect(
                dates?["birthdate"],
                equals: ["is_age_based": false, "is_year_unknown": false, "date": "1980-10-11T00:00:00Z"])
            try expect(
                dates?["deceased_date"],
                equals: ["is_age_based": false, "is_year_unknown": false, "date": "2020-12-13T00:00:00Z"])
            let met = information?["how_you_met"]
            try expect(met?["general_information"], equals: "At school")
            try expect(
                met?["first_met_date"],
                equals: ["is_age_based": false, "is_year_unknown": false, "date": "2020-03-02T00:00:00Z"])
            try expect(read?["tags"]?[0]?["name"], equals: .string(word))
            let single = try await owner.get("/tags/\(tag)").succeeded(200)["data"]
            try expect(read?["tags"]?[0], equals: single)
            let numbers = read?["statistics"]
            for (kind, count) in [
                "notes": 1, "activities": 1, "tasks": 0, "gifts": 0, "calls": 1, "reminders": 1, "debts": 1,
            ]
                as [String: JSONValue]
            {
                try expect(numbers?["number_of_\(kind)"], equals: count)
            }
            for list in ["/contacts?query=John%20\(word)", "/tags/\(tag)/contacts"] {
                try expect(try await owner.get(list).succeeded(200)["data"], equals: [read ?? nil])
            }
            let detailed = try await owner.get(path + "?with=contactfields").succeeded(200)["data"]
            try expect(detailed?["notes"]?.elements.count, equals: 1)
            let list = try await owner.get("/contacts?query=John%20\(word)&with=contactfields").succeeded(200)
            try expect(list["data"], equals: [detailed ?? nil])
            // Another contact is shown as others refer to it.
            let other = try await owner.get("/contacts/\(jane.id)").succeeded(200)["data"]
            try met?["first_met_through_contact"].refers(to: other)
        },
        rules.strangers("Without a token nothing is answered", clause: "§3"),
        Scenario("What belongs to a contact is the same wherever shown", clause: "§2 resources") { world, owner in
            let contact = try await owner.described(world.freshWord())
            let other = try await owner.described(world.freshWord())
            let (id, otherID) = (contact["id"] ?? nil, other["id"] ?? nil)
            let path = "/contacts/\(id)"
            let type = try await owner.get("/activitytypes").succeeded(200)["data"]?[0] ?? nil
            let bodies: [(kind: String, status: Int, JSONValue)] = [
                (
                    "activities", 201,
                    [
                        "summary": "Dinner", "description": "At home", "happened_at": "2024-10-20",
                        "contacts": [id, otherID],
                        "activity_type_id": type["id"] ?? nil,
                    ]
                ),
                ("notes", 201, ["body": "Tea", "contact_id": id, "is_favorited": true]),
                ("tasks", 200, ["title": "Call", "description": "Soon", "contact_id": id, "completed": true]),
                (
                    "gifts", 201,
                    [
                        "name": "Book", "comment": "Red", "url": "https://example.com", "amount": "12.50",
                        "status": "offered", "date": "2024-10-20", "contact_id": id,
                        "recipient_id": otherID,
                    ]
                ),
            ]
            for (kind, status, body) in bodies {
                let made = try await owner.raw(.post, "/\(kind)", body).succeeded(status)["data"]
                let own = "/\(kind)/\(made?["id"] ?? nil)"
                let first = try await owner.get(own).succeeded(200)["data"]
                try expect(made, equals: first)
                // A new task is open, whatever its maker says.
                try made.has(body.members.filter { $0.key != "completed" })
                let written = try await owner.raw(.put, own, body).succeeded(200)["data"]
                let read = try await owner.get(own).succeeded(200)["data"]
                try expect(written, equals: read)
                for member in ["id", "uuid", "created_at", "account"] {
                    try expect(read?[member], equals: made?[member])
                }
                try read.has(body.members)
                for list in ["/\(kind)?contact_id=\(id)", "\(path)/\(kind)"] {
                    try expect(try await owner.get(list).succeeded(200)["data"], equals: [read ?? nil])
                }
                let people =
                    [read?["contact"], read?["recipient"]] + (read?["contacts"]?.elements.map(Optional.some) ?? [])
                for person in people where person != nil {
                    try person.refers(to: person?["id"] == id ? contact : other)
                }
                if kind == "activities" {
                    try expect(read?["activity_type"], equals: type)
                    try expect(read?["attendees"], equals: ["total": 2, "contacts": read?["contacts"] ?? nil])
                    try expect(
                        Set(read?["contacts"]?.elements.map { $0["id"]?.integer } ?? []),
                        equals: Set([id.integer, otherID.integer]))
                }
                if kind == "gifts" {
                    try expect(read?["value"], equals: 12.5)
                    try expect(read?["amount_with_currency"], equals: "$12.50")
                    try expect(read?["has_been_offered"], equals: true)
                    try expect(read?["is_an_idea"], equals: false)
                }
                for list in ["\(path)/\(kind)?", "/\(kind)?contact_id=\(id)&"] {
                    let page = try await owner.get(list + "limit=1&page=2").succeeded(200)
                    try expect(page["data"], equals: [])
                    try expect(page["meta"]?["per_page"], equals: 1)
                    try expect(page["meta"]?["current_page"], equals: 2)
                }
                // It is shown until it is deleted.
                try expect(
                    try await owner.raw(.delete, own).succeeded(200),
                    equals: ["deleted": true, "id": made?["id"] ?? nil])
                try expect(try await owner.get(own).status, equals: 404)
                try expect(try await owner.get("\(path)/\(kind)").succeeded(200)["data"], equals: [])
            }
            try await owner.raw(.delete, path).succeeded(200)
            for kind in ["activities", "notes", "tasks", "gifts"] {
                try await owner.get("\(path)/\(kind)").refused(404, 31, "The requested contact was not found.")
            }
        },
    ]
}

extension Owner {
    /// The fields of a contact, none of which is empty.
    fileprivate static func described(_ word: String) -> JSONValue {
        [
            "first_name": "John", "middle_name": "Quincy", "last_name": .string(word), "nickname": "Johnny",
            "description": "Tall", "is_starred": true, "is_partial": false, "is_birthdate_known": true,
            "birthdate_day": 11, "birthdate_month": 10, "birthdate_year": 1980, "is_deceased": true,
            "is_deceased_date_known": true, "deceased_date_day": 13, "deceased_date_month": 12,
            "deceased_date_year": 2020,
        ]
    }

    /// Creates a contact, and returns it.
    func described(_ word: String) async throws -> JSONValue {
        let gender = try await get("/genders").succeeded(200)["data"]?[0]
        var body = Self.described(word).members
        body["gender_id"] = gender?["id"] ?? nil
        let made = try await raw(.post, "/contacts", .object(body)).succeeded(201)["data"] ?? nil
        for (member, value) in body where made[member] != nil { try expect(made[member], equals: value) }
        try expect(made["gender"], equals: gender?["name"])
        try expect(made["gender_type"], equals: gender?["type"])
        try expect(made, equals: try await get("/contacts/\(made["id"] ?? nil)").succeeded(200)["data"] ?? nil)
        return made
    }
}

extension JSONValue? {
    /// Fails unless this is a resource with the fields of the request that made it.
    fileprivate func has(_ fields: [String: JSONValue]) throws {
        for (member, value) in fields where member != "contacts" {
            try expect(member == "recipient_id" ? self?["recipient"]?["id"] : self?[member], equals: value)
        }
    }

    /// Fails unless this is a contact as others refer to it.
    func refers(to contact: JSONValue?) throws {
        for member in [
            "id", "uuid", "hash_id", "first_name", "last_name", "nickname", "complete_name", "initials", "gender_id",
            "gender", "gender_type", "is_starred", "is_partial", "is_dead", "url", "account",
        ] {
            try expect(self?[member], equals: contact?[member])
        }
        let (shown, whole) = (self?["information"], contact?["information"])
        try expect(shown?["birthdate"], equals: whole?["dates"]?["birthdate"])
        try expect(shown?["deceased_date"], equals: whole?["dates"]?["deceased_date"])
        try expect(shown?["avatar"], equals: whole?["avatar"])
    }
}
