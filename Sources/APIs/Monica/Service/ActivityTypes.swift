import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func activityTypes(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listActivityTypes)
        types(&routes, of: Monica.ActivityType.self)
        routes.on { (_: Monica.ListActivityTypeCategories, caller: Caller) in try await self.all(for: caller) }
        types(&routes, of: Monica.ActivityTypeCategory.self)
    }

    func listActivityTypes(
        _ request: Monica.ListActivityTypes, from caller: Caller
    ) async throws -> APIResponse<[Monica.ActivityType]> {
        try await database.read { db in APIResponse(data: try ActivityTypes.all(of: caller.account, in: db)) }
    }
}

enum ActivityTypes {
    /// Returns an account's types of activities, the oldest first.
    static func all(of account: AccountID, in db: Session) throws -> [Monica.ActivityType] {
        let categories = Dictionary(
            uniqueKeysWithValues: try categories(of: account, in: db).map { ($0.id, $0) })
        return try db.all(
            """
            SELECT \(ActivityTypeColumn.list) FROM activity_types
            WHERE account_id = \(account) ORDER BY id
            """
        ) { row in
            let createdAt: Monica.Timestamp = try row.get(ActivityTypeColumn.createdAt)
            return Monica.ActivityType(
                id: try row.get(ActivityTypeColumn.id), uuid: try row.get(ActivityTypeColumn.uuid),
                name: try row.get(ActivityTypeColumn.name), locationType: try row.get(ActivityTypeColumn.location),
                category: categories[try row.get(ActivityTypeColumn.category)], account: account.number,
                createdAt: createdAt,
                updatedAt: try row.get(ActivityTypeColumn.updatedAt, as: Monica.Timestamp?.self) ?? createdAt)
        }
    }

    /// Returns the categories of an account's types, the oldest first.
    static func categories(of account: AccountID, in db: Session) throws -> [Monica.ActivityTypeCategory] {
        try db.all(
            """
            SELECT id, uuid, name, created_at, updated_at FROM activity_categories WHERE account_id = \(account)
            ORDER BY id
            """
        ) { row in
            let createdAt: Monica.Timestamp = try row.get(3)
            return Monica.ActivityTypeCategory(
                id: try row.get(0), uuid: try row.get(1), name: try row.get(2), account: account.number,
                createdAt: createdAt, updatedAt: try row.get(4, as: Monica.Timestamp?.self) ?? createdAt)
        }
    }

    /// Takes types from the activities that have them.
    ///
    /// - Parameter types: The condition of the types' ids.
    static func release(_ types: SQL, at now: Int64, in db: Session) throws {
        try db.run("UPDATE activities SET type_id = NULL, updated_at = \(now) WHERE type_id \(types)")
    }
}

extension Monica.ActivityType: AccountType {
    static var table: SQL { "activity_types" }
    static let names = "activity types"

    /// The types are read anew each time, because a write reads one before and after it.
    static func all(by loader: RecordLoader) throws -> [Self] {
        try ActivityTypes.all(of: loader.account, in: loader.db)
    }

    /// Activities of the type have none from now on, as in Monica 4.
    func release(at now: Int64, in db: Session) throws { try ActivityTypes.release("= \(id)", at: now, in: db) }

    struct Fields: WrittenFields {
        private let name: String
        private let category: Int

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let category = input.integer("activity_type_category_id", required: true)
            if let category, try Monica.ActivityTypeCategory.one(category, by: loader) == nil {
                input.rejectSelection("activity_type_category_id")
            }
            let name = input.text("name", required: true)
            try input.check()
            (self.name, self.category) = (name ?? "", category ?? 0)
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO activity_types (uuid, account_id, category_id, name, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(category), \(name), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE activity_types SET category_id = \(category), name = \(name), updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

extension Monica.ActivityTypeCategory: AccountType {
    static var table: SQL { "activity_categories" }
    static let names = "activity type categories"

    static func all(by loader: RecordLoader) throws -> [Self] {
        try ActivityTypes.categories(of: loader.account, in: loader.db)
    }

    /// The types of the category are deleted with it, as in Monica 4.
    func release(at now: Int64, in db: Session) throws {
        try ActivityTypes.release("IN (SELECT id FROM activity_types WHERE category_id = \(id))", at: now, in: db)
        try db.run("DELETE FROM activity_types WHERE category_id = \(id)")
    }

    struct Fields: WrittenFields {
        private let name: String

        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let name = input.text("name", required: true)
            try input.check()
            self.name = name ?? ""
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try loader.db.insert(
                """
                INSERT INTO activity_categories (uuid, account_id, name, created_at, updated_at)
                VALUES (\(uuid), \(loader.account), \(name), \(now), \(now))
                """)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run("UPDATE activity_categories SET name = \(name), updated_at = \(now) WHERE id = \(id)")
        }
    }
}

private enum ActivityTypeColumn: String, Columns {
    case id, uuid, name
    case location = "location_type"
    case category = "category_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
