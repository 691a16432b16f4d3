import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// The imports that have not ended.
///
/// An import writes in many short transactions, so that others can write in the meantime. Its rows have its id, and are
/// hidden while the import has a row of its own: every query of contacts, notes and tags looks for that row first, and
/// adds a condition only when there is one. Deleting the row shows all imported rows at once.
enum Imports {
    enum State: Int {
        /// The import adds rows that are hidden.
        case gathering = 0
        /// All added rows are visible. The changes of existing contacts are in progress, and will be finished in any
        /// case. An import of records, whose rows are visible at once, begins like this.
        case ended = 1
        /// The import has failed, and the rows that it has added are being removed.
        case abandoned = 2
    }

    /// The id of this process. When a database is used by one process at a time, imports with another owner have
    /// stopped.
    static let owner = RandomUUID.make()
    /// The time in milliseconds without a heartbeat after which an import has stopped.
    static let patience: Int64 = 30_000

    struct Marker: Sendable {
        var id: Int
        var account: AccountID
        var state: State
        var madeAccount: Bool
        /// The account's newest contact before the import.
        var firstContact: Int
        var aliveAt: Int64

        init(row: borrowing Row) throws {
            id = try row.get(0)
            account = try row.get(1)
            state = State(rawValue: try row.get(2)) ?? .abandoned
            madeAccount = try row.get(3)
            firstContact = try row.get(4)
            aliveAt = try row.get(5)
        }

        static let columns: SQL = "id, account_id, state, made_account, first_contact, alive_at"
    }

    // MARK: Visibility

    /// Returns the import into an account whose rows are hidden.
    static func pending(of account: AccountID, in db: Session) throws -> Int? {
        try db.value("SELECT id FROM imports WHERE account_id = \(account) AND state <> \(State.ended.rawValue)")
    }

    /// Returns a condition that excludes the rows of an import in progress; empty when there is none.
    ///
    /// - Parameter column: The `import_id` column of the rows.
    static func visible(_ column: SQL, of account: AccountID, in db: Session) throws -> SQL {
        guard let importing = try pending(of: account, in: db) else { return "" }
        return "AND (\(column) IS NULL OR \(column) <> \(importing))"
    }

    /// Returns a condition that excludes rows `t` of the contacts of an import in progress; empty when there is none.
    static func visible(byContactOf account: AccountID, in db: Session) throws -> SQL {
        guard let importing = try pending(of: account, in: db) else { return "" }
        return """
            AND NOT EXISTS (
                SELECT 1 FROM contacts i WHERE i.id = t.contact_id AND i.import_id = \(importing))
            """
    }

    /// Removes the contacts of an import in progress from a list, for contacts that were found without SQL.
    static func visible(_ contacts: [Int], of account: AccountID, in db: Session) throws -> [Int] {
        guard !contacts.isEmpty, let importing = try pending(of: account, in: db) else { return contacts }
        var hidden: Set<Int> = []
        for start in stride(from: 0, to: contacts.count, by: 500) {
            let ids = contacts[start..<min(start + 500, contacts.count)]
            hidden.formUnion(
                try db.all("SELECT id FROM contacts WHERE id IN (\(list: ids)) AND import_id = \(importing)") {
                    try $0.get(0)
                })
        }
        return contacts.filter { !hidden.contains($0) }
    }

    // MARK: The marker

    /// Begins an import.
    ///
    /// - Returns: The import; nil when another import into this account is in progress.
    static func begin(
        into name: String, as state: State = .gathering, at now: Int64, makeID: () -> String, in db: Session
    ) throws -> Marker? {
        let isThere = try Accounts.find(name, in: db) != nil
        let account = try Accounts.findOrMake(name, email: "", at: now, makeID: makeID, in: db)
        try Accounts.lock(account, in: db)
        let newest: Int? = try db.value(
            "SELECT id FROM contacts WHERE account_id = \(account) ORDER BY id DESC LIMIT 1")
        return try db.one(
            """
            INSERT INTO imports (account_id, state, made_account, first_contact, alive_at, owner)
            VALUES (\(account), \(state.rawValue), \(!isThere), \(newest ?? 0), \(now), \(owner))
            ON CONFLICT (account_id) DO NOTHING RETURNING \(Marker.columns)
            """, Marker.init(row:))
    }

