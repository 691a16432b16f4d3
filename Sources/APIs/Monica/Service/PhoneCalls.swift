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

    static func order(by sort: Monica.Sort<Monica.CallOrder>?) -> SQL {
        let column: SQL =
            switch sort?.order {
            case .calledAt: "t.called_at"
            case .updatedAt: "t.updated_at"
            case .createdAt, nil: "t.created_at"
            }
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let columns: SQL = "t.uuid, t.called_at, t.content, t.contact_called, t.created_at, t.updated_at"
        return try load(ids, columns, by: loader) { row in
            let id: Int = try row.get(1)
            return Self(
                id: id, uuid: try row.get(2), calledAt: try row.get(3), content: try row.get(4),
                contactCalled: try row.get(5), url: "\(loader.baseURL)/calls/\(id)", account: loader.account.number,
                createdAt: try row.get(6), updatedAt: try row.get(7))
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
