import Contract

extension Monica {
    static let notes = Section(
        "Notes",
        [
            List<Note>.self, ListOfContact<Note>.self, Get<Note>.self, Create<Note>.self, Update<Note>.self,
            Delete<Note>.self,
        ])

    /// The orders of a list of notes.
    public enum NoteOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case favoritedAt = "favorited_at"
    }

    /// A note about a contact.
    public struct Note: Listed, Writable, Identifiable {
        public typealias By = NoteOrder
        public typealias Draft = NoteDraft
        public static let plural = "notes"
        public static let singular = "note"
        public static let fieldRules = noteRules
        public static let createdStatus = HTTPStatus.created

        /// The note's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "note"
        /// The contact's id.
        public var contactID: Int
        /// The text.
        public var body: String
        /// Whether the note is marked as a favourite.
        public var isFavorited: Bool
        /// The time at which it was marked as a favourite; nil when it is not.
        @OrNull public var favoritedAt: Timestamp?
        /// The URL of the resource in the API.
        public var url: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        public init(
            id: Int, uuid: String = "", contactID: Int, body: String, favoritedAt: Timestamp? = nil, url: String = "",
            account: Int = 1, contact: ShortContact? = nil, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.contactID = contactID
            self.body = body
            isFavorited = favoritedAt != nil
            self.favoritedAt = favoritedAt
            self.url = url
            self.account = AccountReference(id: account)
            self.contact = contact
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { contactID == contact }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            body = try fields.text(.body) ?? ""
            let star = try fields.time(.favoritedAt)
            favoritedAt = star
            isFavorited = try fields.truth(.isFavorited) ?? (star != nil)
            url = try fields.text(.url) ?? ""
            account = try fields.value(.account) ?? AccountReference(id: 0)
            let nested: ShortContact? = try fields.value(.contact)
            contact = nested
            contactID = try fields.integer(.contactID) ?? nested?.id ?? 0
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// The fields of a new or changed note.
    public struct NoteDraft: Draft, Hashable {
        public typealias Item = Note

        /// The contact's id.
        public var contactID: Int
        /// The text: at most 100,000 characters.
        public var body: String
        /// Whether the note is marked as a favourite.
        public var isFavorited: Bool = false
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "body": .string(body), "is_favorited": .bool(isFavorited),
            ])
        }
    }
}
