@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let tags: [Scenario<MonicaWorld>] = [
        Scenario("Tags are set by name, once for each whatever its case", clause: "example 9") { world, owner in
            let john = try await owner.contact("John")
            let word = world.freshWord()
            let set = Monica.SetTags(id: john.id, names: ["Été à \(word)", "ÉTÉ À \(word)", " ", "été à \(word)"])
            let tagged = try await owner.send(set).data
            try expect(tagged.tags.map(\.name), equals: ["Été à \(word)"])
            try expect(tagged.tags.map(\.nameSlug), equals: ["ete-a-\(word)"])
            guard let tag = tagged.tags.first else { throw CheckFailure("no tag") }
            try expect(try await owner.ids("/tags/\(tag.id)/contacts"), equals: [Int64(john.id)])
            try expect(try await owner.send(Monica.ListTags()).data.contains(tag), "it is not in the list")
            try await owner.raw(.post, "/tags", ["name": .string("été à \(word)")])
                .refused(422, 32, "The name has already been taken.")
            let other = try await owner.client.create(Monica.TagDraft(name: word))
            try await owner.raw(.put, "/tags/\(other.id)", ["name": .string("été à \(word)")])
                .refused(422, 32, "The name has already been taken.")
            let renamed = try await owner.client.update(other.id, Monica.TagDraft(name: word.uppercased()))
            try expect(renamed.name, equals: word.uppercased())
            try expect(try await owner.send(Monica.Get<Monica.Tag>(id: other.id)).data, equals: renamed)
            try await owner.raw(.post, "/contacts/\(john.id)/setTags", [:])
                .refused(422, 32, "The tags field is required.")
            try await owner.send(Monica.SetTags(id: john.id, names: [word]))
            let one = try await owner.send(Monica.UnsetTag(id: john.id, tags: [tag.id])).data
            try expect(one.tags.map(\.id), equals: [other.id])
            try await owner.raw(.post, "/contacts/\(john.id)/unsetTag", ["tags": [999_999_999]])
                .refused(404, 31, "The requested tag was not found.")
            let none = try await owner.send(Monica.UnsetTags(id: john.id)).data
            try expect(none.tags, equals: [])
            try await owner.send(Monica.SetTags(id: john.id, names: [word]))
            try await owner.client.delete(Monica.Tag.self, id: other.id)
            try expect(try await owner.send(Monica.GetContact(id: john.id)).data.tags, equals: [])
        },
        Scenario("A tag without a letter has a slug, too", clause: "POST /tags") { _, owner in
            // Scenarios share an account, so the names have characters that others do not take by chance.
            let variant = (0..<8).compactMap { _ in "🎈🎉🎀🎁🎂🎃".randomElement() }.map(String.init).joined()
            for name in [variant, variant + "!", "👩‍👩‍👧" + variant, variant + " Été"] {
                let tag = try await owner.client.create(Monica.TagDraft(name: name))
                try expect(tag.name, equals: name)
                try expect(
                    tag.nameSlug.wholeMatch(of: #/[a-z0-9]+(-[a-z0-9]+)*/#) != nil,
                    "the slug \"\(tag.nameSlug)\" of \(name)")
                if name.hasSuffix("Été") { try expect(tag.nameSlug, equals: "ete") }
                try await owner.client.delete(Monica.Tag.self, id: tag.id)
            }
        },
        Scenario("Many at once make one tag of one name", clause: "§5") { world, owner in
            let word = world.freshWord()
            var ids: [Int] = []
            for index in 0..<4 { ids.append(try await owner.contact("N\(index)").id) }
            let contacts = ids
            let tagged = try await together(12) { index in
                try await owner.client.send(Monica.SetTags(id: contacts[index % 4], names: [word])).data
            }
            try expect(Set(tagged.flatMap(\.tags).map(\.id)).count, equals: 1)
            guard let tag = tagged.first?.tags.first else { throw CheckFailure("no tag") }
            try expect(try await owner.ids("/tags/\(tag.id)/contacts"), equals: contacts.map(Int64.init))
        },
        Scenario("Tags are on one page, by name, until they are deleted", clause: "GET /tags") { world, owner in
            let word = world.freshWord()
            var made: [Int64] = []
            for name in ["\(word) c", "\(word.uppercased()) B", "\(word) a"] {
                let tag = try await owner.client.create(Monica.TagDraft(name: name))
                try expect(tag.nameSlug, equals: name.lowercased().replacing(" ", with: "-"))
                made.append(Int64(tag.id))
            }
            let tags = made
            func of(_ order: [Int]) throws -> [Int64] { try order.map { try tags[$0] } }
            for (query, order) in [
                ("", [2, 1, 0]), ("?sort=name", [2, 1, 0]), ("?sort=-name", [0, 1, 2]),
                ("?sort=created_at", [0, 1, 2]),
                ("?sort=-created_at", [2, 1, 0]),
            ] {
                try expect(try await owner.ids("/tags" + query).filter(tags.contains), equals: of(order))
            }
            let first = try tags[0]
            let path = "/tags/\(first)"
            for path in [path, path + "/contacts"] { try await owner.get(path).succeeded(200) }
            try await owner.raw(.delete, path).succeeded(200)
            try await owner.get(path).refused(404, 31, "The requested tag was not found.")
            try await owner.get(path + "/contacts").refused(404, 31, "The requested tag was not found.")
            try expect(try await owner.ids("/tags").filter(tags.contains), equals: of([2, 1]))
        },
        Scenario("The contacts of a tag come in pages, in their order", clause: "GET /tags/{id}/contacts") {
            world, owner in
            let word = world.freshWord()
            var (made, tag): ([Int64], Int) = ([], 0)
            for name in ["John", "Jane", "Jim"] {
                let contact = try await owner.contact(name)
                made.append(Int64(contact.id))
                tag = try await owner.send(Monica.SetTags(id: contact.id, names: [word])).data.tags.first?.id ?? 0
            }
            let ids = made
            let path = "/tags/\(tag)/contacts"
            try expect(try await owner.ids(path), equals: ids)
            try expect(try await owner.ids(path + "?sort=-created_at"), equals: ids.reversed())
            let page = try await owner.get(path + "?page=2&limit=2").succeeded(200)
            try expect(page["data"]?.elements.map { $0["id"]?.integer }, equals: [ids[2]])
            try expect(page["meta"]?["total"], equals: 3)
            try expect(page["links"]?["prev"], equals: .string(path + "?page=1&limit=2"))
            try await owner.send(Monica.UnsetTag(id: Int(ids[0]), tags: [tag]))
            try expect(try await owner.ids(path), equals: [ids[1], ids[2]])
        },
    ]

    static let idempotency: [Scenario<MonicaWorld>] = [
        Scenario("A repeat under one key gets the first answer again, and does nothing", clause: "§1 Idempotency-Key") {
            world, owner in
            let (john, jane) = (try await owner.contact("John"), try await owner.contact("Jane"))
            let word = world.freshWord()
            let talk = try await owner.talk(with: jane.id)["id"] ?? nil
            let contact: JSONValue = [
                "first_name": .string(word), "is_birthdate_known": false, "is_deceased": false,
                "is_deceased_date_known": false,
            ]
            let (jim, jack) = (try await owner.contact("Jim"), try await owner.contact("Jack"))
            _ = try await owner.merge(jack.id, into: jim.id)
            let merge = try await owner.merges(into: jim.id).first?["id"] ?? nil
            let creations: [(String, JSONValue, Int)] = [
                ("/merges/\(merge)/undo", [:], 200), ("/contacts/\(john.id)/merge", ["contact_id": jim.id.json], 200),
                ("/contacts", contact, 201), ("/notes", ["body": "x", "contact_id": john.id.json], 201),
                ("/tasks", ["title": "x", "contact_id": john.id.json], 200),
                ("/gifts", ["name": "x", "contact_id": john.id.json, "status": "idea"], 201),
                ("/activities", ["summary": "x", "happened_at": "2024-01-01", "contacts": [john.id.json]], 201),
                ("/tags", ["name": .string(word)], 201), ("/journal", ["title": "x", "post": "y"], 201),
                ("/contactfieldtypes", ["name": .string(word)], 201),
                ("/genders", ["name": .string(word), "type": "O"], 201),
                ("/activitytypecategories", ["name": .string(word)], 201),
                (
                    "/activitytypes",
                    ["name": .string(word), "activity_type_category_id": try await owner.category(word)["id"] ?? nil],
                    201
                ),
                ("/addresses", ["contact_id": john.id.json, "name": "home"], 201),
                ("/calls", ["contact_id": john.id.json, "called_at": "2024-01-01"], 201),
                ("/conversations", try await owner.conversation(with: john.id), 201),
                ("/conversations/\(talk)/messages", Self.message, 200),
                ("/reminders", Self.reminder(of: john.id), 201), ("/debts", Self.debt(of: john.id), 201),
                ("/pets", Self.pet(of: john.id), 201), ("/lifeevents", Self.lifeEvent(of: john.id), 200),
                ("/relationships", Self.friends(john.id, jane.id), 201),
                (
                    "/contactfields",
                    [
                        "contact_id": john.id.json,
                        "contact_field_type_id": try await owner.fieldType("phone")["id"] ?? nil,
                        "data": "1",
                    ], 201
                ),
            ]
            for (path, body, status) in creations {
                let request = KeyedRequest(path, status) { usual, key in
                    let other: JSONValue = ["name": "another", "title": "another", "body": "another"]
                    return try await owner.raw(.post, path, usual ? body : other, headers: key)
                }
                try await world.check(request, repeats: 5)
                try await world.refuseBadKeys(of: request)
            }
            try expect(try await owner.ids("/contacts?query=\(word)").count, equals: 1)
            let talked = try await owner.get("/conversations/\(talk)").succeeded(200)["data"]
            try expect(talked?["messages"]?.elements.count, equals: 1)
            for path in [
                "notes", "contactfields", "addresses", "calls", "conversations", "reminders", "debts", "pets",
                "lifeevents",
            ] {
                try expect(try await owner.ids("/\(path)?contact_id=\(john.id)").count, equals: 1)
            }
            try expect(try await owner.relationships(of: john.id.json).count, equals: 1)
        }
    ]

    static func reminder(of contact: Int) -> JSONValue {
        [
            "contact_id": contact.json, "title": "x", "initial_date": "2024-01-01", "frequency_type": "week",
            "frequency_number": 1,
        ]
    }

    static func debt(of contact: Int) -> JSONValue {
        ["contact_id": contact.json, "in_debt": "yes", "status": "inprogress", "amount": 1]
    }

    static func pet(of contact: Int) -> JSONValue { ["pet_category_id": 6, "contact_id": contact.json] }

    /// The id of friends' type of relationships, which all accounts have.
    static let friend = 18

    private static func friends(_ contact: Int, _ other: Int, type: Int = friend) -> JSONValue {
        ["contact_is": contact.json, "relationship_type_id": type.json, "of_contact": other.json]
    }

    static let ofTwoAccounts: [Scenario<MonicaWorld>] = [
        Scenario("No user sees or changes anything of another account", clause: "§3") { world, owner, other in
            let word = world.freshWord()
            let john = try await owner.contact("John", word)
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john.id, body: word))
            let task = try await owner.client.create(Monica.TaskDraft(title: word, contactID: john.id))
            let gift = try await owner.client.create(Monica.GiftDraft(contactID: john.id, name: word))
            let activity = try await owner.client.create(
                Monica.ActivityDraft(summary: word, happenedAt: Day(checked: "2024-10-20"), contacts: [john.id]))
            let entry = try await owner.client.create(Monica.JournalDraft(title: word, post: word))
            let debt = try await owner.client.create(
                Monica.DebtDraft(contactID: john.id, inDebt: .no, amount: "1", reason: word))
            let pet = try await owner.client.create(Monica.PetDraft(contactID: john.id, category: .cat, name: word))
            let event = try await owner.client.create(
                Monica.LifeEventDraft(contactID: john.id, typeID: 1, happenedAt: .init(milliseconds: 0), name: word))
            let joe = try await owner.contact("Joe", word)
            let friends = try await owner.client.create(
                Monica.RelationshipDraft(contactIs: john.id, typeID: Self.friend, ofContact: joe.id))
            let jack = try await owner.contact("Jack")
            _ = try await owner.merge(jack.id, into: joe.id)
            let merge = try await owner.merges(into: joe.id).first?["id"] ?? nil
            let photo = try await owner.client.store(photo: .photo, of: john.id)
            let document = try await owner.client.store(document: .document, of: john.id)
            let tag = try await owner.client.create(Monica.TagDraft(name: word))
            let type = try await owner.client.create(Monica.ContactFieldTypeDraft(name: word))
            let unused = try await owner.client.create(Monica.ContactFieldTypeDraft(name: word))
            let field = try await owner.client.create(
                Monica.ContactFieldDraft(contactID: john.id, typeID: type.id, content: word))
            let address = try await owner.client.create(Monica.AddressDraft(contactID: john.id, name: word))
            let day = try Day(checked: "2024-10-20")
            let call = try await owner.client.create(
                Monica.CallDraft(contactID: john.id, calledAt: day.start, content: word))
            let talk = try await owner.talk(with: john.id)
            let written = JSONValue.object(Self.message.members.merging(["content": .string(word)]) { $1 })
            let messages = "/conversations/\(talk["id"] ?? nil)/messages"
            let message = try await owner.raw(.post, messages, written).succeeded(200)["data"]?["messages"]?[0]
            let reminder = try await owner.client.create(
                Monica.ReminderDraft(contactID: john.id, title: word, initialDate: day, frequencyType: .week))
            let gender = try await owner.client.create(Monica.GenderDraft(name: word, type: .other))
            let category = try await owner.client.create(Monica.ActivityTypeCategoryDraft(name: word))
            let activityType = try await owner.client.create(
                Monica.ActivityTypeDraft(name: word, categoryID: category.id))
            let person: JSONValue = [
                "first_name": "x", "is_birthdate_known": false, "is_deceased": false, "is_deceased_date_known": false,
            ]
            // The bodies are valid, so that it is the account alone for which the changes are refused.
            let resources: [(String, String, Int, JSONValue)] = [
                ("contacts", "contact", john.id, person),
                ("notes", "note", note.id, ["body": "x", "contact_id": john.id.json]),
                ("tasks", "task", task.id, ["title": "x", "completed": false, "contact_id": john.id.json]),
                ("gifts", "gift", gift.id, ["name": "x", "status": "idea", "contact_id": john.id.json]),
                (
                    "activities", "activity", activity.id,
                    ["summary": "x", "happened_at": "2024-01-01", "contacts": [john.id.json]]
                ),
                ("tags", "tag", tag.id, ["name": .string(word + "x")]),
                ("genders", "gender", gender.id, ["name": .string(word + "x"), "type": "O"]),
                ("activitytypecategories", "activity type category", category.id, ["name": .string(word + "x")]),
                ("journal", "journal entry", entry.id, ["title": "x", "post": "y"]),
                (
                    "contactfields", "contact field", field.id,
                    ["contact_id": john.id.json, "contact_field_type_id": type.id.json, "data": "x"]
                ),
                ("contactfieldtypes", "contact field type", unused.id, ["name": .string(word + "x")]),
                ("addresses", "address", address.id, ["contact_id": john.id.json]),
                ("calls", "call", call.id, ["called_at": "2024-01-01"]),
                (
                    "conversations", "conversation", Int(talk["id"]?.integer ?? 0),
                    try await owner.conversation(with: john.id)
                ),
                ("reminders", "reminder", reminder.id, Self.reminder(of: john.id)),
                ("debts", "debt", debt.id, Self.debt(of: john.id)), ("pets", "pet", pet.id, Self.pet(of: john.id)),
                ("lifeevents", "life event", event.id, Self.lifeEvent(of: john.id)),
                ("relationships", "relationship", friends.id, Self.friends(john.id, joe.id)),
            ]
            for (plural, singular, id, change) in resources {
                let text = "The requested \(singular) was not found."
                try await other.get("/\(plural)/\(id)").refused(404, 31, text, plural)
                try await other.raw(.put, "/\(plural)/\(id)", change).refused(404, 31, text, plural)
                try await other.raw(.delete, "/\(plural)/\(id)").refused(404, 31, text, plural)
                try expect(try await other.get("/\(plural)?limit=50").text.contains(word), equals: false)
            }
            for (kind, id) in [("photo", photo.id), ("document", document.id)] {
                let text = "The requested \(kind) was not found."
                try await other.get("/\(kind)s/\(id)").refused(404, 31, text)
                try await other.raw(.delete, "/\(kind)s/\(id)").refused(404, 31, text)
                try expect(try await other.ids("/\(kind)s").contains(Int64(id)), equals: false)
                try await other.store(kind, [("contact_id", "\(john.id)")], [(kind, .photo)])
                    .refused(404, 31, "The requested contact was not found.", kind)
            }
            let own = try await other.category(word + " x")
            let ownType: JSONValue = ["name": "x", "activity_type_category_id": own["id"] ?? nil]
            let typePath = "/activitytypes/\(activityType.id)"
            let noType = "The requested activity type was not found."
            try await other.get(typePath).refused(404, 31, noType)
            try await other.raw(.put, typePath, ownType).refused(404, 31, noType)
            let theirType: JSONValue = ["name": "x", "activity_type_category_id": category.id.json]
            try await other.raw(.put, typePath, theirType).expect(404..<423, "PUT \(typePath)")
            try await other.raw(.delete, typePath).refused(404, 31, noType)
            try await other.raw(
                .post, "/activitytypes", ["name": "x", "activity_type_category_id": category.id.json]
            ).refused(422, 32, "The selected activity type category id is invalid.")
            try await other.raw(.delete, "/activitytypecategories/\(own["id"] ?? nil)").succeeded(200)
            for path in [
                "notes", "tasks", "gifts", "activities", "contactfields", "addresses", "calls", "conversations",
                "reminders", "debts", "pets", "relationships", "photos", "documents",
            ] {
                if path != "relationships" {
                    try expect(try await other.ids("/\(path)?contact_id=\(john.id)"), equals: [])
                }
                try await other.get("/contacts/\(john.id)/\(path)")
                    .refused(404, 31, "The requested contact was not found.", path)
            }
            let missing = "The requested conversation was not found."
            try await other.raw(.post, messages, Self.message).refused(404, 31, missing)
            let strange = try await other.talk(with: try await other.contact("Jim").id)["id"] ?? nil
            for (path, text) in [
                (messages, missing), ("/conversations/\(strange)/messages", "The requested message was not found."),
            ] {
                let own = "\(path)/\(message?["id"] ?? nil)"
                try await other.raw(.put, own, Self.message).refused(404, 31, text, path)
                try await other.raw(.delete, own).refused(404, 31, text, path)
            }
            try expect(try await other.ids("/lifeevents?contact_id=\(john.id)"), equals: [])
            try await other.get("/contacts/\(joe.id)/merges").refused(404, 31, "The requested contact was not found.")
            try await other.raw(.post, "/merges/\(merge)/undo").refused(404, 31, "The requested merge was not found.")
            try expect(try await other.ids("/contacts?query=\(word)"), equals: [])
            try await other.get("/tags/\(tag.id)/contacts").refused(404, 31, "The requested tag was not found.")
            let jane = try await other.contact("Jane")
            let phone = try await other.fieldType("phone")["id"] ?? nil
            let foreign: [(String, JSONValue)] = [
                ("/contactfields", ["data": "1", "contact_field_type_id": phone, "contact_id": john.id.json]),
                ("/addresses", ["contact_id": john.id.json]), ("/reminders", Self.reminder(of: john.id)),
                ("/debts", Self.debt(of: john.id)), ("/pets", Self.pet(of: john.id)),
                ("/lifeevents", Self.lifeEvent(of: john.id)),
                ("/relationships", Self.friends(john.id, jane.id)), ("/relationships", Self.friends(jane.id, john.id)),
                ("/relationships", Self.friends(joe.id, john.id, type: Self.friend + 1)),
                ("/contacts/\(jane.id)/merge", ["contact_id": john.id.json]),
                ("/contacts/\(john.id)/merge", ["contact_id": jane.id.json]),
                ("/contacts/\(john.id)/merge", ["contact_id": joe.id.json]),
                ("/calls", ["contact_id": john.id.json, "called_at": "2024-01-01"]),
                ("/conversations", try await other.conversation(with: john.id)),
                ("/notes", ["body": "x", "contact_id": john.id.json]),
                ("/tasks", ["title": "x", "contact_id": john.id.json]),
                ("/gifts", ["name": "x", "status": "idea", "contact_id": john.id.json]),
                ("/gifts", ["name": "x", "status": "idea", "contact_id": jane.id.json, "recipient_id": john.id.json]),
                ("/activities", ["summary": "x", "happened_at": "2024-01-01", "contacts": [john.id.json]]),
                (
                    "/activities",
                    ["summary": "x", "happened_at": "2024-01-01", "contacts": [jane.id.json, john.id.json]]
                ),
            ]
            for (path, body) in foreign {
                try await other.raw(.post, path, body).refused(404, 31, "The requested contact was not found.", path)
            }
            let theirs = try await other.client.create(Monica.GiftDraft(contactID: jane.id, name: "x"))
            let portrait = try await other.client.store(photo: .photo, of: jane.id)
            for (path, body, what) in [
                ("/contacts/\(john.id)/avatar", ["source": "default"], "contact"),
                ("/contacts/\(jane.id)/avatar", ["source": "photo", "photo_id": photo.id.json], "photo"),
                ("/gifts/\(gift.id)/photo/\(portrait.id)", [:], "gift"),
                ("/gifts/\(gift.id)/photo/\(photo.id)", [:], "gift"),
                ("/gifts/\(theirs.id)/photo/\(photo.id)", [:], "photo"),
            ] as [(String, JSONValue, String)] {
                try await other.raw(.put, path, body).refused(404, 31, "The requested \(what) was not found.", path)
            }
            let gendered = person.members.merging(["gender_id": gender.id.json]) { $1 }
            try await other.raw(.post, "/contacts", .object(gendered)).refused(
                422, 32, "The selected gender id is invalid.")
            try await other.raw(
                .post, "/activities",
                [
                    "summary": "x", "happened_at": "2024-01-01", "contacts": [jane.id.json],
                    "activity_type_id": activityType.id.json,
                ]
            ).refused(422, 32, "The selected activity type id is invalid.")
            try await other.raw(
                .post, "/contactfields",
                ["data": "1", "contact_field_type_id": type.id.json, "contact_id": jane.id.json]
            ).refused(422, 32, "The selected contact field type id is invalid.")
            try await other.raw(
                .post, "/conversations",
                ["happened_at": "2024-01-01", "contact_id": jane.id.json, "contact_field_type_id": type.id.json]
            ).refused(422, 32, "The selected contact field type id is invalid.")
            try await other.raw(.post, "/conversations", try await owner.conversation(with: john.id))
                .expect(404..<423, "POST /conversations")
            for path in [
                "/export/json", "/export/vcard", "/reminders/upcoming/0", "/reminders/upcoming/1",
            ] {
                try expect(try await other.get(path).text.contains(word), equals: false)
            }
            try expect(try await owner.send(Monica.GetContact(id: john.id)).data.completeName, equals: "John \(word)")
        }
    ]
}
