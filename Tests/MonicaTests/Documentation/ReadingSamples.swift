import Foundation
import MonicaClient

// The samples of Reading.md. Closures stand for what an app does with a result.

enum ReadingSamples {
    static func signIn(address: String, token: String, show: (String) -> Void) async throws {
        // sample
        let configuration = APIConfiguration.selfHosted(url: address, token: token)
        let monica = MonicaAPIClient(configuration: configuration)
        show(try await monica.validateToken() ? "Welcome!" : "That token is not valid.")
        // end
    }

    static func contacts(_ monica: MonicaAPIClient, show: (Monica.Contact) -> Void) async throws {
        // sample
        for try await contact in monica.contacts(matching: "doe john") { show(contact) }
        // end
    }

    static func contact(_ monica: MonicaAPIClient, id: Int, show: (String) -> Void) async throws {
        // sample
        let contact = try await monica.getContact(id: id).data
        show(contact.completeName)
        for try await note in monica.notes(of: id) { show(note.body) }
        for try await activity in monica.activities(of: id) { show(activity.summary) }
        for try await task in monica.tasks(of: id) where !task.completed { show(task.title) }
        // end
    }

    static func page(_ monica: MonicaAPIClient, show: (String) -> Void) async throws {
        // sample
        let page = try await monica.listNotes(contactId: nil, page: 2, limit: 10)
        show("\(page.data.count) of \(page.meta?.total ?? 0)")
        // end
    }

    static func offline(
        _ configuration: APIConfiguration, folder: URL, show: (String) -> Void
    ) async throws -> MonicaAPIClient {
        // sample
        let monica = MonicaAPIClient(
            configuration: configuration, cache: FileResponseCache(folder: folder.appendingPathComponent("monica")))
        let tags = try await monica.listTags()
        if tags.isCached { show("You are offline. This is what was known.") }
        // end
        return monica
    }

    static func signOut(_ monica: MonicaAPIClient) async {
        // sample
        await monica.forgetAnswers()
        // end
    }
}
