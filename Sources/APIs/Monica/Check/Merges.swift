@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    private static let later = "A later merge of the contact must be undone first."

    static let merges: [Scenario<MonicaWorld>] = [
        Scenario("A merge gives one contact what belonged to the other", clause: "POST /contacts/{id}/merge") {
            world, owner in
            let word = world.freshWord()
            let pair = try await owner.doubles(word)
            let (john, jane, joe) = (pair.john, pair.jane, pair.joe)
            let before = try await owner.whole(jane)
            let merged = try await owner.merge(jane, into: john)
            try await owner.get("/contacts/\(jane)").refused(404, 31, "The requested contact was not found.")
            let whole = try await owner.whole(john)
            try expect(try await owner.get("/contacts/\(john)").succeeded(200)["data"], equals: merged)
            for (member, value) in [
                "first_name": "Jon", "last_name": .string(word), "nickname": "Jonny", "description": "Small\nTall",
                "gender": before["gender"] ?? nil, "is_starred": true, "is_dead": true,
            ] as [String: JSONValue] {
                try expect(whole[member], equals: value)
            }
            let (own, former) = (whole["information"], before["information"])
            for member in ["career", "food_preferences"] { try expect(own?[member], equals: former?[member]) }
            for member in ["birthdate", "deceased_date"] {
                try expect(own?["dates"]?[member], equals: former?["dates"]?[member])
            }
            // The two had met through each other.
            try expect(own?["how_you_met"]?["first_met_through_contact"], equals: .null)
            try expect(own?["how_you_met"]?["general_information"], equals: "At school")
            for (list, count) in [
                "notes": 2, "tasks": 2, "gifts": 2, "calls": 2, "conversations": 2, "reminders": 2, "debts": 2,
                "pets": 2, "lifeevents": 2, "activities": 3, "contactfields": 3, "addresses": 3, "relationships": 2,
            ] {
                try expect(whole[list]?.elements.count, equals: count)
            }
            try expect(whole["tags"]?.elements.count, equals: 3)
            for (number, count) in [
                "notes": 2, "tasks": 2, "gifts": 2, "calls": 2, "reminders": 2, "debts": 2, "activities": 3,
            ] {
                try expect(whole["statistics"]?["number_of_\(number)"], equals: count.json)
            }
            for activity in whole["activities"]?.elements ?? [] {
                try expect(activity["contacts"]?.elements.map { $0["id"] }, equals: [john.json])
            }
            let names = try await owner.relationships(of: john.json).map {
                $0["relationship_type"]?["name"]?.string ?? ""
            }
            try expect(names.sorted(), equals: ["boss", "friend"])
            let reverse = try await owner.relationships(of: joe.json)
            try expect(
                reverse.map { $0["relationship_type"]?["name"]?.string ?? "" }.sorted(),
                equals: ["friend", "subordinate"])
            for relationship in reverse { try expect(relationship["of_contact"]?["id"], equals: john.json) }
            let friend = try await owner.get("/contacts/\(joe)").succeeded(200)["data"]
            try expect(friend?["information"]?["how_you_met"]?["first_met_through_contact"]?["id"], equals: john.json)
            let gifts = try await owner.get("/contacts/\(joe)/gifts").succeeded(200)["data"]?.elements ?? []
            try expect(gifts.map { $0["recipient"]?["id"] }, equals: [john.json])
            // Its new name is found, and so are the addresses of mail.
            for found in [word, "a@\(word).example", "b@\(word).example"] {
                try expect(try await owner.ids("/contacts?query=\(found)"), equals: [Int64(john)])
            }
            let merges = try await owner.merges(into: john)
            try expect(merges.count, equals: 1)
            let merge = merges.first
            try expect(merge?["merged_contact_id"], equals: jane.json)
            try expect(merge?["merged_contact_name"], equals: before["complete_name"])
            try expect(merge?["object"], equals: "merge")
            try expect(merge?["account"], equals: merged["account"])
            try merge?["contact"].refers(to: merged)
            try expect(
                (merge?["created_at"]?.string ?? "") < (merge?["expires_at"]?.string ?? ""), "the times of \(merges)")
        },
        Scenario("An undone merge leaves both contacts as they were", clause: "POST /merges/{id}/undo") {
            world, owner in
            let word = world.freshWord()
            let pair = try await owner.doubles(word)
            var before: [[String: JSONValue]] = []
            for contact in [pair.john, pair.jane, pair.joe] { before.append(try await owner.whole(contact)) }
            _ = try await owner.merge(pair.jane, into: pair.john)
            let id = try await owner.merges(into: pair.john).first?["id"] ?? nil
            let back = try await owner.raw(.post, "/merges/\(id)/undo").succeeded(200)["data"]
            try expect(try await owner.get("/contacts/\(pair.jane)").succeeded(200)["data"], equals: back)
            for (contact, former) in zip([pair.john, pair.jane, pair.joe], before) {
                let now = try await owner.whole(contact)
                for (part, value) in former { try expect(now[part], equals: value) }
            }
            let found = try await owner.ids("/contacts?query=\(word)")
            try expect(found, equals: [Int64(pair.john), Int64(pair.jane)])
            try expect(try await owner.ids("/contacts?query=b@\(word).example"), equals: [Int64(pair.jane)])
            try expect(try await owner.merges(into: pair.john), equals: [])
            try await owner.raw(.post, "/merges/\(id)/undo").refused(404, 31, "The requested merge was not found.")
            // It can be merged again, the other way around.
            _ = try await owner.merge(pair.john, into: pair.jane)
            try await owner.get("/contacts/\(pair.john)").refused(404, 31, "The requested contact was not found.")
        },
        Scenario("What happened since a merge outlives its end", clause: "POST /merges/{id}/undo") { world, owner in
            let word = world.freshWord()
            let (john, jane, joe) = try await owner.doubles(word)
            let before = try await owner.whole(jane)
            _ = try await owner.merge(jane, into: john)
            // One of each is deleted that was the other's, or both had.
            for list in ["notes", "tasks", "calls", "pets", "activities"] {
                let first = before[list]?.elements.first?["id"] ?? nil
                try await owner.raw(.delete, "/\(list)/\(first)").succeeded(200)
            }
            let tag = before["tags"]?.elements.first?["id"] ?? nil
            try await owner.raw(.post, "/contacts/\(john)/unsetTag", ["tags": [tag]]).succeeded(200)
            for relationship in try await owner.relationships(of: john.json) {
                try await owner.raw(.delete, "/relationships/\(relationship["id"] ?? nil)").succeeded(200)
            }
            try await owner.raw(.put, "/contacts/\(john)/work", ["job": "Cook", "company": nil]).succeeded(200)
            let note = try await owner.raw(.post, "/notes", ["body": "Since", "contact_id": john.json]).succeeded(201)[
                "data"]
            let id = try await owner.merges(into: john).first?["id"] ?? nil
            try await owner.raw(.post, "/merges/\(id)/undo").succeeded(200)
            let (now, other) = (try await owner.whole(john), try await owner.whole(jane))
            try expect(now["information"]?["career"], equals: ["job": "Cook", "company": nil])
            try expect(now["description"], equals: "Small")
            try expect(now["notes"]?.elements.contains { $0["id"] == note?["id"] } == true, "the new note is gone")
            for list in ["notes", "tasks", "calls", "pets"] { try expect(other[list]?.elements, equals: []) }
            for list in ["gifts", "debts", "reminders", "conversations", "lifeevents", "contactfields", "addresses"] {
                try expect(other[list], equals: before[list])
            }
            try expect(other["activities"]?.elements.count, equals: 1)
            try expect(other["tags"]?.elements.contains { $0["id"] == tag }, equals: false)
            // The relationship of the two to each other was none of the remaining contact's.
            let left = try await owner.relationships(of: jane.json)
            try expect(left.map { $0["of_contact"]?["id"] }, equals: [john.json])
            try expect(try await owner.relationships(of: joe.json), equals: [])
        },
        Scenario("A merge says what is wrong with it", clause: "POST /contacts/{id}/merge") { _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let partial = try await owner.contact("Part", isPartial: true).id
            let gone = try await owner.contact("Joe").id
            try await owner.raw(.delete, "/contacts/\(gone)").succeeded(200)
            let (path, nobody) = ("/contacts/\(john)/merge", "The requested contact was not found.")
            let table: [(JSONValue, Int, Int, String)] = [
                ([:], 422, 32, "The contact id field is required."),
                (["contact_id": nil], 422, 32, "The contact id field is required."),
                (["contact_id": "x"], 422, 32, "The contact id must be an integer."),
                (["contact_id": john.json], 422, 32, "The selected contact id is invalid."),
                (["contact_id": gone.json], 404, 31, nobody), (["contact_id": 0], 404, 31, nobody),
                (["contact_id": 999_999_999], 404, 31, nobody), (["contact_id": .integer(.min)], 404, 31, nobody),
                (["contact_id": partial.json], 422, 32, "The contact can't be a partial contact"),
            ]
            for (body, status, code, text) in table {
                try await owner.raw(.post, path, body).refused(status, code, text, "\(body)")
            }
            try await owner.raw(.post, "/contacts/\(partial)/merge", ["contact_id": john.json])
                .refused(422, 32, "The contact can't be a partial contact")
            for id in ["\(gone)", "0", "x", "999999999"] {
                try await owner.raw(.post, "/contacts/\(id)/merge", ["contact_id": jane.json]).refused(404, 31, nobody)
                try await owner.get("/contacts/\(id)/merges").refused(404, 31, nobody)
                try await owner.raw(.post, "/merges/\(id == "\(gone)" ? "-1" : id)/undo")
                    .refused(404, 31, "The requested merge was not found.")
            }
            _ = try await owner.merge(jane, into: john)
            try await owner.raw(.post, path, ["contact_id": jane.json]).refused(404, 31, nobody)
        },
        Scenario("Merges are undone the latest first, and go with the contact", clause: "POST /merges/{id}/undo") {
            _, owner in
            let (john, jane) = (try await owner.contact("John").id, try await owner.contact("Jane").id)
            let (jim, joe) = (try await owner.contact("Jim").id, try await owner.contact("Joe").id)
            for other in [jane, jim] { _ = try await owner.merge(other, into: john) }
            let merges = try await owner.merges(into: john)
            try expect(merges.map { $0["merged_contact_id"]?.integer }, equals: [Int64(jane), Int64(jim)])
            let undo: [String] = merges.map { merge in
                let id: JSONValue = merge["id"] ?? nil
                return "/merges/\(id)/undo"
            }
            let (first, second) = (try undo[0], try undo[1])
            try await owner.raw(.post, first).refused(422, 32, Self.later)
            // A contact that was merged itself comes back first.
            _ = try await owner.merge(john, into: joe)
            try await owner.raw(.post, second).refused(422, 32, Self.later)
            let last = try await owner.merges(into: joe).first?["id"] ?? nil
            let third = "/merges/\(last)/undo"
            for path in [third, second, first] { try await owner.raw(.post, path).succeeded(200) }
            for id in [john, jane, jim, joe] { try await owner.get("/contacts/\(id)").succeeded(200) }
            _ = try await owner.merge(jane, into: john)
            let again = try await owner.merges(into: john).first?["id"] ?? nil
            let fourth = "/merges/\(again)/undo"
            try await owner.raw(.delete, "/contacts/\(john)").succeeded(200)
            try await owner.raw(.post, fourth).refused(404, 31, "The requested merge was not found.")
            try await owner.get("/contacts/\(john)/merges").refused(404, 31, "The requested contact was not found.")
            try await owner.get("/contacts/\(jane)").refused(404, 31, "The requested contact was not found.")
        },
    ]
}

