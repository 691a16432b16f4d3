import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func notes(_ routes: inout Routes<Monica, Caller>) {
        routes.on(answering: createNote)
        routes.on(use: updateNote)
        routes.on { (request: Monica.Delete<Monica.Note>, caller: Caller) in
            try await self.delete(Monica.Note.self, request.id, for: caller)
        }
    }

    func createNote(
        _ request: Monica.Create<Monica.Note>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Note>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            let fields = try NoteFields(form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            try fields.requireContact(by: loader)
            let id = try Notes.insert(
                fields.body, of: fields.contact, favorited: fields.isFavorited == true, uuid: makeID(),
                account: loader.account, at: now, in: loader.db)
            return try Monica.Note.one(id, by: loader)
        }
    }

    func updateNote(
        _ request: Monica.Update<Monica.Note>, from caller: Caller
    ) async throws -> APIResponse<Monica.Note> {
        try await update(Monica.Note.self, for: caller) { loader, now in
            guard try Monica.Note.one(request.id, by: loader) != nil else { return nil }
            let fields = try NoteFields(request.form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let note = try Monica.Note.one(request.id, by: loader) else { return nil }
            try fields.requireContact(by: loader)
            // An absent field keeps the value; only false removes the star.
            let favoritedAt: Int64? =
                switch fields.isFavorited {
                case true?: note.favoritedAt?.milliseconds ?? now
                case false?: nil
                case nil: note.favoritedAt?.milliseconds
                }
            try loader.db.run(
                """
                UPDATE notes SET contact_id = \(fields.contact), body = \(fields.body), favorited_at = \(favoritedAt),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.Note.one(request.id, by: loader)
        }
    }

    /// Deletes a resource to which no other row refers.
    func delete<Item: StoredList>(_: Item.Type, _ id: Int, for caller: Caller) async throws -> Monica.Deletion {
        try await database.write { db in
            let visible = try Item.visible(to: caller.account, in: db)
            let deleted = try db.run(
                "DELETE FROM \(Item.table) AS t WHERE t.id = \(id) AND t.account_id = \(caller.account) \(visible)")
            guard deleted > 0 else { throw Monica.Problems.notFound(Item.singular) }
            return .init(id: id)
        }
    }
}

struct NoteFields {
    let body: String
    let contact: Int
    let isFavorited: Bool?

    init(_ form: Monica.Form) throws {
        var input = FormReader(form)
        let body = input.text("body", required: true, upTo: Monica.textLength)
        let contact = input.integer("contact_id", required: true)
        isFavorited = input.bool("is_favorited")
        try input.check()
        self.body = body ?? ""
        self.contact = contact ?? 0
    }

    func requireContact(by loader: RecordLoader) throws {
        guard try Contacts.exists(contact, of: loader.account, in: loader.db) else {
            throw Monica.Problems.notFound(Monica.Contact.singular)
        }
    }
}

enum Notes {
    /// Returns every note of some contacts, the oldest first.
    static func all(of contacts: [Int], in db: Session) throws -> [Int: [ContactCard.Note]] {
        let pairs = try db.all(
            "SELECT contact_id, body, created_at FROM notes WHERE contact_id IN (\(list: contacts)) ORDER BY id"
        ) { row in
            (
                try row.get(0, as: Int.self),
                ContactCard.Note(text: try row.get(1), createdAt: try row.get(2, as: Int64.self))
            )
        }
        return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
    }

    static func insert(
        _ body: String, of contact: Int, favorited: Bool = false, uuid: String, account: AccountID, at now: Int64,
        in db: Session
    ) throws -> Int {
        let id: Int? = try db.insert(
            """
            INSERT INTO notes (uuid, account_id, contact_id, body, favorited_at, created_at, updated_at)
            VALUES (\(uuid), \(account), \(contact), \(body), \(favorited ? now : nil), \(now), \(now))
            """)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }
}

extension Monica.Note: StoredList {
    static var table: SQL { "notes" }

    static func order(by sort: Monica.Sort<Monica.NoteOrder>?) -> ListOrder {
        switch sort?.order {
        case .updatedAt: .order("t.updated_at", descending: sort?.isDescending ?? false)
        case .favoritedAt: .order("t.favorited_at", descending: sort?.isDescending ?? false, mayBeNull: true)
        case .createdAt, nil: .order("t.created_at", descending: sort?.isDescending ?? true)
        }
    }

    static func restriction(to contact: Int) -> SQL { "t.contact_id = \(contact)" }

    /// An import only creates notes of its own contacts, so the notes are hidden with their contacts.
    static func visible(to account: AccountID, in db: Session) throws -> SQL {
        try Imports.visible(byContactOf: account, in: db)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let visible = try visible(to: loader.account, in: loader.db)
        var notes = try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(NoteColumn.list) FROM notes t
                WHERE t.id IN (\(list: batch)) AND t.account_id = \(loader.account) \(visible)
                """
            ) { row in
                let id: Int = try row.get(NoteColumn.id)
                return Self(
                    id: id, uuid: try row.get(NoteColumn.uuid), contactID: try row.get(NoteColumn.contact),
                    body: try row.get(NoteColumn.body),
                    favoritedAt: try row.get(NoteColumn.favoritedAt), url: "\(loader.baseURL)/notes/\(id)",
                    account: loader.account.number,
                    createdAt: try row.get(NoteColumn.createdAt), updatedAt: try row.get(NoteColumn.updatedAt))
            }
        } id: {
            $0.id
        }
        let contacts = try loader.shortContacts(notes.map(\.contactID))
        for index in notes.indices { notes[index].contact = contacts[notes[index].contactID] }
        return notes
    }
}

private enum NoteColumn: String, Columns {
    case id = "t.id"
    case uuid = "t.uuid"
    case contact = "t.contact_id"
    case body = "t.body"
    case favoritedAt = "t.favorited_at"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
