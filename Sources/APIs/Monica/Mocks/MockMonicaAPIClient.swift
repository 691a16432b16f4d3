import Contract
import ContractClient
import Foundation
import MonicaAPI
import MonicaClient

/// The contract's mock client: lists in memory, paged as a server does. Pages after the end are empty.
///
/// ```swift
/// let monica = MockMonicaAPIClient()
/// monica.mockContacts = [.example]
/// let found = try await monica.listContacts(page: 1, limit: 50, query: "john").data
/// monica.shouldFail = true  // From now on every call throws `networkUnavailable`.
/// ```
///
/// ``MonicaMock`` offers answers of single operations, delays and refusals.
public final class MockMonicaAPIClient: MonicaAPIClientProtocol {
    private struct State {
        var shouldFail = false
        var error = MonicaAPIError.networkUnavailable
        var isTokenValid = true
        var contacts: [Monica.Contact] = []
        var activities: [Monica.Activity] = []
        var notes: [Monica.Note] = []
        var tasks: [Monica.Task] = []
        var gifts: [Monica.Gift] = []
        var tags: [Monica.Tag] = []
    }

    private let state = Locked(State())

    public init() {}

    /// Whether every call throws ``error``.
    public var shouldFail: Bool {
        get { state.use { $0.shouldFail } }
        set { state.use { $0.shouldFail = newValue } }
    }
    /// The error that every call throws when ``shouldFail`` is set.
    public var error: MonicaAPIError {
        get { state.use { $0.error } }
        set { state.use { $0.error = newValue } }
    }
    /// The answer of ``validateToken()``.
    public var isTokenValid: Bool {
        get { state.use { $0.isTokenValid } }
        set { state.use { $0.isTokenValid = newValue } }
    }
    /// The contacts that the client returns.
    public var mockContacts: [Monica.Contact] {
        get { state.use { $0.contacts } }
        set { state.use { $0.contacts = newValue } }
    }
    /// The activities that the client returns.
    public var mockActivities: [Monica.Activity] {
        get { state.use { $0.activities } }
        set { state.use { $0.activities = newValue } }
    }
    /// The notes that the client returns.
    public var mockNotes: [Monica.Note] {
        get { state.use { $0.notes } }
        set { state.use { $0.notes = newValue } }
    }
    /// The tasks that the client returns.
    public var mockTasks: [Monica.Task] {
        get { state.use { $0.tasks } }
        set { state.use { $0.tasks = newValue } }
    }
    /// The gifts that the client returns.
    public var mockGifts: [Monica.Gift] {
        get { state.use { $0.gifts } }
        set { state.use { $0.gifts = newValue } }
    }
    /// The tags that the client returns.
    public var mockTags: [Monica.Tag] {
        get { state.use { $0.tags } }
        set { state.use { $0.tags = newValue } }
    }

    // MARK: The client

    public func validateToken() async throws -> Bool { try answer { $0.isTokenValid } }

    public func listContacts(
        page: Int, limit: Int, query: String?
    ) async throws -> APIResponse<[Monica.Contact]> {
        let words = (query ?? "").split(whereSeparator: \.isWhitespace)
        let matching = try answer { state in
            state.contacts.filter { contact in
                let texts = [
                    contact.completeName, contact.nickname, contact.description, contact.information.career.job,
                    contact.information.career.company,
                ]
                return words.allSatisfy { word in
                    texts.contains {
                        $0?.range(of: word, options: [.caseInsensitive, .diacriticInsensitive]) != nil
                    }
                }
            }
        }
        let filters = query.map { [(name: "query", value: $0)] } ?? []
        return Self.response(matching, path: "/contacts", filters: filters, page: page, limit: limit, query: query)
    }

    public func getContact(id: Int) async throws -> APIResponse<Monica.Contact> {
        try one(id) { $0.contacts }
    }

    public func listActivities(
        contactId: Int?, page: Int, limit: Int
    ) async throws -> APIResponse<[Monica.Activity]> {
        try list(\.activities, of: contactId, page: page, limit: limit)
    }

    public func getActivity(id: Int) async throws -> APIResponse<Monica.Activity> {
        try one(id) { $0.activities }
    }

    public func listNotes(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Note]> {
        try list(\.notes, of: contactId, page: page, limit: limit)
    }

    public func listTasks(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Task]> {
        try list(\.tasks, of: contactId, page: page, limit: limit)
    }

    public func listGifts(contactId: Int?, page: Int, limit: Int) async throws -> APIResponse<[Monica.Gift]> {
        try list(\.gifts, of: contactId, page: page, limit: limit)
    }

    public func listTags() async throws -> APIResponse<[Monica.Tag]> {
        let tags = try answer { $0.tags }
        return APIResponse(
            data: tags, meta: PaginationMeta(total: tags.count, page: 1, limit: max(1, tags.count), rows: tags.count),
            links: PaginationLinks(first: "/tags", last: "/tags", prev: nil, next: nil))
    }

    // MARK: Answers

    private func answer<Value>(_ read: (State) -> Value) throws -> Value {
        try state.use { state in
            if state.shouldFail { throw state.error }
            return read(state)
        }
    }

    private func one<Item: Monica.Resource>(_ id: Int, _ items: (State) -> [Item]) throws -> APIResponse<Item> {
        guard let item = try answer(items).first(where: { $0.id == id }) else {
            throw MonicaAPIError.notFound(resourceType: Item.singular, id: id)
        }
        return APIResponse(data: item)
    }

    private func list<Item: Monica.Listed>(
        _ items: (State) -> [Item], of contact: Int?, page: Int, limit: Int
    ) throws -> APIResponse<[Item]> {
        let all = try answer(items)
        return Self.response(
            contact.map { contact in all.filter { $0.isOf(contact) } } ?? all, path: "/" + Item.plural,
            filters: contact.map { [(name: "contact_id", value: String($0))] } ?? [], page: page, limit: limit)
    }

    private static func response<Item>(
        _ items: [Item], path: String, filters: [(name: String, value: String)], page: Int, limit: Int,
        query: String? = nil
    ) -> APIResponse<[Item]> {
        let (page, limit) = (max(1, page), max(1, limit))
        let last = PaginationMeta.lastPage(of: items.count, limit: limit)
        let rows = page <= last ? Array(items.dropFirst((page - 1) * limit).prefix(limit)) : []
        return APIResponse(
            data: rows,
            meta: PaginationMeta(total: items.count, page: page, limit: limit, rows: rows.count, query: query),
            links: PaginationLinks(path: path, filters: filters, page: page, limit: limit, last: last))
    }
}
