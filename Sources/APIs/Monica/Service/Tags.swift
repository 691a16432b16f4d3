import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func tags(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listTags)
        routes.on { (request: Monica.Get<Monica.Tag>, caller: Caller) in try await self.one(request.id, for: caller) }
        routes.on(use: listContactsOfTag)
        routes.on(answering: createTag)
        routes.on(use: updateTag)
        routes.on(use: deleteTag)
    }

    func listTags(_ request: Monica.ListTags, from caller: Caller) async throws -> APIResponse<[Monica.Tag]> {
        try await database.read(from: .replica) { db in
            APIResponse(whole: try Tags.all(of: caller.account, by: request.sort, in: db), path: "/tags")
        }
    }

    func listContactsOfTag(
        _ request: Monica.ListContactsOfTag, from caller: Caller
    ) async throws -> APIResponse<[Monica.Contact]> {
        let window = Window(request.part, limit: Monica.ListContacts.defaultLimit)
        return try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            let loader = loader(db)
            guard try Monica.Tag.one(request.tag, by: loader) != nil else {
                throw Monica.Problems.notFound(Monica.Tag.singular)
            }
            let sort = request.part.sort
            let (ids, total) = try Tags.page(window, of: request.tag, by: sort, account: caller.account, in: db)
            return window.response(
                try loader.contacts(ids), total: total, path: "/tags/\(request.tag)/contacts",
                filters: [("sort", sort?.rawValue)])
        }
    }

    // MARK: Writing

    func createTag(
        _ request: Monica.Create<Monica.Tag>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Tag>> {
        try await create(request, for: caller, info) { loader, form, now in
            let name = try Tags.name(form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            try Tags.requireRoom(for: 1, of: loader.account, in: loader.db)
            guard let id = try Tags.insert(name, of: loader.account, at: now, in: loader.db) else { throw Tags.taken }
            return try Monica.Tag.one(id, by: loader)
        }
    }

    func updateTag(
        _ request: Monica.Update<Monica.Tag>, from caller: Caller
    ) async throws -> APIResponse<Monica.Tag> {
        try await update(Monica.Tag.self, for: caller) { loader, now in
            guard try Monica.Tag.one(request.id, by: loader) != nil else { return nil }
            let name = try Tags.name(request.form)
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try Monica.Tag.one(request.id, by: loader) != nil else { return nil }
            try Tags.absorb(name, into: request.id, of: loader.account, in: loader.db)
            let other = try Tags.find(name, of: loader.account, in: loader.db)
            guard other == nil || other == request.id else { throw Tags.taken }
            try loader.db.run(
                """
                UPDATE tags SET name = \(name), name_key = \(Tags.key(name)), slug = \(Folding.slug(name)),
                    updated_at = \(now)
                WHERE id = \(request.id)
                """)
            return try Monica.Tag.one(request.id, by: loader)
        }
    }

    func deleteTag(_ request: Monica.Delete<Monica.Tag>, from caller: Caller) async throws -> Monica.Deletion {
        let now = time.milliseconds()
        return try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard try Monica.Tag.one(request.id, by: loader(db)) != nil else {
                throw Monica.Problems.notFound(Monica.Tag.singular)
            }
            try db.run(
                """
                UPDATE contacts SET updated_at = \(now), is_edited = 1
                WHERE id IN (SELECT contact_id FROM contact_tags WHERE tag_id = \(request.id))
                """)
            try db.run("DELETE FROM contact_tags WHERE tag_id = \(request.id)")
            try db.run("DELETE FROM tags WHERE id = \(request.id)")
            return .init(id: request.id)
        }
    }

    // MARK: Tags of contacts

    func setTags(_ request: Monica.SetTags, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            guard try loader.contactRows([request.id]).first != nil else { return nil }
            var input = FormReader(request.form)
            let names = input.texts("tags")
            try input.check()
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard try loader.contactRows([request.id]).first != nil else { return nil }
            if try Tags.add(names, to: request.id, of: loader.account, at: now, in: loader.db) {
                try Contacts.touch(request.id, at: now, in: loader.db)
            }
            return try loader.contact(request.id)
        }
    }

    func unsetTag(_ request: Monica.UnsetTag, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            guard try loader.contactRows([request.id]).first != nil else { return nil }
            var input = FormReader(request.form)
            let tags = input.ids("tags")
            try input.check()
            try Accounts.lockCaller(loader.account, in: loader.db)
            for tag in tags where try Monica.Tag.one(tag, by: loader) == nil {
                throw Monica.Problems.notFound(Monica.Tag.singular)
            }
            let removed = try loader.db.run(
                "DELETE FROM contact_tags WHERE contact_id = \(request.id) AND tag_id IN (\(list: tags))")
            if removed > 0 { try Contacts.touch(request.id, at: now, in: loader.db) }
            return try loader.contact(request.id)
        }
    }

    func unsetTags(_ request: Monica.UnsetTags, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            guard try loader.contactRows([request.id]).first != nil else { return nil }
            try Accounts.lockCaller(loader.account, in: loader.db)
            let removed = try loader.db.run("DELETE FROM contact_tags WHERE contact_id = \(request.id)")
            if removed > 0 { try Contacts.touch(request.id, at: now, in: loader.db) }
            return try loader.contact(request.id)
        }
    }
}

