import Backend
import Contract
import ContractServer
import Database
import Foundation
import MonicaAPI

extension MonicaService {
    func merges(_ routes: inout Routes<Monica, Caller>) {
        routes.on(answering: mergeContacts)
        routes.on(use: listMerges)
        routes.on(answering: undoMerge)
    }

    func mergeContacts(
        _ request: Monica.MergeContacts, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Contact>> {
        try await answer(caller, info) { [makeID] loader, now in
            guard let contact = try loader.contactRows([request.id]).first else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            var input = FormReader(request.form)
            let id = input.integer("contact_id", required: true)
            if id == contact.id { input.rejectSelection("contact_id") }
            try input.check()
            guard let other = try loader.contactRows([id ?? 0]).first else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            if contact.isPartial || other.isPartial {
                throw Monica.Problems.invalid(["The contact can't be a partial contact"])
            }
            try Merges.merge(other, into: contact, by: loader, at: now, makeID: makeID)
            return contact.id
        }
    }

    func listMerges(
        _ request: Monica.ListMerges, from caller: Caller
    ) async throws -> APIResponse<[Monica.Merge]> {
        let now = time.milliseconds()
        return try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            guard let contact = try loader(db).shortContacts([request.contact])[request.contact] else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            let merges = try Merges.all(of: contact, at: now, in: db)
            return APIResponse(whole: merges, path: "/contacts/\(contact.id)/merges")
        }
    }

    func undoMerge(
        _ request: Monica.UndoMerge, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Contact>> {
        try await answer(caller, info) { [makeID] loader, now in
            try Merges.undo(request.id, by: loader, at: now, makeID: makeID)
        }
    }

    /// Answers with a contact that a write returns, once per `Idempotency-Key`. The write has the account to itself, so
    /// neither of its contacts changes meanwhile.
    private func answer(
        _ caller: Caller, _ info: RequestInfo, _ write: @escaping @Sendable (RecordLoader, _ now: Int64) throws -> Int
    ) async throws -> Answer<APIResponse<Monica.Contact>> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Monica.errorMessages, at: now) {
            [loader = loader(of: caller.account)] db in
            let loader = loader(db)
            try Accounts.lockCaller(loader.account, in: db)
            guard let contact = try loader.contact(write(loader, now)) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            return Answer(.ok, APIResponse(data: contact))
        }
    }
}

/// The merges that can be undone. The row of each has a ``MergeRecord``; the row of the merged contact is gone.
enum Merges {
    static let time = StoredTime("merges", "merged_at")

    /// The time for which a merge can be undone, in milliseconds.
    private static let lifetime = Int64(Monica.Merge.days) * 86_400_000

    /// The tables whose rows belong to one contact, and go to the remaining one as they are.
    private static let moved = [
        "notes", "tasks", "gifts", "calls", "conversations", "reminders", "debts", "pets", "life_events",
        "photos", "documents",
    ]

    private static func present(at now: Int64) -> SQL { "merged_at > \(now - lifetime)" }

    static func all(of contact: Monica.ShortContact, at now: Int64, in db: Session) throws -> [Monica.Merge] {
        try db.all(
            """
            SELECT id, other_id, other_name, merged_at FROM merges
            WHERE contact_id = \(contact.id) AND \(present(at: now)) ORDER BY id
            """
        ) { row in
            let mergedAt: Int64 = try row.get(3)
            return Monica.Merge(
                id: try row.get(0), contact: contact, mergedContactID: try row.get(1),
                mergedContactName: try row.get(2), account: contact.account.id,
                createdAt: .init(milliseconds: mergedAt), expiresAt: .init(milliseconds: mergedAt + lifetime))
        }
    }

