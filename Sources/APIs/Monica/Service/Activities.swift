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
        try await create(request, for: caller, info) { [makeID] reader, form, now in
            let fields = try ActivityFields(form, types: reader.activityTypes.get())
            try Accounts.lock(reader.account, in: reader.db)
            try fields.require(by: reader)
            let id: Int? = try reader.db.value(
                """
                INSERT INTO activities (
                    uuid, account_id, type_id, summary, description, happened_at, created_at, updated_at)
                VALUES (\(makeID()), \(reader.account), \(fields.type), \(fields.summary), \(fields.description),
                    \(fields.happenedAt.daysSince1970), \(now), \(now)) RETURNING id
                """)
            guard let id else { return nil }
            try fields.attend(id, in: reader.db)
            return try Monica.Activity.one(id, by: reader)
        }
    }

    func updateActivity(
        _ request: Monica.Update<Monica.Activity>, from caller: Caller
    ) async throws -> APIResponse<Monica.Activity> {
        try await update(Monica.Activity.self, for: caller) { reader, now in
            guard try Monica.Activity.one(request.id, by: reader) != nil else { return nil }
            let fields = try ActivityFields(request.form, types: reader.activityTypes.get())
            try Accounts.lock(reader.account, in: reader.db)
            // It may have gone while this waited for the account's turn.
            guard try Monica.Activity.one(request.id, by: reader) != nil else { return nil }
            try fields.require(by: reader)
            try reader.db.run(
                """
                UPDATE activities SET type_id = \(fields.type), summary = \(fields.summary),
                    description = \(fields.description), happened_at = \(fields.happenedAt.daysSince1970),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            try reader.db.run("DELETE FROM activity_contacts WHERE activity_id = \(request.id)")
            try fields.attend(request.id, in: reader.db)
            return try Monica.Activity.one(request.id, by: reader)
        }
    }

    func deleteActivity(
        _ request: Monica.Delete<Monica.Activity>, from caller: Caller
    ) async throws -> Monica.Deletion {
        try await database.write { db in
            try Accounts.lock(caller.account, in: db)
            guard try Monica.Activity.one(request.id, by: reader(caller.account, db)) != nil else {
                throw Monica.Refusal.notFound(Monica.Activity.singular)
            }
            try db.run("DELETE FROM activity_contacts WHERE activity_id = \(request.id)")
            try db.run("DELETE FROM activities WHERE id = \(request.id)")
            return .init(id: request.id)
        }
    }
}

private struct ActivityFields {
    let summary: String
    let description: String?
    let happenedAt: Day
    let contacts: [Int]
    let type: Int?

    init(_ form: Monica.Form, types: [Int: Monica.ActivityType]) throws {
        var input = Input(form)
        let summary = input.text("summary", required: true)
        description = input.text("description", upTo: 100_000)
        let happenedAt = input.day("happened_at", required: true)
        contacts = input.ids("contacts")
        type = input.integer("activity_type_id")
        if let type, types[type] == nil { input.refuseSelection("activity_type_id") }
        try input.check()
        self.summary = summary ?? ""
        self.happenedAt = happenedAt ?? Day(daysSince1970: 0)
    }

    /// - Throws: 404 when one of the contacts is not the account's.
    func require(by reader: Reader) throws {
        guard try reader.contactRows(contacts).count == contacts.count else {
            throw Monica.Refusal.notFound(Monica.Contact.singular)
        }
    }

    func attend(_ activity: Int, in db: Session) throws {
        for contact in contacts {
            try db.run("INSERT INTO activity_contacts (activity_id, contact_id) VALUES (\(activity), \(contact))")
        }
    }
}

extension Monica.Activity: StoredList {
    static var table: SQL { "activities" }

    static func order(by sort: Monica.Sort<Monica.ActivityOrder>?) -> SQL {
        switch sort?.order {
        case .createdAt: .order("t.created_at", descending: sort?.isDescending ?? false)
        case .updatedAt: .order("t.updated_at", descending: sort?.isDescending ?? false)
        case .happenedAt, nil: .order("t.happened_at", descending: sort?.isDescending ?? true)
        }
    }

    static func restriction(to contact: Int) -> SQL {
        "t.id IN (SELECT activity_id FROM activity_contacts WHERE contact_id = \(contact))"
    }

    static func load(_ ids: [Int], by reader: Reader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let attendances = try reader.inBatches(ids) { batch in
            let pairs = try reader.db.all(
                """
                SELECT activity_id, contact_id FROM activity_contacts WHERE activity_id IN (\(list: batch))
                ORDER BY contact_id
                """
            ) { (try $0.get(0, as: Int.self), try $0.get(1, as: Int.self)) }
            return Dictionary(grouping: pairs, by: \.0).map { (activity: $0.key, contacts: $0.value.map(\.1)) }
        } id: {
            $0.activity
        }
        let contacts = try reader.shortContacts(attendances.flatMap(\.contacts))
        let attending = Dictionary(uniqueKeysWithValues: attendances.map { ($0.activity, $0.contacts) })
        let types = try reader.activityTypes.get()
        return try reader.inBatches(ids) { batch in
            try reader.db.all(
                """
                SELECT id, uuid, summary, description, happened_at, type_id, created_at, updated_at FROM activities
                WHERE id IN (\(list: batch)) AND account_id = \(reader.account)
                """
            ) { row in
                let id: Int = try row.get(0)
                return Self(
                    id: id, uuid: try row.get(1), summary: try row.get(2), description: try row.get(3),
                    happenedAt: Day(daysSince1970: try row.get(4)),
                    activityType: try row.get(5, as: Int?.self).flatMap { types[$0] },
                    contacts: (attending[id] ?? []).compactMap { contacts[$0] },
                    url: "\(reader.baseURL)/activities/\(id)", account: reader.account.number,
                    createdAt: try row.get(6),
                    updatedAt: try row.get(7))
            }
        } id: {
            $0.id
        }
    }
}
