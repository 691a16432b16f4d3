import Foundation
import MonicaClient

// The samples of the landing page, of MonicaAPIClient's own documentation and of the README.

enum OverviewSamples {
    static func begin(_ url: URL, token: String) async throws -> (MonicaAPIClient, [Monica.Contact]) {
        // sample
        let monica = MonicaAPIClient(configuration: .selfHosted(url: url, token: token))
        let page = try await monica.listContacts(page: 1, limit: 50, query: "john")
        for contact in page.data { print(contact.completeName) }
        // end
        return (monica, page.data)
    }

    static func create(_ monica: MonicaAPIClient) async throws {
        // sample
        let john = try await monica.create(Monica.ContactDraft(firstName: "John", birthdate: .age(30)))
        try await monica.create(Monica.NoteDraft(contactID: john.id, body: "Likes tea"))
        // end
    }
}
