import Contract
import MonicaMocks
import Testbed
import Testing

@Suite(.timeLimit(.minutes(30))) struct MonicaMockTests {
    /// This is the contract's own test of a mock, with calls that would crash its sketch.
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

    @Test func theMockHoldsTheExamples() async throws {
        let client = MonicaMock().client()
        let contacts = try await client.listContacts(page: 1, limit: 50, query: nil)
        #expect(contacts.data == [.example])
        for contact in [1, nil] {
            #expect(try await client.listNotes(contactId: contact, page: 1, limit: 10).data == [.example])
        }
        #expect(try await client.listNotes(contactId: 2, page: 1, limit: 10).data == [])
        let export = try await client.send(Monica.ExportJSON())
        #expect(export.contacts.map(\.contact.id) == [1])
        let cards = try await client.send(Monica.ExportVCard())
        #expect(cards.rawValue.hasPrefix("BEGIN:VCARD"))
        let error = try await #require(throws: MonicaAPIError.self) { try await client.getContact(id: 7) }
        #expect(error.errorDescription == "Contact #7 was not found.")
    }
}