extension Owner {
    /// Merges a contact into another one, and returns what that one is now.
    func merge(_ other: Int, into contact: Int) async throws -> JSONValue {
        let path = "/contacts/\(contact)/merge"
        return try await raw(.post, path, ["contact_id": other.json]).succeeded(200)["data"] ?? nil
    }

    func merges(into contact: Int) async throws -> [JSONValue] {
        try await get("/contacts/\(contact)/merges").succeeded(200)["data"]?.elements ?? []
    }

    /// Returns a contact with everything that belongs to it, but without the time at which its row was changed.
    fileprivate func whole(_ contact: Int) async throws -> [String: JSONValue] {
        var whole = try await get("/contacts/\(contact)").succeeded(200)["data"]?.members ?? [:]
        whole["updated_at"] = nil
        for list in [
            "notes", "tasks", "gifts", "calls", "conversations", "reminders", "debts", "pets", "activities",
            "contactfields", "addresses", "relationships",
        ] {
            whole[list] = try await get("/contacts/\(contact)/\(list)").succeeded(200)["data"]
        }
        whole["lifeevents"] = try await get("/lifeevents?contact_id=\(contact)").succeeded(200)["data"]
        return whole
    }

    /// Creates two contacts that are the same person, and a friend of both: each of the two has one of everything, and some
    /// of it they have together.
    fileprivate func doubles(_ word: String) async throws -> (john: Int, jane: Int, joe: Int) {
        let john = try await client.create(
            Monica.ContactDraft(firstName: "Jon", nickname: "Jonny", description: "Small")
        ).id
        let jane = try await described(word)["id"]?.integer.map(Int.init) ?? 0
        let joe = try await contact("Joe").id
        let (phone, email) = (try await fieldType("phone")["id"] ?? nil, try await fieldType("email")["id"] ?? nil)
        for (contact, mail) in [(john, "a@\(word).example"), (jane, "b@\(word).example")] {
            let whose = contact.json
            for (path, body, status) in [
                ("/notes", ["body": "x", "contact_id": whose], 201),
                ("/tasks", ["title": "x", "contact_id": whose], 200),
                ("/gifts", ["name": "x", "status": "idea", "contact_id": whose], 201),
                ("/calls", ["contact_id": whose, "called_at": "2024-01-01"], 201),
                ("/conversations", try await conversation(with: contact), 201),
                ("/reminders", MonicaScenarios.reminder(of: contact), 201),
                ("/debts", MonicaScenarios.debt(of: contact), 201), ("/pets", MonicaScenarios.pet(of: contact), 201),
                ("/lifeevents", MonicaScenarios.lifeEvent(of: contact), 200),
                ("/activities", ["summary": "x", "happened_at": "2024-01-01", "contacts": [whose]], 201),
                ("/contactfields", ["data": .string(mail), "contact_field_type_id": email, "contact_id": whose], 201),
                ("/contactfields", ["data": "+1 555", "contact_field_type_id": phone, "contact_id": whose], 201),
                ("/addresses", ["contact_id": whose, "city": "Paris"], 201),
                ("/addresses", ["contact_id": whose, "street": .string(mail)], 201),
                ("/contacts/\(contact)/setTags", ["tags": [.string(word), .string(mail)]], 200),
            ] as [(String, JSONValue, Int)] {
                try await raw(.post, path, body).succeeded(status, path)
            }
            _ = try await relate(whose, "friend", joe.json)
        }
        let both: JSONValue = ["summary": "both", "happened_at": "2024-01-02", "contacts": [john.json, jane.json]]
        try await raw(.post, "/activities", both).succeeded(201)
        _ = try await relate(jane.json, "sibling", john.json)
        _ = try await relate(jane.json, "boss", joe.json)
        try await raw(
            .post, "/gifts", ["name": "x", "status": "idea", "contact_id": joe.json, "recipient_id": jane.json]
        ).succeeded(201)
        for (contact, introducer) in [(john, jane), (jane, john), (joe, jane)] {
            try await raw(
                .put, "/contacts/\(contact)/introduction",
                [
                    "general_information": contact == jane ? "At school" : nil, "is_date_known": false,
                    "met_through_contact_id": introducer.json,
                ]
            ).succeeded(200)
        }
        try await raw(.put, "/contacts/\(jane)/work", ["job": "Baker", "company": "Bakery"]).succeeded(200)
        try await raw(.put, "/contacts/\(jane)/food", ["food_preferences": "No nuts"]).succeeded(200)
        return (john, jane, joe)
    }
}
