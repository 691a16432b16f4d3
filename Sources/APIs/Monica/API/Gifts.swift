import Contract

extension Monica {
    static let gifts = Section(
        "Gifts",
        [
            List<Gift>.self, ListOfContact<Gift>.self, Get<Gift>.self, Create<Gift>.self, Update<Gift>.self,
            Delete<Gift>.self,
        ])

    /// The orders of a list of gifts.
    public enum GiftOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// The status of a gift.
    public struct GiftStatus: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The gift is an idea.
        public static let idea = Self(rawValue: "idea")
        /// The gift was given.
        public static let offered = Self(rawValue: "offered")
        /// The gift was received.
        public static let received = Self(rawValue: "received")
        public static let known = [idea, offered, received]
    }

    /// A gift for a contact, or from a contact.
    public struct Gift: Listed, Writable, Identifiable {
        public typealias By = GiftOrder
        public typealias Draft = GiftDraft
        public static let plural = "gifts"
        public static let singular = "gift"
        public static let fieldRules = giftRules
        public static let createdStatus = HTTPStatus.created

        /// The gift's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "gift"
        /// The contact's id.
        public var contactID: Int
        /// The name.
        public var name: String
        /// The owner's text; nil when there is none.
        @OrNull public var comment: String?
        /// The URL of the gift, such as a shop's; nil when there is none.
        @OrNull public var url: String?
        /// The price, such as `12.34`; nil when there is none.
        @OrNull public var amount: String?
        /// The price as a number.
        @OrNull public var value: Double?
        /// The price with its currency, such as `$12.34`; empty when there is none.
        public var amountWithCurrency: String
        /// The status.
        public var status: GiftStatus
        /// Whether the gift is an idea.
        public var isAnIdea: Bool
        /// Whether the gift was given.
        public var hasBeenOffered: Bool
        /// The day of the gift; nil when it is not known.
        @OrNull public var date: Day?
        /// A member of the contact's family for whom the gift is meant; nil for the contact.
        @OrNull public var recipient: ShortContact?
        /// The photos, oldest first, at most 10 (``AddPhotoToGift``).
        public var photos: [Photo] = []
        /// The contact.
        @OrNull public var contact: ShortContact?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        /// Creates a gift.
        ///
        /// - Parameter cents: The price in hundredths of the account's currency.
        public init(
            id: Int, uuid: String = "", contactID: Int, name: String, comment: String? = nil, url: String? = nil,
            cents: Int? = nil, status: GiftStatus, date: Day? = nil, recipient: ShortContact? = nil,
            contact: ShortContact? = nil, account: Int = 1, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.contactID = contactID
            self.name = name
            self.comment = comment
            self.url = url
            let digits = cents.map(Money.digits)
            amount = digits
            value = cents.map { Double($0) / 100 }
            amountWithCurrency = digits.map { "$" + $0 } ?? ""
            self.status = status
            isAnIdea = status == .idea
            hasBeenOffered = status == .offered
            self.date = date
            self.recipient = recipient
            self.contact = contact
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { contactID == contact }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.id(.id)
            uuid = try fields.text(.uuid) ?? ""
            name = try fields.text(.name) ?? ""
            comment = try fields.text(.comment)
            url = try fields.text(.url)
            let digits = try fields.text(.amount).flatMap { $0.isEmpty ? nil : $0 }
            amount = digits
            value = try fields.number(.value) ?? digits.flatMap { Double($0) }
            amountWithCurrency = try fields.text(.amountWithCurrency) ?? ""
            let (idea, offered) = (try fields.truth(.isAnIdea), try fields.truth(.hasBeenOffered))
            let older: GiftStatus = idea == true ? .idea : offered == true ? .offered : .received
            let status = try fields.text(.status).map(GiftStatus.init(rawValue:)) ?? older
            self.status = status
            isAnIdea = idea ?? (status == .idea)
            hasBeenOffered = offered ?? (status == .offered)
            date = try fields.day(.date)
            recipient = try fields.value(.recipient)
            photos = try fields.list(.photos)
            let nested: ShortContact? = try fields.value(.contact)
            contact = nested
            contactID = try fields.integer(.contactID) ?? nested?.id ?? 0
            account = try fields.value(.account) ?? AccountReference(id: 0)
            createdAt = try fields.time(.createdAt) ?? Timestamp(milliseconds: 0)
            updatedAt = try fields.time(.updatedAt) ?? createdAt
        }
    }

    /// The fields of a new or changed gift.
    public struct GiftDraft: Draft, Hashable {
        public typealias Item = Gift

        /// The contact's id.
        public var contactID: Int
        /// The name: at most 255 characters.
        public var name: String
        /// The status.
        public var status: GiftStatus = .idea
        /// The owner's text; nil when there is none.
        public var comment: String? = nil
        /// The URL of the gift, such as a shop's; nil when there is none.
        public var url: String? = nil
        /// The price, such as `12.34`; further decimals are cut off.
        public var amount: String? = nil
        /// The day of the gift; nil when it is not known.
        public var date: Day? = nil
        /// The id of a contact of the account.
        public var recipientID: Int? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "name": .string(name), "status": .string(status.rawValue),
                "comment": .orNull(comment), "url": .orNull(url), "amount": .orNull(amount),
                "date": .orNull(date?.description), "recipient_id": .orNull(recipientID),
            ])
        }
    }
}
