@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import HTTPTypes
import MonicaClient

extension MonicaScenarios {
    static let account: [Scenario<MonicaWorld>] = [
        Scenario("The root of the API welcomes everybody", clause: "GET /") { world in
            let welcome: JSONValue = ["success": ["message": "Welcome to Monica"]]
            for path in ["", "/"] {
                try expect(try await world.raw.send(.get, path).succeeded(200), equals: welcome)
                try await world.raw.send(.post, path, body: "{}").refused(405, 0, "Method not allowed", path)
            }
            let owner = try await world.owner()
            try expect(try await owner.send(Monica.GetWelcome()), equals: Monica.Welcome())
        },
        Scenario("An export is compressed, and stored by no cache that others use", clause: "GET /export") {
            world, owner in
            let word = world.freshWord()
            _ = try await owner.contact("John", word)
            for path in ["/export/json", "/export/vcard"] {
                let answer = try await owner.get(path)
                try expect(answer.status, equals: 200)
                try expect(answer.text.contains(word), "\(path): the contact is missing")
                try expect(answer.headers[.cacheControl], equals: "private, no-cache")
                try expect(answer.headers[.vary]?.contains("Accept-Encoding") == true, "Vary of \(path)")
            }
            let headers: HTTPFields = [.acceptEncoding: "gzip"]
            let cards = try await world.raw.send(.get, "/export/vcard", token: owner.token, headers: headers)
            // Some clients unpack a body by themselves.
            if cards.body.starts(with: [0x1F, 0x8B]) {
                try expect(cards.headers[.contentEncoding], equals: "gzip")
            } else {
                try expect(cards.text.contains(word), "the cards cannot be read")
            }
        },
        Scenario("An account says whose it is and takes everything along", clause: "GET /me, /export") { world, owner in
            let me = try await owner.send(Monica.GetMe()).data
            let genders = try await owner.send(Monica.ListGenders()).data
            try expect(genders.compactMap(\.type).prefix(3).elementsEqual(["M", "F", "O"]), "genders")
            let word = world.freshWord()
            let john = try await owner.client.create(
                Monica.ContactDraft(
                    firstName: "John", middleName: "Michael", lastName: word, genderID: genders[0].id,
                    email: "john@example.com", birthdate: .dayOfYear(month: 5, day: 6)))
            try expect(john.gender, equals: genders[0].name)
            let partial = try await owner.contact("Jane", word, isPartial: true)
            try await owner.send(Monica.SetTags(id: john.id, names: [word]))
            let answer = try await owner.get("/export/json")
            try expect(answer.headers[.contentDisposition]?.hasPrefix("attachment") == true, "no attachment")
            let export = try await owner.send(Monica.ExportJSON())
            try expect(export.version, equals: 1)
            try expect(export.user, equals: me)
            let exported = export.contacts.first { $0.contact.id == john.id }
            try expect(exported?.middleName, equals: "Michael")
            try expect(exported?.contact.contactFields?.map(\.content), equals: ["john@example.com"])
            try expect(export.contacts.contains { $0.contact.id == partial.id }, "a partial contact is missing")
            let cards = try await owner.get("/export/vcard")
            try expect(cards.headers[.contentType]?.hasPrefix("text/vcard") == true, "not text/vcard")
            let text = try await owner.send(Monica.ExportVCard()).rawValue
            for line in [
                "UID:urn:uuid:\(john.uuid)", "FN:John Michael \(word)", "N:\(word);John;Michael;;",
                "EMAIL:john@example.com", "BDAY:--0506", "CATEGORIES:\(word)",
            ] {
                try expect(text.contains("\r\n\(line)\r\n"), "no \(line)")
            }
            try expect(!text.contains("FN:Jane \(word)"), "a partial contact is exported")
        },
        Scenario("A deleted account is gone, and nobody else's", clause: "DELETE /me") { world in
            let owner = try await world.spareOwner()
            let other = try await world.owner()
            let word = world.freshWord()
            let john = try await owner.contact("John", word)
            let jane = try await other.contact("Jane", word)
            let photo = try await owner.client.store(photo: .photo, of: john.id).link
            let document = try await owner.client.store(document: .document, of: john.id).link
            let me = try await owner.send(Monica.GetMe()).data
            try await world.raw.send(.delete, "/me").refused(401, 42, "Unauthenticated.")
            try expect(try await owner.ids("/contacts?query=\(word)"), equals: [Int64(john.id)])
            try expect(
                try await world.raw.send(.delete, "/me", token: owner.token).succeeded(200),
                equals: ["deleted": true, "id": me.id.json])
            for (method, path) in [(HTTPRequest.Method.get, "/me"), (.get, "/contacts/\(john.id)"), (.delete, "/me")] {
                try await world.raw.send(method, path, token: owner.token).refused(401, 42, "Unauthenticated.", path)
            }
            for link in [photo, document] { try expect(try await world.fetch(link).status, equals: 404) }
            try expect(try await other.ids("/contacts?query=\(word)"), equals: [Int64(jane.id)])
        },
        Scenario("Genders and types of activities are those that are shown elsewhere", clause: "GET /genders") {
            _, owner in
            let lists = [
                "genders": "genders", "activitytypes": "activity_types",
                "activitytypecategories": "activity_type_categories", "contactfieldtypes": "contact_field_types",
            ]
            func read() async throws -> [String: [JSONValue]] {
                var read: [String: [JSONValue]] = [:]
                for path in lists.keys {
                    read[path] = try await owner.get("/\(path)").succeeded(200)["data"]?.elements
                }
                return read
            }
            let before = try await read()
            let export = try await owner.get("/export/json").succeeded(200)
            let after = try await read()
            for (path, member) in lists {
                // Other scenarios add and delete rows meanwhile, so only those that are in both reads are looked for.
                let lasting = Set((before[path] ?? []).filter { after[path]?.contains($0) == true })
                try expect(!lasting.isEmpty, "\(path) is empty")
                let exported = Set(export[member]?.elements ?? [])
                try expect(exported.isSuperset(of: lasting), "\(member) has not all of \(path)")
                let known = Set((before[path] ?? []) + (after[path] ?? []))
                let strange = exported.filter { type in known.contains { $0["id"] == type["id"] } }
                try expect(known.isSuperset(of: strange), "\(member) has others than \(path)")
            }
        },
        Scenario("An export has everything as it is read", clause: "GET /export/json") { world, owner in
            // An earlier export must not change what a later one has.
            try await owner.get("/export/json").succeeded(200)
            let word = world.freshWord()
            let gender = try await owner.get("/genders").succeeded(200)["data"]?[0]?["id"]?.integer
            let type = try await owner.get("/activitytypes").succeeded(200)["data"]?[0]?["id"]?.integer
            let john = try await owner.client.create(
                Monica.ContactDraft(
                    firstName: "John", middleName: "Quincy", lastName: word, genderID: gender.map(Int.init),
                    email: "john@example.com"))
            let jane = try await owner.contact("Jane", word, isPartial: true)
            let activity = try await owner.client.create(
                Monica.ActivityDraft(
                    summary: "Dinner", description: "At home", happenedAt: Day(checked: "2024-10-20"),
                    contacts: [john.id, jane.id], activityTypeID: type.map(Int.init)))
            let note = try await owner.client.create(Monica.NoteDraft(contactID: john.id, body: "Tea"))
            let task = try await owner.client.create(Monica.TaskDraft(title: "Call", contactID: john.id))
            let free = try await owner.client.create(Monica.TaskDraft(title: "Of no contact"))
            let gift = try await owner.client.create(
                Monica.GiftDraft(contactID: john.id, name: "Book", amount: "12.50", recipientID: jane.id))
            let day = try Day(checked: "2024-10-20")
            let call = try await owner.client.create(Monica.CallDraft(contactID: john.id, calledAt: day.start))
            let phone = try await owner.fieldType("phone")["id"]?.integer.map(Int.init) ?? 0
            let conversation = try await owner.client.create(
                Monica.ConversationDraft(contactID: john.id, happenedAt: day.start, typeID: phone))
            try await owner.send(
                Monica.CreateMessage(
                    conversation: conversation.id,
                    Monica.MessageDraft(content: word, writtenAt: day.start, writtenByMe: true)))
            let reminder = try await owner.client.create(
                Monica.ReminderDraft(contactID: john.id, title: "Call", initialDate: day))
            let entry = try await owner.client.create(Monica.JournalDraft(title: word, post: "y", day: day))
            let debt = try await owner.client.create(
                Monica.DebtDraft(contactID: john.id, inDebt: .yes, amount: "3"))
            let pet = try await owner.client.create(Monica.PetDraft(contactID: john.id, category: .dog, name: word))
            let event = try await owner.client.create(
                Monica.LifeEventDraft(contactID: john.id, typeID: 1, happenedAt: day.start, name: word, note: "x"))
            let friends = try await owner.client.create(
                Monica.RelationshipDraft(contactIs: john.id, typeID: Self.friend, ofContact: jane.id))
            let reverse = try await owner.relationships(of: jane.id.json)[0]["id"]?.integer.map(Int.init) ?? 0
            let photo = try await owner.client.store(photo: .photo, of: john.id)
            let document = try await owner.client.store(document: .document, of: john.id)
            try await owner.send(Monica.AddPhotoToGift(gift: gift.id, photo: photo.id))
            try await owner.send(Monica.SetAvatar(id: john.id, .photo(photo.id)))
            let tag = try await owner.client.create(Monica.TagDraft(name: word))
            let export = try await owner.get("/export/json").succeeded(200)
            for (kind, id) in [
                ("contacts", john.id), ("contacts", jane.id), ("activities", activity.id), ("notes", note.id),
                ("tasks", task.id), ("tasks", free.id), ("gifts", gift.id), ("calls", call.id),
                ("conversations", conversation.id), ("reminders", reminder.id), ("debts", debt.id), ("pets", pet.id),
                ("lifeevents", event.id), ("journal", entry.id), ("relationships", friends.id),
                ("relationships", reverse), ("photos", photo.id), ("documents", document.id), ("tags", tag.id),
            ] {
                let exported = export[kind == "lifeevents" ? "life_events" : kind]?.elements.first {
                    $0["id"] == id.json
                }
                let read = try await owner.get("/\(kind)/\(id)?with=contactfields").succeeded(200)["data"]
                // Whether an exported contact has its newest notes too is the server's choice.
                for (member, value) in read?.members ?? [:] where kind != "contacts" || member != "notes" {
                    try expect(exported?[member]?.unsigned, equals: value.unsigned)
                }
            }
            // The nodes of a server may disagree about the time, but hardly by a minute.
            let time = export["exported_at"]?.string.flatMap { Monica.Timestamp($0) }
            try expect(
                (time?.milliseconds ?? 0) > tag.createdAt.milliseconds - 60_000, "it was exported before it was made")
        },
    ]
}
