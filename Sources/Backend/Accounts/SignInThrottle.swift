import Contract
import ContractServer
import Crypto
import Database
import HTTPTypes
import Identity

/// The limits on guessing passwords, on creating accounts and on requesting e-mails.
///
/// A sign-in is counted before its password is verified, so that concurrent attempts all count. It is refunded when the
/// password was right or could not be verified. ``PasswordCheck`` does both.
public struct SignInThrottle: Sendable {
    public struct Limits: Sendable {
        /// The failed sign-ins to one account from one address in a minute.
        public var failuresPerMinute = 10
        /// The failed sign-ins to one account in an hour, from all addresses that have never signed in to it.
        public var failuresPerHour = 100
        /// The failed sign-ins from one address in an hour, to all accounts to which it has never signed in.
        public var failuresPerHourOfAddress = 100
        /// The new accounts from one address in a minute; this machine itself is not limited.
        public var registrationsPerMinute = 20
        /// The e-mails about a forgotten password to one mailbox in an hour, requested from one address; this machine
        /// itself is not limited.
        public var remindersPerHour = 5
        /// The e-mails about a forgotten password to one mailbox in an hour, requested from any address.
        public var remindersPerHourOfMailbox = 5

        public init() {}
    }

    /// The time in milliseconds for which an account remembers the address of a sign-in.
    static let familiarity: Int64 = 30 * 24 * AttemptCounters.hour

    let limits: Limits
    let errorMessages: ErrorMessages
    private let secret: Secret

    /// - Parameter secret: The API's key. Counters are stored under digests that cannot be computed without it. When it
    ///   is replaced, counting begins anew.
    public init(limits: Limits = .init(), secret: Secret, errorMessages: ErrorMessages) {
        self.limits = limits
        self.errorMessages = errorMessages
        self.secret = secret
    }

    /// The statements that create the tables, for an API's schema.
    public static let tables =
        AttemptCounters.tables + [
            """
            CREATE TABLE familiar_addresses (
                account {KEY} NOT NULL, address {KEY} NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, address))
            """,
            "CREATE INDEX familiar_addresses_age ON familiar_addresses (until)",
        ]

    /// The times of the tables.
    public static let times =
        AttemptCounters.times + [StoredTime("familiar_addresses", "until", window: familiarity)]

    /// A counted sign-in, and its counters.
    struct Attempt: Sendable {
        let account: String
        let address: ClientAddress
        /// Whether the address has signed in to the account before.
        let isFamiliar: Bool
        let keys: [String]
    }

    // MARK: Sign-ins

