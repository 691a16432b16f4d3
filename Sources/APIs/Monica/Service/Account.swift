import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MonicaAPI

extension MonicaService {
    func account(_ routes: inout Routes<Monica, Caller>) {
        routes.open(use: { (_: Monica.GetWelcome, _) in Monica.Welcome() })
        routes.on(use: getMe)
        routes.on(answering: deleteMe)
        routes.on(streaming: exportJSON)
        routes.on(streaming: exportVCard)
    }

    func getMe(_ request: Monica.GetMe, from caller: Caller) async throws -> APIResponse<Monica.User> {
        try await database.read { db in
            guard let user = try Accounts.user(caller.account, in: db) else { throw Monica.Problems.unauthenticated }
            return APIResponse(data: user)
        }
    }

    func deleteMe(
        _ request: Monica.DeleteMe, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<Monica.Deletion> {
        let now = time.milliseconds()
        try await database.write { [archives] db in
            try AccountDeletion.begin(caller.account, archives, at: now, in: db)
        }
        tokens.forget(info)
        // The account is gone, and what is left of it is removed again later.
        try? await removeDeletedAccounts(for: .seconds(5))
        return Answer(.ok, .init(id: caller.account.number))
    }

    func exportJSON(
        _ request: Monica.ExportJSON, from caller: Caller
    ) async throws -> StreamedAnswer {
        StreamedAnswer(
            headers: [
                .contentType: "application/json", .contentDisposition: #"attachment; filename="monica.json""#,
            ]
        ) { try await self.export(.json, of: caller.account, to: $0) }
    }

    func exportVCard(
        _ request: Monica.ExportVCard, from caller: Caller
    ) async throws -> StreamedAnswer {
        StreamedAnswer(
            headers: [
                .contentType: "text/vcard; charset=utf-8",
                .contentDisposition: #"attachment; filename="monica.vcf""#,
            ]
        ) { try await self.export(.vcard, of: caller.account, to: $0) }
    }
}

/// The id of an account.
public typealias AccountID = Identifier<Monica.AccountReference>

extension AccountID {
    /// The number as the contract writes it.
    var number: Int { Int(rawValue) }
}

/// The accounts, which the operator creates with their first token. Every transaction that writes to an account locks
/// its row first.
enum Accounts: AccountTable {
    typealias ID = AccountID

    static let table: SQL = "accounts"
    static let isPresent: SQL = "deleted_at IS NULL"
    static let gone = Monica.Problems.unauthenticated

    /// The genders and activity types of a new account.
    private static let genders = [("Man", "M"), ("Woman", "F"), ("Rather not say", "O")]
    private static let activities: [(category: String, types: [(name: String, location: String?)])] = [
        (
            "Simple activities",
            [("just hung out", nil), ("watched a movie at home", "my_place"), ("talked at home", "my_place")]
        ),
        ("Sport", [("did sport together", nil)]),
        (
            "Food",
            [
                ("ate at their place", "his_place"), ("ate at home", "my_place"), ("went to a bar", "outside"),
                ("ate at a restaurant", "outside"), ("picnicked", "outside"),
            ]
        ),
        (
            "Cultural activities",
            [
                ("went to a theater", "outside"), ("went to a concert", "outside"), ("went to a play", "outside"),
                ("went to the museum", "outside"),
            ]
        ),
    ]

    static func find(_ name: String, in db: Session) throws -> AccountID? {
        try db.value("SELECT id FROM accounts WHERE name = \(name)")
    }

    static func findOrMake(
        _ name: String, email: String, at now: Int64, makeID: () -> String, in db: Session
    ) throws -> AccountID {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        let made: AccountID? = try db.insert(
            """
            INSERT INTO accounts (name, uuid, first_name, last_name, email, created_at, updated_at)
            VALUES (\(name), \(makeID()), \(parts.first ?? name), \(parts.dropFirst().first ?? ""), \(email),
                \(now), \(now))
            ON CONFLICT (name) DO NOTHING
            """)
        guard let account = made else {
            guard let account = try find(name, in: db) else { throw DatabaseFailure.conflict("accounts") }
            return account
        }
        for (name, type) in genders {
            try db.run(
                """
                INSERT INTO genders (account_id, name, type, created_at) VALUES (\(account), \(name), \(type), \(now))
                """)
        }
        for kind in ContactFieldKind.allCases {
            try db.run(
                """
                INSERT INTO contact_field_types (uuid, account_id, kind, created_at)
                VALUES (\(makeID()), \(account), \(kind.rawValue), \(now))
                """)
        }
        for (category, types) in activities {
            let id: Int? = try db.insert(
                """
                INSERT INTO activity_categories (uuid, account_id, name, created_at)
                VALUES (\(makeID()), \(account), \(category), \(now))
                """)
            for (name, location) in types {
                try db.run(
                    """
                    INSERT INTO activity_types (uuid, account_id, category_id, name, location_type, created_at)
                    VALUES (\(makeID()), \(account), \(id), \(name), \(location), \(now))
                    """)
            }
        }
        return account
    }

    /// Deletes an account that a failed import has created, unless it is in use by now. The caller has locked the
    /// account.
    static func deleteUnused(_ account: AccountID, in db: Session) throws {
        for table: SQL in ["tokens", "contacts", "tags", "tasks", "activities", "journal"]
        where try db.exists("SELECT 1 FROM \(table) WHERE account_id = \(account)") { return }
        for table: SQL in [
            "genders", "contact_field_types", "activity_types", "activity_categories", "former_search_blocks",
        ] {
            try db.run("DELETE FROM \(table) WHERE account_id = \(account)")
        }
        try db.run("DELETE FROM accounts WHERE id = \(account)")
    }

    private enum UserColumn: String, Columns {
        case id, uuid
        case firstName = "first_name"
        case lastName = "last_name"
        case email, zone
        case createdAt = "created_at"
        case updatedAt = "updated_at"

        static let list = ColumnList(Self.self)
    }

    static func user(_ account: AccountID, in db: Session) throws -> Monica.User? {
        try db.one(
            "SELECT \(UserColumn.list) FROM accounts WHERE id = \(account) AND \(isPresent)"
        ) { row in
            var user = Monica.User(
                id: try row.get(UserColumn.id), uuid: try row.get(UserColumn.uuid),
                firstName: try row.get(UserColumn.firstName), lastName: try row.get(UserColumn.lastName),
                email: try row.get(UserColumn.email), createdAt: try row.get(UserColumn.createdAt),
                updatedAt: try row.get(UserColumn.updatedAt))
            user.timezone = try row.get(UserColumn.zone)
            return user
        }
    }
}
