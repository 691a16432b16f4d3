import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func relationships(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listRelationships)
        routes.on { (request: Monica.Get<Monica.Relationship>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
        routes.on(answering: createRelationship)
        routes.on(use: updateRelationship)
        routes.on(use: deleteRelationship)
        routes.on { (_: Monica.ListRelationshipTypes, caller: Caller) in try await self.all(for: caller) }
        routes.on { (request: Monica.Get<Monica.RelationshipType>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
        routes.on { (_: Monica.ListRelationshipTypeGroups, caller: Caller) in try await self.all(for: caller) }
        routes.on { (request: Monica.Get<Monica.RelationshipTypeGroup>, caller: Caller) in
            try await self.one(request.id, for: caller)
        }
    }

    func listRelationships(
        _ request: Monica.ListRelationships, from caller: Caller
    ) async throws -> APIResponse<[Monica.Relationship]> {
        try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            guard try Contacts.exists(request.contact, of: caller.account, in: db) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            let ids: [Int] = try db.all(
                "SELECT id FROM relationships WHERE contact_id = \(request.contact) ORDER BY id"
            ) { try $0.get(0) }
            let rows = try Monica.Relationship.load(ids, by: loader(db))
            return APIResponse(whole: rows, path: "/contacts/\(request.contact)/relationships")
        }
    }

    func createRelationship(
        _ request: Monica.Create<Monica.Relationship>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Relationship>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            let relationship = try RelatedContacts(form)
            for contact in [relationship.contact, relationship.other] {
                guard try Contacts.exists(contact, of: loader.account, in: loader.db) else {
                    throw Monica.Problems.notFound(Monica.Contact.singular)
                }
                try RelatedContacts.requireRoom(of: contact, in: loader.db)
            }
            let id = try relationship.insert(uuid: makeID(), of: loader.account, at: now, in: loader.db)
            _ = try relationship.reversed.insert(uuid: makeID(), of: loader.account, at: now, in: loader.db)
            return try Monica.Relationship.one(id, by: loader)
        }
    }

    func updateRelationship(
        _ request: Monica.Update<Monica.Relationship>, from caller: Caller
    ) async throws -> APIResponse<Monica.Relationship> {
        try await update(Monica.Relationship.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let old = try Monica.Relationship.one(request.id, by: loader).map(RelatedContacts.init) else {
                return nil
            }
            let new = try RelatedContacts(request.form.keeping(old.names))
            guard (new.contact, new.other) == (old.contact, old.other) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            if try new.type != old.type && new.exists(in: loader.db) { throw RelatedContacts.taken }
            for (old, new) in [(old, new), (old.reversed, new.reversed)] {
                try loader.db.run(
                    "UPDATE relationships SET type_id = \(new.type), updated_at = \(now) WHERE \(old.condition)")
            }
            return try Monica.Relationship.one(request.id, by: loader)
        }
    }

    func deleteRelationship(
        _ request: Monica.Delete<Monica.Relationship>, from caller: Caller
    ) async throws -> Monica.Deletion {
        try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard let old = try Monica.Relationship.one(request.id, by: loader(db)).map(RelatedContacts.init) else {
                throw Monica.Problems.notFound(Monica.Relationship.singular)
            }
            for old in [old, old.reversed] { try db.run("DELETE FROM relationships WHERE \(old.condition)") }
            return .init(id: request.id)
        }
    }
}

/// A contact, what it is to another one, and that other one: the key of a row. The reverse relationship is a row as well.
struct RelatedContacts {
    static let taken = Monica.Problems.invalid(["The relationship already exists."])

    let contact: Int
    let other: Int
    let type: Int

    init(_ relationship: Monica.Relationship) {
        contact = relationship.contactIs.id
        other = relationship.ofContact.id
        type = relationship.relationshipType.id
    }

    init(contact: Int, other: Int, type: Int) {
        self.contact = contact
        self.other = other
        self.type = type
    }