    /// Deletes the merges that can no longer be undone.
    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM merges WHERE merged_at <= \(now - lifetime)")
    }

    /// Deletes the merges into a contact that is deleted, and those into the contacts that were merged into it.
    static func forget(of contact: Int, in db: Session) throws {
        var contacts = [contact]
        while !contacts.isEmpty {
            let merged = try db.ids("SELECT other_id FROM merges WHERE contact_id IN (\(list: contacts))")
            try db.run("DELETE FROM merges WHERE contact_id IN (\(list: contacts))")
            contacts = merged
        }
    }

    // MARK: Merging. The caller has locked the account.

    static func merge(
        _ other: ContactRow, into contact: ContactRow, by loader: RecordLoader, at now: Int64, makeID: () -> String
    ) throws {
        let (db, before) = (loader.db, ContactFields(contact))
        let merges: Int? = try db.value(
            "SELECT COUNT(*) FROM merges WHERE contact_id = \(contact.id) AND \(present(at: now))")
        try requireRoom("merges", (merges ?? 0) + 1, Monica.Merge.maximumNumber)
        var record = MergeRecord(contact: before, other: try MergedContact(other, in: db))
        var after = before
        let isDescriptionLong = after.fill(from: record.other.fields, of: other.id, to: contact.id)
        for table in moved {
            record.moved[table] = try db.move(SQL(trusted: table), "contact_id", from: other.id, to: contact.id)
        }
        record.received = try db.move("gifts", "recipient_id", from: other.id, to: contact.id)
        record.introduced = try db.move("contacts", "met_through", from: other.id, to: contact.id)
        try moveFields(of: other.id, to: contact.id, &record, in: db)
        try moveAddresses(of: other.id, to: contact.id, &record, in: db)
        try moveRelationships(of: other.id, to: contact.id, &record, in: db)
        try moveActivities(of: other.id, to: contact.id, &record, in: db)
        try moveTags(of: other.id, to: contact.id, &record, in: db)
        record.avatar = MergeRecord.Avatar(of: other)
        record.takesAvatar = contact.avatarSource == nil && record.avatar != nil
        if record.takesAvatar { try record.avatar?.give(to: contact.id, in: db) }
        if isDescriptionLong, let description = other.description {
            record.note = try Notes.insert(
                description, of: contact.id, uuid: makeID(), account: loader.account, at: now, in: db)
        }
        record.merged = after
        try Contacts.rewrite(contact.id, by: loader, at: now) { row in after.write(to: &row) }
        // Its files have moved, so no object is left.
        _ = try Contacts.delete(other, of: loader.account, in: db)
        let name = other.formattedName ?? Monica.Names.complete(other.firstName, other.middleName, other.lastName)
        try db.run(
            """
            INSERT INTO merges (account_id, contact_id, other_id, other_name, record, merged_at)
            VALUES (\(loader.account), \(contact.id), \(other.id), \(name), \(try record.text()), \(now))
            """)
    }

    private static func requireRoom(_ names: String, _ count: Int, _ limit: Int) throws {
        guard count <= limit else {
            throw Monica.Problems.tooMany(names, limit: limit)
        }
    }

    /// Moves contact fields, but for those that the remaining contact has as well.
    private static func moveFields(
        of other: Int, to contact: Int, _ record: inout MergeRecord, in db: Session
    ) throws {
        for field in try MergeRecord.Field.all(of: other, in: db) {
            let twin: Int? = try db.value(
                """
                SELECT id FROM contact_fields
                WHERE contact_id = \(contact) AND type_id = \(field.type) AND content = \(field.content) ORDER BY id
                """)
            if let twin {
                record.fields.append(.init(field, twin: twin))
            } else {
                try db.run("UPDATE contact_fields SET contact_id = \(contact) WHERE id = \(field.id)")
                record.moved["contact_fields", default: []].append(field.id)
            }
        }
        if record.moved["contact_fields"] != nil { try requireRoom(of: Monica.ContactField.self, contact, in: db) }
    }

    /// Moves addresses, but for those that the remaining contact has as well.
    private static func moveAddresses(
        of other: Int, to contact: Int, _ record: inout MergeRecord, in db: Session
    ) throws {
        var own = try MergeRecord.Address.all(of: contact, in: db)
        for address in try MergeRecord.Address.all(of: other, in: db) {
            if let twin = own.first(where: { $0.address == address.address }) {
                record.addresses.append(.init(address, twin: twin.id))
            } else {
                try db.run("UPDATE addresses SET contact_id = \(contact) WHERE id = \(address.id)")
                record.moved["addresses", default: []].append(address.id)
                own.append(address)
            }
        }
        if record.moved["addresses"] != nil { try requireRoom(of: Monica.Address.self, contact, in: db) }
    }

    /// Requires that a contact that got some of a detail has no more of it than a user may add to one.
    private static func requireRoom<Item: ContactDetail>(of _: Item.Type, _ contact: Int, in db: Session) throws {
        let count: Int? = try db.value("SELECT COUNT(*) FROM \(Item.table) WHERE contact_id = \(contact)")
        try requireRoom(Item.names, count ?? 0, Item.maximumNumber)
    }

    /// Moves relationships, but for those between the two, and those that the remaining contact has as well. The two rows of a
    /// relationship share their fate.
    private static func moveRelationships(
        of other: Int, to contact: Int, _ record: inout MergeRecord, in db: Session
    ) throws {
        for row in try MergeRecord.Relationship.all(of: other, in: db) {
            let isOwn = row.contact == other
            let (holder, related) = (isOwn ? contact : row.contact, isOwn ? row.other : contact)
            let twin: Int? = try db.value(
                """
                SELECT id FROM relationships
                WHERE contact_id = \(holder) AND of_contact_id = \(related) AND type_id = \(row.type)
                """)
            if holder == related || twin != nil {
                record.relationships.append(.init(row, twin: twin))
                try db.run("DELETE FROM relationships WHERE id = \(row.id)")
            } else if isOwn {
                try db.run("UPDATE relationships SET contact_id = \(contact) WHERE id = \(row.id)")
                record.moved["relationships", default: []].append(row.id)
            } else {
                try db.run("UPDATE relationships SET of_contact_id = \(contact) WHERE id = \(row.id)")
                record.related.append(row.id)
            }
        }
        guard record.moved["relationships"] != nil else { return }
        let count: Int? = try db.value("SELECT COUNT(*) FROM relationships WHERE contact_id = \(contact)")
        try requireRoom("relationships", count ?? 0, Monica.Relationship.maximumNumber)
    }

    /// Moves attendances, but for those at activities that the remaining contact attended as well.
    private static func moveActivities(
        of other: Int, to contact: Int, _ record: inout MergeRecord, in db: Session
    ) throws {
        record.activities = try db.ids("SELECT activity_id FROM activity_contacts WHERE contact_id = \(other)")
        let own = try db.ids("SELECT activity_id FROM activity_contacts WHERE contact_id = \(contact)")
        record.newActivities = record.activities.filter { !Set(own).contains($0) }
        for activity in record.newActivities {
            try db.run("INSERT INTO activity_contacts (activity_id, contact_id) VALUES (\(activity), \(contact))")
        }
    }

    private static func moveTags(
        of other: Int, to contact: Int, _ record: inout MergeRecord, in db: Session
    ) throws {
        record.tags = try db.ids("SELECT tag_id FROM contact_tags WHERE contact_id = \(other)")
        let own = try db.ids("SELECT tag_id FROM contact_tags WHERE contact_id = \(contact)")
        record.newTags = record.tags.filter { !own.contains($0) }
        for tag in record.newTags {
            try db.run("INSERT INTO contact_tags (contact_id, tag_id) VALUES (\(contact), \(tag))")
        }
    }

    // MARK: Undoing. The caller has locked the account.

    /// Undoes a merge.
    ///
    /// - Returns: The contact that has come back.
    static func undo(_ id: Int, by loader: RecordLoader, at now: Int64, makeID: () -> String) throws -> Int {
        let db = loader.db
        let found = try db.one(
            """
            SELECT contact_id, other_id, record FROM merges
            WHERE id = \(id) AND account_id = \(loader.account) AND \(present(at: now))
            """
        ) {
            (
                contact: try $0.get(0, as: Int.self), other: try $0.get(1, as: Int.self),
                text: try $0.get(2, as: String.self)
            )
        }
        guard let found else { throw Monica.Problems.notFound(Monica.Merge.singular) }
        let isLatest = try !db.exists(
            """
            SELECT 1 FROM merges
            WHERE id > \(id) AND (contact_id = \(found.contact) OR other_id = \(found.contact)) AND \(present(at: now))
            """)
        guard isLatest else { throw Monica.Problems.invalid(["A later merge of the contact must be undone first."]) }
        guard try loader.contactRows([found.contact]).first != nil else {
            throw Monica.Problems.notFound(Monica.Contact.singular)
        }
        let (record, contact, other) = (try MergeRecord(text: found.text), found.contact, found.other)
        try db.run("DELETE FROM merges WHERE id = \(id)")
        try record.other.insert(other, by: loader, at: now, makeID: makeID)
        for (table, ids) in record.moved {
            try db.moveBack(SQL(trusted: table), "contact_id", ids, from: contact, to: other)
        }
        try db.moveBack("gifts", "recipient_id", record.received, from: contact, to: other)
        try db.moveBack("contacts", "met_through", record.introduced.filter { $0 != contact }, from: contact, to: other)
        try db.moveBack("relationships", "of_contact_id", record.related, from: contact, to: other)
        for field in record.fields { try field.insertAgain(by: loader) }
        for address in record.addresses { try address.insertAgain(by: loader) }
        for relationship in record.relationships { try relationship.insertAgain(by: loader) }
        try restoreLinks(
            "activity_contacts", "activity_id", record.activities, record.newActivities, from: contact, to: other,
            in: db)
        try restoreLinks("contact_tags", "tag_id", record.tags, record.newTags, from: contact, to: other, in: db)
        try restorePictures(record, from: contact, to: other, in: db)
        if let note = record.note, let description = record.other.fields.description {
            try db.run("DELETE FROM notes WHERE id = \(note) AND contact_id = \(contact) AND body = \(description)")
        }
        try Contacts.rewrite(contact, by: loader, at: now) { row in
            var fields = ContactFields(row)
            fields.revert(record.merged ?? record.contact, to: record.contact)
            try fields.dropGone(by: loader)
            fields.write(to: &row)
        }
        try Contacts.addToLists([other], of: loader.account, in: db)
        return other
    }

    /// Gives the contact that has come back its avatar, and takes those pictures from each of the two that are the other's.
    private static func restorePictures(
        _ record: MergeRecord, from contact: Int, to other: Int, in db: Session
    ) throws {
        if record.takesAvatar { try record.avatar?.take(from: contact, in: db) }
        try record.avatar?.give(to: other, in: db)
        for id in [contact, other] {
            try db.run(
                """
                UPDATE contacts SET avatar_source = NULL, avatar_photo_id = NULL
                WHERE id = \(id) AND avatar_source = 'photo'
                    AND NOT EXISTS (SELECT 1 FROM photos p WHERE p.id = avatar_photo_id AND p.contact_id = \(id))
                """)
            try db.run(
                """
                DELETE FROM gift_photos
                WHERE gift_id IN (SELECT id FROM gifts WHERE contact_id = \(id))
                    AND NOT EXISTS (SELECT 1 FROM photos p WHERE p.id = photo_id AND p.contact_id = \(id))
                """)
        }
    }

    /// Restores a contact's attendances or tags, where the remaining contact still has them, and takes from that one what
    /// it got by the merge.
    private static func restoreLinks(
        _ table: SQL, _ column: SQL, _ ids: [Int], _ new: [Int], from contact: Int, to other: Int, in db: Session
    ) throws {
        for some in ids.chunks(of: 128) {
            try db.run(
                """
                INSERT INTO \(table) (\(column), contact_id)
                SELECT \(column), CAST(\(other) AS BIGINT) FROM \(table)
                WHERE contact_id = \(contact) AND \(column) IN (\(list: some))
                ON CONFLICT (\(column), contact_id) DO NOTHING
                """)
        }
        for some in new.chunks(of: 128) {
            try db.run("DELETE FROM \(table) WHERE contact_id = \(contact) AND \(column) IN (\(list: some))")
        }
    }
}

