import MonicaAPI

/// The contract's client: what an app's screens need of Monica, so that a mock can stand in for it.
///
/// Everything throws ``MonicaAPIError``, or `CancellationError`.
public protocol MonicaAPIClientProtocol: Sendable {
    /// Whether the server takes the token. Throws what is neither yes nor no.
    func validateToken() async throws -> Bool

    func listContacts(page: Int, limit: Int, query: String?) async throws -> APIResponse<[Monica.Contact]>
    func getContact(id: Int) async throws -> APIResponse<Monica.Contact>

    func listActivities(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Activity]>
    func getActivity(id: Int) async throws -> APIResponse<Monica.Activity>

    func listNotes(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Note]>
    func listTasks(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Task]>
    func listGifts(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Gift]>

    /// All of them, however many pages the server makes of it.
    func listTags() async throws -> APIResponse<[Monica.Tag]>
}

extension MonicaAPIClientProtocol {
    /// The contract's page sizes.
    public func listContacts(page: Int = 1, query: String? = nil) async throws -> APIResponse<[Monica.Contact]> {
        try await listContacts(page: page, limit: 50, query: query)
    }
}
