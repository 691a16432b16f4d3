import Foundation
import MonicaClient

// The samples of Writing.md.

enum WritingSamples {
    static func create(_ monica: MonicaAPIClient, today: Day) async throws -> Monica.Contact {
        // sample
        let john = try await monica.create(
            Monica.ContactDraft(firstName: "John", lastName: "Doe", birthdate: .dayOfYear(month: 5, day: 20)))
        try await monica.create(
            Monica.ActivityDraft(summary: "Had dinner", happenedAt: today, contacts: [john.id]))
        try await monica.create(Monica.GiftDraft(contactID: john.id, name: "Teapot", amount: "12.50"))
        try await monica.send(Monica.SetTags(id: john.id, names: ["Family"]))
        // end
        return john
    }

    static func change(_ monica: MonicaAPIClient, john: Monica.Contact) async throws -> Bool {
        // sample
        let task = try await monica.create(Monica.TaskDraft(title: "Send a card", contactID: john.id))
        var draft = Monica.TaskDraft(task)
        draft.completed = true
        let done = try await monica.update(task.id, draft)
        try await monica.delete(Monica.Task.self, id: task.id)
        // end
        return done.completed
    }

    static func reach(_ monica: MonicaAPIClient, john: Monica.Contact, show: (String) -> Void) async throws {
        // sample
        let types = try await monica.send(Monica.ListContactFieldTypes()).data
        if let phone = types.first(where: { $0.type == "phone" }) {
            try await monica.create(
                Monica.ContactFieldDraft(contactID: john.id, typeID: phone.id, content: "+1 555 0100"))
        }
        let telegram = try await monica.create(Monica.ContactFieldTypeDraft(name: "Telegram", protocol: "tg:"))
        try await monica.create(Monica.ContactFieldDraft(contactID: john.id, typeID: telegram.id, content: "johnny"))
        for try await field in monica.contactFields(of: john.id) {
            show("\(field.contactFieldType.name): \(field.content)")
        }
        // end
    }

    static func move(_ monica: MonicaAPIClient, john: Monica.Contact) async throws {
        // sample
        let countries = try await monica.send(Monica.ListCountries()).data
        let france = countries.first { $0.name == "France" }
        let home = try await monica.create(
            Monica.AddressDraft(contactID: john.id, name: "home", city: "Paris", country: france?.id))
        var moved = Monica.AddressDraft(home)
        moved.city = "Lyon"
        try await monica.update(home.id, moved)
        // end
    }

    static func call(
        _ monica: MonicaAPIClient, john: Monica.Contact, called: Monica.Timestamp, show: (String) -> Void
    ) async throws {
        // sample
        try await monica.create(
            Monica.CallDraft(contactID: john.id, calledAt: called, content: "About the party", contactCalled: true))
        for try await call in monica.calls(of: john.id, sortedBy: .descending(.calledAt)) {
            show("\(call.calledAt.date): \(call.content ?? "")")
        }
        // end
    }

    static func talk(
        _ monica: MonicaAPIClient, john: Monica.Contact, written: Monica.Timestamp, show: (String) -> Void
    ) async throws {
        // sample
        let types = try await monica.send(Monica.ListContactFieldTypes()).data
        guard let phone = types.first(where: { $0.type == "phone" }) else { return }
        let chat = try await monica.create(
            Monica.ConversationDraft(contactID: john.id, happenedAt: written, typeID: phone.id))
        let question = Monica.MessageDraft(content: "Are you coming?", writtenAt: written, writtenByMe: true)
        try await monica.send(Monica.CreateMessage(conversation: chat.id, question))
        for try await conversation in monica.conversations(of: john.id) {
            for message in conversation.messages {
                show("\(message.writtenByMe ? "me" : john.firstName): \(message.content)")
            }
        }
        // end
    }

    static func remind(
        _ monica: MonicaAPIClient, john: Monica.Contact, today: Day, show: (String) -> Void
    ) async throws {
        // sample
        try await monica.create(
            Monica.ReminderDraft(
                contactID: john.id, title: "Water his plants", initialDate: today, frequencyType: .week,
                frequencyNumber: 2))
        for month in 0...1 {
            for reminder in try await monica.send(Monica.ListUpcomingReminders(month: month)).data {
                show("\(reminder.plannedDay): \(reminder.title)")
            }
        }
        // end
    }

    static func write(_ monica: MonicaAPIClient, show: (String) -> Void) async throws {
        // sample
        try await monica.create(Monica.JournalDraft(title: "A good day", post: "We met in the park"))
        for try await entry in monica.journal(sortedBy: .descending(.createdAt)) {
            show("\(entry.day): \(entry.title)")
        }
        // end
    }