enum Tags {
    static let taken = Monica.Problems.invalid(["The name has already been taken."])
    static let columns: SQL = "t.id, t.name, t.slug, t.created_at, t.updated_at"

    /// Returns the ids of a page of the contacts with a tag, and the number of all of them.
    static func page(
        _ window: Window, of tag: Int, by sort: Monica.Sort<Monica.ContactOrder>?, account: AccountID, in db: Session
    ) throws -> (ids: [Int], total: Int) {
        let condition = try exceptHidden(tag, account, in: db)
        var rows: SQL = "FROM (SELECT contact_id AS id FROM contact_tags WHERE tag_id = \(tag)) t \(condition)"
        let total = try db.value("SELECT COUNT(*) \(rows)", as: Int.self) ?? 0
        if sort?.order == .updatedAt {
            // The index of all contacts in this order is read up to the page where many have the tag; few are sorted.
            let isCommon = try total > Contacts.count(of: account, in: db) / 8
            rows =
                isCommon
                ? """
                \(try Contacts.listed(of: account, in: db))
                    AND EXISTS (SELECT 1 FROM contact_tags ct WHERE ct.contact_id = t.id AND ct.tag_id = \(tag))
                """
                : """
                FROM (SELECT c.id, c.updated_at FROM contact_tags ct JOIN contacts c ON c.id = ct.contact_id
                    WHERE ct.tag_id = \(tag)) t \(condition)
                """
        }
        return try window.ids(rows, of: total, by: Contacts.order(by: sort), in: db)
    }

    /// Returns a condition that excludes what lists leave out from the contacts `t` of a tag; empty where it has none of these.
    ///
    /// An account has few contacts that lists leave out, and an index finds the partial ones. A join would read each contact of the
    /// tag.
    private static func exceptHidden(_ tag: Int, _ account: AccountID, in db: Session) throws -> SQL {
        var hidden: SQL = "SELECT h.id FROM contacts h WHERE h.account_id = \(account) AND h.is_partial = 1"
        if let importing = try Imports.pending(of: account, in: db) {
            hidden = """
                \(hidden) UNION ALL
                SELECT h.id FROM contacts h WHERE h.account_id = \(account) AND h.import_id = \(importing)
                """
        }
        let isOneTagged = try db.exists(
            """
            SELECT 1 FROM (\(hidden)) h
            WHERE EXISTS (SELECT 1 FROM contact_tags ct WHERE ct.contact_id = h.id AND ct.tag_id = \(tag)) LIMIT 1
            """)
        return isOneTagged ? "WHERE t.id NOT IN (\(hidden))" : ""
    }

    /// Returns the key by which names are compared.
    static func key(_ name: String) -> String { name.lowercased() }

    /// Reads the name from a form.
    ///
    /// - Throws: A `Problem` with 422 when it is invalid.
    static func name(_ form: Monica.Form) throws -> String {
        var input = FormReader(form)
        let name = input.text("name", required: true)
        try input.check()
        return name ?? ""
    }

    static func all(
        of account: AccountID, by sort: Monica.Sort<Monica.TagOrder>? = nil, in db: Session
    ) throws -> [Monica.Tag] {
        let isDescending = sort?.isDescending ?? false
        let order: ListOrder =
            switch sort?.order {
            case .createdAt: .order("t.created_at", descending: isDescending)
            case .updatedAt: .order("t.updated_at", descending: isDescending)
            case .name, nil: .order("t.name_key", descending: isDescending)
            }
        let visible = try Imports.visible("t.import_id", of: account, in: db)
        return try db.all(
            "SELECT \(columns) FROM tags t WHERE t.account_id = \(account) \(visible) ORDER BY \(order.forward)"
        ) {
            try Monica.Tag(row: $0, account: account)
        }
    }

    static func find(_ name: String, of account: AccountID, _ visible: SQL = "", in db: Session) throws -> Int? {
        try db.value("SELECT id FROM tags WHERE account_id = \(account) AND name_key = \(key(name)) \(visible)")
    }