    /// Records that an import is still running.
    ///
    /// - Throws: ``MonicaService/ImportRefused`` when it has been given up in the meantime.
    static func recordHeartbeat(
        _ id: Int, as state: State = .gathering, at now: Int64, in db: Session
    ) throws {
        let isThere =
            try db.run("UPDATE imports SET alive_at = \(now) WHERE id = \(id) AND state = \(state.rawValue)") == 1
        guard isThere else {
            throw MonicaService.ImportRefused(
                description: "The import made no progress for too long, and was given up.")
        }
    }

    /// Makes all rows visible that an import has added.
    ///
    /// - Parameters:
    ///   - count: The number of contacts that are added to lists.
    ///   - hasUpdates: Whether the import changes existing contacts, too.
    static func end(
        _ marker: Marker, count: Int, hasUpdates: Bool, at now: Int64, in db: Session
    ) throws {
        try recordHeartbeat(marker.id, at: now, in: db)
        try Accounts.lock(marker.account, in: db)
        try Contacts.incrementCount(by: count, of: marker.account, in: db)
        if hasUpdates {
            try db.run("UPDATE imports SET state = \(State.ended.rawValue) WHERE id = \(marker.id)")
        } else {
            try db.run("DELETE FROM imports WHERE id = \(marker.id)")
        }
    }

    /// Marks an import as failed, so that it can be removed at once.
    static func abandon(_ id: Int, in db: Session) throws {
        try db.run(
            """
            UPDATE imports SET state = \(State.abandoned.rawValue), alive_at = 0
            WHERE id = \(id) AND state = \(State.gathering.rawValue)
            """)
    }

    // MARK: Cleaning up

    /// Returns the imports without a recent heartbeat, or whose heartbeat is in the future because the clock has
    /// changed.
    ///
    /// - Parameter isShared: Whether several processes use the database.
    static func stalled(at now: Int64, isShared: Bool, in db: Session) throws -> [Marker] {
        let foreign: SQL = isShared ? "" : "OR owner <> \(owner)"
        return try db.all(
            """
            SELECT \(Marker.columns) FROM imports
            WHERE alive_at < \(now - patience) OR alive_at > \(now + patience) \(foreign) ORDER BY id
            """, Marker.init(row:))
    }

    /// Takes over a stalled import.
    ///
    /// - Returns: False when it is running, or another process has taken it over.
    static func claim(_ marker: Marker, at now: Int64, in db: Session) throws -> Bool {
        let state: State = marker.state == .ended ? .ended : .abandoned
        return try db.run(
            """
            UPDATE imports SET alive_at = \(now), state = \(state.rawValue), owner = \(owner)
            WHERE id = \(marker.id) AND alive_at = \(marker.aliveAt) AND state = \(marker.state.rawValue)
            """) == 1
    }

    /// Removes some of the rows that a failed import has added.
    ///
    /// - Returns: False when nothing of the import is left.
    static func remove(_ marker: Marker, at now: Int64, in db: Session) throws -> Bool {
        try Accounts.lock(marker.account, in: db)
        try db.run("UPDATE imports SET alive_at = \(now) WHERE id = \(marker.id)")
        let contacts = try db.all(
            """
            SELECT id FROM contacts
            WHERE account_id = \(marker.account) AND id > \(marker.firstContact) AND import_id = \(marker.id)
            ORDER BY id LIMIT 100
            """
        ) { try $0.get(0, as: Int.self) }
        if !contacts.isEmpty {
            try Contacts.deleteUnlisted(contacts, of: marker.account, in: db)
            return true
        }
        let tags: SQL = "SELECT id FROM tags WHERE account_id = \(marker.account) AND import_id = \(marker.id)"
        try db.run("DELETE FROM contact_tags WHERE tag_id IN (\(tags))")
        try db.run("DELETE FROM tags WHERE account_id = \(marker.account) AND import_id = \(marker.id)")
        try db.run(
            "DELETE FROM contact_field_types WHERE account_id = \(marker.account) AND import_id = \(marker.id)")
        try db.run("DELETE FROM import_updates WHERE import_id = \(marker.id)")
        try db.run("DELETE FROM imports WHERE id = \(marker.id)")
        if marker.madeAccount { try Accounts.deleteUnused(marker.account, in: db) }
        return false
    }
}
