import Contract

extension Monica {
    static let journal = Section(
        "Journal",
        [
            ListJournal.self, Get<JournalEntry>.self, Create<JournalEntry>.self, Update<JournalEntry>.self,
            Delete<JournalEntry>.self,
        ])

    /// The orders of the journal.
    public enum JournalOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// An entry of the owner's journal, which belongs to no contact.
    public struct JournalEntry: Writable, ReadByMembers, Identifiable {
        public typealias Draft = JournalDraft
        public static let plural = "journal"
        public static let singular = "journal entry"
        public static let fieldRules = journalRules
        public static let createdStatus = HTTPStatus.created

        /// The entry's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "entry"
        /// The day of the entry, as its beginning in UTC.
        public var date: Timestamp
        /// The title.
        public var title: String
        /// The text.
        public var post: String
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        /// The day of the entry.
        public var day: Day { date.day }

        package init(
            id: Int, uuid: String, day: Day, title: String, post: String, url: String, account: Int,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            date = day.start
            self.title = title
            self.post = post
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }
    }

    /// The fields of a new or changed entry of the journal.
    public struct JournalDraft: Draft, Hashable {
        public typealias Item = JournalEntry

        /// The title: at most 255 characters.
        public var title: String
        /// The text: at most 100,000 characters.
        public var post: String
        /// The day; nil for today, by the account's zone, and for the present one in a change.
        public var day: Day? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            var fields: [String: JSONValue] = ["title": .string(title), "post": .string(post)]
            if let day { fields["date"] = .string(day.description) }
            return Form(fields)
        }
    }

    /// `GET /journal`: returns a page of the journal, the oldest entries first.
    public struct ListJournal: Endpoint {
        public static let route = Route.get("/journal")
        public typealias Output = APIResponse<[JournalEntry]>
        /// The number of entries in a page when a request gives no limit.
        public static let defaultLimit = 10
        public static let fieldRules = rules(of: Part<JournalOrder>.self, maximum: List<Note>.maximumLimit)

        /// The page and the order; 10 to a page by default, at most 100.
        public var part: Part<JournalOrder>

        /// Creates a request.
        public init(page: Int? = nil, limit: Int? = nil, sort: Sort<JournalOrder>? = nil) {
            part = Part(page: page, limit: limit, sort: sort)
        }

        public init(from decoder: any Decoder) throws { part = try Part(from: decoder) }
        public func encode(to encoder: any Encoder) throws { try part.encode(to: encoder) }
        public func validate() throws(Problem) { try part.validate(maximum: List<Note>.maximumLimit) }
    }
}
