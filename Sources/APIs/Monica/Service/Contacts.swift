import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import MonicaAPI

extension MonicaService {
    func contacts(_ routes: inout Routes<Monica, Caller>) {
        routes.on(use: listContacts)
        routes.on(use: getContact)
        routes.on(answering: createContact)
        routes.on(use: updateContact)
        routes.on(use: deleteContact)
        routes.on(use: setWork)
        routes.on(use: setFood)
        routes.on(use: setIntroduction)
        routes.on(use: setTags)
        routes.on(use: unsetTag)
        routes.on(use: unsetTags)
    }

    func listContacts(
        _ request: Monica.ListContacts, from caller: Caller
    ) async throws -> APIResponse<[Monica.Contact]> {
        let window = Window(request.part, limit: Monica.ListContacts.defaultLimit)
        let query = request.query?.trimmed
        let words = query.map(SearchText.words) ?? []
        // A query of punctuation alone has no words left, and finds nothing.
        let isSearch = query?.isBlank == false
        let list = { @Sendable [loader = loader(of: caller.account)] (db: Session) in
            let (ids, total) =
                isSearch
                ? try Contacts.page(window, request.part.sort, matching: words, of: caller.account, in: db)
                : try Contacts.page(window, request.part.sort, of: caller.account, in: db)
            return window.response(
                try loader(db).contacts(ids, with: request.with), total: total, path: "/contacts",
                filters: [
                    ("query", isSearch ? query : nil), ("sort", request.part.sort?.rawValue),
                    ("with", request.with?.rawValue),
                ], query: isSearch ? query : nil)
        }
        guard isSearch else { return try await database.read(from: .replica, list) }
        return try await searches.run(for: caller.account) { try await database.read(from: .replica, list) }
    }

    func getContact(
        _ request: Monica.GetContact, from caller: Caller
    ) async throws -> APIResponse<Monica.Contact> {
        try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            guard let contact = try loader(db).contact(request.id, with: request.with) else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            return APIResponse(data: contact)
        }
    }

    // MARK: Writing

    func createContact(
        _ request: Monica.Create<Monica.Contact>, from caller: Caller, _ info: RequestInfo
    ) async throws -> Answer<APIResponse<Monica.Contact>> {
        try await create(request, for: caller, info) { [makeID] loader, form, now in
            // No gender is deleted meanwhile.
            try Accounts.lockCaller(loader.account, in: loader.db)
            let fields = try ContactForm(form, genders: loader.genders.get(), current: nil, at: now)
            let id = try Contacts.insertUnlisted(fields, uuid: makeID(), of: loader.account, at: now, in: loader.db)
            if let email = fields.email {
                try ContactDetails.add(
                    .email, email, uuid: makeID(), to: id, of: loader.account, at: now, in: loader.db)
            }
            if !fields.isPartial { try Contacts.addToLists([id], of: loader.account, in: loader.db) }
            return try loader.contact(id)
        }
    }

    func updateContact(
        _ request: Monica.Update<Monica.Contact>, from caller: Caller
    ) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            try Accounts.lockCaller(loader.account, in: loader.db)
            guard let row = try loader.contactRows([request.id]).first else { return nil }
            let fields = try ContactForm(request.form, genders: loader.genders.get(), current: row, at: now)
            try Contacts.rewrite(row.id, by: loader, at: now) { row in fields.apply(to: &row) }
            return try loader.contact(row.id)
        }
    }

    func deleteContact(
        _ request: Monica.Delete<Monica.Contact>, from caller: Caller
    ) async throws -> Monica.Deletion {
        let keys = try await database.write { [loader = loader(of: caller.account)] db in
            try Accounts.lockCaller(caller.account, in: db)
            guard let row = try loader(db).contactRows([request.id]).first else {
                throw Monica.Problems.notFound(Monica.Contact.singular)
            }
            let keys = try Contacts.delete(row, of: caller.account, in: db)
            try Merges.forget(of: request.id, in: db)
            return keys
        }
        await removeObjects(keys)
        return .init(id: request.id)
    }

    /// Changes a part of a contact that partial contacts do not have.
    private func change(
        _ id: Int, for caller: Caller, _ form: Monica.Form,
        _ read: @escaping @Sendable (inout FormReader, RecordLoader) throws -> (inout ContactRow) throws -> Void
    ) async throws -> APIResponse<Monica.Contact> {
        try await update(Monica.Contact.self, for: caller) { loader, now in
            guard let row = try loader.contactRows([id]).first else { return nil }
            if row.isPartial { throw Monica.Problems.invalid(["The contact can't be a partial contact"]) }
            var input = FormReader(form)
            let change = try read(&input, loader)
            try Contacts.rewrite(id, by: loader, at: now, change)
            return try loader.contact(id)
        }
    }

    func setWork(_ request: Monica.SetWork, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await change(request.id, for: caller, request.form) { input, _ in
            let (job, company) = (input.text("job"), input.text("company"))
            try input.check()
            return { row in (row.job, row.company) = (job, company) }
        }
    }

    func setFood(_ request: Monica.SetFood, from caller: Caller) async throws -> APIResponse<Monica.Contact> {
        try await change(request.id, for: caller, request.form) { input, _ in
            let food = input.text("food_preferences", upTo: Monica.textLength)
            try input.check()
            return { row in row.food = food }
        }
    }

    func setIntroduction(
        _ request: Monica.SetIntroduction, from caller: Caller
    ) async throws -> APIResponse<Monica.Contact> {
        let today = time.now(Monica.Timestamp.self).day
        return try await change(request.id, for: caller, request.form) { input, loader in
            let how = input.text("general_information", upTo: Monica.textLength)
            let through = input.integer("met_through_contact_id")
            let isKnown = input.bool("is_date_known", required: true) ?? false
            let met = isKnown ? input.date("", named: "date", today: today) : nil
            try input.check()
            return { row in
                // The account is locked here, so the introducer cannot be deleted in the meantime.
                if let through, try !Contacts.exists(through, of: loader.account, in: loader.db) {
                    throw Monica.Problems.notFound(Monica.Contact.singular)
                }
                (row.metHow, row.metThrough, row.met) = (how, through, met)
            }
        }
    }
}

