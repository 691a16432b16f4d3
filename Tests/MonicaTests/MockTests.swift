import Contract
import MonicaMocks
import Testbed
import Testing

@Suite(.timeLimit(.minutes(30))) struct MonicaMockTests {
    /// The contract's own test of a mock, and what its sketch would trap at.
    @Test func theMockClientPagesItsLists() async throws {
        let client = MockMonicaAPIClient()
        client.mockContacts = (1...25).map {
            Monica.Contact(
                id: $0, firstName: "N\($0)", createdAt: Monica.Contact.example.createdAt,
                updatedAt: Monica.Contact.example.updatedAt)
        }
        let first = try await client.listContacts(page: 1, limit: 10, query: nil)
        #expect(first.data.count == 10)
        #expect(first.meta?.current_page == 1)
        #expect(first.meta?.per_page == 10)
        #expect(first.links?.next == "/contacts?page=2&limit=10")
        for (page, count) in [(3, 5), (4, 0), (99, 0), (Int.max, 0)] {
            let response = try await client.listContacts(page: page, limit: 10, query: nil)
            #expect(response.data.count == count)
            #expect(response.links?.next == nil)
        }
        for (page, limit, count) in [(1, Int.max, 25), (2, Int.max, 0), (Int.min, Int.min, 1), (Int.max, Int.max, 0)] {
            let response = try await client.listContacts(page: page, limit: limit, query: nil)
            #expect(response.data.count == count)
        }
        let found = try await client.listContacts(page: 1, limit: 50, query: "n25")
        #expect(found.data.map(\.id) == [25])
        client.shouldFail = true
        let error = try await #require(throws: MonicaAPIError.self) { try await client.listTags() }
        #expect(error.errorDescription == "Cannot connect. Check your internet connection and try again.")
    }

    @Test func theMockClientFiltersByContact() async throws {
        let client = MockMonicaAPIClient()
        client.mockActivities = [.example]
        client.mockNotes = [.example]
        let (his, hers) = (
            try await client.listActivities(contactId: 1, page: 1, limit: 10),
            try await client.listActivities(contactId: 2, page: 1, limit: 10)
        )
        #expect(his.data.map(\.id) == [1])
        #expect(hers.data.isEmpty)
        let notes = try await client.listNotes(contactId: 1, page: 1, limit: 10)
        #expect(notes.links?.first == "/notes?contact_id=1&page=1&limit=10")
        await #expect(throws: MonicaAPIError.self) { try await client.getContact(id: 5) }
    }

    @Test func everyOperationOfTheMockHasAnAnswer() async throws {
        let mock = MonicaMock()
        let client = mock.client()
        let contacts = try await client.listContacts(page: 1, limit: 50, query: nil)
        #expect(contacts.data == [.example])
        _ = try await client.getContact(id: 1)
        _ = try await client.create(Monica.ContactDraft(firstName: "x"))
        _ = try await client.update(1, Monica.ContactDraft(firstName: "x"))
        try await client.delete(Monica.Contact.self, id: 1)
        try await client.send(Monica.SetWork(id: 1, job: nil, company: nil))
        try await client.send(Monica.SetFood(id: 1, preferences: nil))
        try await client.send(Monica.SetIntroduction(id: 1, generalInformation: nil))
        try await client.send(Monica.SetTags(id: 1, names: ["x"]))
        try await client.send(Monica.UnsetTag(id: 1, tags: [1]))
        try await client.send(Monica.UnsetTags(id: 1))
        for contact in [1, nil] {
            _ = try await client.listActivities(contactId: contact, page: 1, limit: 10)
            _ = try await client.listNotes(contactId: contact, page: 1, limit: 10)
            _ = try await client.listTasks(contactId: contact, page: 1, limit: 10)
            _ = try await client.listGifts(contactId: contact, page: 1, limit: 10)
        }
        try await client.send(Monica.ListOfContact<Monica.Activity>(contact: 1))
        try await client.send(Monica.ListOfContact<Monica.Note>(contact: 1))
        try await client.send(Monica.ListOfContact<Monica.Task>(contact: 1))
        try await client.send(Monica.ListOfContact<Monica.Gift>(contact: 1))
        _ = try await client.getActivity(id: 1)
        try await client.send(Monica.Get<Monica.Note>(id: 1))
        try await client.send(Monica.Get<Monica.Task>(id: 1))
        try await client.send(Monica.Get<Monica.Gift>(id: 1))
        try await client.send(Monica.Get<Monica.Tag>(id: 1))
        _ = try await client.create(Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [1]))
        _ = try await client.create(Monica.NoteDraft(contactID: 1, body: "x"))
        _ = try await client.create(Monica.TaskDraft(title: "x"))
        _ = try await client.create(Monica.GiftDraft(contactID: 1, name: "x"))
        _ = try await client.create(Monica.TagDraft(name: "x"))
        _ = try await client.update(
            1, Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [1]))
        _ = try await client.update(1, Monica.NoteDraft(contactID: 1, body: "x"))
        _ = try await client.update(1, Monica.TaskDraft(title: "x"))
        _ = try await client.update(1, Monica.GiftDraft(contactID: 1, name: "x"))
        _ = try await client.update(1, Monica.TagDraft(name: "x"))
        try await client.delete(Monica.Activity.self, id: 1)
        try await client.delete(Monica.Note.self, id: 1)
        try await client.delete(Monica.Task.self, id: 1)
        try await client.delete(Monica.Gift.self, id: 1)
        try await client.delete(Monica.Tag.self, id: 1)
        _ = try await client.listTags()
        try await client.send(Monica.ListContactsOfTag(tag: 1))
        try await client.send(Monica.GetMe())
        try await client.send(Monica.ListGenders())
        try await client.send(Monica.ListActivityTypes())
        let export = try await client.send(Monica.ExportJSON())
        #expect(export.contacts.map(\.contact) == [.example])
        let cards = try await client.send(Monica.ExportVCard())
        #expect(cards.rawValue.hasPrefix("BEGIN:VCARD"))
        let sent = Set(mock.requests.map { type(of: $0).signature })
        #expect(sent == Set(Monica.endpoints.map { $0.signature }))
        let error = try await #require(throws: MonicaAPIError.self) { try await client.getContact(id: 7) }
        #expect(error.errorDescription == "Contact #7 was not found.")
    }
}