    /// Counts a sign-in before its password is verified.
    ///
    /// - Parameter account: The account's name in throttles, or a name for the given login when there is no account.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    func count(signInTo account: String, from address: ClientAddress, at now: Int64, in db: Session) throws -> Attempt {
        let isFamiliar = try db.exists(
            """
            SELECT 1 FROM familiar_addresses
            WHERE account = \(Self.name(account)) AND address = \(address.network) AND until > \(now)
            """)
        let name = digest(account)
        let place = digest(address.network)
        var budgets = [
            (key: "sign-in \(name) \(place)", limit: limits.failuresPerMinute, window: AttemptCounters.minute)
        ]
        if !isFamiliar {
            budgets.append(("sign-in \(name)", limits.failuresPerHour, AttemptCounters.hour))
            budgets.append(("address \(place)", limits.failuresPerHourOfAddress, AttemptCounters.hour))
        }
        for budget in budgets { try count(budget.key, budget.limit, budget.window, at: now, in: db) }
        return Attempt(account: account, address: address, isFamiliar: isFamiliar, keys: budgets.map(\.key))
    }

    /// Returns how many sign-ins to an account failed in the present hour: at least those from addresses that had never
    /// signed in to it.
    func failures(of account: String, at now: Int64, in db: Session) throws -> Int {
        try keys.reduce(0) { count, key in
            let name = "sign-in \(digest(account, key))"
            let counted = try AttemptCounters.counts(of: name, at: now, in: db)
            let ofAddresses = counted.filter { $0.key != name }.map(\.count).reduce(0, +)
            return count + max(counted.first { $0.key == name }?.count ?? 0, ofAddresses)
        }
    }

    /// Refunds an attempt, so that it does not count.
    func refund(_ attempt: Attempt, in db: Session) throws { try refund(attempt.keys, in: db) }

    /// Refunds what was counted under some keys.
    func refund(_ keys: [String], in db: Session) throws {
        for key in keys { try AttemptCounters.refund(key, in: db) }
    }

    /// Counts a code that a client tries, whether or not it is right, as a failed sign-in from its address is counted.
    ///
    /// - Returns: The keys under which it is counted.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    func countCode(from address: ClientAddress, at now: Int64, in db: Session) throws -> [String] {
        let place = digest(address.network)
        let budgets = [
            (key: "code \(place)", limit: limits.failuresPerMinute, window: AttemptCounters.minute),
            (key: "codes \(place)", limit: limits.failuresPerHourOfAddress, window: AttemptCounters.hour),
        ]
        for budget in budgets { try count(budget.key, budget.limit, budget.window, at: now, in: db) }
        return budgets.map(\.key)
    }

    /// Records that an address has signed in to an account. For 30 days, failures from other addresses do not block it.
    ///
    /// - Parameter account: The name under which its sign-ins are counted.
    public func remember(_ address: ClientAddress, of account: String, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO familiar_addresses (account, address, until)
            VALUES (\(Self.name(account)), \(address.network), \(now + Self.familiarity))
            ON CONFLICT (account, address) DO UPDATE SET until = excluded.until
            """)
    }

    // MARK: Sign-ups and e-mails

    /// Counts a sign-up.
    ///
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    public func countSignUp(from address: ClientAddress, at now: Int64, in db: Session) throws {
        if address.isThisMachine { return }
        let key = "register \(digest(address.network))"
        try count(key, limits.registrationsPerMinute, AttemptCounters.minute, at: now, in: db)
    }

    /// Counts an e-mail about a forgotten password or another verification e-mail.
    ///
    /// - Parameter email: The address in the form in which addresses are compared.
    /// - Returns: Whether it may be sent. The answer to the request must not depend on it, because that would show
    ///   whether the address has an account, and what others have requested.
    /// - Throws: A `Problem` with 429 and `Retry-After` when this client has asked too often.
    public func countEmail(to email: String, from address: ClientAddress, at now: Int64, in db: Session) throws -> Bool
    {
        let mailbox = digest(email)
        if !address.isThisMachine {
            let key = "reminder \(mailbox) \(digest(address.network))"
            try count(key, limits.remindersPerHour, AttemptCounters.hour, at: now, in: db)
        }
        return try AttemptCounters.isCounted(
            "reminder \(mailbox)", limits.remindersPerHourOfMailbox, AttemptCounters.hour, at: now, in: db)
    }

    // MARK: Deletion

    /// Deletes the data about an account that is deleted: its sign-ins, its known addresses and its e-mails.
    ///
    /// - Parameters:
    ///   - account: The name under which its sign-ins were counted.
    ///   - names: The names under which sign-ins were counted before the account existed.
    ///   - email: The address in the form in which addresses are compared.
    public func forget(account: String, names: [String], email: String? = nil, in db: Session) throws {
        try db.run("DELETE FROM familiar_addresses WHERE account = \(Self.name(account))")
        for key in keys {
            for name in [account] + names { try AttemptCounters.forget("sign-in \(digest(name, key))", in: db) }
            if let email { try AttemptCounters.forget("reminder \(digest(email, key))", in: db) }
        }
    }

    /// Deletes the count of e-mails to an address.
    ///
    /// - Parameter email: The address in the form in which addresses are compared.
    public func forget(email: String, in db: Session) throws {
        for key in keys { try AttemptCounters.forget("reminder \(digest(email, key))", in: db) }
    }

    /// Deletes rows that no longer count.
    public static func sweep(at now: Int64, in db: Session) throws {
        try AttemptCounters.sweep(at: now, in: db)
        try db.run("DELETE FROM familiar_addresses WHERE until <= \(now)")
    }

    private var keys: [SymmetricKey] { secret.keys(for: "attempts") }

    private func count(_ key: String, _ limit: Int, _ window: Int64, at now: Int64, in db: Session) throws {
        try AttemptCounters.count(key, limit, window, errorMessages, at: now, in: db)
    }

    /// Returns a keyed digest. The texts that users type into a name field are not stored, because some are passwords;
    /// addresses are not stored, either.
    private func digest(_ text: String) -> String { digest(text, keys[0]) }

    private func digest(_ text: String, _ key: SymmetricKey) -> String {
        Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(16))
    }

    /// Returns the digest of an account with known addresses. It has no key, because it must outlast a change of the
    /// key.
    private static func name(_ account: String) -> String {
        hexadecimal(SHA256.hash(data: Array(account.utf8)).prefix(16))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
