import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func debts(_ routes: inout Routes<Monica, Caller>) { details(&routes, of: Monica.Debt.self) }
}

extension Monica.Debt: ContactDetail {
    static var table: SQL { "debts" }
    static let names = "debts"

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.DebtOrder>?) -> ListOrder {
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, DebtColumn.self, by: loader) { id, row in
            Self(
                id: id, uuid: try row.get(DebtColumn.uuid), inDebt: .init(rawValue: try row.get(DebtColumn.inDebt)),
                status: .init(rawValue: try row.get(DebtColumn.status)), cents: try row.get(DebtColumn.cents),
                reason: try row.get(DebtColumn.reason), account: loader.account.number,
                createdAt: try row.get(DebtColumn.createdAt), updatedAt: try row.get(DebtColumn.updatedAt))
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let inDebt: String
        private let status: String
        private let cents: Int
        private let reason: String?

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let inDebt = input.choice("in_debt", of: Monica.InDebt.known.map(\.rawValue))
            let status = input.choice("status", of: Monica.DebtStatus.known.map(\.rawValue))
            cents = input.cents("amount", required: true) ?? 0
            reason = input.text("reason", upTo: Monica.textLength)
            let contact = input.integer("contact_id", required: true)
            try input.check()
            (self.contact, self.inDebt, self.status) = (contact ?? 0, inDebt ?? "", status ?? "")
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO debts (
                    uuid, account_id, contact_id, in_debt, status, cents, reason, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(contact), \(inDebt), \(status), \(cents), \(reason), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE debts SET in_debt = \(inDebt), status = \(status), cents = \(cents), reason = \(reason),
                    updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

private enum DebtColumn: String, Columns {
    case uuid = "t.uuid"
    case inDebt = "t.in_debt"
    case status = "t.status"
    case cents = "t.cents"
    case reason = "t.reason"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