extension Session {
    fileprivate func ids(_ query: SQL) throws -> [Int] { try all(query) { try $0.get(0) } }

    /// Makes the rows of one contact another one's.
    ///
    /// - Returns: The ids of the rows.
    fileprivate func move(_ table: SQL, _ column: SQL, from other: Int, to contact: Int) throws -> [Int] {
        let moved = try ids("SELECT id FROM \(table) WHERE \(column) = \(other) ORDER BY id")
        if !moved.isEmpty { try run("UPDATE \(table) SET \(column) = \(contact) WHERE \(column) = \(other)") }
        return moved
    }

    /// Gives rows back that are still those of the remaining contact.
    fileprivate func moveBack(_ table: SQL, _ column: SQL, _ ids: [Int], from contact: Int, to other: Int) throws {
        for some in ids.chunks(of: 128) {
            try run("UPDATE \(table) SET \(column) = \(other) WHERE id IN (\(list: some)) AND \(column) = \(contact)")
        }
    }

    /// Returns the contact that a former one is now: itself, or the one into which it was merged; nil when it was deleted.
    fileprivate func contact(after former: Int?) throws -> Int? {
        var contact = former
        while let id = contact, try !exists("SELECT 1 FROM contacts WHERE id = \(id)") {
            contact = try value("SELECT contact_id FROM merges WHERE other_id = \(id) ORDER BY id DESC LIMIT 1")
        }
        return contact
    }
}