    /// Reads a relationship from a form.
    ///
    /// - Throws: A `Problem` with 422 that names every invalid field.
    init(_ form: Monica.Form) throws {
        var input = FormReader(form)
        let contact = input.integer("contact_is", required: true)
        let other = input.integer("of_contact", required: true)
        if let contact, contact == other { input.reject("of_contact", "and contact is must be different.") }
        let type = input.integer("relationship_type_id", required: true)
        if let type, RelationshipTypes.find(type) == nil { input.rejectSelection("relationship_type_id") }
        try input.check()
        self.init(contact: contact ?? 0, other: other ?? 0, type: type ?? 0)
    }

    /// The relationship as the other contact has it.
    var reversed: Self { Self(contact: other, other: contact, type: RelationshipTypes.reverse(of: type)) }

    /// The contacts as a form has them.
    var names: [String: JSONValue] { ["contact_is": .orNull(contact), "of_contact": .orNull(other)] }

    var condition: SQL { "contact_id = \(contact) AND of_contact_id = \(other) AND type_id = \(type)" }

    func exists(in db: Session) throws -> Bool { try db.exists("SELECT 1 FROM relationships WHERE \(condition)") }

    func insert(uuid: String, of account: AccountID, at now: Int64, in db: Session) throws -> Int {
        let id: Int? = try db.insert(
            """
            INSERT INTO relationships (uuid, account_id, contact_id, type_id, of_contact_id, created_at, updated_at)
            VALUES (\(uuid), \(account), \(contact), \(type), \(other), \(now), \(now))
            ON CONFLICT (contact_id, of_contact_id, type_id) DO NOTHING
            """)
        guard let id else { throw Self.taken }
        return id
    }

    static func requireRoom(of contact: Int, in db: Session) throws {
        let limit = Monica.Relationship.maximumNumber
        let count: Int? = try db.value("SELECT COUNT(*) FROM relationships WHERE contact_id = \(contact)")
        guard count ?? 0 < limit else {
            throw Monica.Problems.tooMany("relationships", limit: limit)
        }
    }
}

/// The types of relationships and their groups, which every account has. The id of each is its place, from 1, so that new ones
/// come last.
enum RelationshipTypes {
    static let groups = ["love", "family", "friend", "work"]

    private static let known: [(name: String, reverse: String, group: String)] = [
        ("partner", "partner", "love"), ("spouse", "spouse", "love"), ("date", "date", "love"),
        ("lover", "lover", "love"), ("inlovewith", "lovedby", "love"), ("lovedby", "inlovewith", "love"),
        ("ex", "ex", "love"), ("parent", "child", "family"), ("child", "parent", "family"),
        ("sibling", "sibling", "family"), ("grandparent", "grandchild", "family"),
        ("grandchild", "grandparent", "family"), ("uncle", "nephew", "family"), ("nephew", "uncle", "family"),
        ("cousin", "cousin", "family"), ("godfather", "godson", "family"), ("godson", "godfather", "family"),
        ("friend", "friend", "friend"), ("bestfriend", "bestfriend", "friend"), ("colleague", "colleague", "work"),
        ("boss", "subordinate", "work"), ("subordinate", "boss", "work"), ("mentor", "protege", "work"),
        ("protege", "mentor", "work"), ("stepparent", "stepchild", "family"), ("stepchild", "stepparent", "family"),
    ]

    /// Returns the words of a type; nil when there is none.
    static func find(_ id: Int) -> (name: String, reverse: String, group: String)? {
        1...known.count ~= id ? known[id - 1] : nil
    }

    /// Returns the type with a name; nil when there is none.
    static func find(_ name: String) -> Int? { known.firstIndex { $0.name == name }.map { $0 + 1 } }

    /// Returns the type of the other contact's relationship.
    static func reverse(of id: Int) -> Int {
        let name = find(id)?.reverse
        return known.firstIndex { $0.name == name }.map { $0 + 1 } ?? id
    }

