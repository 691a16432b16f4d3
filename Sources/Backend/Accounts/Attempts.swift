import Contract
import ContractServer
import Crypto
import Database
import HTTPTypes

/// Limits on guessing passwords and on making accounts. The counters live in the database: they outlast a restart, and
/// several nodes share them.
///
/// A sign-in is counted before its password is looked at, so that a hundred at once are a hundred attempts, and given
/// back when the password was right, or could not be judged. ``PasswordGate`` does both.
public struct Attempts: Sendable {
    public struct Limits: Sendable {
        /// Failed sign-ins in a minute, to one account from one address.
        public var failuresPerMinute = 10
        /// Failed sign-ins in an hour, to one account, from all addresses that never signed in to it.
        public var failuresPerHour = 100
        /// Failed sign-ins in an hour, from one address, to all accounts that it never signed in to.
        public var failuresPerHourOfAddress = 100
        /// New accounts in a minute from one address; this machine itself is not counted.
        public var registrationsPerMinute = 20
        /// Letters about a forgotten password in an hour, to one mailbox, asked for from one address; this machine itself
        /// is not counted.
        public var remindersPerHour = 5
        /// Letters about a forgotten password in an hour, to one mailbox, whoever asks.
        public var remindersPerHourOfMailbox = 5

        public init() {}
    }

    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000
    /// How long an address is known to an account after a sign-in.
    static let familiarity: Int64 = 30 * 24 * hour

    let limits: Limits
    let phrases: Phrases
    private let key: SymmetricKey

    /// - Parameter secret: The API's own. What is counted is kept under digests that nobody can make without it.
    public init(limits: Limits = .init(), secret: [UInt8], phrases: Phrases) {
        self.limits = limits
        self.phrases = phrases
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("attempts".utf8), outputByteCount: 32)
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
    struct SignIn: Sendable {
        let account: String
        let address: ClientAddress
        /// Whether the address has signed in to the account before.
        let isFamiliar: Bool
        let keys: [String]
    }

    // MARK: Sign-ins

    /// Counts a sign-in that is about to be tried.
    ///
    /// - Parameter account: Names the account, or what was typed when there is none.
    /// - Throws: 429 with `Retry-After`.
    func begin(account: String, from address: ClientAddress, at now: Int64, in db: Session) throws -> SignIn {
        let isFamiliar = try db.exists(
            """
            SELECT 1 FROM familiar_addresses
            WHERE account = \(Self.name(account)) AND address = \(address.network) AND until > \(now)
            """)
        let name = digest(account)
        let place = digest(address.network)
        var budgets = [(key: "sign-in \(name) \(place)", limit: limits.failuresPerMinute, window: Self.minute)]
        if !isFamiliar {
            budgets.append(("sign-in \(name)", limits.failuresPerHour, Self.hour))
            budgets.append(("address \(place)", limits.failuresPerHourOfAddress, Self.hour))
        }
        for budget in budgets { try count(budget.key, budget.limit, budget.window, at: now, in: db) }
        return SignIn(account: account, address: address, isFamiliar: isFamiliar, keys: budgets.map(\.key))
    }

    /// Makes an attempt one that does not count.
    func giveBack(_ attempt: SignIn, in db: Session) throws {
        for key in attempt.keys {
            try db.run("UPDATE attempts SET count = count - 1 WHERE key = \(key) AND count > 0")
            try db.run("DELETE FROM attempts WHERE key = \(key) AND count = 0")
        }
    }

    /// Notes that an address has signed in to an account: for 30 days it has a budget of its own there.
    ///
    /// - Parameter account: As its sign-ins are counted under.
    public func welcome(
        _ address: ClientAddress, to account: String, at now: Int64, in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO familiar_addresses (account, address, until)
            VALUES (\(Self.name(account)), \(address.network), \(now + Self.familiarity))
            ON CONFLICT (account, address) DO UPDATE SET until = excluded.until
            """)
    }

    // MARK: Registrations and letters

    /// Counts a registration.
    ///
    /// - Throws: 429 with `Retry-After`.
    public func register(from address: ClientAddress, at now: Int64, in db: Session) throws {
        if address.isThisMachine { return }
        let key = "register \(digest(address.network))"
        try count(key, limits.registrationsPerMinute, Self.minute, at: now, in: db)
    }

    /// Counts a letter about a forgotten password, or one more that verifies an address.
    ///
    /// - Parameter email: As it is compared.
    /// - Returns: Whether it may be sent. The answer to a request must not tell: who has the address, and what others have
    ///   asked for, is nobody else's business.
    /// - Throws: 429 with `Retry-After`, for who has asked too often.
    public func remind(_ email: String, from address: ClientAddress, at now: Int64, in db: Session) throws -> Bool {
        let mailbox = digest(email)
        if !address.isThisMachine {
            let key = "reminder \(mailbox) \(digest(address.network))"
            try count(key, limits.remindersPerHour, Self.hour, at: now, in: db)
        }
        return try isCounted("reminder \(mailbox)", limits.remindersPerHourOfMailbox, Self.hour, at: now, in: db)
    }

    // MARK: Forgetting

    /// Forgets an account that is no more: its sign-ins and the addresses it was known to, and its letters.
    ///
    /// - Parameters:
    ///   - account: As its sign-ins were counted under.
    ///   - names: What is typed to sign in to it.
    ///   - email: As it was compared.
    public func forget(account: String, names: [String], email: String? = nil, in db: Session) throws {
        try db.run("DELETE FROM familiar_addresses WHERE account = \(Self.name(account))")
        let keys =
            ([account] + names).map { "sign-in \(digest($0))" } + (email.map { ["reminder \(digest($0))"] } ?? [])
        // Each with what is counted by address, too: up to the character behind the space.
        for key in keys { try db.run("DELETE FROM attempts WHERE key >= \(key) AND key < \(key + "!")") }
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

    // MARK: Counting

    /// - Throws: 429 with `Retry-After` when there is no room.
    private func count(_ key: String, _ limit: Int, _ window: Int64, at now: Int64, in db: Session) throws {
        if try isCounted(key, limit, window, at: now, in: db) { return }
        let until = try db.value("SELECT until FROM attempts WHERE key = \(key)", as: Int64.self) ?? now
        throw Problem(.tooManyRequests, phrases.tooManyRequests).retry(afterSeconds: (until - now + 999) / 1000)
    }

    /// Counts one more, if there is room for it. One statement looks and counts, so that no two take the last place. A
    /// window begins with its first attempt.
    private func isCounted(_ key: String, _ limit: Int, _ window: Int64, at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            """
            INSERT INTO attempts (key, count, until) VALUES (\(key), 1, \(now + window))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN attempts.until <= \(now) THEN 1 ELSE attempts.count + 1 END,
                until = CASE WHEN attempts.until <= \(now) THEN excluded.until ELSE attempts.until END
            WHERE attempts.until <= \(now) OR attempts.count < \(limit)
            RETURNING 1
            """)
    }

    /// What people type into a name field is not kept: now and then it is a password. Nor are addresses.
    private func digest(_ text: String) -> String {
        Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(16))
    }

    /// An account among those whose addresses are known, for a month: unlike the digests it outlasts a change of the key.
    private static func name(_ account: String) -> String {
        hexadecimal(SHA256.hash(data: Array(account.utf8)).prefix(16))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