// MARK: - What undoes a merge

/// What undoes a merge: the contacts' fields, and the ids of the rows that have moved.
private struct MergeRecord: Codable {
    /// The fields of the remaining contact before the merge.
    let contact: ContactFields
    /// The fields that it has by the merge.
    var merged: ContactFields?
    let other: MergedContact
    /// The rows that belonged to the other contact, by their tables.
    var moved: [String: [Int]] = [:]
    /// The gifts that it received.
    var received: [Int] = []
    /// The contacts whom it introduced.
    var introduced: [Int] = []
    /// The relationships of others to it.
    var related: [Int] = []
    var activities: [Int] = []
    /// The activities that the remaining contact has by the merge.
    var newActivities: [Int] = []
    var tags: [Int] = []
    /// The tags that the remaining contact has by the merge.
    var newTags: [Int] = []
    var fields: [Twin<Field>] = []
    var addresses: [Twin<Address>] = []
    var relationships: [Twin<Relationship>] = []
    /// The avatar of the other contact; nil when it had none.
    var avatar: Avatar?
    /// Whether the remaining contact has it by the merge.
    var takesAvatar = false
    /// The note with the description of the other contact, where the two were too long together.
    var note: Int?

    init(contact: ContactFields, other: MergedContact) {
        self.contact = contact
        self.other = other
    }

