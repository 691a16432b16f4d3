import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func genders(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listGenders)
        types(&routes, of: Monica.Gender.self)
    }

    func listGenders(
        _ request: Monica.ListGenders, from caller: Caller
    ) async throws -> APIResponse<[Monica.Gender]> {
        try await database.read { db in APIResponse(data: try Genders.all(of: caller.account, in: db)) }
    }
}

enum Genders {
    /// Returns an account's genders, the oldest first.
    static func all(of account: AccountID, in db: Session) throws -> [Monica.Gender] {
        try db.all(
            "SELECT id, name, type, created_at, updated_at FROM genders WHERE account_id = \(account) ORDER BY id"
        ) { row in
            let createdAt: Monica.Timestamp = try row.get(3)
            return Monica.Gender(
                id: try row.get(0), name: try row.get(1), type: try row.get(2), account: account.number,
                createdAt: createdAt, updatedAt: try row.get(4, as: Monica.Timestamp?.self) ?? createdAt)
        }
    }
}

extension Monica.Gender: AccountType {
    static var table: SQL { "genders" }
    static let names = "genders"

    /// The genders are read anew each time, because a write reads one before and after it.
    static func all(by loader: RecordLoader) throws -> [Self] { try Genders.all(of: loader.account, in: loader.db) }

    /// Contacts of the gender have none from now on, as in Monica 4. A newer vCard must not undo that.
    func release(at now: Int64, in db: Session) throws {
        try db.run(
            "UPDATE contacts SET gender_id = NULL, updated_at = \(now), is_edited = 1 WHERE gender_id = \(id)")
    }

    struct Fields: WrittenFields {
        private let name: String
        private let type: String

        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let name = input.text("name", required: true)
            let type = input.choice("type", of: Monica.GenderType.known.map(\.rawValue))
            try input.check()
            (self.name, self.type) = (name ?? "", type ?? "")
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO genders (account_id, name, type, created_at, updated_at)
                VALUES (\(loader.account), \(name), \(type), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                "UPDATE genders SET name = \(name), type = \(type), updated_at = \(now) WHERE id = \(id)")
        }
    }
}
