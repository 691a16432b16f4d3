import Contract
import ContractServer
import Database
import Identity
import Mail

/// A table of accounts whose addresses are verified by e-mail, and whose passwords can be reset by one. It has the
/// columns `email`, `email_key` and `is_verified`.
public protocol EmailAccountTable: PasswordAccountTable {
    /// Returns an address in the form in which addresses are compared.
    static func emailKey(_ address: String) -> String
}

/// An e-mail in the outbox that is still to be composed.
public enum AccountEmail: Codable, Sendable {
    /// An e-mail to the address of a new account, with the token of the link.
    case verification(address: String, token: String)
    /// An e-mail to an address that a client has sent. The account is looked up when the e-mail is composed, so that
    /// the answer to the request does not depend on it.
    case reset(typed: String)
}

/// The e-mails about accounts: one that verifies an address, and one that resets a forgotten password.
public struct AccountEmails<Table: EmailAccountTable>: Sendable {
    public typealias ID = Table.ID
    /// Composes an e-mail with a token.
    public typealias Message = @Sendable (_ address: String, _ token: String) -> MailMessage

    /// The outbox of these e-mails.
    public let outbox: Outbox<AccountEmail>
    private let database: Database
    private let throttle: SignInThrottle
    private let time: TimeSource

    /// Makes the e-mails of one API.
    ///
    /// - Parameters:
    ///   - secret: The key that encrypts e-mails in the outbox; 32 bytes or more.
    ///   - report: Receives each failure (``Outbox/Report``).
    public init(
        database: Database, mailer: any Mailer, throttle: SignInThrottle, secret: Secret, time: TimeSource = .system,
        verification: @escaping Message, reset: @escaping Message, report: @escaping Outbox<AccountEmail>.Report
    ) {
        self.database = database
        self.throttle = throttle
        self.time = time
        outbox = Outbox(
            database: database, mailer: mailer, secret: secret, time: time,
            compose: { email in
                let now = time.milliseconds()
                switch email {
                case .verification(let address, let token):
                    let isValid = try await database.read {
                        try EmailTokens<ID>.verification.user(of: token, at: now, in: $0) != nil
                    }
                    return isValid ? verification(address, token) : nil
                case .reset(let typed):
                    // Each e-mail has a new token. Tokens of e-mails that were sent before, and may have arrived, stay
                    // valid.
                    let token = RandomToken.make()
                    return try await database.write { db in
                        try Self.makeResetToken(token, forOwnerOf: typed, at: now, in: db)
                    }.map { reset($0, token) }
                }
            }, report: report)
    }

    /// The statements that create the tables, for a new API's schema.
    public static var tables: [String] {
        EmailTokens<ID>.verification.tables + EmailTokens<ID>.reset.tables + Outbox<AccountEmail>.table
    }

    /// The times of the tables.
    public static var times: [StoredTime] {
        EmailTokens<ID>.verification.times + EmailTokens<ID>.reset.times + Outbox<AccountEmail>.times
    }

    // MARK: Verification

    /// Sends the e-mail that verifies the address of a new account, if the transaction commits.
    ///
    /// - Parameter token: A random token (``Identity/RandomToken``). The account's row must exist.
    public func sendVerification(
        to address: String, of user: ID, token: String, at now: Int64, in db: Session
    ) throws {
        try EmailTokens.verification.insert(token, of: user, at: now, in: db)
        try outbox.post(.verification(address: address, token: token), at: now, in: db)
    }

    /// Sends another verification e-mail, within the limits. The mailbox may belong to another person, who must not be
    /// flooded.
    ///
    /// - Throws: A `Problem` with 429 and `Retry-After` when this client has asked too often.
    public func sendVerificationAgain(
        to address: String, of user: ID, token: String, from client: ClientAddress, at now: Int64, in db: Session
    ) throws {
        guard try throttle.countEmail(to: Table.emailKey(address), from: client, at: now, in: db) else { return }
        try sendVerification(to: address, of: user, token: token, at: now, in: db)
    }

    /// Marks the address as verified.
    ///
    /// - Returns: False when the token is not valid.
    public func verify(_ token: String) async throws -> Bool {
        let now = time.milliseconds()
        return try await database.write { db in
            guard let user = try EmailTokens<ID>.verification.user(of: token, at: now, in: db) else { return false }
            try db.run("UPDATE \(Table.table) SET is_verified = 1 WHERE id = \(user)")
            return true
        }
    }

    // MARK: Forgotten passwords