enum Contacts {
    static func exists(_ id: Int, of account: AccountID, in db: Session) throws -> Bool {
        let visible = try Imports.visible("import_id", of: account, in: db)
        return try db.exists("SELECT 1 FROM contacts WHERE id = \(id) AND account_id = \(account) \(visible)")
    }

    // MARK: Pages

    typealias Page = (ids: [Int], total: Int)

    static func page(
        _ window: Window, _ sort: Monica.Sort<Monica.ContactOrder>?, of account: AccountID, in db: Session
    ) throws -> Page {
        try window.ids(
            listed(of: account, in: db), of: count(of: account, in: db), by: order(by: sort), in: db)
    }

    /// Returns the number of contacts in an account's lists. Pages rely on it: it is that of the rows of ``listed(of:in:)``.
    static func count(of account: AccountID, in db: Session) throws -> Int {
        try db.value("SELECT contact_count FROM accounts WHERE id = \(account)") ?? 0
    }

    /// Returns the rows `t` of an account's list: `FROM … WHERE …`.
    static func listed(of account: AccountID, in db: Session) throws -> SQL {
        let visible = try Imports.visible("t.import_id", of: account, in: db)
        return "\(listed(of: account)) \(visible)"
    }

    /// Returns these rows for an account into which no import is in progress.
    private static func listed(of account: AccountID) -> SQL {
        "FROM contacts t WHERE t.account_id = \(account) AND t.is_partial = 0"
    }

    /// Returns the query for the ids of an account's list.
    static func query(of account: AccountID, by sort: Monica.Sort<Monica.ContactOrder>?) -> SQL {
        "SELECT t.id \(listed(of: account)) ORDER BY \(order(by: sort).forward)"
    }

    static func page(
        _ window: Window, _ sort: Monica.Sort<Monica.ContactOrder>?, matching words: [String], of account: AccountID,
        in db: Session
    ) throws -> Page {
        let found = words.isEmpty ? [] : try ContactSearch.matches(words, account: account, in: db)
        let matches = try Imports.visible(found, of: account, in: db)
        guard let offset = window.offset(in: matches.count) else { return ([], matches.count) }
        let end = min(offset + window.limit, matches.count)
        if sort?.order == .updatedAt {
            let first = try first(end, of: matches, by: sort, account: account, in: db)
            return (Array(first[offset...]), matches.count)
        }
        if sort?.isDescending == true {
            return (matches[(matches.count - end)..<(matches.count - offset)].reversed(), matches.count)
        }
        return (Array(matches[offset..<end]), matches.count)
    }