    static func lend(_ monica: MonicaAPIClient, john: Monica.Contact) async throws {
        // sample
        let lunch = try await monica.create(
            Monica.DebtDraft(contactID: john.id, inDebt: .yes, amount: "12.50", reason: "Lunch"))
        var paid = Monica.DebtDraft(lunch)
        paid.status = .completed
        try await monica.update(lunch.id, paid)
        // end
    }

    static func keep(_ monica: MonicaAPIClient, john: Monica.Contact, show: (String) -> Void) async throws {
        // sample
        try await monica.create(Monica.PetDraft(contactID: john.id, category: .cat, name: "Tom"))
        for try await pet in monica.pets(of: john.id) {
            show("\(pet.name ?? "no name"): \(pet.petCategory.name)")
        }
        // end
    }

    static func merge(_ monica: MonicaAPIClient, john: Monica.Contact, show: (String) -> Void) async throws {
        // sample
        let double = try await monica.create(Monica.ContactDraft(firstName: "Jonny", description: "Likes tea"))
        try await monica.send(Monica.MergeContacts(id: john.id, other: double.id))
        for merge in try await monica.send(Monica.ListMerges(contact: john.id)).data {
            show("\(merge.mergedContactName), until \(merge.expiresAt.date)")
            try await monica.send(Monica.UndoMerge(id: merge.id))
        }
        // end
    }

    static func relate(
        _ monica: MonicaAPIClient, john: Monica.Contact, show: (String) -> Void
    ) async throws {
        // sample
        let jane = try await monica.create(Monica.ContactDraft(firstName: "Jane"))
        let types = try await monica.send(Monica.ListRelationshipTypes()).data
        guard let parent = types.first(where: { $0.name == "parent" }) else { return }
        try await monica.create(
            Monica.RelationshipDraft(contactIs: john.id, typeID: parent.id, ofContact: jane.id))
        for relationship in try await monica.send(Monica.ListRelationships(contact: jane.id)).data {
            show("\(relationship.relationshipType.name) of \(relationship.ofContact.completeName)")
        }
        // end
    }

    static func live(
        _ monica: MonicaAPIClient, john: Monica.Contact, when: Monica.Timestamp, show: (String) -> Void
    ) async throws {
        // sample
        if let moved = Monica.LifeEventKind.moved.typeID {
            try await monica.create(
                Monica.LifeEventDraft(
                    contactID: john.id, typeID: moved, happenedAt: when, name: "To Lyon", hasReminder: true))
        }
        for event in try await monica.send(Monica.List<Monica.LifeEvent>(contact: john.id)).data {
            show("\(event.lifeEventType.name ?? ""): \(event.name ?? "")")
        }
        // end
    }

    static func picture(
        _ monica: MonicaAPIClient, john: Monica.Contact, picture: URL, contract: URL, show: (String) -> Void
    ) async throws {
        // sample
        let photo = try await monica.store(photo: Upload(fileAt: picture), of: john.id)
        let pictured = try await monica.send(Monica.SetAvatar(id: john.id, .photo(photo.id))).data
        show(pictured.information.avatar.url ?? pictured.initials)
        try await monica.store(document: Upload(fileAt: contract), of: john.id)
        for try await document in monica.documents(of: john.id) {
            show("\(document.originalFilename): \(document.filesize) bytes, \(document.link)")
        }
        // end
    }

    static func sort(_ monica: MonicaAPIClient, john: Monica.Contact, today: Day) async throws {
        // sample
        let food = try await monica.create(Monica.ActivityTypeCategoryDraft(name: "Baking"))
        let bread = try await monica.create(Monica.ActivityTypeDraft(name: "baked bread", categoryID: food.id))
        try await monica.create(
            Monica.ActivityDraft(
                summary: "Sourdough", happenedAt: today, contacts: [john.id], activityTypeID: bread.id))
        let gender = try await monica.create(Monica.GenderDraft(name: "Agender", type: .other))
        var draft = Monica.ContactDraft(john)
        draft.genderID = gender.id
        try await monica.update(john.id, draft)
        // end
    }

    static func once(_ monica: MonicaAPIClient, john: Monica.Contact, key: String) async throws -> Monica.Note {
        // sample
        let tea = Monica.NoteDraft(contactID: john.id, body: "Likes tea")
        let note = try await monica.send(Monica.Create<Monica.Note>(tea), idempotencyKey: key).data
        // end
        return note
    }

    static func export(_ monica: MonicaAPIClient) async throws -> String {
        // sample
        let cards = try await monica.send(Monica.ExportVCard()).rawValue
        // end
        return cards
    }

    static func archive(_ monica: MonicaAPIClient, to place: URL, share: (URL) -> Void) async throws {
        // sample
        let archive = try await monica.downloadArchive(to: place)
        share(archive.location)
        // end
    }
}
