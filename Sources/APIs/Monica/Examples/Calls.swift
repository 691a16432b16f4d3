// Written by Tools/swift-calls from the wire tests (make describe).
extension MonicaExamples {
    static let calls = ##"""
        Monica.ListContacts()
        Monica.GetContact(id: 1)
        Monica.Create<Monica.Contact>(
            Monica.ContactDraft(firstName: "John", lastName: "Doe", description: "Likes tea"))
        Monica.Update<Monica.Contact>(
            id: 1, Monica.ContactDraft(firstName: "J", birthdate: .dayOfYear(month: 2, day: 29)))
        Monica.Delete<Monica.Contact>(id: 1)
        Monica.SetWork(id: 1, job: "Baker", company: nil)
        Monica.SetFood(id: 1, preferences: "No nuts")
        Monica.SetIntroduction(id: 1, generalInformation: "x", metThrough: 8, date: .day(Day("2020-01-02")!))
        Monica.SetTags(id: 1, names: ["a", "é"])
        Monica.UnsetTag(id: 1, tags: [1, 2])
        Monica.UnsetTags(id: 1)
        Monica.MergeContacts(id: 1, other: 2)
        Monica.ListMerges(contact: 1)
        Monica.UndoMerge(id: 1)
        Monica.ListRelationships(contact: 1)
        Monica.Get<Monica.Relationship>(id: 1)
        Monica.Create<Monica.Relationship>(Monica.RelationshipDraft(contactIs: 1, typeID: 8, ofContact: 2))
        Monica.Update<Monica.Relationship>(
            id: 1, Monica.RelationshipDraft(contactIs: 1, typeID: 25, ofContact: 2))
        Monica.Delete<Monica.Relationship>(id: 1)
        Monica.ListRelationshipTypes()
        Monica.Get<Monica.RelationshipType>(id: 8)
        Monica.ListRelationshipTypeGroups()
        Monica.Get<Monica.RelationshipTypeGroup>(id: 2)
        Monica.List<Monica.ContactField>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))
        Monica.ListOfContact<Monica.ContactField>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.ContactField>(id: 1)
        Monica.Create<Monica.ContactField>(
            Monica.ContactFieldDraft(contactID: 5, typeID: 2, content: "+1 555 0100"))
        Monica.Update<Monica.ContactField>(
            id: 1, Monica.ContactFieldDraft(contactID: 5, typeID: 2, content: "+1 555 0101"))
        Monica.Delete<Monica.ContactField>(id: 1)
        Monica.ListContactFieldTypes()
        Monica.Get<Monica.ContactFieldType>(id: 1)
        Monica.Create<Monica.ContactFieldType>(
            Monica.ContactFieldTypeDraft(name: "Telegram", icon: "fa fa-telegram", protocol: "tg:", type: "social"))
        Monica.Update<Monica.ContactFieldType>(id: 1, Monica.ContactFieldTypeDraft(name: "Telegram"))
        Monica.Delete<Monica.ContactFieldType>(id: 1)
        Monica.List<Monica.Address>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))
        Monica.ListOfContact<Monica.Address>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Address>(id: 1)
        Monica.Create<Monica.Address>(
            Monica.AddressDraft(
                contactID: 5, name: "home", street: "1 rue", city: "Paris", province: "Île-de-France",
                postalCode: "75001", country: "FR"))
        Monica.Update<Monica.Address>(id: 1, Monica.AddressDraft(contactID: 5, city: "Paris"))
        Monica.Delete<Monica.Address>(id: 1)
        Monica.ListCountries()
        Monica.List<Monica.Activity>(contact: 5, page: 2, limit: 3, sort: .ascending(.happenedAt))
        Monica.ListOfContact<Monica.Activity>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Activity>(id: 1)
        Monica.Create<Monica.Activity>(
            Monica.ActivityDraft(
                summary: "x", description: "y", happenedAt: Day("2024-10-20")!, contacts: [1, 2],
                activityTypeID: 3))
        Monica.Update<Monica.Activity>(
            id: 1, Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [1]))
        Monica.Delete<Monica.Activity>(id: 1)
        Monica.List<Monica.Note>(contact: 5, page: 1, limit: 10)
        Monica.ListOfContact<Monica.Note>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Note>(id: 1)
        Monica.Create<Monica.Note>(Monica.NoteDraft(contactID: 5, body: "Likes tea"))
        Monica.Update<Monica.Note>(id: 1, Monica.NoteDraft(contactID: 5, body: "x", isFavorited: true))
        Monica.Delete<Monica.Note>(id: 1)
        Monica.List<Monica.Task>(sort: .descending(.completedAt))
        Monica.ListOfContact<Monica.Task>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Task>(id: 1)
        Monica.Create<Monica.Task>(Monica.TaskDraft(title: "x", description: "y", contactID: 5))
        Monica.Update<Monica.Task>(id: 1, Monica.TaskDraft(title: "x", completed: true))
        Monica.Delete<Monica.Task>(id: 1)
        Monica.List<Monica.Gift>()
        Monica.ListOfContact<Monica.Gift>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Gift>(id: 1)
        Monica.Create<Monica.Gift>(
            Monica.GiftDraft(
                contactID: 5, name: "x", status: .offered, comment: "c", url: "https://example.com",
                amount: "12.50", date: Day("2024-10-20")!, recipientID: 6))
        Monica.Update<Monica.Gift>(id: 1, Monica.GiftDraft(contactID: 5, name: "x"))
        Monica.Delete<Monica.Gift>(id: 1)
        Monica.List<Monica.Call>(contact: 5, page: 1, limit: 10, sort: .descending(.calledAt))
        Monica.ListOfContact<Monica.Call>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Call>(id: 1)
        Monica.Create<Monica.Call>(
            Monica.CallDraft(
                contactID: 5, calledAt: .init("2024-10-20T18:30:00Z")!, content: "About the party",
                contactCalled: true))
        Monica.Update<Monica.Call>(
            id: 1, Monica.CallDraft(contactID: 5, calledAt: .init("2024-10-20T18:30:00Z")!))
        Monica.Delete<Monica.Call>(id: 1)
        Monica.List<Monica.Conversation>(contact: 5, page: 1, limit: 10, sort: .descending(.happenedAt))
        Monica.ListOfContact<Monica.Conversation>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Conversation>(id: 1)
        Monica.Create<Monica.Conversation>(
            Monica.ConversationDraft(contactID: 5, happenedAt: .init("2024-10-20T00:00:00Z")!, typeID: 2))
        Monica.Update<Monica.Conversation>(
            id: 1, Monica.ConversationDraft(contactID: 5, happenedAt: .init("2024-10-21T00:00:00Z")!, typeID: 1))
        Monica.Delete<Monica.Conversation>(id: 1)
        Monica.CreateMessage(
            conversation: 1,
            Monica.MessageDraft(
                content: "Are you coming?", writtenAt: .init("2024-10-20T18:30:00Z")!, writtenByMe: true))
        Monica.UpdateMessage(
            conversation: 1, message: 1,
            Monica.MessageDraft(
                content: "I am late", writtenAt: .init("2024-10-20T18:31:00Z")!, writtenByMe: false))
        Monica.DeleteMessage(conversation: 1, message: 1)
        Monica.List<Monica.Reminder>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))
        Monica.ListOfContact<Monica.Reminder>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Reminder>(id: 1)
        Monica.Create<Monica.Reminder>(
            Monica.ReminderDraft(
                contactID: 5, title: "Water the plants", initialDate: Day("2024-10-20")!, frequencyType: .month,
                frequencyNumber: 2, description: "Not the cactus"))
        Monica.Update<Monica.Reminder>(
            id: 1,
            Monica.ReminderDraft(contactID: 5, title: "Water the plants", initialDate: Day("2024-10-20")!))
        Monica.Delete<Monica.Reminder>(id: 1)
        Monica.ListUpcomingReminders(month: 1)
        Monica.List<Monica.Debt>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))
        Monica.ListOfContact<Monica.Debt>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Debt>(id: 1)
        Monica.Create<Monica.Debt>(
            Monica.DebtDraft(contactID: 5, inDebt: .yes, amount: "12.50", reason: "Lunch"))
        Monica.Update<Monica.Debt>(
            id: 1, Monica.DebtDraft(contactID: 5, inDebt: .no, amount: "7", status: .completed))
        Monica.Delete<Monica.Debt>(id: 1)
        Monica.List<Monica.Pet>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))
        Monica.ListOfContact<Monica.Pet>(contact: 1, page: 2, limit: 50)
        Monica.Get<Monica.Pet>(id: 1)
        Monica.Create<Monica.Pet>(Monica.PetDraft(contactID: 5, category: .cat, name: "Tom"))
        Monica.Update<Monica.Pet>(id: 1, Monica.PetDraft(contactID: 5, category: .smallAnimal))
        Monica.Delete<Monica.Pet>(id: 1)
        Monica.List<Monica.LifeEvent>(contact: 5, page: 1, limit: 10, sort: .descending(.happenedAt))
        Monica.Get<Monica.LifeEvent>(id: 1)
        Monica.Create<Monica.LifeEvent>(
            Monica.LifeEventDraft(
                contactID: 5, typeID: 1, happenedAt: .init("2024-10-20T00:00:00Z")!, name: "At the bakery",
                note: "She had hoped for it", hasReminder: true))
        Monica.Update<Monica.LifeEvent>(
            id: 1,
            Monica.LifeEventDraft(
                contactID: 5, typeID: 18, happenedAt: .init("2024-10-01T00:00:00Z")!, isDayUnknown: true))
        Monica.Delete<Monica.LifeEvent>(id: 1)
        Monica.ListJournal(page: 2, limit: 50, sort: .descending(.updatedAt))
        Monica.Get<Monica.JournalEntry>(id: 1)
        Monica.Create<Monica.JournalEntry>(Monica.JournalDraft(title: "A good day", post: "We met in the park"))
        Monica.Update<Monica.JournalEntry>(
            id: 1, Monica.JournalDraft(title: "A good day", post: "We met in the park", day: Day("2024-10-20")!))
        Monica.Delete<Monica.JournalEntry>(id: 1)
        Monica.ListTags(sort: .descending(.name), page: 2)
        Monica.Get<Monica.Tag>(id: 1)
        Monica.ListContactsOfTag(tag: 1, page: 2, limit: 9, sort: newest)
        Monica.Create<Monica.Tag>(Monica.TagDraft(name: "Family"))
        Monica.Update<Monica.Tag>(id: 1, Monica.TagDraft(name: "Family"))
        Monica.Delete<Monica.Tag>(id: 1)
        Monica.ListGenders()
        Monica.Get<Monica.Gender>(id: 1)
        Monica.Create<Monica.Gender>(Monica.GenderDraft(name: "Man", type: .male))
        Monica.Update<Monica.Gender>(id: 1, Monica.GenderDraft(name: "Nobody's business", type: .other))
        Monica.Delete<Monica.Gender>(id: 1)
        Monica.ListActivityTypes()
        Monica.Get<Monica.ActivityType>(id: 1)
        Monica.Create<Monica.ActivityType>(Monica.ActivityTypeDraft(name: "ate at home", categoryID: 3))
        Monica.Update<Monica.ActivityType>(id: 1, Monica.ActivityTypeDraft(name: "cooked", categoryID: 3))
        Monica.Delete<Monica.ActivityType>(id: 1)
        Monica.ListActivityTypeCategories()
        Monica.Get<Monica.ActivityTypeCategory>(id: 1)
        Monica.Create<Monica.ActivityTypeCategory>(Monica.ActivityTypeCategoryDraft(name: "Food"))
        Monica.Update<Monica.ActivityTypeCategory>(id: 1, Monica.ActivityTypeCategoryDraft(name: "Meals"))
        Monica.Delete<Monica.ActivityTypeCategory>(id: 1)
        Monica.ListCurrencies()
        Monica.Get<Monica.Currency>(id: 1)
        Monica.GetWelcome()
        Monica.GetMe()
        Monica.DeleteMe()
        Monica.RequestArchive()
        Monica.GetArchive()
        Monica.ExportJSON()
        Monica.ExportVCard()
        GetAbout<Monica>()
        """##
}
