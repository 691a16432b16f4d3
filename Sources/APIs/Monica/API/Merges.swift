import Contract

extension Monica {
    static let merges = Section("Merges", [MergeContacts.self, ListMerges.self, UndoMerge.self])

    /// `POST /contacts/{id}/merge`: merges another contact into this one, which it returns.
    ///
    /// What belongs to the other contact belongs to this one from now on, and the other one is gone. The fields of this contact
    /// stay, empty ones get the other's values, and both descriptions are kept: where they are too long together, the other
    /// one's becomes a note. What both have, such as a tag, an attendance or the same address, is there once.
    ///
    /// ``UndoMerge`` undoes it for 30 days. Throws 404 when the account lacks one of the contacts, and 422 when the two are the
    /// same contact, when one is partial, or when this contact would have more than 100 contact fields, addresses,
    /// relationships or merges: an addition to the contract.
    public struct MergeContacts: Endpoint {
        public static let route = Route.post("/contacts/{id}/merge", idempotencyKey: true)
        public typealias Output = APIResponse<Contact>
        public static let fieldRules = mergeRules

        /// The contact that remains.
        public var id: Int
        /// The fields of the request.
        public var form: Form

        /// Creates a request.
        ///
        /// - Parameter other: The id of the contact that is merged into the remaining one.
        public init(id: Int, other: Int) {
            self.id = id
            form = Form(["contact_id": .integer(Int64(other))])
        }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// `GET /contacts/{id}/merges`: returns the merges into a contact that can be undone, the oldest first. Throws 404 when there
    /// is no such contact.
    public struct ListMerges: Endpoint {
        public static let route = Route.get("/contacts/{id}/merges")
        public typealias Output = APIResponse<[Merge]>

        /// The contact.
        public var contact: Int
        private init(derived: Never) { switch derived {} }
    }

    /// `POST /merges/{id}/undo`: undoes a merge, and returns the contact that comes back, with its former id.
    ///
    /// Both contacts are as they were before the merge. What was changed or deleted since stays so, and what was added since
    /// stays with the remaining contact. Throws 404 when there is no such merge, when it is older than 30 days, and when the
    /// remaining contact was deleted; 422 when a later merge of the remaining contact must be undone first.
    public struct UndoMerge: Endpoint {
        public static let route = Route.post("/merges/{id}/undo", idempotencyKey: true)
        public typealias Output = APIResponse<Contact>

        /// The merge.
        public var id: Int
        /// The fields of the request.
        public var form = Form([:])
        private init(derived: Never, without form: Never) { switch derived {} }

        public init(from decoder: any Decoder) throws {
            let whole = try FormWithID(from: decoder)
            (id, form) = (whole.id, whole.form)
        }

        public func encode(to encoder: any Encoder) throws { try FormWithID(id: id, form).encode(to: encoder) }
    }

    /// A merge of two contacts that can be undone.
    public struct Merge: Resource, ReadByMembers, Identifiable {
        public static let plural = "merges"
        public static let singular = "merge"
        /// The maximum number of merges into one contact that can be undone.
        public static let maximumNumber = 100
        /// The number of days for which a merge can be undone.
        public static let days = 30

        /// The merge's id.
        public var id: Int
        /// The type of the object on the wire.
        public private(set) var object = "merge"
        /// The contact that remains.
        public var contact: ShortContact
        /// The id of the contact that was merged into it, which that contact has again when the merge is undone.
        public var mergedContactID: Int
        /// The name that the merged contact had.
        public var mergedContactName: String
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of the merge.
        public var createdAt: Timestamp
        /// The time from which it can no longer be undone.
        public var expiresAt: Timestamp

        package init(
            id: Int, contact: ShortContact, mergedContactID: Int, mergedContactName: String, account: Int,
            createdAt: Timestamp, expiresAt: Timestamp
        ) {
            self.id = id
            self.contact = contact
            self.mergedContactID = mergedContactID
            self.mergedContactName = mergedContactName
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }
    }
}
