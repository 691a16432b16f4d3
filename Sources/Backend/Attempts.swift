import Contract
import ContractServer
import Crypto
import Database
import HTTPTypes

/// Limits on guessing passwords and on making accounts. The counters live in the database: they outlast a restart.
///
/// A sign-in is counted before its password is looked at, so that a hundred at once are a hundred attempts, and
/// uncounted when the password was right.
public struct Attempts: Sendable {
    public struct Limits: Sendable {
        /// Failed sign-ins in a minute, to one account from one address.
        public var failuresPerMinute = 10
        /// Failed sign-ins in an hour, to one account, from all addresses that never signed in to it.
        public var failuresPerHour = 100
        /// New accounts in a minute from one address; this machine itself is not counted.
        public var registrationsPerMinute = 20
        /// Letters about a forgotten password in an hour, to one address, asked for from one address; this machine itself
        /// is not counted.
        public var remindersPerHour = 5

        public init() {}
    }

    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    /// How long an address is known to an account after a sign-in.
    static let familiarity: Int64 = 30 * 24 * hour

    let limits: Limits
    let phrases: Phrases

    public init(limits: Limits = .init(), phrases: Phrases) {
        self.limits = limits
        self.phrases = phrases
    }

    /// The tables, for each API's schema.
    public static let tables = [
        "CREATE TABLE attempts (key {KEY} PRIMARY KEY, count INTEGER NOT NULL, until BIGINT NOT NULL)",
        "CREATE INDEX attempts_age ON attempts (until)",
        """
        CREATE TABLE familiar_addresses (
            account {KEY} NOT NULL, address {KEY} NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, address))
        """,
        "CREATE INDEX familiar_addresses_age ON familiar_addresses (until)",
    ]

    /// What a sign-in was counted under.
    public struct SignIn: Sendable {
        let account: String
        let address: String
        let keys: [String]
    }

    /// Counts a sign-in that is about to be tried.
    ///
    /// - Parameter account: Names the account, or what was typed when there is none.
    /// - Throws: 429 with `Retry-After`.
    public func begin(account: String, from address: ClientAddress, at now: Int64, in db: Session) throws -> SignIn {
        let account = Self.digest(account)
        let address = address.description
        let familiar = try db.exists(
            """
            SELECT 1 FROM familiar_addresses
            WHERE account = \(account) AND address = \(address) AND until > \(now)
            """)
        var budgets = [(key: "sign-in \(account) \(address)", limit: limits.failuresPerMinute, window: Self.minute)]
        if !familiar { budgets.append(("sign-in \(account)", limits.failuresPerHour, Self.hour)) }
        for budget in budgets { try count(budget.key, budget.limit, budget.window, at: now, in: db) }
        return SignIn(account: account, address: address, keys: budgets.map(\.key))
    }

    /// The password was right: the attempt does not count, and the address is known from now on.
    public func succeed(_ attempt: SignIn, at now: Int64, in db: Session) throws {
        for key in attempt.keys { try db.run("UPDATE attempts SET count = count - 1 WHERE key = \(key) AND count > 0") }
        let until = now + Self.familiarity
        try db.run(
            """
            INSERT INTO familiar_addresses (account, address, until)
            VALUES (\(attempt.account), \(attempt.address), \(until))
            ON CONFLICT (account, address) DO UPDATE SET until = excluded.until
            """)
    }

    /// The account is gone: so is from where it was used, and what was counted of it from here.
    public func forget(_ attempt: SignIn, in db: Session) throws {
        for key in attempt.keys { try db.run("DELETE FROM attempts WHERE key = \(key)") }
        try db.run("DELETE FROM familiar_addresses WHERE account = \(attempt.account)")
    }

    /// Counts a registration.
    ///
    /// - Throws: 429 with `Retry-After`.
    public func register(from address: ClientAddress, at now: Int64, in db: Session) throws {
        if address.isLoopback { return }
        let key = "register \(address)"
        try count(key, limits.registrationsPerMinute, Self.minute, at: now, in: db)
    }

    /// Counts a letter about a forgotten password.
    ///
    /// - Parameter email: As it is compared.
    /// - Throws: 429 with `Retry-After`.
    public func remind(_ email: String, from address: ClientAddress, at now: Int64, in db: Session) throws {
        if address.isLoopback { return }
        let key = "reminder \(Self.digest(email)) \(address)"
        try count(key, limits.remindersPerHour, Self.hour, at: now, in: db)
    }

    /// Forgets an account that is no more: its sign-ins, and the addresses it was known to.
    ///
    /// - Parameter account: As in ``begin(account:from:at:in:)``.
    public static func forget(account: String, in db: Session) throws {
        let account = digest(account)
        try db.run("DELETE FROM familiar_addresses WHERE account = \(account)")
        let key = "sign-in \(account)"
        try db.run("DELETE FROM attempts WHERE key >= \(key) AND key < \(key + "!")")
    }

    /// Counts an upload, or whatever else takes room on the disk, within an hour.
    ///
    /// - Parameter user: As the API tells its users apart.
    /// - Throws: 429 with `Retry-After`.
    public func upload(by user: String, limit: Int, at now: Int64, in db: Session) throws {
        try count("uploads \(user)", limit, Self.hour, at: now, in: db)
    }

    /// Throws 429 with `Retry-After` where ``upload(by:limit:at:in:)`` would, without counting: for work that is worth
    /// sparing before it.
    public func requireRoom(forUploadsBy user: String, limit: Int, at now: Int64, in db: Session) throws {
        let until: Int64? = try db.value(
            """
            SELECT until FROM attempts WHERE key = \("uploads \(user)") AND until > \(now) AND count >= \(limit)
            """)
        guard let until else { return }
        throw Problem(.tooManyRequests, phrases.tooManyRequests).retry(afterSeconds: (until - now + 999) / 1000)
    }

    /// Forgets the uploads of somebody whose account ends.
    public static func forget(uploadsBy user: String, in db: Session) throws {
        try db.run("DELETE FROM attempts WHERE key = \("uploads \(user)")")
    }

    /// Forgets what no longer counts.
    public static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM attempts WHERE until <= \(now)")
        try db.run("DELETE FROM familiar_addresses WHERE until <= \(now)")
    }

    /// Counts one more, if there is room for it. One statement looks and counts, so that no two take the last place. A
    /// window begins with its first attempt.
    private func count(_ key: String, _ limit: Int, _ window: Int64, at now: Int64, in db: Session) throws {
        let isCounted = try db.exists(
            """
            INSERT INTO attempts (key, count, until) VALUES (\(key), 1, \(now + window))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN attempts.until <= \(now) THEN 1 ELSE attempts.count + 1 END,
                until = CASE WHEN attempts.until <= \(now) THEN excluded.until ELSE attempts.until END
            WHERE attempts.until <= \(now) OR attempts.count < \(limit)
            RETURNING 1
            """)
        if isCounted { return }
        let until = try db.value("SELECT until FROM attempts WHERE key = \(key)", as: Int64.self) ?? now
        throw Problem(.tooManyRequests, phrases.tooManyRequests).retry(afterSeconds: (until - now + 999) / 1000)
    }

    /// What people type into a name field is not kept: now and then it is a password.
    private static func digest(_ account: String) -> String {
        SHA256.hash(data: Array(account.utf8)).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
