import Backend
import Contract
import Database

/// The end of an account. One transaction ends its tokens, frees its name and hides its records. They are then removed some
/// at a time, so that others can write in between; what is left when the process ends, a later sweep removes.
enum AccountDeletion {
    /// The contacts, and the rows of another table, that one transaction removes.
    private static let batch = 200

    /// Ends an account.
    ///
    /// - Throws: ``Accounts/gone`` when it was deleted before.
    static func begin(
        _ account: AccountID, _ archives: Archives<Accounts>, at now: Int64, in db: Session
    ) throws {
        try Accounts.lockCaller(account, in: db)
        try archives.forget(account, in: db)
        // An import notices at its next step that its row is gone.
        try db.run(
            "DELETE FROM import_updates WHERE import_id IN (SELECT id FROM imports WHERE account_id = \(account))")
        try db.run("DELETE FROM imports WHERE account_id = \(account)")
        try db.run("DELETE FROM tokens WHERE account_id = \(account)")
        try SignIn.forget(account, in: db)
        try IdempotencyStore.forget(callersNamed: "account \(account)", in: db)
        try UploadThrottle.forget("\(account)", in: db)
        // The UUID is unique, and no operator has chosen it as a name.
        try db.run(
            """
            UPDATE accounts SET deleted_at = \(now), name = uuid, first_name = '', last_name = '', email = '',
                \(Suspension.lifted)
            WHERE id = \(account)
            """)
    }

    /// Returns an account that was ended, and of which something is left.
    static func next(in db: Session) throws -> AccountID? {
        try db.value("SELECT id FROM accounts WHERE deleted_at IS NOT NULL ORDER BY id LIMIT 1")
    }

    /// Removes some of the rows of an account that was ended, and at last the account itself.
    ///
    /// - Returns: The keys of the objects that are to be removed once the transaction is committed.
    static func removeSome(of account: AccountID, in db: Session) throws -> [String] {
        // Another node may have removed the rest.
        guard try db.lock("accounts", where: "id = \(account)") > 0 else { return [] }
        let contacts: [Int] = try db.all("SELECT id FROM contacts WHERE account_id = \(account) LIMIT \(batch)") {
            try $0.get(0)
        }
        guard contacts.isEmpty else { return try remove(contacts, in: db) }
        for table: SQL in [
            "merges", "activities", "notes", "tasks", "gifts", "journal", "tags", "former_search_blocks",
        ] {
            let some: SQL = "SELECT id FROM \(table) WHERE account_id = \(account) LIMIT \(batch)"
            if try db.run("DELETE FROM \(table) WHERE id IN (\(some))") > 0 { return [] }
        }
        if try SearchIndex.removeSome(of: account.number, in: db) { return [] }
        for table: SQL in ["genders", "contact_field_types", "activity_types", "activity_categories"] {
            try db.run("DELETE FROM \(table) WHERE account_id = \(account)")
        }
        try db.run("DELETE FROM accounts WHERE id = \(account)")
        return []
    }

    private static func remove(_ contacts: [Int], in db: Session) throws -> [String] {
        try db.run("UPDATE gifts SET recipient_id = NULL WHERE recipient_id IN (\(list: contacts))")
        try db.run("UPDATE contacts SET met_through = NULL WHERE met_through IN (\(list: contacts))")
        try db.run("DELETE FROM activity_contacts WHERE contact_id IN (\(list: contacts))")
        let keys = try Contacts.deleteDetails(of: contacts, in: db)
        try db.run("DELETE FROM contacts WHERE id IN (\(list: contacts))")
        return keys
    }
}

extension MonicaService {
    /// Removes what is left of deleted accounts.
    ///
    /// - Parameter limit: The time after which no further transaction begins.
    func removeDeletedAccounts(for limit: Duration) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            guard let account = try await database.read({ try AccountDeletion.next(in: $0) }) else { return }
            await removeObjects(try await database.write { try AccountDeletion.removeSome(of: account, in: $0) })
        }
    }
}
