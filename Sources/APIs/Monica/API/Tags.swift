import Contract

extension Monica {
    static let tags = Section(
        "Tags",
        [
            ListTags.self, Get<Tag>.self, ListContactsOfTag.self, Create<Tag>.self, Update<Tag>.self, Delete<Tag>.self,
        ])

    /// The orders of a list of tags.
    public enum TagOrder: String, Order {
        case name
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// A label for contacts.
    public struct Tag: Writable, ReadByMembers, Identifiable {
        public typealias Draft = TagDraft
        public static let plural = "tags"
        public static let singular = "tag"
        public static let fieldRules = tagRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of tags of an account.
        public static let maximumNumber = 1000

        /// The tag's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "tag"
        /// The name.
        public var name: String
        /// The name in a form for URLs, such as `ete-a-paris`.
        public var nameSlug: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
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
    }

    /// The fields of a new or changed tag.
    public struct TagDraft: Draft, Hashable {
        public typealias Item = Tag

        /// The name: at most 255 characters, unique in the account regardless of case.
        public var name: String
        private init(derived: Never) { switch derived {} }

        public var form: Form { Form(["name": .string(name)]) }
    }

    /// `GET /tags`: returns all tags, by default by name.
    public struct ListTags: Endpoint {
        public static let route = Route.get("/tags")
        public typealias Output = APIResponse<[Tag]>
        public static let fieldRules = rules(of: Part<TagOrder>.self, maximum: List<Note>.maximumLimit).merging([
            "page": unused, "limit": unused,
        ]) { $1 }
        private static let unused = FieldRule(
            "All tags are in one page, so the number does not count.", numbers: -(.infinity)...(.infinity))

        /// The order of the list.
        public var sort: Sort<TagOrder>? = nil
        /// The page, for other servers, whose lists of tags have pages; this project's has one page.
        public var page: Int? = nil
        /// The number of tags in a page, for other servers.
        public var limit: Int? = nil
        private init(derived: Never) { switch derived {} }

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

        public func validate() throws(Problem) { if let sort, sort.order == nil { throw Problems.sort } }
    }

    /// `GET /tags/{id}/contacts`: returns a page of the contacts with a tag; partial contacts are left out.
    public struct ListContactsOfTag: Endpoint {
        public static let fieldRules = ListContacts.fieldRules
        public static let route = Route.get("/tags/{id}/contacts")
        public typealias Output = APIResponse<[Contact]>

        /// The tag's id.
        public var tag: Int
        /// The page and the order of the list.
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