    init(text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }

    func text() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }

    /// A chosen avatar.
    struct Avatar: Codable {
        let source: String
        let photo: Int?

        init?(of row: ContactRow) {
            guard let source = row.avatarSource else { return nil }
            self.source = source
            photo = row.avatarPhoto
        }

        func give(to contact: Int, in db: Session) throws {
            try db.run(
                """
                UPDATE contacts SET avatar_source = \(source), avatar_photo_id = \(photo) WHERE id = \(contact)
                """)
        }

        /// Removes the avatar, unless another one was chosen since.
        func take(from contact: Int, in db: Session) throws {
            let isSame: SQL = photo.map { "avatar_photo_id = \($0)" } ?? "avatar_photo_id IS NULL"
            try db.run(
                """
                UPDATE contacts SET avatar_source = NULL, avatar_photo_id = NULL
                WHERE id = \(contact) AND avatar_source = \(source) AND \(isSame)
                """)
        }
    }

    /// A row that was deleted because the remaining contact has an equal one.
    struct Twin<Record: Codable & DeletedRow>: Codable {
        let row: Record
        /// The equal row; nil for a relationship between the two contacts.
        let twin: Int?

        init(_ row: Record, twin: Int?) {
            self.row = row
            self.twin = twin
        }

        /// Inserts the row again, unless its equal was deleted since.
        func insertAgain(by loader: RecordLoader) throws {
            if let twin, try !loader.db.exists("SELECT 1 FROM \(Record.table) WHERE id = \(twin)") { return }
            try row.insert(by: loader)
        }
    }

    struct Field: Codable, DeletedRow {
        static var table: SQL { "contact_fields" }
        let id: Int
        let uuid: String
        let contact: Int
        let type: Int
        let content: String
        let createdAt: Int64
        let updatedAt: Int64

        static func all(of contact: Int, in db: Session) throws -> [Self] {
            try db.all(
                """
                SELECT \(Column.list) FROM contact_fields
                WHERE contact_id = \(contact) ORDER BY id
                """
            ) {
                Self(
                    id: try $0.get(Column.id), uuid: try $0.get(Column.uuid), contact: try $0.get(Column.contact),
                    type: try $0.get(Column.type), content: try $0.get(Column.content),
                    createdAt: try $0.get(Column.createdAt), updatedAt: try $0.get(Column.updatedAt))
            }
        }

        private enum Column: String, Columns {
            case id, uuid
            case contact = "contact_id"
            case type = "type_id"
            case content
            case createdAt = "created_at"
            case updatedAt = "updated_at"

            static let list = ColumnList(Self.self)
        }

        func insert(by loader: RecordLoader) throws {
            guard try loader.db.exists("SELECT 1 FROM contact_field_types WHERE id = \(type)") else { return }
            try loader.db.run(
                """
                INSERT INTO contact_fields (id, uuid, contact_id, type_id, content, created_at, updated_at)
                VALUES (\(id), \(uuid), \(contact), \(type), \(content), \(createdAt), \(updatedAt))
                """)
        }
    }

    struct Address: Codable, DeletedRow {
        static var table: SQL { "addresses" }
        let id: Int
        let uuid: String
        let contact: Int
        let address: PostalAddress
        let createdAt: Int64
        let updatedAt: Int64

        static func all(of contact: Int, in db: Session) throws -> [Self] {
            try db.all(
                """
                SELECT \(Column.list) FROM addresses WHERE contact_id = \(contact) ORDER BY id
                """
            ) {
                let address = PostalAddress(
                    name: try $0.get(Column.name), street: try $0.get(Column.street), city: try $0.get(Column.city),
                    province: try $0.get(Column.province), postalCode: try $0.get(Column.postalCode),
                    country: try $0.get(Column.country))
                return Self(
                    id: try $0.get(Column.id), uuid: try $0.get(Column.uuid), contact: try $0.get(Column.contact),
                    address: address, createdAt: try $0.get(Column.createdAt), updatedAt: try $0.get(Column.updatedAt))
            }
        }

        private enum Column: String, Columns {
            case id, uuid
            case contact = "contact_id"
            case name, street, city, province
            case postalCode = "postal_code"
            case country
            case createdAt = "created_at"
            case updatedAt = "updated_at"

            static let list = ColumnList(Self.self)
        }

        func insert(by loader: RecordLoader) throws {
            try loader.db.run(
                """
                INSERT INTO addresses (
                    id, uuid, contact_id, account_id, name, street, city, province, postal_code, country, created_at,
                    updated_at)
                VALUES (\(id), \(uuid), \(contact), \(loader.account), \(address.name), \(address.street),
                    \(address.city), \(address.province), \(address.postalCode), \(address.country), \(createdAt),
                    \(updatedAt))
                """)
        }
    }

    struct Relationship: Codable, DeletedRow {
        static var table: SQL { "relationships" }
        let id: Int
        let uuid: String
        let contact: Int
        let type: Int
        let other: Int
        let createdAt: Int64
        let updatedAt: Int64

        static func all(of contact: Int, in db: Session) throws -> [Self] {
            try db.all(
                """
                SELECT \(RelationshipColumn.list) FROM relationships
                WHERE contact_id = \(contact) OR of_contact_id = \(contact) ORDER BY id
                """
            ) {
                Self(
                    id: try $0.get(RelationshipColumn.id), uuid: try $0.get(RelationshipColumn.uuid),
                    contact: try $0.get(RelationshipColumn.contact),
                    type: try $0.get(RelationshipColumn.type), other: try $0.get(RelationshipColumn.other),
                    createdAt: try $0.get(RelationshipColumn.createdAt),
                    updatedAt: try $0.get(RelationshipColumn.updatedAt))
            }
        }

        func insert(by loader: RecordLoader) throws {
            // The third contact may have been merged into another one since, or deleted.
            guard let contact = try loader.db.contact(after: contact), let other = try loader.db.contact(after: other),
                contact != other
            else { return }
            try loader.db.run(
                """
                INSERT INTO relationships (
                    id, uuid, account_id, contact_id, type_id, of_contact_id, created_at, updated_at)
                VALUES (\(id), \(uuid), \(loader.account), \(contact), \(type), \(other), \(createdAt), \(updatedAt))
                ON CONFLICT (contact_id, of_contact_id, type_id) DO NOTHING
                """)
        }
    }
}

