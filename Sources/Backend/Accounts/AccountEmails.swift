import Contract
import ContractServer
import Database
import Identity
import Mail

/// A table of accounts whose addresses are verified by e-mail, and whose passwords can be reset by one. It has a column
/// `email`.
public protocol EmailAccountTable: PasswordAccountTable {
    /// Returns an address in the form in which addresses are compared.
    static func emailKey(_ address: String) -> String
    /// The column that has the address in that form; nil where `email` has it.
    static var emailKeyColumn: SQL? { get }
    /// The column that says whether the address is verified; nil for an API that does not keep that.
    static var verifiedColumn: SQL? { get }
}

extension EmailAccountTable {
    public static var emailKeyColumn: SQL? { "email_key" }
    public static var verifiedColumn: SQL? { "is_verified" }

    /// The condition that finds the account of an address.
    static func has(_ key: String) -> SQL { "\(emailKeyColumn ?? "email") = \(key)" }

    /// The assignment that marks the address as verified, to be added to others.
    static var verifying: SQL { verifiedColumn.map { ", \($0) = 1" } ?? "" }
}

/// An e-mail in the queue that is still to be composed.
public enum AccountEmail: Codable, Sendable {
    /// An e-mail to the address of a new account, with the token of the link.
    case verification(address: String, token: String)
    /// An e-mail to an address that a client has sent. The account is looked up when the e-mail is composed, so that
    /// the answer to the request does not depend on it.
    case reset(typed: String)
    /// An e-mail to an address that is to become an account's, with the token that confirms it.
    case change(address: String, token: String)
    /// An e-mail to the present address of an account that is to have another one.
    case changeNotice(address: String)
    /// An e-mail with a token by which an operator helps a user to a new password.
    case help(address: String, token: String)
    /// An e-mail of an operator, whose text is ready.
    case letter(api: String, address: String, subject: String, text: String)
}

/// The texts of an API's e-mails about accounts.
public struct AccountEmailTexts: Sendable {
    /// Composes an e-mail with a token.
    public typealias Text = @Sendable (_ address: String, _ token: String) -> MailMessage

    /// Verifies the address of a new account; nil for an API that does not ask for that.
    var verification: Text?
    /// Resets a forgotten password.
    var reset: Text
    /// Helps a user to a new password, for whom an operator has made a token.
    var help: Text
    /// Confirms another address of an account.
    var change: Text
    /// Tells the present address of an account that it is to have another one.
    var changeNotice: @Sendable (_ address: String) -> MailMessage

    /// Makes texts.
    public init(
        verification: Text?, reset: @escaping Text, help: @escaping Text, change: @escaping Text,
        changeNotice: @escaping @Sendable (_ address: String) -> MailMessage
    ) {
        self.verification = verification
        self.reset = reset
        self.help = help
        self.change = change
        self.changeNotice = changeNotice
    }

    /// Makes the texts of an API, which name it.
    ///
    /// - Parameters:
    ///   - verification: The e-mail to a new account's address; nil for none.
    ///   - change: The e-mail that confirms another address; nil for one whose token is typed into the app.
    public init(of api: String, verification: Text? = nil, change: Text? = nil) {
        self.verification = verification
        reset = { .reset(passwordOf: api, to: $0, token: $1) }
        help = { .help(withPasswordOf: api, to: $0, token: $1) }
        self.change = change ?? { .change(addressOf: api, to: $0, token: $1) }
        changeNotice = { .notice(ofChangeIn: api, to: $0) }
    }
}

/// The e-mails about accounts: those that verify an address, and one that resets a forgotten password.
public struct AccountEmails<Table: EmailAccountTable>: Sendable {
    public typealias ID = Table.ID
    /// The queue of these e-mails.
    public let queue: JobQueue<AccountEmail>
    private let database: Database
    private let throttle: SignInThrottle
    private let isGuarded: Bool
    private let time: TimeSource

