import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

/// Imports that have not ended.
///
/// An import writes in many short transactions, so that others can write meanwhile. What it has made bears its id, and
/// belongs to no answer while the import has a row of its own: every query of contacts, notes and tags asks for that row
/// first, and adds a condition only where there is one. Removing the row shows all of it at once.
enum Imports {
    enum State: Int {
        /// It adds what nobody sees yet.
        case gathering = 0
        /// All that it has added can be seen; what it changes is under way, and will be finished whatever happens.
        case ended = 1
        /// It has failed: what it has added is being removed.
        case abandoned = 2
    }

    /// This process. Where a database has one process at a time, imports of others are dead.
    static let owner = RandomUUID.make()
    /// An import that was silent for so long has died, in milliseconds.
    static let patience: Int64 = 30_000

    struct Marker: Sendable {
        var id: Int
        var account: AccountID
        var state: State
        var madeAccount: Bool
        /// The account's newest contact before it.
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

    // MARK: What may be seen

    /// The import into an account of which nothing may be seen.
    static func pending(of account: AccountID, in db: Session) throws -> Int? {
        try db.value("SELECT id FROM imports WHERE account_id = \(account) AND state <> \(State.ended.rawValue)")
    }

    /// A condition that leaves out what an import under way has made; empty where there is none.
    ///
    /// - Parameter column: The rows' `import_id`.
    static func visible(_ column: SQL, of account: AccountID, in db: Session) throws -> SQL {
        guard let importing = try pending(of: account, in: db) else { return "" }
        return "AND (\(column) IS NULL OR \(column) <> \(importing))"
    }

    /// The same for contacts that were found without asking the database: in their order.
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
    /// - Returns: Nil when there is one into this account.
    static func begin(
        into name: String, at now: Int64, makeID: () -> String, in db: Session
    ) throws -> Marker? {
        let isThere = try Accounts.find(name, in: db) != nil
        let account = try Accounts.findOrMake(name, email: "", at: now, makeID: makeID, in: db)
        try Accounts.lock(account, in: db)
        let newest: Int? = try db.value(
            "SELECT id FROM contacts WHERE account_id = \(account) ORDER BY id DESC LIMIT 1")
        return try db.one(
            """
            INSERT INTO imports (account_id, state, made_account, first_contact, alive_at, owner)
            VALUES (\(account), \(State.gathering.rawValue), \(!isThere), \(newest ?? 0), \(now), \(owner))
            ON CONFLICT (account_id) DO NOTHING RETURNING \(Marker.columns)
            """, Marker.init(row:))
    }

    /// Says that an import is alive.
    ///
    /// - Throws: ``MonicaService/ImportRefused`` when it was given up meanwhile.
    static func beat(_ id: Int, at now: Int64, in db: Session) throws {
        let isThere =
            try db.run(
                "UPDATE imports SET alive_at = \(now) WHERE id = \(id) AND state = \(State.gathering.rawValue)") == 1
        guard isThere else {
            throw MonicaService.ImportRefused(description: "The import was silent for too long, and was given up.")
        }
    }

    /// Shows all that an import has added.
    ///
    /// - Parameters:
    ///   - count: How many contacts lists have more.
    ///   - hasUpdates: Whether contacts are to be changed, too.
    static func end(
        _ marker: Marker, count: Int, hasUpdates: Bool, at now: Int64, in db: Session
    ) throws {
        try beat(marker.id, at: now, in: db)
        try Accounts.lock(marker.account, in: db)
        try Contacts.count(count, of: marker.account, in: db)
        if hasUpdates {
            try db.run("UPDATE imports SET state = \(State.ended.rawValue) WHERE id = \(marker.id)")
        } else {
            try db.run("DELETE FROM imports WHERE id = \(marker.id)")
        }
    }

    /// Marks an import as failed: it may be removed at once.
    static func abandon(_ id: Int, in db: Session) throws {
        try db.run(
            """
            UPDATE imports SET state = \(State.abandoned.rawValue), alive_at = 0
            WHERE id = \(id) AND state = \(State.gathering.rawValue)
            """)
    }

    // MARK: Cleaning up

    /// Imports of which nothing was heard for too long, or whose time is of another clock.
    ///
    /// - Parameter isShared: Whether several processes use the database.
    static func dead(at now: Int64, isShared: Bool, in db: Session) throws -> [Marker] {
        let foreign: SQL = isShared ? "" : "OR owner <> \(owner)"
        return try db.all(
            """
            SELECT \(Marker.columns) FROM imports
            WHERE alive_at < \(now - patience) OR alive_at > \(now + patience) \(foreign) ORDER BY id
            """, Marker.init(row:))
    }

    /// Takes a dead import over.
    ///
    /// - Returns: False when it is alive, or another process has taken it.
    static func claim(_ marker: Marker, at now: Int64, in db: Session) throws -> Bool {
        let state: State = marker.state == .ended ? .ended : .abandoned
        return try db.run(
            """
            UPDATE imports SET alive_at = \(now), state = \(state.rawValue), owner = \(owner)
            WHERE id = \(marker.id) AND alive_at = \(marker.aliveAt) AND state = \(marker.state.rawValue)
            """) == 1
    }

    /// Removes some of what a failed import has added.
    ///
    /// - Returns: False when nothing of it is left, its marker included.
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
        try db.run("DELETE FROM import_updates WHERE import_id = \(marker.id)")
        try db.run("DELETE FROM imports WHERE id = \(marker.id)")
        if marker.madeAccount { try Accounts.deleteUnused(marker.account, in: db) }
        return false
    }
}