/// A row that a merge deletes, and that is inserted again with its id when the merge is undone.
private protocol DeletedRow {
    static var table: SQL { get }
    func insert(by loader: RecordLoader) throws
}

/// The fields of a contact's own row that a merge can fill.
private struct ContactFields: Codable {
    private(set) var firstName: String
    private(set) var middleName: String?
    private(set) var lastName: String?
    private(set) var formattedName: String?
    private(set) var nickname: String?
    private(set) var description: String?
    private(set) var gender: Int?
    private(set) var isStarred: Bool
    private(set) var isDead: Bool
    private(set) var birth: StoredDate?
    private(set) var death: StoredDate?
    private(set) var job: String?
    private(set) var company: String?
    private(set) var food: String?
    private(set) var metHow: String?
    private(set) var met: StoredDate?
    private(set) var metThrough: Int?

    init(_ row: ContactRow) {
        firstName = row.firstName
        middleName = row.middleName
        lastName = row.lastName
        formattedName = row.formattedName
        nickname = row.nickname
        description = row.description
        gender = row.gender
        isStarred = row.isStarred
        isDead = row.isDead
        birth = row.birth
        death = row.death
        job = row.job
        company = row.company
        food = row.food
        metHow = row.metHow
        met = row.met
        metThrough = row.metThrough
    }

