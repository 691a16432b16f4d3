import Contract

extension Monica {
    static let phoneCalls = Section(
        "Calls",
        [
            List<Call>.self, ListOfContact<Call>.self, Get<Call>.self, Create<Call>.self, Update<Call>.self,
            Delete<Call>.self,
        ])

    /// The orders of a list of calls.
    public enum CallOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case calledAt = "called_at"
    }

    /// A telephone call with a contact.
    public struct Call: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = CallOrder
        public typealias Draft = CallDraft
        public static let plural = "calls"
        public static let singular = "call"
        public static let fieldRules = callRules
        public static let newFieldRules = newCallRules
        public static let createdStatus = HTTPStatus.created

        /// The call's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "call"
        /// The time of the call.
        public var calledAt: Timestamp
        /// The owner's text; nil when there is none.
        @OrNull public var content: String?
        /// Whether the contact called; otherwise the owner did.
        public var contactCalled: Bool
        /// The contract's list of emotions; this project's server keeps none.
        public var emotions: [JSONValue] = []
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

        package init(
            id: Int, uuid: String, calledAt: Timestamp, content: String?, contactCalled: Bool, url: String,
            account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.calledAt = calledAt
            self.content = content
            self.contactCalled = contactCalled
            self.url = url
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed call.
    public struct CallDraft: Draft, Hashable {
        public typealias Item = Call

        /// The contact's id. A call stays with its contact: a change names the same one.
        public var contactID: Int
        /// The time of the call. A server also accepts a day, which stands for its beginning in UTC.
        public var calledAt: Timestamp
        /// The owner's text, of at most 100,000 characters; nil when there is none.
        public var content: String? = nil
        /// Whether the contact called; otherwise the owner did.
        public var contactCalled: Bool = false
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "called_at": .string(calledAt.description),
                "content": .orNull(content), "contact_called": .bool(contactCalled),
            ])
        }
    }
}
