import MonicaMocks
import Testing

// The samples of Testing.md, and of the mocks' own documentation.

@Suite(.timeLimit(.minutes(30))) struct MonicaTestingSamples {
    @Test func theContractsMock() async throws {
        // sample
        let monica = MockMonicaAPIClient()
        monica.mockContacts = [.example]
        let found = try await monica.listContacts(page: 1, limit: 50, query: "john").data
        monica.shouldFail = true  // From now on every call throws `networkUnavailable`.
        // end
        #expect(found == [.example])
        await #expect(throws: MonicaAPIError.self) { try await monica.listTags() }
    }

    @Test func aRefusal() async throws {
        // sample
        let mock = MonicaMock()
        mock.fail(Monica.GetContact.self, with: .notFound, "The requested contact was not found.")
        let monica = mock.client()
        // end
        let error = await #expect(throws: MonicaAPIError.self) { try await monica.getContact(id: 1) }
        #expect(error?.errorDescription == "Contact #1 was not found.")
    }

    @Test func answersOfOnesOwnAndABadNetwork() async throws {
        // sample
        let mock = MonicaMock(sleep: { _ in })
        mock.on(Monica.ListTags.self) { _ in APIResponse(data: []) }
        mock.fail(Monica.GetMe.self, with: .serviceUnavailable, "Unavailable", times: 2)
        mock.delay = .seconds(2)
        mock.offline()
        mock.online()
        // end
        let monica = mock.client(retryCount: 2, backoff: Backoff(sleep: { _ in }))
        #expect(try await monica.listTags().data == [])
        let me = try await monica.send(Monica.GetMe()).data
        #expect(me == .example)
    }

    // sample
    @Test @MainActor func aSearchIsShown() async throws {
        let monica = MockMonicaAPIClient()
        monica.mockContacts = [.example]
        let model = SearchModel(monica)

        await model.search("doe")
        #expect(model.contacts == [.example])
        monica.shouldFail = true
        await model.search("john")
        #expect(model.banner == "Cannot connect. Check your internet connection and try again.")
    }
    // end
}

// sample
@MainActor
final class SearchModel {
    private(set) var contacts: [Monica.Contact] = []
    private(set) var banner: String?
    private let monica: any MonicaAPIClientProtocol

    init(_ monica: any MonicaAPIClientProtocol) { self.monica = monica }

    func search(_ text: String) async {
        do {
            contacts = try await monica.listContacts(query: text).data
            banner = nil
        } catch {
            banner = error.localizedDescription
        }
    }
}
// end