    /// Makes the e-mails of one API.
    ///
    /// - Parameters:
    ///   - table: The name of the queue's table, for an API that has another queue.
    ///   - isGuarded: Whether the operator may bar addresses: the API's schema has ``Registration/tables``.
    ///   - secret: The key that encrypts e-mails in the queue; 32 bytes or more.
    ///   - report: Receives each failure (``JobQueue/Report``).
    public init(
        database: Database, table: String = "outbox", mailer: any Mailer, throttle: SignInThrottle,
        isGuarded: Bool = false,
        secret: Secret, time: TimeSource = .system, texts: AccountEmailTexts,
        report: @escaping JobQueue<AccountEmail>.Report
    ) {
        self.database = database
        self.throttle = throttle
        self.isGuarded = isGuarded
        self.time = time
        queue = JobQueue(
            database: database, table: table, mailer: mailer, secret: secret, time: time,
            compose: { email in
                let now = time.milliseconds()
                switch email {
                case .verification(let address, let token):
                    let isValid = try await database.read {
                        try EmailTokens<ID>.verification.user(of: token, at: now, in: $0) != nil
                    }
                    return isValid ? texts.verification?(address, token) : nil
                case .reset(let typed):
                    // Each e-mail has a new token. Tokens of e-mails that were sent before, and may have arrived, stay
                    // valid.
                    let token = RandomToken.make()
                    return try await database.write { db in
                        try Self.makeResetToken(token, forOwnerOf: typed, at: now, in: db)
                    }.map { texts.reset($0, token) }
                case .change(let address, let token):
                    let isValid = try await database.read {
                        try AddressChange<Table>.one(token, at: now, in: $0) != nil
                    }
                    return isValid ? texts.change(address, token) : nil
                case .changeNotice(let address): return texts.changeNotice(address)
                case .help(let address, let token):
                    let isValid = try await database.read {
                        try EmailTokens<ID>.reset.user(of: token, at: now, in: $0) != nil
                    }
                    return isValid ? texts.help(address, token) : nil
                case .letter(let api, let address, let subject, let text):
                    return MailMessage(from: api, to: address, subject: subject, text: text)
                }
            }, report: report)
    }

    /// The statements that create the tables, for a new API's schema.
    ///
    /// - Parameter outbox: The name of the outbox's table.
    public static func tables(outbox: String = "outbox") -> [String] {
        EmailTokens<ID>.verification.tables + EmailTokens<ID>.reset.tables + changes
            + JobQueue<AccountEmail>.table(named: outbox)
    }

    /// The statements that create the table of addresses that are still to be confirmed, for the schema of an API that had the
    /// others before.
    public static var changes: [String] { AddressChange<Table>.table }

    /// The times of the tables.
    public static func times(outbox: String = "outbox") -> [StoredTime] {
        EmailTokens<ID>.verification.times + EmailTokens<ID>.reset.times + AddressChange<Table>.times
            + JobQueue<AccountEmail>.times(of: outbox)
    }

    // MARK: Verification

    /// Sends the e-mail that verifies the address of a new account, if the transaction commits.
    ///
    /// - Parameter token: A random token (``Identity/RandomToken``). The account's row must exist.
    public func sendVerification(
        to address: String, of user: ID, token: String, at now: Int64, in db: Session
    ) throws {
        try EmailTokens.verification.insert(token, of: user, at: now, in: db)
        try queue.post(.verification(address: address, token: token), at: now, in: db)
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
            if let column = Table.verifiedColumn {
                try db.run("UPDATE \(Table.table) SET \(column) = 1 WHERE id = \(user)")
            }
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
        try await database.write { [throttle, queue] db in
            let mayBeSent = try throttle.countEmail(to: Table.emailKey(address), from: client, at: now, in: db)
            // The text is longer than any address.
            guard mayBeSent, address.length <= 254 else { return }
            try queue.post(.reset(typed: address), at: now, in: db)
        }
    }

