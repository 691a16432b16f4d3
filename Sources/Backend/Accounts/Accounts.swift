import Contract
import ContractServer
import Database
import HTTPTypes
import Identity

/// The accounts of one API: sign-up, sign-in, password confirmation, new passwords and deletion, within the limits on
/// guessing.
///
/// An API provides its own parts: the table and the contract's errors (`Table`), the row that a sign-up adds, and the
/// session that a sign-in begins (``TokenSessions`` or ``CookieSessions``).
///
/// ```swift
/// enum Users: PasswordAccountTable {
///     typealias ID = Library.User.ID
///     static let gone = Problem(.unauthorized, "Invalid or expired token")
///     static let wrongSignIn = Problem(.unauthorized, "Wrong name or password")
///     static let wrongPassword = Problem(.forbidden, "Wrong password")
/// }
///
/// func signIn(_ request: Library.SignIn, _ info: RequestInfo) async throws -> Library.Tokens {
///     let session = NewSession()
///     let user = try await accounts.signIn(
///         as: request.name, where: "name = \(request.name)", password: request.password, info
///     ) { user, now, db in
///         try sessions.begin(session, for: user, at: now, in: db)
///         return user
///     }
///     let access = try await sessions.accessToken(for: user, session: session.id)
///     return .init(access: access, refresh: session.refreshToken)
/// }
/// ```
public struct Accounts<Table: PasswordAccountTable>: Sendable {
    public typealias ID = Table.ID

    public let throttle: SignInThrottle
    private let check: PasswordCheck
    private let registration: Registration?
    private let database: Database
    private let errorMessages: ErrorMessages
    private let time: TimeSource

    /// Makes the accounts of one API.
    ///
    /// - Parameters:
    ///   - secret: The API's key for the digests of names and addresses.
    ///   - registration: Who may register. The API's schema then has ``Registration/tables``, and its table of accounts
    ///     ``Registration/termsColumn(of:)``. Nil for an API where everybody may.
    public init(
        _: Table.Type = Table.self, database: Database, passwords: Passwords, secret: Secret,
        limits: SignInThrottle.Limits = .init(), registration: Registration? = nil, errorMessages: ErrorMessages,
        time: TimeSource = .system
    ) {
        self.database = database
        self.registration = registration
        self.errorMessages = errorMessages
        self.time = time
        throttle = SignInThrottle(limits: limits, secret: secret, errorMessages: errorMessages)
        check = PasswordCheck(database: database, passwords: passwords, throttle: throttle)
    }

    /// The statements that create the tables that a new API needs besides its own table of accounts.
    public static var tables: [String] {
        SignInThrottle.tables + IdempotencyStore.table + IdempotencyStore.subjects
    }

    // MARK: Signing up and in

    /// Creates an account, once per idempotency key.
    ///
    /// - Parameters:
    ///   - applicant: What the person sends beside the account's fields; the version of the terms is kept with the account.
    ///   - signsIn: Whether a session begins with the account. The client's address is then known to the account.
    ///   - make: Adds the account's row with the password's hash, and the session if there is one. It throws when the
    ///     name is taken.
    /// - Returns: The answer; for a repeated request the stored one (``Contract/Answer/isReplay``).
    /// - Throws: A `Problem` with 429 and `Retry-After`; with 403 or 400 what ``Registration`` refuses; the errors of `make`.
    public func signUp<Output: Codable & Sendable>(
        password: String, _ info: RequestInfo, applicant: Applicant = Applicant(), signsIn: Bool,
        _ make: @escaping @Sendable (_ password: String, _ now: Int64, Session) throws -> (ID, Answer<Output>)
    ) async throws -> Answer<Output> {
        let now = time.milliseconds()
        if let replay = try await database.replay(
            info.idempotencyKey, errorMessages: errorMessages, at: now, as: Output.self)
        {
            return replay
        }
        let refusal = try await database.write { [throttle, registration] db in
            try throttle.countSignUp(from: info.address, at: now, in: db)
            return try registration?.refusal(of: applicant, from: info.address, throttle, at: now, in: db)
        }
        if let refusal { throw refusal }
        let password = try await check.hash(password, from: info.address)
        return try await database.write(info.idempotencyKey, errorMessages: errorMessages, at: now) {
            [throttle, registration] db in
            try registration?.admit(applicant, at: now, in: db)
            let (user, answer) = try make(password, now, db)
            if registration != nil, let terms = applicant.acceptedTerms {
                try db.run("UPDATE \(Table.table) SET accepted_terms = \(terms) WHERE id = \(user)")
            }
            if signsIn { try throttle.remember(info.address, of: Table.name(of: user), at: now, in: db) }
            try IdempotencyStore.note(info.idempotencyKey, about: [Table.name(of: user)], at: now, in: db)
            return answer
        }
    }