    /// Returns the first of some contacts in an order that has an index. It reads the account's contacts in that order,
    /// more and more of them, until enough are found.
    ///
    /// - Parameter ids: The contacts in ascending order.
    private static func first(
        _ count: Int, of ids: [Int], by sort: Monica.Sort<Monica.ContactOrder>?, account: AccountID, in db: Session
    ) throws -> [Int] {
        var limit = 10 * count
        while true {
            let all: [Int] = try db.all("\(query(of: account, by: sort)) LIMIT \(limit)") { try $0.get(0) }
            let found = Array(all.lazy.filter(ids.binarySearch).prefix(count))
            if found.count == count || all.count < limit { return found }
            limit *= 10
        }
    }

    /// Returns the ORDER BY terms. The order of ids is the order of creation.
    static func order(by sort: Monica.Sort<Monica.ContactOrder>?) -> ListOrder {
        let isDescending = sort?.isDescending ?? false
        return switch sort?.order {
        case .updatedAt: .order("t.updated_at", descending: isDescending)
        case .createdAt, nil: .ids(descending: isDescending)
        }
    }

    // MARK: Writing. The caller has locked the account.

    /// Adds a contact that is not in lists and searches yet (``addToLists(_:of:in:)``).
    ///
    /// - Returns: The id.
    static func insertUnlisted(
        _ fields: ContactForm, uuid: String, of account: AccountID, at now: Int64, in db: Session
    ) throws -> Int {
        let newest: Int64? = try db.value(
            "SELECT created_at FROM contacts WHERE account_id = \(account) ORDER BY id DESC LIMIT 1")
        let createdAt = max(now, newest ?? now)
        let id: Int? = try db.insert(
            """
            INSERT INTO contacts (
                uuid, account_id, first_name, middle_name, last_name, nickname, description, gender_id, is_starred,
                is_partial, is_dead, birth_day, birth_kind, death_day, death_kind, job, company, card, revised_at,
                import_id, formatted_name, created_at, updated_at)
            VALUES (\(uuid), \(account), \(fields.firstName), \(fields.middleName), \(fields.lastName),
                \(fields.nickname), \(fields.description), \(fields.gender), \(fields.isStarred), \(fields.isPartial),
                \(fields.isDead), \(fields.birth?.day), \(fields.birth?.kind.rawValue),
                \(fields.death?.day), \(fields.death?.kind.rawValue), \(fields.job), \(fields.company),
                \(fields.card), \(fields.revisedAt), \(fields.importID), \(fields.formattedName),
                \(createdAt), \(createdAt))
            """)
        guard let id else { throw DatabaseFailure.failed("no id") }
        return id
    }

    /// Changes a contact's row, and its place in lists and searches.
    static func rewrite(
        _ id: Int, by loader: RecordLoader, at now: Int64, _ change: (inout ContactRow) throws -> Void
    ) throws {
        let (db, account) = (loader.db, loader.account)
        try Accounts.lockCaller(account, in: db)
        guard let old = try loader.contactRows([id]).first else {
            throw Monica.Problems.notFound(Monica.Contact.singular)
        }
        var new = old
        new.isEdited = true
        try change(&new)
        try db.run(
            """
            UPDATE contacts SET first_name = \(new.firstName), middle_name = \(new.middleName),
                last_name = \(new.lastName), nickname = \(new.nickname), description = \(new.description),
                gender_id = \(new.gender), is_starred = \(new.isStarred), is_partial = \(new.isPartial),
                is_dead = \(new.isDead), birth_day = \(new.birth?.day),
                birth_kind = \(new.birth?.kind.rawValue), death_day = \(new.death?.day),
                death_kind = \(new.death?.kind.rawValue), job = \(new.job), company = \(new.company),
                food = \(new.food), met_how = \(new.metHow), met_day = \(new.met?.day),
                met_kind = \(new.met?.kind.rawValue), met_through = \(new.metThrough), updated_at = \(now),
                revised_at = \(new.revisedAt), is_edited = \(new.isEdited), formatted_name = \(new.formattedName)
            WHERE id = \(id)
            """)
        switch (old.isPartial, new.isPartial) {
        case (true, true): break
        case (true, false): try addToLists([id], of: account, in: db)
        case (false, true): try removeFromLists(old, of: account, in: db)
        case (false, false): try ContactSearch.update(id, of: account, in: db)
        }
    }