    /// Requires that the account may have so many more tags.
    ///
    /// - Throws: A `Problem` with 422 when it may not.
    static func requireRoom(for more: Int, of account: AccountID, in db: Session) throws {
        let count = try db.value("SELECT COUNT(*) FROM tags WHERE account_id = \(account)", as: Int.self) ?? 0
        guard count + more <= Monica.Tag.maximumNumber else {
            throw Monica.Problems.tooMany("tags", limit: Monica.Tag.maximumNumber)
        }
    }

    /// Adds a tag.
    ///
    /// - Parameter importing: The import that creates it; nil for a user's request.
    /// - Returns: The id; nil when the name is taken.
    static func insert(
        _ name: String, of account: AccountID, importing: Int? = nil, at now: Int64, in db: Session
    ) throws -> Int? {
        if importing == nil, let id = try adopt(name, of: account, at: now, in: db) { return id }
        return try db.insert(
            """
            INSERT INTO tags (account_id, name, name_key, slug, import_id, created_at, updated_at)
            VALUES (\(account), \(name), \(key(name)), \(Folding.slug(name)), \(importing), \(now), \(now))
            ON CONFLICT (account_id, name_key) DO NOTHING
            """)
    }

    /// Makes a hidden tag of an import in progress visible, because a user creates one with the same name now.
    ///
    /// - Returns: The id; nil when the import has no tag of that name.
    private static func adopt(_ name: String, of account: AccountID, at now: Int64, in db: Session) throws -> Int? {
        guard let importing = try Imports.pending(of: account, in: db) else { return nil }
        return try db.value(
            """
            UPDATE tags SET name = \(name), slug = \(Folding.slug(name)), import_id = NULL, created_at = \(now),
                updated_at = \(now)
            WHERE account_id = \(account) AND name_key = \(key(name)) AND import_id = \(importing) RETURNING id
            """)
    }

    /// Merges a hidden tag of an import in progress into a tag that takes the same name.
    fileprivate static func absorb(_ name: String, into tag: Int, of account: AccountID, in db: Session) throws {
        guard let importing = try Imports.pending(of: account, in: db) else { return }
        let hidden: Int? = try db.value(
            """
            SELECT id FROM tags
            WHERE account_id = \(account) AND name_key = \(key(name)) AND import_id = \(importing) AND id <> \(tag)
            """)
        guard let hidden else { return }
        try db.run(
            """
            INSERT INTO contact_tags (contact_id, tag_id)
            SELECT contact_id, \(tag) FROM contact_tags WHERE tag_id = \(hidden)
            ON CONFLICT (contact_id, tag_id) DO NOTHING
            """)
        try db.run("DELETE FROM contact_tags WHERE tag_id = \(hidden)")
        try db.run("DELETE FROM tags WHERE id = \(hidden)")
    }

    /// Adds tags to a contact, and creates those that do not exist. The caller has locked the account.
    ///
    /// - Parameter importing: The import that adds them, which sees its own hidden tags.
    /// - Returns: Whether the contact has a new tag.
    /// - Throws: A `Problem` with 422 when the account would have too many tags.
    static func add(
        _ names: [String], to contact: Int, of account: AccountID, importing: Int? = nil, at now: Int64, in db: Session
    ) throws -> Bool {
        var isChanged = false
        let visible = importing == nil ? try Imports.visible("import_id", of: account, in: db) : ""
        for name in names {
            var tag = try find(name, of: account, visible, in: db)
            if tag == nil {
                try requireRoom(for: 1, of: account, in: db)
                tag = try insert(name, of: account, importing: importing, at: now, in: db)
            }
            let isNew =
                try db.run(
                    """
                    INSERT INTO contact_tags (contact_id, tag_id) VALUES (\(contact), \(tag))
                    ON CONFLICT (contact_id, tag_id) DO NOTHING
                    """) == 1
            isChanged = isChanged || isNew
        }
        return isChanged
    }
}

extension Monica.Tag: Stored {
    /// - Parameter first: The index of the first of the columns ``Tags/columns``.
    init(row: borrowing Row, at first: Int = 0, account: AccountID) throws {
        let (name, slug) = (try row.get(first + 1, as: String.self), try row.get(first + 2, as: String.self))
        self.init(
            // Tags of emoji that an earlier version created have no slug.
            id: try row.get(first), name: name, nameSlug: slug.isEmpty ? Folding.slug(name) : slug,
            account: account.number,
            createdAt: try row.get(first + 3), updatedAt: try row.get(first + 4))
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let visible = try Imports.visible("t.import_id", of: loader.account, in: loader.db)
        return try loader.inBatches(ids) { batch in
            try loader.db.all(
                """
                SELECT \(Tags.columns) FROM tags t
                WHERE t.id IN (\(list: batch)) AND t.account_id = \(loader.account) \(visible)
                """
            ) { try Self(row: $0, account: loader.account) }
        } id: {
            $0.id
        }
    }
}
