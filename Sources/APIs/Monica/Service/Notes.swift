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
            try await delete(Monica.Note.self, request.id, for: caller)
        }
    }

    func createNote(
        _ request: Monica.Create<Monica.Note>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Note>> {
        try await create(request, for: caller, info) { [makeID] reader, form, now in
            let fields = try NoteFields(form)
            try Accounts.lock(reader.account, in: reader.db)
            try fields.require(by: reader)
            let id = try Notes.insert(
                fields.body, of: fields.contact, favorited: fields.isFavorited == true, uuid: makeID(),
                account: reader.account, at: now, in: reader.db)
            return try Monica.Note.one(id, by: reader)
        }
    }

    func updateNote(
        _ request: Monica.Update<Monica.Note>, from caller: Caller
    ) async throws -> APIResponse<Monica.Note> {
        try await update(Monica.Note.self, for: caller) { reader, now in
            guard try Monica.Note.one(request.id, by: reader) != nil else { return nil }
            let fields = try NoteFields(request.form)
            try Accounts.lock(reader.account, in: reader.db)
            guard let note = try Monica.Note.one(request.id, by: reader) else { return nil }
            try fields.require(by: reader)
            // What is not said stays: only false takes the star away.
            let favoritedAt: Int64? =
                switch fields.isFavorited {
                case true?: note.favoritedAt?.milliseconds ?? now
                case false?: nil
                case nil: note.favoritedAt?.milliseconds
                }
            try reader.db.run(
                """
                UPDATE notes SET contact_id = \(fields.contact), body = \(fields.body), favorited_at = \(favoritedAt),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.Note.one(request.id, by: reader)
        }
    }

    /// Deletes what nothing else hangs on.
    func delete<Item: StoredList>(_: Item.Type, _ id: Int, for caller: Caller) async throws -> Monica.Deletion {
        try await database.write { db in
            let visible = try Item.visible(to: caller.account, in: db)
            let deleted = try db.run(
                "DELETE FROM \(Item.table) AS t WHERE t.id = \(id) AND t.account_id = \(caller.account) \(visible)")
            guard deleted > 0 else { throw Monica.Refusal.notFound(Item.singular) }
            return .init(id: id)
        }
    }
}

private struct NoteFields {
    let body: String
    let contact: Int
    let isFavorited: Bool?

    init(_ form: Monica.Form) throws {
        var input = Input(form)
        let body = input.text("body", required: true, upTo: 100_000)
        let contact = input.integer("contact_id", required: true)
        isFavorited = input.truth("is_favorited")
        try input.check()
        self.body = body ?? ""
        self.contact = contact ?? 0
    }

    func require(by reader: Reader) throws {
        guard try Contacts.exists(contact, of: reader.account, in: reader.db) else {
            throw Monica.Refusal.notFound(Monica.Contact.singular)
        }
    }
}

enum Notes {
    /// Every note of some contacts, the oldest first.
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
        let id: Int? = try db.value(
            """
            INSERT INTO notes (uuid, account_id, contact_id, body, favorited_at, created_at, updated_at)
            VALUES (\(uuid), \(account), \(contact), \(body), \(favorited ? now : nil), \(now), \(now)) RETURNING id
            """)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }
}

extension Monica.Note: StoredList {
    static var table: SQL { "notes" }

    static func order(by sort: Monica.Sort<Monica.NoteOrder>?) -> SQL {
        switch sort?.order {
        case .updatedAt: .order("t.updated_at", descending: sort?.isDescending ?? false)
        case .favoritedAt: .order("t.favorited_at", descending: sort?.isDescending ?? false, mayBeNull: true)
        case .createdAt, nil: .order("t.created_at", descending: sort?.isDescending ?? true)
        }
    }

    static func restriction(to contact: Int) -> SQL { "t.contact_id = \(contact)" }

    /// An import makes notes of its contacts alone, so its contacts tell.
    static func visible(to account: AccountID, in db: Session) throws -> SQL {
        guard let importing = try Imports.pending(of: account, in: db) else { return "" }
        return """
            AND NOT EXISTS (
                SELECT 1 FROM contacts i WHERE i.id = t.contact_id AND i.import_id = \(importing))
            """
    }

    static func load(_ ids: [Int], by reader: Reader) throws -> [Self] {
        guard !ids.isEmpty else { return [] }
        let visible = try visible(to: reader.account, in: reader.db)
        var notes = try reader.inBatches(ids) { batch in
            try reader.db.all(
                """
                SELECT t.id, t.uuid, t.contact_id, t.body, t.favorited_at, t.created_at, t.updated_at FROM notes t
                WHERE t.id IN (\(list: batch)) AND t.account_id = \(reader.account) \(visible)
                """
            ) { row in
                let id: Int = try row.get(0)
                return Self(
                    id: id, uuid: try row.get(1), contactID: try row.get(2), body: try row.get(3),
                    favoritedAt: try row.get(4), url: "\(reader.baseURL)/notes/\(id)", account: reader.account.number,
                    createdAt: try row.get(5), updatedAt: try row.get(6))
            }
        } id: {
            $0.id
        }
        let contacts = try reader.shortContacts(notes.map(\.contactID))
        for index in notes.indices { notes[index].contact = contacts[notes[index].contactID] }
        return notes
    }
}