    /// Makes a reset token for a user whom an operator helps. It is valid for 15 minutes, and as the user's own for one
    /// reset.
    ///
    /// - Parameters:
    ///   - token: A random token (``Identity/RandomToken``).
    ///   - isSent: Whether it is sent to the account's address.
    /// - Returns: The account's address.
    public func makeReset(
        _ token: String, of user: ID, isSent: Bool, at now: Int64, in db: Session
    ) throws -> String {
        guard let email: String = try db.value("SELECT email FROM \(Table.table) WHERE id = \(user)") else {
            throw Table.gone
        }
        try EmailTokens.reset.insert(token, of: user, for: ResetToken.lifetimeOfHelp, at: now, in: db)
        if isSent { try queue.post(.help(address: email, token: token), at: now, in: db) }
        return email
    }

    /// Returns whether a reset token is valid. It should be called before a password is hashed, which takes long.
    public func isValid(resetToken token: String) async throws -> Bool {
        let now = time.milliseconds()
        return try await database.read { db in
            guard let user = try EmailTokens<ID>.reset.user(of: token, at: now, in: db) else { return false }
            return try Self.isUsable(user, at: now, in: db)
        }
    }

    private static func isUsable(_ user: ID, at now: Int64, in db: Session) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM \(Table.table)
            WHERE id = \(user) AND \(Table.isPresent) AND \(Table.isUsable(at: now))
            """)
    }

    /// Sets a new password by a reset token, and verifies the address.
    ///
    /// - Parameters:
    ///   - validate: Throws when the new password is not allowed. A valid token stays valid then.
    ///   - body: Ends the account's sessions.
    /// - Returns: False when the token is not valid, or has been used in the meantime.
    public func reset(
        to password: String, by token: String, _ accounts: Accounts<Table>, from client: ClientAddress,
        validate: () throws -> Void = {}, _ body: @escaping @Sendable (ID, Session) throws -> Void
    ) async throws -> Bool {
        guard try await isValid(resetToken: token) else { return false }
        try validate()
        let hash = try await accounts.hash(password, from: client)
        return try await setPassword(hash, byResetToken: token, body)
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
                try tokens.user(of: token, at: now, in: db) == user, try Self.isUsable(user, at: now, in: db)
            else { return false }
            try Self.endResets(of: user, in: db)
            try db.run(
                "UPDATE \(Table.table) SET password = \(password)\(Table.verifying) WHERE id = \(user)")
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
            where: """
                \(Table.has(Table.emailKey(address))) AND \(Table.isPresent) AND \(Table.isUsable(at: now))
                """
        ) { (try $0.get(0), try $0.get(1)) }
        guard let account else { return nil }
        try EmailTokens.reset.insert(token, of: account.id, at: now, in: db)
        return account.email
    }

    /// Ends the tokens that set a new password or confirm another address, because the account has another password now:
    /// another user may have asked for them, who knew the old one.
    public static func endResets(of user: ID, in db: Session) throws {
        try EmailTokens.reset.deleteAll(of: user, in: db)
        try AddressChange<Table>.forget(user, in: db)
    }

    // MARK: Another address

    /// Sends an e-mail that confirms another address of an account, and tells the present one, if the transaction commits.
    /// Only the last address that was asked for can be confirmed.
    ///
    /// - Parameters:
    ///   - address: The new address, trimmed.
    ///   - token: A random token (``Identity/RandomToken``).
    ///   - taken: The error for an address that another account has.
    /// - Throws: `taken`; ``Bars/barredEmail``; a `Problem` with 429 and `Retry-After` when this client has asked too often.
    public func sendChange(
        to address: String, of user: ID, token: String, from client: ClientAddress, taken: Problem, at now: Int64,
        in db: Session
    ) throws {
        let key = Table.emailKey(address)
        if isGuarded, try Bars.holds(against: address, in: db) { throw Bars.barredEmail }
        guard try AddressChange<Table>.isFree(key, for: user, in: db) else { throw taken }
        guard try throttle.countEmail(to: key, from: client, at: now, in: db) else { return }
        let present: String? = try db.value("SELECT email FROM \(Table.table) WHERE id = \(user)")
        try AddressChange<Table>.insert(address, key, of: user, token: token, at: now, in: db)
        try queue.post(.change(address: address, token: token), at: now, in: db)
        if let present, Table.emailKey(present) != key {
            try queue.post(.changeNotice(address: present), at: now, in: db)
        }
    }

    /// The result of confirming another address.
    public enum Confirmation: Sendable {
        case changed
        /// The token is not valid, or has been used.
        case refused
        /// Another account has got the address in the meantime.
        case taken
    }

    /// Gives an account the address that a token confirms, and verifies it. Tokens in e-mails to the former address end.
    ///
    /// - Parameter body: Changes what else depends on the address.
    public func confirmChange(
        _ token: String, _ body: @escaping @Sendable (ID, _ now: Int64, Session) throws -> Void = { _, _, _ in }
    ) async throws -> Confirmation {
        let now = time.milliseconds()
        do {
            return try await database.write { try self.confirmChange(token, at: now, in: $0, body) }
        } catch {
            // The other account's change may have been committed at the same time.
            let isTaken = try await database.read { db in
                guard let change = try AddressChange<Table>.one(token, at: now, in: db) else { return false }
                return try !AddressChange<Table>.isFree(change.key, for: change.user, in: db)
            }
            guard isTaken else { throw error }
            return .taken
        }
    }

    private func confirmChange(
        _ token: String, at now: Int64, in db: Session, _ body: (ID, _ now: Int64, Session) throws -> Void
    ) throws -> Confirmation {
        // The second of two requests with the same token waits for the lock, and then finds no token.
        guard let user = try AddressChange<Table>.one(token, at: now, in: db)?.user, try Table.lock(user, in: db),
            let change = try AddressChange<Table>.one(token, at: now, in: db), change.user == user,
            try Self.isUsable(user, at: now, in: db)
        else { return .refused }
        if isGuarded, try Bars.holds(against: change.address, in: db) { return .refused }
        guard try AddressChange<Table>.isFree(change.key, for: user, in: db) else { return .taken }
        let former: String? = try db.value("SELECT email FROM \(Table.table) WHERE id = \(user)")
        let key: SQL = Table.emailKeyColumn.map { ", \($0) = \(change.key)" } ?? ""
        let address = Table.emailKeyColumn == nil ? change.key : change.address
        try db.run("UPDATE \(Table.table) SET email = \(address)\(key)\(Table.verifying) WHERE id = \(user)")
        try EmailTokens<ID>.verification.deleteAll(of: user, in: db)
        try Self.endResets(of: user, in: db)
        // Nothing of the former address stays behind when the account is deleted.
        if let former { try throttle.forget(email: Table.emailKey(former), in: db) }
        try body(user, now, db)
        return .changed
    }

    // MARK: E-mails of operators

    /// Sends an e-mail to the address of an account, if the transaction commits.
    ///
    /// - Parameter api: The API's title.
    /// - Returns: False when the account was deleted, or its address is not verified where the API keeps that.
    public func send(
        _ letter: ModerationLetter, of api: String, to user: ID, at now: Int64, in db: Session
    ) throws -> Bool {
        let isVerified: SQL = Table.verifiedColumn.map { "AND \($0) = 1" } ?? ""
        let address: String? = try db.value(
            "SELECT email FROM \(Table.table) WHERE id = \(user) AND \(Table.isPresent) \(isVerified)")
        guard let address, !address.isEmpty else { return false }
        try queue.post(
            .letter(api: api, address: address, subject: letter.subject, text: letter.text(of: api)), at: now, in: db)
        return true
    }

    // MARK: Deletion

    /// Deletes the tokens of an account that is deleted, and the count of e-mails to an address that it was to have.
    public static func forget(_ user: ID, _ throttle: SignInThrottle, in db: Session) throws {
        if let key = try AddressChange<Table>.key(of: user, in: db) { try throttle.forget(email: key, in: db) }
        try EmailTokens.verification.deleteAll(of: user, in: db)
        try endResets(of: user, in: db)
    }

    /// Deletes tokens that have expired.
    public static func sweep(at now: Int64, in db: Session) throws {
        try EmailTokens<ID>.verification.sweep(at: now, in: db)
        try EmailTokens<ID>.reset.sweep(at: now, in: db)
        try AddressChange<Table>.sweep(at: now, in: db)
    }
}

/// The address that an account is to have once its owner has confirmed it; at most one of each account.
enum AddressChange<Table: EmailAccountTable> {
    struct Pending {
        let user: Table.ID
        let address: String
        let key: String
    }

    /// The lifetime of a token in milliseconds.
    private static var lifetime: Int64 { 24 * 3_600_000 }

    static var table: [String] {
        [
            """
            CREATE TABLE email_changes (
                user_id BIGINT NOT NULL PRIMARY KEY REFERENCES users (id), hash {BYTES} NOT NULL UNIQUE,
                email TEXT NOT NULL, email_key {KEY} NOT NULL, expires_at BIGINT NOT NULL)
            """,
            "CREATE INDEX email_changes_age ON email_changes (expires_at)",
        ]
    }

    static var times: [StoredTime] { [StoredTime("email_changes", "expires_at", window: lifetime)] }

    static func insert(
        _ address: String, _ key: String, of user: Table.ID, token: String, at now: Int64, in db: Session
    ) throws {
        try forget(user, in: db)
        try db.run(
            """
            INSERT INTO email_changes (user_id, hash, email, email_key, expires_at)
            VALUES (\(user), \(Digest.sha256(token)), \(address), \(key), \(now + lifetime))
            """)
    }

    static func one(_ token: String, at now: Int64, in db: Session) throws -> Pending? {
        try db.one(
            """
            SELECT user_id, email, email_key FROM email_changes
            WHERE hash = \(Digest.sha256(token)) AND expires_at > \(now)
            """
        ) { Pending(user: try $0.get(0), address: try $0.get(1), key: try $0.get(2)) }
    }

    /// Returns whether no other account has an address.
    static func isFree(_ key: String, for user: Table.ID, in db: Session) throws -> Bool {
        try !db.exists(
            "SELECT 1 FROM \(Table.table) WHERE \(Table.has(key)) AND id <> \(user)")
    }

    /// Returns the address that an account is to have, in the form in which addresses are compared.
    static func key(of user: Table.ID, in db: Session) throws -> String? {
        try db.value("SELECT email_key FROM email_changes WHERE user_id = \(user)")
    }

    static func forget(_ user: Table.ID, in db: Session) throws {
        try db.run("DELETE FROM email_changes WHERE user_id = \(user)")
    }

    static func sweep(at now: Int64, in db: Session) throws {
        try db.run("DELETE FROM email_changes WHERE expires_at <= \(now)")
    }
}

/// The tokens that set a new password.
enum ResetToken {
    /// The time in milliseconds for which a token is valid that was asked for in the app.
    static let lifetime: Int64 = 3_600_000
    /// The time in milliseconds for which a token is valid that an operator has made.
    static let lifetimeOfHelp: Int64 = 15 * 60_000
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
    static var reset: Self { .init(name: "reset_tokens", lifetime: ResetToken.lifetime) }

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

    /// - Parameter shorter: The time in milliseconds for which the token is valid, if it is not the usual one.
    func insert(_ token: String, of user: User, for shorter: Int64? = nil, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO \(table) (hash, user_id, expires_at)
            VALUES (\(Digest.sha256(token)), \(user), \(now + (shorter ?? lifetime)))
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