    func write(to row: inout ContactRow) {
        row.firstName = firstName
        row.middleName = middleName
        row.lastName = lastName
        row.formattedName = formattedName
        row.nickname = nickname
        row.description = description
        row.gender = gender
        row.isStarred = isStarred
        row.isDead = isDead
        row.birth = birth
        row.death = death
        row.job = job
        row.company = company
        row.food = food
        row.metHow = metHow
        row.met = met
        row.metThrough = metThrough
    }

    private static var texts: [WritableKeyPath<Self, String?>] {
        [\.middleName, \.lastName, \.nickname, \.job, \.company, \.food, \.metHow]
    }
    private static var dates: [WritableKeyPath<Self, StoredDate?>] { [\.birth, \.death, \.met] }
    private static var numbers: [WritableKeyPath<Self, Int?>] { [\.gender, \.metThrough] }
    private static var flags: [WritableKeyPath<Self, Bool>] { [\.isStarred, \.isDead] }

    /// Fills what is empty, and adds the description.
    ///
    /// - Parameters:
    ///   - other: The fields of the other contact.
    ///   - former: The other contact's id.
    ///   - contact: The id of this one.
    /// - Returns: Whether the other one's description has no room beside this one's.
    mutating func fill(from other: Self, of former: Int, to contact: Int) -> Bool {
        // A contact does not introduce itself.
        if metThrough == former { metThrough = nil }
        var other = other
        if other.metThrough == contact { other.metThrough = nil }
        let hadNames = (middleName, lastName)
        for text in Self.texts { self[keyPath: text] = self[keyPath: text] ?? other[keyPath: text] }
        for date in Self.dates { self[keyPath: date] = self[keyPath: date] ?? other[keyPath: date] }
        for number in Self.numbers { self[keyPath: number] = self[keyPath: number] ?? other[keyPath: number] }
        for flag in Self.flags { self[keyPath: flag] = self[keyPath: flag] || other[keyPath: flag] }
        if hadNames != (middleName, lastName) { formattedName = nil }
        guard let own = description, let added = other.description, own != added else {
            description = description ?? other.description
            return false
        }
        let both = own + "\n" + added
        guard both.length <= Monica.lineLength else { return true }
        description = both
        return false
    }