    /// Signs in with a name and a password.
    ///
    /// - Parameters:
    ///   - login: The name that the user gave, in the form in which names are compared.
    ///   - condition: The SQL condition that finds the account's row by that name.
    ///   - prepare: Prepares what `begin` needs and cannot do in a transaction.
    ///   - begin: Begins the session. It runs in a transaction in which the account exists and its password is
    ///     unchanged. It may refuse the account.
    /// - Throws: A `Problem` with 429 and `Retry-After`; ``PasswordAccountTable/wrongSignIn``; the errors of `prepare`
    ///   and `begin`.
    public func signIn<Prepared: Sendable, Output: Sendable>(
        as login: String, where condition: SQL, password: String, _ info: RequestInfo,
        prepare: (ID) async throws -> Prepared,
        begin: @escaping @Sendable (ID, Prepared, _ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await proceed(
            with: password, info, refusal: Table.wrongSignIn, countedAs: Table.name(ofUnknown: login),
            find: { try Table.credentials(where: condition, in: $0) }, prepare: prepare, body: begin)
    }

    /// Signs in with a name and a password, when nothing needs to be prepared.
    public func signIn<Output: Sendable>(
        as login: String, where condition: SQL, password: String, _ info: RequestInfo,
        begin: @escaping @Sendable (ID, _ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await signIn(
            as: login, where: condition, password: password, info, prepare: { _ in },
            begin: { user, _, now, db in try begin(user, now, db) })
    }

    /// Signs in to a known account with a password, for a repeated sign-up.
    public func signIn<Output: Sendable>(
        to user: ID, password: String, _ info: RequestInfo,
        begin: @escaping @Sendable (_ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await proceed(
            with: password, info, refusal: Table.gone, countedAs: Table.name(of: user),
            find: { try Table.credentials(where: "id = \(user)", in: $0) }, prepare: { _ in },
            body: { _, _, now, db in try begin(now, db) })
    }

    /// Verifies the password of a signed-in caller again, and runs an action. A wrong password counts as at a sign-in,
    /// so that a stolen session cannot be used to guess the password.
    ///
    /// - Parameter body: Runs in the transaction that has locked the account.
    /// - Throws: A `Problem` with 429 and `Retry-After`; ``PasswordAccountTable/wrongPassword``; ``AccountTable/gone``;
    ///   the errors of `body`.
    public func confirm<Output: Sendable>(
        _ password: String, of user: ID, _ info: RequestInfo,
        _ body: @escaping @Sendable (_ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await proceed(
            with: password, info, isSignIn: false, refusal: Table.wrongPassword, countedAs: Table.name(of: user),
            find: { try Self.credentials(ofCaller: user, in: $0) }, prepare: { _ in },
            body: { _, _, now, db in try body(now, db) })
    }

    /// Changes the password of a signed-in caller, once per idempotency key. A wrong present password counts as at a
    /// sign-in. The new password may be the present one.
    ///
    /// - Parameters:
    ///   - present: The present password.
    ///   - new: The new password, which the API's rules allow.
    ///   - body: Ends the account's other sessions. It runs in the transaction that changes the password and has locked
    ///     the account.
    /// - Returns: The answer of `body`; for a repeated request the stored one.
    /// - Throws: The errors of ``confirm(_:of:_:_:)``.
    public func changePassword<Output: Codable & Sendable>(
        of user: ID, from present: String, to new: String, _ info: RequestInfo,
        _ body: @escaping @Sendable (_ now: Int64, Session) throws -> Answer<Output>
    ) async throws -> Answer<Output> {
        let (key, now) = (info.idempotencyKey, time.milliseconds())
        if let replay = try await database.replay(key, errorMessages: errorMessages, at: now, as: Output.self) {
            return replay
        }
        do {
            return try await proceed(
                with: present, info, isSignIn: false, refusal: Table.wrongPassword, countedAs: Table.name(of: user),
                find: { try Self.credentials(ofCaller: user, in: $0) },
                prepare: { _ in try await check.hash(new, from: info.address) },
                write: { try await database.write(key, errorMessages: errorMessages, at: now, $0) },
                body: { _, password, now, db in
                    try db.run("UPDATE \(Table.table) SET password = \(password) WHERE id = \(user)")
                    return try body(now, db)
                })
        } catch let problem as Problem where problem.message == Table.wrongPassword.message {
            // Another node may have changed the password under the same key in the meantime.
            guard let replay = try await database.replay(key, errorMessages: errorMessages, at: now, as: Output.self)
            else { throw problem }
            return replay
        }
    }

    private static func credentials(ofCaller user: ID, in db: Session) throws -> Credentials<ID> {
        guard let credentials = try Table.credentials(where: "id = \(user)", in: db) else { throw Table.gone }
        return credentials
    }

    /// Verifies a password, then runs a transaction with the account locked, unless the account or its password has
    /// changed in the meantime.
    private func proceed<Prepared: Sendable, Output: Sendable>(
        with password: String, _ info: RequestInfo, isSignIn: Bool = true, refusal: Problem, countedAs unknown: String,
        find: @escaping @Sendable (Session) throws -> Credentials<ID>?, prepare: (ID) async throws -> Prepared,
        body: @escaping @Sendable (ID, Prepared, _ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        try await proceed(
            with: password, info, isSignIn: isSignIn, refusal: refusal, countedAs: unknown, find: find,
            prepare: prepare, write: { try await database.write($0) }, body: body)
    }

    /// Verifies a password, then runs a transaction as the other function of this name.
    ///
    /// - Parameter write: Runs a transaction.
    private func proceed<Prepared: Sendable, Output: Sendable>(
        with password: String, _ info: RequestInfo, isSignIn: Bool, refusal: Problem, countedAs unknown: String,
        find: @escaping @Sendable (Session) throws -> Credentials<ID>?, prepare: (ID) async throws -> Prepared,
        write: (@escaping @Sendable (Session) throws -> Output) async throws -> Output,
        body: @escaping @Sendable (ID, Prepared, _ now: Int64, Session) throws -> Output
    ) async throws -> Output {
        let now = time.milliseconds()
        let isGuarded = isSignIn && registration != nil
        return try await check.verify(
            password, from: info.address, at: now, refusal: refusal,
            find: { db in
                if isGuarded { try Bars.requireNone(from: info.address, in: db) }
                let found = try find(db)
                return .init(
                    found, countedAs: found.map { Table.name(of: $0.id) } ?? unknown, password: found?.password)
            },
            proceed: { account, verified in
                let prepared = try await prepare(account.id)
                return try await write { db in
                    guard try Table.lock(account.id, in: db) else { throw isSignIn ? refusal : Table.gone }
                    guard try Table.password(of: account.id, in: db) == account.password else { throw refusal }
                    try Table.requireUsable(account.id, at: now, in: db)
                    let output = try body(account.id, prepared, now, db)
                    try verified.complete(isSignIn: isSignIn, at: now, in: db)
                    return output
                }
            })
    }

    // // MARK: New passwords and deletion

    /// Hashes a new password, in the queue of the client's address.
    public func hash(_ password: String, from address: ClientAddress) async throws -> String {
        try await check.hash(password, from: address)
    }

    /// Deletes the data about an account besides its own rows: throttles, known addresses, and stored answers that
    /// mention it. The transaction that deletes the account calls it, and has locked the account.
    ///
    /// - Parameters:
    ///   - logins: The names with which the user signs in, in the form in which names are compared.
    ///   - email: The account's address, in the form in which addresses are compared, if the API sends e-mails.
    public func forget(_ user: ID, logins: [String], email: String? = nil, in db: Session) throws {
        try throttle.forget(
            account: Table.name(of: user), names: logins.map(Table.name(ofUnknown:)), email: email, in: db)
        try UploadThrottle.forget("\(user.rawValue)", in: db)
        try IdempotencyStore.forget(subject: Table.name(of: user), in: db)
    }

    /// The times of ``tables``.
    public static var times: [StoredTime] {
        IdempotencyStore.times + IdempotencyStore.timesOfSubjects + SignInThrottle.times
    }

    /// Deletes expired rows of ``tables``.
    ///
    /// - Parameter longer: The routes whose keys are remembered for longer than a day.
    public static func sweep(at now: Int64, keeping longer: [Route] = [], in db: Session) throws {
        try IdempotencyStore.sweep(at: now, keeping: longer, in: db)
        try IdempotencyStore.sweepSubjects(at: now, in: db)
        try SignInThrottle.sweep(at: now, in: db)
    }
}
