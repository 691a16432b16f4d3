import Backend
import Contract
import ContractServer
import Database
import GTSDAPI
import HTTPTypes
import Identity
import Mail
import ObjectStore
import TimeZones

/// Implements the GTSD API. Each section of the contract is an extension in a file of its own; rules that need no
/// database are in `Rules`.
public final class GTSDService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let accounts: Accounts<Users>
    let emails: AccountEmails<Users>
    let sessions: TokenSessions<UserID>
    let archives: Archives<Users>
    let refreshTokens: RefreshTokens<UserID>
    let people: People
    let uploadThrottle: UploadThrottle
    let requests: RateLimits
    let cache: TaskCache
    let time: TimeSource
    let makeID: @Sendable () -> String
    let settings: Settings
    /// Serializes uploads, confirmations and deletions of each key in the store.
    let uploadLocks = KeyedLock()
    private let secret: Secret

    public struct Settings: Sendable {
        /// The limits on guessing passwords and on creating accounts.
        public var attempts = SignInThrottle.Limits()
        /// The version of the terms that a person must accept who registers; nil for any or none.
        public var requiredTerms: String?
        /// The size in bytes that one user's photos may have together, including photos that are reserved.
        public var storageQuota: Int64 = 5 * 1024 * 1024 * 1024
        /// The number of photos that one user may presign in an hour.
        public var uploadsPerHour = 500

        public init() {}
    }

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - database: A database with ``schema``.
    ///   - objects: The store for progress photos.
    ///   - mailer: The mailer that sends e-mails.
    ///   - secret: The key that signs access tokens and encrypts e-mails that wait, with a former one that is still accepted.
    ///   - zones: The time zones that decide about users' days.
    ///   - makeID: Returns a new UUID of version 4, in lower case.
    ///   - report: Receives each e-mail that was not sent: its number, the error, and whether it is tried again.
    public init(
        database: Database, objects: any ObjectStore, passwords: Passwords, mailer: any Mailer, secret: Secret,
        zones: ZoneDatabase = .system, time: TimeSource = .system,
        makeID: @escaping @Sendable () -> String = RandomUUID.make,
        settings: Settings = .init(),
        report: @escaping @Sendable (_ email: Int64?, any Error, _ isTriedAgain: Bool) -> Void = { _, _, _ in }
    ) {
        self.database = database
        self.objects = objects
        self.accounts = Accounts(
            database: database, passwords: passwords, secret: secret, limits: settings.attempts,
            registration: Registration(requiredTerms: settings.requiredTerms) {
                GTSD.Validation.refusal(of: "acceptedTerms", $0)
            },
            errorMessages: GTSD.errorMessages, time: time)
        self.emails = AccountEmails(
            database: database, mailer: mailer, throttle: accounts.throttle, isGuarded: true, secret: secret,
            time: time,
            texts: AccountEmailTexts(of: "GTSD"), report: report)
        self.sessions = TokenSessions(
            database: database, secret: secret, issuer: "gtsd", rules: Self.sessionRules,
            time: time, owner: Self.owner)
        self.refreshTokens = RefreshTokens(sessions)
        self.people = People(zones: zones)
        self.archives = Archives(
            of: Self.archiveContents(in: database), database: database, objects: objects, time: time)
        self.uploadThrottle = UploadThrottle(limit: settings.uploadsPerHour, errorMessages: GTSD.errorMessages)
        self.requests = RateLimits(database, time: time)
        self.cache = TaskCache(time: time)
        self.time = time
        self.makeID = makeID
        self.settings = settings
        self.secret = secret
    }

    /// The body of `/health` and `/ready` when all is well.
    public static let healthyBody = #"{"success":true,"data":{"status":"ok"}}"#

    /// Returns every operation with its handler, and the file operations when files are in the data folder.
    public func routes() -> Routes<GTSD, Caller> {
        var routes = Routes<GTSD, Caller>(
            secrets: { [secret] in secret.bytes }, name: { Users.name(of: $0.user) }, authenticate: authenticate,
            headers: countRequest)
        auth(&routes)
        archive(&routes)
        sessions(&routes)
        recovery(&routes)
        tasks(&routes)
        photos(&routes)
        streaks(&routes)
        plans(&routes)
        onboarding(&routes)
        if let files = objects as? LocalObjectStore { routes.serve(files, receiving: uploads) }
        return routes
    }

    /// Checks the database and the object store.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files") { try await objects.check() },
        ]
    }

    /// The columns whose times are compared with the clock.
    public static var storedTimes: [StoredTime] {
        Accounts<Users>.times + Registration.times + RateLimits.times + RefreshTokens<UserID>.times(Self.sessionRules)
            + SessionNotes.times + AccountEmails<Users>.times() + Archives<Users>.times + [
                StoredTime("uploads", "url_expires_at", window: Self.urlLifetime * 1000),
                StoredTime("discarded_objects", "removed_at"), StoredTime("skipped_days", "skipped_at"),
            ]
    }

    /// Deletes rows that have expired, and moves stored objects that no photo names to the trash. It should run
    /// periodically.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try StoredTimes.bringBack(Self.storedTimes, at: now, in: db)
            try Accounts<Users>.sweep(at: now, keeping: [GTSD.SubmitEvidence.route], in: db)
            try Registration.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
            try RefreshTokens<UserID>.sweep(at: now, in: db)
            try AccountEmails<Users>.sweep(at: now, in: db)
        }
        return try await sweepObjects(limits: limits)
    }

    /// Activates or deactivates an account, for the operator: deactivated, it is suspended without an end or a reason
    /// (``Suspension``). The change takes effect within a second, on every node.
    ///
    /// - Parameter email: The account's address, in upper or lower case.
    /// - Returns: Whether there is such an account.
    public static func setActive(
        _ isActive: Bool, email: String, in database: Database, audit: Audit
    ) async throws -> Bool {
        let now = TimeSource.system.milliseconds()
        return try await database.write { db in
            let address = GTSD.SignUp.normal(email)
            guard let user: UserID = try db.lock("id", from: "users", where: "email = \(address)", { try $0.get(0) })
            else { return false }
            if isActive {
                try Users.restore(user, in: db)
            } else {
                let present = try Users.suspension(of: user, at: now, in: db)
                try Users.suspend(user, until: nil, reason: present?.reason ?? "", at: now, in: db)
            }
            try audit.record(address, in: db)
            return true
        }
    }
}

extension GTSD.TaskType: SQLConvertible {}
extension GTSD.EvidenceType: SQLConvertible {}
extension GTSD.PhotoStage: SQLConvertible {}
extension GTSD.BadgeType: SQLConvertible {}
extension GTSD.Goal: SQLConvertible {}
extension GTSD.Gender: SQLConvertible {}
extension GTSD.ActivityLevel: SQLConvertible {}

extension GTSD.Timestamp: SQLConvertible {
    public var sqlValue: SQLValue { .integer(milliseconds) }
    public init(column index: Int, of row: borrowing Row) throws {
        self.init(milliseconds: try Int64(column: index, of: row))
    }
}

extension TextIdentifier {
    /// Makes the id that the contract writes for a number in the database.
    init(number: Int64) { self.init(String(number)) }
}

extension GTSD.User.ID {
    /// Makes the id that the contract writes for a user.
    init(_ id: UserID) { self.init(number: id.rawValue) }
}
