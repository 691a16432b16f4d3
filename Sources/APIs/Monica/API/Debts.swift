import Contract

extension Monica {
    static let debts = Section(
        "Debts",
        [
            List<Debt>.self, ListOfContact<Debt>.self, Get<Debt>.self, Create<Debt>.self, Update<Debt>.self,
            Delete<Debt>.self,
        ])

    /// The orders of a list of debts.
    public enum DebtOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// The status of a debt.
    public struct DebtStatus: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The debt is still to be paid.
        public static let inProgress = Self(rawValue: "inprogress")
        /// The debt was paid.
        public static let completed = Self(rawValue: "completed")
        public static let known = [inProgress, completed]
    }

    /// Whether the owner owes a contact something, as the wire has it.
    public struct InDebt: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The owner owes the contact.
        public static let yes = Self(rawValue: "yes")
        /// The contact owes the owner.
        public static let no = Self(rawValue: "no")
        public static let known = [yes, no]
    }

    /// A sum that the owner owes a contact, or the contact the owner.
    public struct Debt: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = DebtOrder
        public typealias Draft = DebtDraft
        public static let plural = "debts"
        public static let singular = "debt"
        public static let fieldRules = debtRules
        public static let createdStatus = HTTPStatus.created

        /// The debt's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "debt"
        /// Whether the owner owes the contact; otherwise the contact owes the owner.
        public var inDebt: InDebt
        /// The status.
        public var status: DebtStatus
        /// The sum, such as `12.34`.
        public var amount: String
        /// The sum once more, as Monica 4 has it.
        public var value: String
        /// The sum with its currency, such as `$12.34`.
        public var amountWithCurrency: String
        /// The owner's text; nil when there is none.
        @OrNull public var reason: String?
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        /// Creates a debt.
        ///
        /// - Parameter cents: The sum in hundredths of the account's currency.
        package init(
            id: Int, uuid: String, inDebt: InDebt, status: DebtStatus, cents: Int, reason: String?, account: Int,
            createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.inDebt = inDebt
            self.status = status
            amount = Money.digits(cents)
            value = amount
            amountWithCurrency = "$" + Money.digits(cents)
            self.reason = reason
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed debt.
    public struct DebtDraft: Draft, Hashable {
        public typealias Item = Debt

        /// The contact's id. A debt stays with its contact: a change names the same one.
        public var contactID: Int
        /// Whether the owner owes the contact; otherwise the contact owes the owner.
        public var inDebt: InDebt
        /// The sum, such as `12.34`; further decimals are cut off.
        public var amount: String
        /// The status.
        public var status: DebtStatus = .inProgress
        /// The owner's text, of at most 100,000 characters; nil when there is none.
        public var reason: String? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "in_debt": .string(inDebt.rawValue),
                "status": .string(status.rawValue), "amount": .string(amount), "reason": .orNull(reason),
            ])
        }
    }

    /// Sums as they are written.
    enum Money {
        /// Returns hundredths as a number with two decimals.
        static func digits(_ cents: Int) -> String {
            "\(cents / 100)." + (cents % 100 < 10 ? "0" : "") + "\(cents % 100)"
        }
    }
}