    /// Deletes a contact with all that is the contact's alone.
    ///
    /// - Returns: The keys of the objects that are to be removed once the transaction is committed.
    static func delete(_ row: ContactRow, of account: AccountID, in db: Session) throws -> [String] {
        let id = row.id
        try db.run("UPDATE gifts SET recipient_id = NULL WHERE recipient_id = \(id)")
        try db.run("UPDATE contacts SET met_through = NULL WHERE met_through = \(id)")
        let left: [Int] = try db.all("SELECT activity_id FROM activity_contacts WHERE contact_id = \(id)") {
            try $0.get(0)
        }
        try db.run("DELETE FROM activity_contacts WHERE contact_id = \(id)")
        for activity in left {
            try db.run(
                """
                DELETE FROM activities WHERE id = \(activity)
                    AND NOT EXISTS (SELECT 1 FROM activity_contacts WHERE activity_id = \(activity))
                """)
        }
        let keys = try deleteDetails(of: [id], in: db)
        if !row.isPartial { try removeFromLists(row, of: account, in: db) }
        try db.run("DELETE FROM contacts WHERE id = \(id)")
        return keys
    }

    /// Deletes what belongs to contacts alone, and their relationships to others.
    ///
    /// - Returns: The keys of the objects that are to be removed once the transaction is committed.
    static func deleteDetails(of contacts: [Int], in db: Session) throws -> [String] {
        try db.run("DELETE FROM relationships WHERE of_contact_id IN (\(list: contacts))")
        let keys = try Files.delete(of: contacts, in: db)
        let conversations: SQL = "SELECT id FROM conversations WHERE contact_id IN (\(list: contacts))"
        try db.run("DELETE FROM messages WHERE conversation_id IN (\(conversations))")
        for table: SQL in [
            "relationships", "contact_tags", "contact_fields", "addresses", "notes", "tasks", "gifts", "calls",
            "conversations", "reminders", "debts", "pets", "life_events",
        ] {
            try db.run("DELETE FROM \(table) WHERE contact_id IN (\(list: contacts))")
        }
        return keys
    }

    /// Deletes contacts that were never in a list, so that no gift, activity or introduction refers to them.
    static func deleteUnlisted(_ ids: [Int], of account: AccountID, in db: Session) throws {
        try ContactSearch.remove(ids, of: account, in: db)
        for table: SQL in ["contact_tags", "contact_fields", "addresses", "notes"] {
            try db.run("DELETE FROM \(table) WHERE contact_id IN (\(list: ids))")
        }
        try db.run("DELETE FROM contacts WHERE id IN (\(list: ids))")
    }

    /// Marks a contact as changed after a change in another table.
    static func touch(_ id: Int, at now: Int64, in db: Session) throws {
        try db.run("UPDATE contacts SET updated_at = \(now), is_edited = 1 WHERE id = \(id)")
    }

    /// Adds contacts to lists and searches, with the present content of their rows.
    ///
    /// - Parameter contacts: Contacts that are not partial and not in lists.
    static func addToLists(_ contacts: [Int], of account: AccountID, in db: Session) throws {
        try ContactSearch.add(contacts, of: account, in: db)
        try incrementCount(by: contacts.count, of: account, in: db)
    }

    /// Adds to the number of contacts in an account's lists.
    static func incrementCount(by number: Int, of account: AccountID, in db: Session) throws {
        try db.run("UPDATE accounts SET contact_count = contact_count + \(number) WHERE id = \(account)")
    }

    private static func removeFromLists(_ row: ContactRow, of account: AccountID, in db: Session) throws {
        try ContactSearch.remove([row.id], of: account, in: db)
        try incrementCount(by: -1, of: account, in: db)
    }
}

extension [Int] {
    /// Returns whether an ascending array contains a number.
    fileprivate func binarySearch(_ number: Int) -> Bool {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number
    }
}
