import Contract
import ContractServer
import Foundation
import MonicaAPI
import MonicaExamples
import Testbed
import Testing

/// The types equal the contract's examples.
@Suite(.timeLimit(.minutes(30))) struct MonicaWireTests {
    private static let picture = Upload(.bytes([1]), filename: "photo.jpg", contentType: "image/jpeg")
    private static let newest = Monica.Sort<Monica.ContactOrder>.descending(.updatedAt)

    /// The requests of all examples, as an app writes them.
    static let requests: [ExampleRequest] = [
        .init(Monica.ListContacts()),
        .init(Monica.ListContacts(query: "john", page: 2, limit: 50)),
        .init(Monica.ListContacts(query: "50% & a+b=c?/#é", page: 2, limit: 50, sort: newest, with: .contactFields)),
        .init(Monica.GetContact(id: 1)),
        .init(Monica.GetContact(id: 1, with: .contactFields)),
        .init(
            Monica.Create<Monica.Contact>(
                Monica.ContactDraft(firstName: "John", lastName: "Doe", description: "Likes tea"))),
        .init(
            Monica.Create<Monica.Contact>(
                Monica.ContactDraft(
                    firstName: "J\u{F6}hn \"x\"", middleName: "M", lastName: "D", nickname: "N", description: "\n",
                    genderID: 1, email: "a+b@example.com", birthdate: .day(Day("1980-10-10")!), isDeceased: true,
                    deceasedDate: .age(3), isPartial: true, isStarred: true))),
        .init(
            Monica.Update<Monica.Contact>(
                id: 1, Monica.ContactDraft(firstName: "J", birthdate: .dayOfYear(month: 2, day: 29)))),
        .init(Monica.Delete<Monica.Contact>(id: 1)),
        .init(Monica.SetWork(id: 1, job: "Baker", company: nil)),
        .init(Monica.SetFood(id: 1, preferences: "No nuts")),
        .init(
            Monica.SetIntroduction(id: 1, generalInformation: "x", metThrough: 8, date: .day(Day("2020-01-02")!))),
        .init(Monica.SetTags(id: 1, names: ["a", "é"])),
        .init(Monica.UnsetTag(id: 1, tags: [1, 2])),
        .init(Monica.UnsetTags(id: 1)),
        .init(Monica.MergeContacts(id: 1, other: 2)),
        .init(Monica.ListMerges(contact: 1)),
        .init(Monica.UndoMerge(id: 1)),
        .init(Monica.ListRelationships(contact: 1)),
        .init(Monica.Get<Monica.Relationship>(id: 1)),
        .init(
            Monica.Create<Monica.Relationship>(Monica.RelationshipDraft(contactIs: 1, typeID: 8, ofContact: 2))),
        .init(
            Monica.Update<Monica.Relationship>(
                id: 1, Monica.RelationshipDraft(contactIs: 1, typeID: 25, ofContact: 2))),
        .init(Monica.Delete<Monica.Relationship>(id: 1)),
        .init(Monica.ListRelationshipTypes()),
        .init(Monica.Get<Monica.RelationshipType>(id: 8)),
        .init(Monica.ListRelationshipTypeGroups()),
        .init(Monica.Get<Monica.RelationshipTypeGroup>(id: 2)),
        .init(Monica.List<Monica.ContactField>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))),
        .init(Monica.ListOfContact<Monica.ContactField>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.ContactField>(id: 1)),
        .init(
            Monica.Create<Monica.ContactField>(
                Monica.ContactFieldDraft(contactID: 5, typeID: 2, content: "+1 555 0100"))),
        .init(
            Monica.Update<Monica.ContactField>(
                id: 1, Monica.ContactFieldDraft(contactID: 5, typeID: 2, content: "+1 555 0101"))),
        .init(Monica.Delete<Monica.ContactField>(id: 1)),
        .init(Monica.ListContactFieldTypes()),
        .init(Monica.Get<Monica.ContactFieldType>(id: 1)),
        .init(
            Monica.Create<Monica.ContactFieldType>(
                Monica.ContactFieldTypeDraft(name: "Telegram", icon: "fa fa-telegram", protocol: "tg:", type: "social"))
        ),
        .init(
            Monica.Update<Monica.ContactFieldType>(id: 1, Monica.ContactFieldTypeDraft(name: "Telegram"))),
        .init(Monica.Delete<Monica.ContactFieldType>(id: 1)),
        .init(Monica.List<Monica.Address>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))),
        .init(Monica.ListOfContact<Monica.Address>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Address>(id: 1)),
        .init(
            Monica.Create<Monica.Address>(
                Monica.AddressDraft(
                    contactID: 5, name: "home", street: "1 rue", city: "Paris", province: "Île-de-France",
                    postalCode: "75001", country: "FR"))),
        .init(Monica.Update<Monica.Address>(id: 1, Monica.AddressDraft(contactID: 5, city: "Paris"))),
        .init(Monica.Delete<Monica.Address>(id: 1)),
        .init(Monica.ListCountries()),
        .init(Monica.List<Monica.Activity>(contact: 5, page: 2, limit: 3, sort: .ascending(.happenedAt))),
        .init(Monica.ListOfContact<Monica.Activity>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Activity>(id: 1)),
        .init(
            Monica.Create<Monica.Activity>(
                Monica.ActivityDraft(
                    summary: "x", description: "y", happenedAt: Day("2024-10-20")!, contacts: [1, 2],
                    activityTypeID: 3))),
        .init(
            Monica.Update<Monica.Activity>(
                id: 1, Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [1]))),
        .init(Monica.Delete<Monica.Activity>(id: 1)),
        .init(Monica.List<Monica.Note>(contact: 5, page: 1, limit: 10)),
        .init(Monica.ListOfContact<Monica.Note>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Note>(id: 1)),
        .init(Monica.Create<Monica.Note>(Monica.NoteDraft(contactID: 5, body: "Likes tea"))),
        .init(Monica.Create<Monica.Note>(Monica.NoteDraft(contactID: 5, body: "\r\n\t\u{1F}é🎉"))),
        .init(Monica.Update<Monica.Note>(id: 1, Monica.NoteDraft(contactID: 5, body: "x", isFavorited: true))),
        .init(Monica.Delete<Monica.Note>(id: 1)),
        .init(Monica.List<Monica.Task>(sort: .descending(.completedAt))),
        .init(Monica.ListOfContact<Monica.Task>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Task>(id: 1)),
        .init(Monica.Create<Monica.Task>(Monica.TaskDraft(title: "x", description: "y", contactID: 5))),
        .init(Monica.Update<Monica.Task>(id: 1, Monica.TaskDraft(title: "x", completed: true))),
        .init(Monica.Delete<Monica.Task>(id: 1)),
        .init(Monica.List<Monica.Gift>()),
        .init(Monica.ListOfContact<Monica.Gift>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Gift>(id: 1)),
        .init(
            Monica.Create<Monica.Gift>(
                Monica.GiftDraft(
                    contactID: 5, name: "x", status: .offered, comment: "c", url: "https://example.com",
                    amount: "12.50", date: Day("2024-10-20")!, recipientID: 6))),
        .init(Monica.Update<Monica.Gift>(id: 1, Monica.GiftDraft(contactID: 5, name: "x"))),
        .init(Monica.Delete<Monica.Gift>(id: 1)),
        .init(Monica.List<Monica.Call>(contact: 5, page: 1, limit: 10, sort: .descending(.calledAt))),
        .init(Monica.ListOfContact<Monica.Call>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Call>(id: 1)),
        .init(
            Monica.Create<Monica.Call>(
                Monica.CallDraft(
                    contactID: 5, calledAt: .init("2024-10-20T18:30:00Z")!, content: "About the party",
                    contactCalled: true))),
        .init(
            Monica.Update<Monica.Call>(
                id: 1, Monica.CallDraft(contactID: 5, calledAt: .init("2024-10-20T18:30:00Z")!))),
        .init(Monica.Delete<Monica.Call>(id: 1)),
        .init(Monica.List<Monica.Conversation>(contact: 5, page: 1, limit: 10, sort: .descending(.happenedAt))),
        .init(Monica.ListOfContact<Monica.Conversation>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Conversation>(id: 1)),
        .init(
            Monica.Create<Monica.Conversation>(
                Monica.ConversationDraft(contactID: 5, happenedAt: .init("2024-10-20T00:00:00Z")!, typeID: 2))),
        .init(
            Monica.Update<Monica.Conversation>(
                id: 1, Monica.ConversationDraft(contactID: 5, happenedAt: .init("2024-10-21T00:00:00Z")!, typeID: 1))),
        .init(Monica.Delete<Monica.Conversation>(id: 1)),
        .init(
            Monica.CreateMessage(
                conversation: 1,
                Monica.MessageDraft(
                    content: "Are you coming?", writtenAt: .init("2024-10-20T18:30:00Z")!, writtenByMe: true))),
        .init(
            Monica.UpdateMessage(
                conversation: 1, message: 1,
                Monica.MessageDraft(
                    content: "I am late", writtenAt: .init("2024-10-20T18:31:00Z")!, writtenByMe: false))),
        .init(Monica.DeleteMessage(conversation: 1, message: 1)),
        .init(Monica.List<Monica.Reminder>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))),
        .init(Monica.ListOfContact<Monica.Reminder>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Reminder>(id: 1)),
        .init(
            Monica.Create<Monica.Reminder>(
                Monica.ReminderDraft(
                    contactID: 5, title: "Water the plants", initialDate: Day("2024-10-20")!, frequencyType: .month,
                    frequencyNumber: 2, description: "Not the cactus"))),
        .init(
            Monica.Update<Monica.Reminder>(
                id: 1,
                Monica.ReminderDraft(contactID: 5, title: "Water the plants", initialDate: Day("2024-10-20")!))),
        .init(Monica.Delete<Monica.Reminder>(id: 1)),
        .init(Monica.ListUpcomingReminders(month: 1)),
        .init(Monica.List<Monica.Debt>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))),
        .init(Monica.ListOfContact<Monica.Debt>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Debt>(id: 1)),
        .init(
            Monica.Create<Monica.Debt>(
                Monica.DebtDraft(contactID: 5, inDebt: .yes, amount: "12.50", reason: "Lunch"))),
        .init(
            Monica.Update<Monica.Debt>(
                id: 1, Monica.DebtDraft(contactID: 5, inDebt: .no, amount: "7", status: .completed))),
        .init(Monica.Delete<Monica.Debt>(id: 1)),
        .init(Monica.List<Monica.Pet>(contact: 5, page: 1, limit: 10, sort: .descending(.updatedAt))),
        .init(Monica.ListOfContact<Monica.Pet>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Pet>(id: 1)),
        .init(Monica.Create<Monica.Pet>(Monica.PetDraft(contactID: 5, category: .cat, name: "Tom"))),
        .init(Monica.Update<Monica.Pet>(id: 1, Monica.PetDraft(contactID: 5, category: .smallAnimal))),
        .init(Monica.Delete<Monica.Pet>(id: 1)),
        .init(Monica.List<Monica.LifeEvent>(contact: 5, page: 1, limit: 10, sort: .descending(.happenedAt))),
        .init(Monica.Get<Monica.LifeEvent>(id: 1)),
        .init(
            Monica.Create<Monica.LifeEvent>(
                Monica.LifeEventDraft(
                    contactID: 5, typeID: 1, happenedAt: .init("2024-10-20T00:00:00Z")!, name: "At the bakery",
                    note: "She had hoped for it", hasReminder: true))),
        .init(
            Monica.Update<Monica.LifeEvent>(
                id: 1,
                Monica.LifeEventDraft(
                    contactID: 5, typeID: 18, happenedAt: .init("2024-10-01T00:00:00Z")!, isDayUnknown: true))),
        .init(Monica.Delete<Monica.LifeEvent>(id: 1)),
        .init(Monica.List<Monica.Photo>(contact: 5, page: 1, limit: 10, sort: .descending(.createdAt))),
        .init(Monica.ListOfContact<Monica.Photo>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Photo>(id: 1)),
        .init(Monica.Store<Monica.Photo>(picture, of: 5)),
        .init(Monica.Store<Monica.Photo>(data: "data:image/png;base64,iVBORw0KGgo=", of: 5)),
        .init(Monica.Delete<Monica.Photo>(id: 1)),
        .init(Monica.SetAvatar(id: 1, .initials)),
        .init(Monica.SetAvatar(id: 1, .photo(1))),
        .init(Monica.AddPhotoToGift(gift: 1, photo: 1)),
        .init(Monica.List<Monica.Document>(contact: 5, page: 1, limit: 10, sort: .descending(.createdAt))),
        .init(Monica.ListOfContact<Monica.Document>(contact: 1, page: 2, limit: 50)),
        .init(Monica.Get<Monica.Document>(id: 1)),
        .init(Monica.Store<Monica.Document>(picture, of: 5)),
        .init(Monica.Delete<Monica.Document>(id: 1)),
        .init(Monica.ListJournal(page: 2, limit: 50, sort: .descending(.updatedAt))),
        .init(Monica.Get<Monica.JournalEntry>(id: 1)),
        .init(
            Monica.Create<Monica.JournalEntry>(Monica.JournalDraft(title: "A good day", post: "We met in the park"))),
        .init(
            Monica.Create<Monica.JournalEntry>(
                Monica.JournalDraft(title: "A good day", post: "We met in the park", day: Day("2024-10-20")!))),
        .init(
            Monica.Update<Monica.JournalEntry>(
                id: 1, Monica.JournalDraft(title: "A good day", post: "We met in the park", day: Day("2024-10-20")!))),
        .init(Monica.Delete<Monica.JournalEntry>(id: 1)),
        .init(Monica.ListTags(sort: .descending(.name), page: 2)),
        .init(Monica.ListTags()),
        .init(Monica.Get<Monica.Tag>(id: 1)),
        .init(Monica.ListContactsOfTag(tag: 1, page: 2, limit: 9, sort: newest)),
        .init(Monica.Create<Monica.Tag>(Monica.TagDraft(name: "Family"))),
        .init(Monica.Update<Monica.Tag>(id: 1, Monica.TagDraft(name: "Family"))),
        .init(Monica.Delete<Monica.Tag>(id: 1)),
        .init(Monica.ListGenders()),
        .init(Monica.Get<Monica.Gender>(id: 1)),
        .init(Monica.Create<Monica.Gender>(Monica.GenderDraft(name: "Man", type: .male))),
        .init(
            Monica.Update<Monica.Gender>(id: 1, Monica.GenderDraft(name: "Nobody's business", type: .other))),
        .init(Monica.Delete<Monica.Gender>(id: 1)),
        .init(Monica.ListActivityTypes()),
        .init(Monica.Get<Monica.ActivityType>(id: 1)),
        .init(
            Monica.Create<Monica.ActivityType>(Monica.ActivityTypeDraft(name: "ate at home", categoryID: 3))),
        .init(Monica.Update<Monica.ActivityType>(id: 1, Monica.ActivityTypeDraft(name: "cooked", categoryID: 3))),
        .init(Monica.Delete<Monica.ActivityType>(id: 1)),
        .init(Monica.ListActivityTypeCategories()),
        .init(Monica.Get<Monica.ActivityTypeCategory>(id: 1)),
        .init(Monica.Create<Monica.ActivityTypeCategory>(Monica.ActivityTypeCategoryDraft(name: "Food"))),
        .init(Monica.Update<Monica.ActivityTypeCategory>(id: 1, Monica.ActivityTypeCategoryDraft(name: "Meals"))),
        .init(Monica.Delete<Monica.ActivityTypeCategory>(id: 1)),
        .init(Monica.ListCurrencies()),
        .init(Monica.Get<Monica.Currency>(id: 1)),
        .init(Monica.ListTokens()),
        .init(Monica.CreateToken(name: "Phone", dialect: .monica4)),
        .init(Monica.RevokeToken(id: 1)),
        .init(Monica.GetWelcome()),
        .init(Monica.GetMe()),
        .init(Monica.DeleteMe()),
        .init(Monica.RequestArchive()),
        .init(Monica.GetArchive()),
        .init(Monica.ExportJSON()),
        .init(Monica.ExportVCard()),
        .init(GetAbout<Monica>()),
    ]

    @Test(arguments: requests)
    func aRequestIsAnExample(_ request: ExampleRequest) throws { try MonicaLawTests.laws.check(request) }

    @Test func everyVariantOfAnAnswerIsReadAndWritten() throws { try MonicaLawTests.laws.checkAnswers() }

    @Test func everyExampleHasItsRequest() { MonicaLawTests.laws.checkExamplesAreUsed() }

    // MARK: Values of the examples' members

    private static func value<Value: Codable & Sendable>(_ signature: String) throws -> Value {
        let answer = try #require(MonicaExamples.all[signature]?.answers.first?.body)
        return try read(APIResponse<Value>.self, answer.json()).data
    }

    private static let made = Monica.Timestamp("2024-01-15T10:30:00Z")!
    private static let changed = Monica.Timestamp("2024-10-26T14:22:00Z")!

    @Test func aContact() throws {
        let contact: Monica.Contact = try Self.value("GET /contacts/{id}")
        #expect(contact.id == 1)
        #expect(contact.uuid == "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
        #expect(contact.firstName == "John")
        #expect(contact.middleName == nil)
        #expect(contact.lastName == "Doe")
        #expect(contact.nickname == "Johnny")
        #expect(contact.completeName == "John Doe")
        #expect(contact.initials == "JD")
        #expect(contact.genderID == 1)
        #expect(contact.gender == "Man")
        #expect(contact.genderType == "M")
        #expect(contact.isStarred == false)
        #expect(contact.isPartial == false)
        #expect(contact.isActive == true)
        #expect(contact.isDead == false)
        #expect(contact.hashID == "h:6f1a2b3c4d5e4f608a")
        #expect(contact.information.dates.birthdate == .init(Day("1980-10-10")!))
        #expect(contact.information.dates.deceasedDate == .init())
        #expect(contact.statistics.numberOfNotes == 1)
        #expect(contact.url == "https://monica.example/api/contacts/1")
        #expect(contact.createdAt == Self.made)
        #expect(contact.updatedAt == Self.changed)
        #expect(contact.contactFields?.first?.content == "john@example.com")
        #expect(contact.contactFields?.first?.contactFieldType.name == "Email")
        #expect(contact.notes?.first?.body == "Likes tea")
    }

    @Test func resourcesOfAContactAreRead() throws {
        let activity: Monica.Activity = try Self.value("GET /activities/{id}")
        #expect(activity.summary == "Had dinner")
        #expect(activity.description == nil)
        #expect(activity.happenedAt == Day("2024-10-20"))
        #expect(activity.contacts.map(\.id) == [1])
        let note: Monica.Note = try Self.value("GET /notes/{id}")
        #expect(note.contactID == 1)
        #expect(note.body == "Likes tea")
        #expect(note.isFavorited == false)
        #expect(note.contact?.firstName == "John")
        let task: Monica.Task = try Self.value("GET /tasks/{id}")
        #expect(task.contactID == 1)
        #expect(task.title == "Send a card")
        #expect(task.completed == false)
        let gift: Monica.Gift = try Self.value("GET /gifts/{id}")
        #expect(gift.contactID == 1)
        #expect(gift.name == "Teapot")
        #expect(gift.amount == "12.50")
        #expect(gift.value == 12.5)
        #expect(gift.amountWithCurrency == "$12.50")
        #expect(gift.status == .idea)
        #expect(gift.isAnIdea == true)
        let tag: Monica.Tag = try Self.value("GET /tags/{id}")
        #expect(tag.name == "Family")
        #expect(tag.nameSlug == "family")
    }

    @Test func aMerge() throws {
        let merges: [Monica.Merge] = try Self.value("GET /contacts/{id}/merges")
        let merge = try #require(merges.first)
        #expect(merge.contact.id == 1)
        #expect(merge.mergedContactID == 2)
        #expect(merge.mergedContactName == "Jane Doe")
        #expect(merge.createdAt == Self.made)
        #expect(merge.expiresAt == Monica.Timestamp("2024-02-14T10:30:00Z"))
    }

    @Test func aRelationship() throws {
        let relationship: Monica.Relationship = try Self.value("GET /relationships/{id}")
        #expect(relationship.contactIs.firstName == "John")
        #expect(relationship.ofContact.firstName == "Jane")
        let type: Monica.RelationshipType = try Self.value("GET /relationshiptypes/{id}")
        #expect(relationship.relationshipType == type)
        #expect(type.id == 8)
        #expect(type.name == "parent")
        #expect(type.nameReverseRelationship == "child")
        let group: Monica.RelationshipTypeGroup = try Self.value("GET /relationshiptypegroups/{id}")
        #expect(type.relationshipTypeGroupID == group.id)
        #expect(group.name == "family")
    }

    @Test func aContactField() throws {
        let field: Monica.ContactField = try Self.value("GET /contactfields/{id}")
        #expect(field.content == "john@example.com")
        #expect(field.contact?.id == 1)
        #expect(field.contactFieldType.type == "email")
        let type: Monica.ContactFieldType = try Self.value("GET /contactfieldtypes/{id}")
        #expect(type == field.contactFieldType)
        #expect(type.name == "Email")
        #expect(type.fontawesomeIcon == "fa fa-envelope-open-o")
        #expect(type.protocol == "mailto:")
        #expect(!type.delible)
    }

    @Test func anAddress() throws {
        let address: Monica.Address = try Self.value("GET /addresses/{id}")
        #expect(address.name == "home")
        #expect(address.street == "1 rue")
        #expect(address.city == "Paris")
        #expect(address.province == nil)
        #expect(address.postalCode == "75001")
        #expect(address.country == .init(id: "FR", name: "France"))
        #expect(address.contact?.id == 1)
        let countries: [Monica.Country] = try Self.value("GET /countries")
        #expect(countries.map(\.iso) == ["FR"])
    }

    @Test func aCall() throws {
        let call: Monica.Call = try Self.value("GET /calls/{id}")
        #expect(call.calledAt.description == "2024-10-20T18:30:00Z")
        #expect(call.content == "About the party")
        #expect(!call.contactCalled)
        #expect(call.url == "https://monica.example/api/calls/1")
        #expect(call.contact?.id == 1)
    }

    @Test func aReminder() throws {
        let reminder: Monica.Reminder = try Self.value("GET /reminders/{id}")
        #expect(reminder.title == "Water the plants")
        #expect(reminder.description == "Not the cactus")
        #expect(reminder.frequencyType == .month)
        #expect(reminder.frequencyNumber == 1)
        #expect(reminder.initialDay == Day("2024-10-20"))
        #expect(reminder.delible)
        #expect(reminder.contact?.id == 1)
        let upcoming: [Monica.UpcomingReminder] = try Self.value("GET /reminders/upcoming/{month}")
        #expect(upcoming.map(\.plannedDay) == [Day("2024-11-20")])
        #expect(upcoming == [.init(reminder, on: Day("2024-11-20")!)])
    }

    @Test func aConversation() throws {
        let conversation: Monica.Conversation = try Self.value("GET /conversations/{id}")
        #expect(conversation.happenedAt == Day("2024-10-20")?.start)
        #expect(conversation.contactFieldType.type == "email")
        #expect(conversation.contact?.id == 1)
        #expect(conversation.url == "https://monica.example/api/conversations/1")
        let message = try #require(conversation.messages.first)
        #expect(message.content == "Are you coming?")
        #expect(message.writtenAt == Monica.Timestamp("2024-10-20T18:30:00Z"))
        #expect(message.writtenByMe)
        #expect(message.conversation.id == conversation.id)
        #expect(message.contact?.id == 1)
    }

    @Test func aLifeEvent() throws {
        let event: Monica.LifeEvent = try Self.value("GET /lifeevents/{id}")
        #expect(event.name == "At the bakery")
        #expect(event.note == "She had hoped for it")
        #expect(event.happenedAt == Day("2024-10-20")?.start)
        #expect(!event.happenedAtMonthUnknown && !event.happenedAtDayUnknown)
        #expect(event.contact?.id == 1)
        let type = event.lifeEventType
        #expect(type.id == Monica.LifeEventKind.newJob.typeID)
        #expect(type.name == "New job")
        #expect(type.defaultLifeEventTypeKey == .newJob)
        #expect(type.coreMonicaData)
        #expect(type.lifeEventCategory?.name == "Work & education")
        #expect(type.lifeEventCategory?.defaultLifeEventCategoryKey == "work_education")
    }

    @Test func anEntryOfTheJournal() throws {
        let entry: Monica.JournalEntry = try Self.value("GET /journal/{id}")
        #expect(entry.day == Day("2024-10-20"))
        #expect(entry.title == "A good day")
        #expect(entry.post == "We met in the park")
        #expect(entry.url == "https://monica.example/api/journal/1")
    }

    @Test func aDebt() throws {
        let debt: Monica.Debt = try Self.value("GET /debts/{id}")
        #expect(debt.inDebt == .yes)
        #expect(debt.status == .inProgress)
        #expect(debt.amount == "12.50")
        #expect(debt.value == "12.50")
        #expect(debt.amountWithCurrency == "$12.50")
        #expect(debt.reason == "Lunch")
        #expect(debt.contact?.id == 1)
    }

    @Test func aPet() throws {
        let pet: Monica.Pet = try Self.value("GET /pets/{id}")
        #expect(pet.name == "Tom")
        #expect(pet.petCategory == .cat)
        #expect(pet.contact?.id == 1)
    }

    @Test func aPhoto() throws {
        let photo: Monica.Photo = try Self.value("GET /photos/{id}")
        #expect(photo.originalFilename == "photo.jpg")
        #expect(photo.newFilename == "photos/6f1a2b3c.jpg")
        #expect(photo.filesize == 52100)
        #expect(photo.mimeType == "image/jpeg")
        #expect(photo.link == "https://monica.example/photos/6f1a2b3c.jpg")
        #expect(photo.contact?.id == 1)
        #expect(photo.createdAt == Self.made)
    }

    @Test func aDocument() throws {
        let document: Monica.Document = try Self.value("GET /documents/{id}")
        #expect(document.originalFilename == "contract.pdf")
        #expect(document.newFilename == "documents/6f1a2b3c")
        #expect(document.filesize == 52100)
        #expect(document.type == "pdf")
        #expect(document.mimeType == "application/pdf")
        #expect(document.numberOfDownloads == 0)
        #expect(document.link == "https://monica.example/objects/documents/6f1a2b3c")
        #expect(document.url == "https://monica.example/api/documents/1")
        #expect(document.contact?.id == 1)
    }

    @Test func theAccount() throws {
        let user: Monica.User = try Self.value("GET /me")
        #expect(user.firstName == "Regis")
        #expect(user.lastName == "Freyd")
        #expect(user.email == "regis@example.com")
        let genders: [Monica.Gender] = try Self.value("GET /genders")
        #expect(genders.map(\.name) == ["Man"])
        let types: [Monica.ActivityType] = try Self.value("GET /activitytypes")
        #expect(types.map(\.name) == ["ate at home"])
        #expect(types.first?.activityTypeCategory?.name == "Food")
        let gender: Monica.Gender = try Self.value("GET /genders/{id}")
        #expect(gender.type == Monica.GenderType.male.rawValue)
        let type: Monica.ActivityType = try Self.value("GET /activitytypes/{id}")
        #expect(type == types.first)
        let category: Monica.ActivityTypeCategory = try Self.value("GET /activitytypecategories/{id}")
        #expect(type.activityTypeCategory == category)
        let tokens: [Monica.PersonalToken] = try Self.value("GET /me/tokens")
        #expect(tokens.map(\.dialect) == [.contract] && tokens.first?.text == nil)
        let currency: Monica.Currency = try Self.value("GET /currencies/{id}")
        #expect(currency == user.currency)
        #expect(currency.symbol == "$")
    }
}
