import Contract

extension Monica {
    static let tags: [any Contract.Endpoint.Type] = [
        ListTags.self, Get<Tag>.self, ListContactsOfTag.self, Create<Tag>.self, Update<Tag>.self, Delete<Tag>.self,
    ]

    public enum TagOrder: String, Order {
        case name
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// A label for contacts.
    public struct Tag: Writable, Identifiable {
        public typealias Draft = TagDraft
        public static let plural = "tags"
        public static let singular = "tag"
        public static let createdStatus = HTTPStatus.created
        /// So many an account may have.
        public static let maximumNumber = 1000

        public var id: Int
        public private(set) var object = "tag"
        public var name: String
        /// `ete-a-paris`
        public var nameSlug: String
        public var account: AccountReference
        public var createdAt: Timestamp
        public var updatedAt: Timestamp

        public init(
            id: Int, name: String, nameSlug: String, account: Int = 1, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.name = name
            self.nameSlug = nameSlug
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        enum CodingKeys: String, CodingKey {
            case id, object, name
            case nameSlug = "name_slug"
            case account
            case createdAt = "created_at"
            case updatedAt = "updated_at"
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            name = try fields.text(.name) ?? ""
            nameSlug = try fields.text(.nameSlug) ?? ""
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    public struct TagDraft: Draft, Hashable {
        public typealias Item = Tag

        /// At most 255 characters; no other tag of the account has the name, whatever its case.
        public var name: String

        public init(name: String) { self.name = name }
        public var form: Form { Form(["name": .string(name)]) }
    }

    /// `GET /tags`: all of them, by name unless told otherwise.
    public struct ListTags: Endpoint {
        public static let route = Route.get("/tags")
        public typealias Output = APIResponse<[Tag]>

        public var sort: Sort<TagOrder>?
        /// Other servers have pages here too; this project's has one.
        public var page: Int?
        /// Likewise.
        public var limit: Int?

        public init(sort: Sort<TagOrder>? = nil, page: Int? = nil, limit: Int? = nil) {
            self.sort = sort
            self.page = page
            self.limit = limit
        }

        public init(from decoder: any Decoder) throws {
            let query = try decoder.container(keyedBy: QueryKey.self)
            sort = try query.words(.sort).map(Sort.init(rawValue:))
            page = try query.parameter(.page)
            limit = try query.parameter(.limit)
        }

        public func encode(to encoder: any Encoder) throws {
            var query = encoder.container(keyedBy: QueryKey.self)
            try query.encodeIfPresent(sort?.rawValue, forKey: .sort)
            try query.encodeIfPresent(page, forKey: .page)
            try query.encodeIfPresent(limit, forKey: .limit)
        }

        public func validate() throws(Problem) { if let sort, sort.order == nil { throw Refusal.sort } }
    }

    /// `GET /tags/{id}/contacts`: a page of the contacts that bear a tag; never partial ones.
    public struct ListContactsOfTag: Endpoint {
        public static let route = Route.get("/tags/{id}/contacts")
        public typealias Output = APIResponse<[Contact]>

        public var tag: Int
        public var part: Part<ContactOrder>

        public init(tag: Int, page: Int? = nil, limit: Int? = nil, sort: Sort<ContactOrder>? = nil) {
            self.tag = tag
            part = Part(page: page, limit: limit, sort: sort)
        }

        public init(from decoder: any Decoder) throws {
            tag = try decoder.container(keyedBy: IDKey.self).decode(Int.self, forKey: .id)
            part = try Part(from: decoder)
        }

        public func encode(to encoder: any Encoder) throws {
            var path = encoder.container(keyedBy: IDKey.self)
            try path.encode(tag, forKey: .id)
            try part.encode(to: encoder)
        }

        public func validate() throws(Problem) { try part.validate(maximum: ListContacts.maximumLimit) }
    }
}
