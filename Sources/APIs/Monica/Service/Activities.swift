import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func activities(_ routes: inout Routes<Monica, Caller>) {
        routes.on(answering: createActivity)
        routes.on(use: updateActivity)
        routes.on(use: deleteActivity)
    }

    func createActivity(
        _ request: Monica.Create<Monica.Activity>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Activity>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            // Neither a contact nor a type is deleted meanwhile.
            try Accounts.lockCaller(loader.account, in: loader.db)
            let fields = try ActivityFields(form, types: loader.activityTypes.get())
            try fields.requireContacts(by: loader)
            return try fields.insert(uuid: makeID(), by: loader, at: now).flatMap {
                try Monica.Activity.one($0, by: loader)
            }
        }
    }

    func updateActivity(
        _ request: Monica.Update<Monica.Activity>, from caller: Caller
    ) async throws -> APIResponse<Monica.Activity> {
        try await update(Monica.Activity.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try Monica.Activity.one(request.id, by: loader) != nil else { return nil }
            let fields = try ActivityFields(request.form, types: loader.activityTypes.get())
            try fields.requireContacts(by: loader)
            try loader.db.run(
                """
                UPDATE activities SET type_id = \(fields.type), summary = \(fields.summary),
                    description = \(fields.description), happened_at = \(fields.happenedAt),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            try loader.db.run("DELETE FROM activity_contacts WHERE activity_id = \(request.id)")
            try fields.insertContacts(of: request.id, in: loader.db)
            return try Monica.Activity.one(request.id, by: loader)
        }
    }

    func deleteActivity(
        _ request: Monica.Delete<Monica.Activity>, from caller: Caller
    ) async throws -> Monica.Deletion {
        try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard try Monica.Activity.one(request.id, by: loader(db)) != nil else {
                throw Monica.Problems.notFound(Monica.Activity.singular)
            }
            try db.run("DELETE FROM activity_contacts WHERE activity_id = \(request.id)")
            try db.run("DELETE FROM activities WHERE id = \(request.id)")
            return .init(id: request.id)
        }
    }
}

struct ActivityFields {
    let summary: String
    let description: String?
    let happenedAt: Day
    let contacts: [Int]
    let type: Int?

    init(_ form: Monica.Form, types: [Int: Monica.ActivityType]) throws {
        var input = FormReader(form)
        let summary = input.text("summary", required: true)
        description = input.text("description", upTo: Monica.textLength)
        let happenedAt = input.day("happened_at", required: true)
        contacts = input.ids("contacts")
        type = input.integer("activity_type_id")
        if let type, types[type] == nil { input.rejectSelection("activity_type_id") }
        try input.check()
        self.summary = summary ?? ""
        self.happenedAt = happenedAt ?? Day(daysSince1970: 0)
    }

    /// Requires that the contacts belong to the account.
    ///
    /// - Throws: A `Problem` with 404 when one of them does not.
    func requireContacts(by loader: RecordLoader) throws {
        guard try loader.contactRows(contacts).count == contacts.count else {
            throw Monica.Problems.notFound(Monica.Contact.singular)
        }
    }

    func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
        let id: Int? = try loader.db.insert(
            """
            INSERT INTO activities (
                uuid, account_id, type_id, summary, description, happened_at, created_at, updated_at)
            VALUES (\(uuid), \(loader.account), \(type), \(summary), \(description), \(happenedAt),
                \(now), \(now))
            """)
        if let id { try insertContacts(of: id, in: loader.db) }
        return id
    }

    func insertContacts(of activity: Int, in db: Session) throws {
        for contact in contacts {
            try db.run("INSERT INTO activity_contacts (activity_id, contact_id) VALUES (\(activity), \(contact))")
        }
    }
}

extension Monica.Activity: StoredList {
    static var table: SQL { "activities" }

    static func order(by sort: Monica.Sort<Monica.ActivityOrder>?) -> ListOrder {
        switch sort?.order {
        case .createdAt: .order("t.created_at", descending: sort?.isDescending ?? false)
        case .updatedAt: .order("t.updated_at", descending: sort?.isDescending ?? false)
        case .happenedAt, nil: .order("t.happened_at", descending: sort?.isDescending ?? true)
        }
    }

    static func restriction(to contact: Int) -> SQL {
        "t.id IN (SELECT activity_id FROM activity_contacts WHERE contact_id = \(contact))"
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let attendances = try loader.inBatches(ids) { batch in
            let pairs = try loader.db.all(
                """
                SELECT activity_id, contact_id FROM activity_contacts WHERE activity_id IN (\(list: batch))
                ORDER BY contact_id
                """
            ) { (try $0.get(0, as: Int.self), try $0.get(1, as: Int.self)) }
            return Dictionary(grouping: pairs, by: \.0).map { (activity: $0.key, contacts: $0.value.map(\.1)) }
        } id: {
            $0.activity
        }
        let contacts = try loader.shortContacts(attendances.flatMap(\.contacts))
        let attending = Dictionary(uniqueKeysWithValues: attendances.map { ($0.activity, $0.contacts) })
        let types = try loader.activityTypes.get()
        return try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(ActivityColumn.list) FROM activities WHERE id IN (\(list: batch)) AND account_id = \(loader.account)
                """
            ) { row in
                let id: Int = try row.get(ActivityColumn.id)
                return Self(
                    id: id, uuid: try row.get(ActivityColumn.uuid), summary: try row.get(ActivityColumn.summary),
                    description: try row.get(ActivityColumn.description),
                    happenedAt: try row.get(ActivityColumn.happenedAt),
                    activityType: try row.get(ActivityColumn.type, as: Int?.self).flatMap { types[$0] },
                    contacts: (attending[id] ?? []).compactMap { contacts[$0] },
                    url: "\(loader.baseURL)/activities/\(id)", account: loader.account.number,
                    createdAt: try row.get(ActivityColumn.createdAt),
                    updatedAt: try row.get(ActivityColumn.updatedAt))
            }
        } id: {
            $0.id
        }
    }
}

private enum ActivityColumn: String, Columns {
    case id, uuid, summary, description
    case happenedAt = "happened_at"
    case type = "type_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
