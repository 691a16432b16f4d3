import Contract
import ContractClient
import ContractMocks
import Foundation
import MonicaAPI
import MonicaClient
import MonicaExamples

/// Monica without a server, for previews and tests: the real SDK on top of answers from memory.
///
/// ```swift
/// let mock = MonicaMock()
/// mock.fail(Monica.GetContact.self, with: .notFound, "The requested contact was not found.")
/// let monica = mock.client()
/// ```
///
/// The mock holds the contract's examples: John Doe, contact 1, and one resource of each kind that belongs to him.
/// Other ids are refused as the server refuses them. The mock stores nothing.
public struct MonicaMock: APIMock {
    /// The server that reads the requests. An app's tests need only the members of ``APIMock``.
    public let server: MockServer<Monica>

    /// Creates a mock.
    ///
    /// - Parameter sleep: Waits for the mock's delays. A test replaces it.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        server = MockServer(
            baseURL: URL(string: "https://monica.example/api")!, examples: MonicaExamples.all, sleep: sleep,
            authorize: { token in
                guard token?.isEmpty == false else { throw Monica.Problems.unauthenticated }
            })
        contacts()
        merges()
        relationships()
        resource(.example as Monica.Activity)
        resource(.example as Monica.Note)
        resource(.example as Monica.Task)
        resource(.example as Monica.Gift)
        lists(.example as Monica.Activity)
        lists(.example as Monica.Note)
        lists(.example as Monica.Task)
        lists(.example as Monica.Gift)
        resource(.example as Monica.ContactField)
        lists(.example as Monica.ContactField)
        resource(.example as Monica.ContactFieldType)
        resource(.example as Monica.Address)
        lists(.example as Monica.Address)
        resource(.example as Monica.Call)
        lists(.example as Monica.Call)
        conversations()
        resource(.example as Monica.Reminder)
        lists(.example as Monica.Reminder)
        resource(.example as Monica.Debt)
        lists(.example as Monica.Debt)
        resource(.example as Monica.Pet)
        lists(.example as Monica.Pet)
        resource(.example as Monica.LifeEvent)
        lists(.example as Monica.LifeEvent, isNested: false)
        files(.example as Monica.Photo)
        files(.example as Monica.Document)
        pictures()
        resource(.example as Monica.JournalEntry)
        server.example(of: Monica.ListJournal.self) {
            Self.page([Monica.JournalEntry.example], $0.part, path: "/journal", limit: 10)
        }
        tags()
        resource(.example as Monica.Gender)
        resource(.example as Monica.ActivityType)
        resource(.example as Monica.ActivityTypeCategory)
        single(.example as Monica.Currency)
        account()
    }

    /// Returns an SDK on top of the mock.
    ///
    /// - Parameters:
    ///   - retryCount: By default nothing is sent twice, so that an app sees every failure at once.
    ///   - backoff: The waits before repeats.
    public func client(retryCount: Int = 0, backoff: Backoff = Backoff()) -> MonicaAPIClient {
        MonicaAPIClient(
            configuration: APIConfiguration(baseURL: baseURL, token: "mock", retryCount: retryCount), transport: self,
            backoff: backoff)
    }

    private static func require<Item: Monica.Resource>(_ id: Int, is item: Item) throws -> Item {
        guard id == item.id else { throw Monica.Problems.notFound(Item.singular) }
        return item
    }

    private static func page<Item, By>(
        _ items: [Item], _ part: Monica.Part<By>, path: String, limit usual: Int, query: String? = nil
    ) -> APIResponse<[Item]> {
        let (page, limit) = (part.page ?? 1, part.limit ?? usual)
        let rows = page == 1 ? items : []
        return APIResponse(
            data: rows,
            meta: PaginationMeta(total: items.count, page: page, limit: limit, rows: rows.count, query: query),
            links: PaginationLinks(
                path: path, filters: query.map { [("query", $0)] } ?? [], page: page, limit: limit, last: 1))
    }

    // MARK: Contacts

    private func contacts() {
        let john = Monica.Contact.example
        server.example(of: Monica.ListContacts.self) {
            Self.page([john], $0.part, path: "/contacts", limit: 50, query: $0.query)
        }
        server.example(of: Monica.GetContact.self) { .init(data: try Self.require($0.id, is: john)) }
        writes(john)
        server.example(of: Monica.SetWork.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.SetFood.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.SetIntroduction.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.SetTags.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.UnsetTag.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.UnsetTags.self) { .init(data: try Self.require($0.id, is: john)) }
    }

    private func writes<Item: Monica.Writable>(_ item: Item) {
        server.example(of: Monica.Create<Item>.self) { _ in .init(data: item) }
        server.example(of: Monica.Update<Item>.self) { .init(data: try Self.require($0.id, is: item)) }
        server.example(of: Monica.Delete<Item>.self) { .init(id: try Self.require($0.id, is: item).id) }
    }

    private func resource<Item: Monica.Writable>(_ item: Item) {
        single(item)
        writes(item)
    }

    private func single<Item: Monica.Resource>(_ item: Item) {
        server.example(of: Monica.Get<Item>.self) { .init(data: try Self.require($0.id, is: item)) }
    }

    private func lists<Item: Monica.Listed>(_ item: Item, isNested: Bool = true) {
        server.example(of: Monica.List<Item>.self) {
            Self.page($0.contact ?? 1 == 1 ? [item] : [], $0.part, path: "/" + Item.plural, limit: 10)
        }
        guard isNested else { return }
        server.example(of: Monica.ListOfContact<Item>.self) {
            let contact = try Self.require($0.contact, is: Monica.Contact.example).id
            return Self.page([item], $0.part, path: "/contacts/\(contact)/" + Item.plural, limit: 10)
        }
    }

    private func files<Item: Monica.FileOfContact>(_ item: Item) {
        single(item)
        lists(item)
        server.example(of: Monica.Store<Item>.self) { _ in .init(data: item) }
        server.example(of: Monica.Delete<Item>.self) { .init(id: try Self.require($0.id, is: item).id) }
    }

    private func pictures() {
        server.example(of: Monica.SetAvatar.self) { .init(data: try Self.require($0.id, is: Monica.Contact.example)) }
        server.example(of: Monica.AddPhotoToGift.self) {
            _ = try Self.require($0.photo, is: Monica.Photo.example)
            return .init(data: try Self.require($0.gift, is: Monica.Gift.example))
        }
    }

    // MARK: The rest

    private func relationships() {
        let relationship = Monica.Relationship.example
        resource(relationship)
        single(.example as Monica.RelationshipType)
        single(.example as Monica.RelationshipTypeGroup)
        server.example(of: Monica.ListRelationships.self) {
            let contact = try Self.require($0.contact, is: Monica.Contact.example).id
            return .init(whole: [relationship], path: "/contacts/\(contact)/relationships")
        }
    }

    private func merges() {
        let (john, merge) = (Monica.Contact.example, Monica.Merge.example)
        server.example(of: Monica.MergeContacts.self) { .init(data: try Self.require($0.id, is: john)) }
        server.example(of: Monica.ListMerges.self) {
            let contact = try Self.require($0.contact, is: john).id
            return .init(whole: [merge], path: "/contacts/\(contact)/merges")
        }
        server.example(of: Monica.UndoMerge.self) {
            _ = try Self.require($0.id, is: merge)
            return .init(data: john)
        }
    }

    private func conversations() {
        let conversation = Monica.Conversation.example
        resource(conversation)
        lists(conversation)
        server.example(of: Monica.CreateMessage.self) {
            .init(data: try Self.require($0.conversation, is: conversation))
        }
        server.example(of: Monica.UpdateMessage.self) {
            _ = try Self.require(message: $0.message, of: $0.conversation)
            return .init(data: conversation)
        }
        server.example(of: Monica.DeleteMessage.self) {
            .init(id: try Self.require(message: $0.message, of: $0.conversation))
        }
    }

    private static func require(message: Int, of conversation: Int) throws -> Int {
        let found = try require(conversation, is: Monica.Conversation.example).messages.contains { $0.id == message }
        guard found else { throw Monica.Problems.notFound(Monica.Message.singular) }
        return message
    }

    private func tags() {
        let family = Monica.Tag.example
        resource(family)
        server.example(of: Monica.ListTags.self) { _ in
            .init(whole: [family], path: "/tags")
        }
        server.example(of: Monica.ListContactsOfTag.self) {
            let tag = try Self.require($0.tag, is: family).id
            return Self.page([Monica.Contact.example], $0.part, path: "/tags/\(tag)/contacts", limit: 50)
        }
    }

    private func account() {
        let phone = Monica.PersonalToken.example
        server.example(of: Monica.RevokeToken.self) {
            guard $0.id == phone.id else { throw Monica.Problems.notFound("token") }
            return .init(id: phone.id)
        }
        server.example(answering: Monica.ExportVCard.self) { _ in
            let card = "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:John Doe\r\nN:Doe;John;;;\r\nEND:VCARD\r\n"
            return Answer(.ok, encoded: Array(card.utf8), headers: [.contentType: "text/vcard"])
        }
    }
}

extension MonicaAPIClient {
    /// An SDK for previews, in which every operation answers the contract's example. See ``MonicaMock`` for other
    /// answers.
    public static func mock() -> MonicaAPIClient { MonicaMock().client() }
}