    /// Sends an e-mail with a reset token to an address, if it has an account. The request does the same for every
    /// address.
    ///
    /// - Throws: A `Problem` with 429 and `Retry-After` when this client has asked too often.
    public func sendReset(to address: String, from client: ClientAddress) async throws {
        let now = time.milliseconds()
        try await database.write { [throttle, outbox] db in
            let mayBeSent = try throttle.countEmail(to: Table.emailKey(address), from: client, at: now, in: db)
            // The text is longer than any address.
            guard mayBeSent, address.length <= 254 else { return }
            try outbox.post(.reset(typed: address), at: now, in: db)
        }
    }

    /// Returns whether a reset token is valid. It should be called before a password is hashed, which takes long.
    public func isValid(resetToken token: String) async throws -> Bool {
        let now = time.milliseconds()
        return try await database.read { try EmailTokens<ID>.reset.user(of: token, at: now, in: $0) != nil }
    }

    /// Sets a new password by a reset token, and verifies the address: its owner has read the e-mail.
    ///
    /// - Parameters:
    ///   - password: The new password's hash.
    ///   - body: Ends the account's sessions.
    /// - Returns: False when the token is not valid, or has been used in the meantime.
    public func setPassword(
        _ password: String, byResetToken token: String, _ body: @escaping @Sendable (ID, Session) throws -> Void
    ) async throws -> Bool {
        let now = time.milliseconds()
        return try await database.write { db in
            // The second of two requests with the same token waits for the lock, and then finds no token.
            let tokens = EmailTokens<ID>.reset
            guard let user = try tokens.user(of: token, at: now, in: db), try Table.lock(user, in: db),
                try tokens.user(of: token, at: now, in: db) == user
            else { return false }
            try tokens.deleteAll(of: user, in: db)
            try db.run("UPDATE \(Table.table) SET password = \(password), is_verified = 1 WHERE id = \(user)")
            try body(user, db)
            return true
        }
    }

    /// - Returns: The account's address as it is stored; nil when no account has it.
    private static func makeResetToken(
        _ token: String, forOwnerOf address: String, at now: Int64, in db: Session
    ) throws -> String? {
        let account: (id: ID, email: String)? = try db.lock(
            "id, email", from: Table.table,
            where: "email_key = \(Table.emailKey(address)) AND \(Table.isPresent)"
        ) { (try $0.get(0), try $0.get(1)) }
        guard let account else { return nil }
        try EmailTokens.reset.insert(token, of: account.id, at: now, in: db)
        return account.email
    }

    /// Ends the tokens that set a new password, because the account has another password or address now.
    public static func endResets(of user: ID, in db: Session) throws {
        try EmailTokens.reset.deleteAll(of: user, in: db)
    }

    // // MARK: Deletion

    /// Deletes the tokens of an account that is deleted.
    public static func forget(_ user: ID, in db: Session) throws {
        try EmailTokens.verification.deleteAll(of: user, in: db)
        try EmailTokens.reset.deleteAll(of: user, in: db)
    }

    /// Deletes tokens that have expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try EmailTokens<ID>.verification.sweep(at: now, in: db)
        try EmailTokens<ID>.reset.sweep(at: now, in: db)
    }
}

/// The tokens in e-mails, which are random and stored as hashes.
struct EmailTokens<User: SQLConvertible & Sendable>: Sendable {
    private let name: String
    /// The lifetime of a token in milliseconds.
    private let lifetime: Int64

    private var table: SQL { SQL(trusted: name) }

    /// Tokens that verify an address.
    static var verification: Self { .init(name: "email_tokens", lifetime: 24 * 3_600_000) }
    /// Tokens that set a new password.
    static var reset: Self { .init(name: "reset_tokens", lifetime: 3_600_000) }

    var tables: [String] {
        [
            """
            CREATE TABLE \(name) (
                hash {BYTES} NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES users (id),
                expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX \(name)_of_user ON \(name) (user_id)",
            "CREATE INDEX \(name)_age ON \(name) (expires_at)",
        ]
    }

    var times: [StoredTime] { [StoredTime(name, "expires_at", window: lifetime)] }

    func insert(_ token: String, of user: User, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO \(table) (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + lifetime))
            """)
    }

    func user(of token: String, at now: Int64, in db: Session) throws -> User? {
        try db.value("SELECT user_id FROM \(table) WHERE hash = \(Digest.sha256(token)) AND expires_at > \(now)")
    }

    func deleteAll(of user: User, in db: Session) throws {
        try db.run("DELETE FROM \(table) WHERE user_id = \(user)")
    }

    func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM \(table) WHERE expires_at <= \(now)")
    }
}
