import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func phoneCalls(_ routes: inout Routes<Monica, Caller>) { details(&routes, of: Monica.Call.self) }
}

extension Monica.Call: ContactDetail {
    static var table: SQL { "calls" }
    static let names = "calls"
    var kept: [String: JSONValue] { ["contact_id": .orNull(contact?.id)] }

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.CallOrder>?) -> ListOrder {
        let column: SQL =
            switch sort?.order {
            case .calledAt: "t.called_at"
            case .updatedAt: "t.updated_at"
            case .createdAt, nil: "t.created_at"
            }
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, CallColumn.self, by: loader) { id, row in
            Self(
                id: id, uuid: try row.get(CallColumn.uuid), calledAt: try row.get(CallColumn.calledAt),
                content: try row.get(CallColumn.content), contactCalled: try row.get(CallColumn.contactCalled),
                url: "\(loader.baseURL)/calls/\(id)", account: loader.account.number,
                createdAt: try row.get(CallColumn.createdAt), updatedAt: try row.get(CallColumn.updatedAt))
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let calledAt: Int64
        private let content: String?
        private let contactCalled: Bool

        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let contact = input.integer("contact_id", required: true)
            let calledAt = input.moment("called_at", required: true)
            content = input.text("content", upTo: Monica.textLength)
            contactCalled = input.bool("contact_called") ?? false
            try input.check()
            (self.contact, self.calledAt) = (contact ?? 0, calledAt ?? 0)
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO calls (
                    uuid, account_id, contact_id, called_at, content, contact_called, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(contact), \(calledAt), \(content), \(contactCalled),
                    \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE calls SET called_at = \(calledAt), content = \(content), contact_called = \(contactCalled),
                    updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

private enum CallColumn: String, Columns {
    case uuid = "t.uuid"
    case calledAt = "t.called_at"
    case content = "t.content"
    case contactCalled = "t.contact_called"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