    /// Returns the types as an account has them.
    static func all(of account: AccountID, since time: Monica.Timestamp) -> [Monica.RelationshipType] {
        known.enumerated().map { index, type in
            Monica.RelationshipType(
                id: index + 1, name: type.name, reverse: type.reverse,
                group: (groups.firstIndex(of: type.group) ?? 0) + 1, account: account.number, createdAt: time)
        }
    }
}

extension Monica.RelationshipType: AccountList {
    static func all(by loader: RecordLoader) throws -> [Self] {
        RelationshipTypes.all(of: loader.account, since: try loader.accountTime.get())
    }
}

extension Monica.RelationshipTypeGroup: AccountList {
    static func all(by loader: RecordLoader) throws -> [Self] {
        let time = try loader.accountTime.get()
        return RelationshipTypes.groups.enumerated().map {
            Self(id: $0 + 1, name: $1, account: loader.account.number, createdAt: time)
        }
    }
}

extension Monica.Relationship: Stored {
    private struct Record {
        let id: Int
        let uuid: String
        let contact: Int
        let type: Int
        let other: Int
        let createdAt: Monica.Timestamp
        let updatedAt: Monica.Timestamp

        init(row: borrowing Row) throws {
            id = try row.get(RelationshipColumn.id)
            uuid = try row.get(RelationshipColumn.uuid)
            contact = try row.get(RelationshipColumn.contact)
            type = try row.get(RelationshipColumn.type)
            other = try row.get(RelationshipColumn.other)
            createdAt = try row.get(RelationshipColumn.createdAt)
            updatedAt = try row.get(RelationshipColumn.updatedAt)
        }
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let rows = try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(RelationshipColumn.list) FROM relationships
                WHERE id IN (\(list: batch)) AND account_id = \(loader.account)
                """, Record.init(row:))
        } id: {
            $0.id
        }
        let contacts = try loader.shortContacts(rows.flatMap { [$0.contact, $0.other] })
        let types = try Monica.RelationshipType.byID(loader)
        return rows.compactMap { row in
            guard let contact = contacts[row.contact], let other = contacts[row.other], let type = types[row.type]
            else { return nil }
            return Self(
                id: row.id, uuid: row.uuid, contactIs: contact, type: type, ofContact: other,
                account: loader.account.number, createdAt: row.createdAt, updatedAt: row.updatedAt)
        }
    }
}

extension RecordLoader {
    /// Loads the relationships of contacts as these show them.
    func relationships(of contacts: [Int]) throws -> [Int: Monica.Relationships] {
        guard !contacts.isEmpty else { return [:] }
        let rows = try db.all(
            """
            SELECT id, uuid, contact_id, type_id, of_contact_id FROM relationships
            WHERE contact_id IN (\(list: contacts)) ORDER BY id
            """
        ) { row -> (contact: Int, type: Int, other: Int, reference: Monica.RelationshipReference) in
            let type: Int = try row.get(3)
            let name = RelationshipTypes.find(type)?.name
            return (
                try row.get(2), type, try row.get(4), .init(id: try row.get(0), uuid: try row.get(1), name: name)
            )
        }
        let others = try shortContacts(rows.map(\.other))
        var shown: [Int: Monica.Relationships] = [:]
        for row in rows {
            guard let group = RelationshipTypes.find(row.type)?.group, let other = others[row.other] else { continue }
            shown[row.contact, default: .init()].add(.init(relationship: row.reference, contact: other), to: group)
        }
        return shown
    }
}

extension Monica.Relationships {
    fileprivate mutating func add(_ relation: Monica.Relation, to group: String) {
        switch group {
        case "love": love.add(relation)
        case "family": family.add(relation)
        case "friend": friend.add(relation)
        default: work.add(relation)
        }
    }
}

extension Monica.Relations {
    fileprivate mutating func add(_ relation: Monica.Relation) {
        contacts.append(relation)
        total += 1
    }
}

/// The columns of a relationship.
enum RelationshipColumn: String, Columns {
    case id, uuid
    case contact = "contact_id"
    case type = "type_id"
    case other = "of_contact_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