    /// Restores what a merge has changed, and was not changed since.
    mutating func revert(_ merged: Self, to former: Self) {
        func revert<Value: Equatable>(_ field: WritableKeyPath<Self, Value>) {
            if self[keyPath: field] == merged[keyPath: field] { self[keyPath: field] = former[keyPath: field] }
        }
        for text in Self.texts + [\.formattedName, \.description] { revert(text) }
        for date in Self.dates { revert(date) }
        for number in Self.numbers { revert(number) }
        for flag in Self.flags { revert(flag) }
    }

    /// Gives up a gender that was deleted since, and takes the contact that the introducer is now.
    mutating func dropGone(by loader: RecordLoader) throws {
        let genders = try loader.genders.get()
        gender = gender.flatMap { genders[$0]?.id }
        metThrough = try loader.db.contact(after: metThrough)
    }
}

/// The own row of a contact that was merged into another one.
private struct MergedContact: Codable {
    let fields: ContactFields
    private let uuid: String
    private let card: [UInt8]?
    private let revisedAt: Int64?
    private let isEdited: Bool
    private let createdAt: Int64

    init(_ row: ContactRow, in db: Session) throws {
        fields = ContactFields(row)
        (uuid, revisedAt, isEdited) = (row.uuid, row.revisedAt, row.isEdited)
        let rest = try db.one("SELECT card, created_at FROM contacts WHERE id = \(row.id)") {
            (card: try $0.get(0, as: [UInt8]?.self), createdAt: try $0.get(1, as: Int64.self))
        }
        (card, createdAt) = (rest?.card, rest?.createdAt ?? row.createdAt.milliseconds)
    }

    /// Inserts the row again, with its former id. Where a card with its UUID was imported since, it gets another one.
    func insert(_ id: Int, by loader: RecordLoader, at now: Int64, makeID: () -> String) throws {
        let db = loader.db
        var fields = fields
        try fields.dropGone(by: loader)
        let isTaken = try db.exists(
            "SELECT 1 FROM contacts WHERE account_id = \(loader.account) AND uuid = \(uuid)")
        try db.run(
            """
            INSERT INTO contacts (
                id, uuid, account_id, first_name, middle_name, last_name, formatted_name, nickname, description,
                gender_id, is_starred, is_partial, is_dead, birth_day, birth_kind, death_day, death_kind, job, company,
                food, met_how, met_day, met_kind, met_through, card, revised_at, is_edited, created_at, updated_at)
            VALUES (\(id), \(isTaken ? makeID() : uuid), \(loader.account), \(fields.firstName), \(fields.middleName),
                \(fields.lastName), \(fields.formattedName), \(fields.nickname), \(fields.description),
                \(fields.gender), \(fields.isStarred), 0, \(fields.isDead), \(fields.birth?.day),
                \(fields.birth?.kind.rawValue), \(fields.death?.day), \(fields.death?.kind.rawValue),
                \(fields.job), \(fields.company), \(fields.food), \(fields.metHow), \(fields.met?.day),
                \(fields.met?.kind.rawValue), \(fields.metThrough), \(card), \(revisedAt), \(isEdited), \(createdAt),
                \(now))
            """)
    }
}
