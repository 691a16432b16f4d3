import Contract
import Database

/// The table in which an API keeps its accounts.
///
/// An API declares it once (`enum Users: AccountTable`), and gets the functions below, which lock accounts and check
/// that they exist.
public protocol AccountTable: SendableMetatype {
    associatedtype ID: RawRepresentable, SQLConvertible, Hashable, Sendable
    where ID.RawValue: CustomStringConvertible

    /// The table's name. It has a column `id`.
    static var table: SQL { get }
    /// The condition that the account of a row has not been deleted.
    static var isPresent: SQL { get }
    /// The answer to a caller whose account was deleted: usually 401.
    static var gone: Problem { get }
    /// Returns the condition that the account of a row may be used now: it is not suspended. Every account of a table
    /// that is no ``PeopleTable`` may be used.
    static func isUsable(at now: Int64) -> SQL
    /// Throws the API's refusal for an account that may not be used now.
    static func requireUsable(_ id: ID, at now: Int64, in db: Session) throws
}

extension AccountTable {
    public static var table: SQL { "users" }
    public static var isPresent: SQL { "1 = 1" }
    public static func isUsable(at now: Int64) -> SQL { "1 = 1" }
    public static func requireUsable(_ id: ID, at now: Int64, in db: Session) throws {}

    /// Returns whether there is such an account.
    public static func exists(_ id: ID, in db: Session) throws -> Bool {
        try db.exists("SELECT 1 FROM \(table) WHERE id = \(id) AND \(isPresent)")
    }

    /// Locks an account's row until the transaction ends. Every transaction that adds something to an account, and
    /// every deletion, takes this lock first, so what is read behind it stays true until the end.
    ///
    /// - Returns: Whether there is such an account.
    @discardableResult
    public static func lock(_ id: ID, in db: Session) throws -> Bool {
        try db.lock(table, where: "id = \(id) AND \(isPresent)") > 0
    }

    /// Locks the row of the caller's own account until the transaction ends.
    ///
    /// - Throws: ``gone`` when the account was deleted.
    public static func lockCaller(_ id: ID, in db: Session) throws {
        guard try lock(id, in: db) else { throw gone }
    }
}

extension AccountTable where ID: Comparable {
    /// Locks the rows of several accounts in the order of their ids, which avoids deadlocks.
    ///
    /// - Returns: Whether all of them exist.
    public static func lock(_ ids: Set<ID>, in db: Session) throws -> Bool {
        try db.lock(table, where: "id IN (\(list: ids.sorted())) AND \(isPresent) ORDER BY id") == ids.count
    }
}

/// A table of accounts that sign in with a password, and the contract's errors for it. The table also has a column
/// `password`.
public protocol PasswordAccountTable: AccountTable {
    /// The answer to a sign-in with a wrong name or password.
    static var wrongSignIn: Problem { get }
    /// The answer to a signed-in caller who is asked for the password again and gives a wrong one.
    static var wrongPassword: Problem { get }
}

extension PasswordAccountTable {
    /// Returns the name of an account in throttles and in the scope of idempotency keys.
    public static func name(of id: ID) -> String { "user \(id.rawValue)" }

    /// Returns the name under which sign-ins are counted when no account has the name that was given.
    static func name(ofUnknown login: String) -> String { "name \(login)" }

    static func password(of id: ID, in db: Session) throws -> String? {
        try db.value("SELECT password FROM \(table) WHERE id = \(id) AND \(isPresent)")
    }

    static func credentials(where condition: SQL, in db: Session) throws -> Credentials<ID>? {
        try db.one("SELECT id, password FROM \(table) WHERE \(condition) AND \(isPresent)") {
            Credentials(id: try $0.get(0), password: try $0.get(1))
        }
    }
}

/// An account and its password hash at the time of the look-up.
struct Credentials<ID: Sendable>: Sendable {
    let id: ID
    let password: String
}
