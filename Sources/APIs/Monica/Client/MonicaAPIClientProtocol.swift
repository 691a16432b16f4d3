import MonicaAPI

/// The contract's client with the operations that an app's screens need, so that a mock can take its place.
///
/// Every method throws ``MonicaAPIError`` or `CancellationError`.
public protocol MonicaAPIClientProtocol: Sendable {
    /// Returns whether the server accepts the token. Throws when the answer is neither yes nor no.
    func validateToken() async throws -> Bool

    /// Returns a page of contacts; of those that match, when there is a search.
    func listContacts(page: Int, limit: Int, query: String?) async throws -> APIResponse<[Monica.Contact]>
    /// Returns a contact.
    func getContact(id: Int) async throws -> APIResponse<Monica.Contact>

    /// Returns a page of activities, of all contacts or of one.
    func listActivities(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Activity]>
    /// Returns an activity.
    func getActivity(id: Int) async throws -> APIResponse<Monica.Activity>

    /// Returns a page of notes, of all contacts or of one.
    func listNotes(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Note]>
    /// Returns a page of tasks, of all contacts or of one.
    func listTasks(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Task]>
    /// Returns a page of gifts, for all contacts or for one.
    func listGifts(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Gift]>

    /// Returns all tags, however many pages the server divides them into.
    func listTags() async throws -> APIResponse<[Monica.Tag]>
}

extension MonicaAPIClientProtocol {
    /// Returns a page of 50 contacts, the contract's size.
    public func listContacts(page: Int = 1, query: String? = nil) async throws -> APIResponse<[Monica.Contact]> {
        try await listContacts(page: page, limit: 50, query: query)
    }
}
