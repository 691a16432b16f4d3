import Backend
import Contract
import ContractServer
import Database
import DunbarAPI
import HTTPTypes
import Identity
import Mail
import ObjectStore

public typealias Caller = CookieSessions<Dunbar.User.ID>.Caller

/// The Dunbar API's behaviour. Each section of the contract is an extension in a file of its own.
public struct DunbarService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let accounts: Accounts<Users>
    let emails: AccountEmails<Users>
    let sessions: CookieSessions<Dunbar.User.ID>
    let uploadThrottle: UploadThrottle
    let images: ImageMaker
    let searches: CallerTurns<Dunbar.User.ID>
    let urls: PublicURLs
    let time: TimeSource
    let settings: Settings
    private let origins: OriginPolicy
    private let secret: [UInt8]

    public struct Settings: Sendable {
        /// What the URLs of files and of links in e-mails begin with, without a slash at its end and without `/api`.
        public var publicURL: String
        /// The origins of other sites whose pages may change something.
        public var origins: [String] = []
        /// The limits on guessing passwords, on making accounts and on asking for e-mails.
        public var attempts = SignInThrottle.Limits()
        /// What the files of one user's posts may take, in bytes.
        public var storageQuota: Int64 = 5 * 1024 * 1024 * 1024
        /// How many posts and photos one user may upload in an hour.
        public var uploadsPerHour = 500

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// What an image is to become.
    public enum ImageUse: Hashable, Sendable {
        /// A JPEG of at most 1024 by 1024 pixels.
        case profile
        /// An image of this type (``MediaType/jpeg`` for HEIC), of the same size.
        case post(MediaType)
    }

    /// Makes of the image file at a path, upright and without metadata, what it is to become; nil when it is no image
    /// that can be read. Throws ``ImageTooLarge``, and when it cannot tell now.
    public typealias ImageMaker =
        @Sendable (
            _ path: String, _ use: ImageUse, _ user: Dunbar.User.ID
        ) async throws -> [UInt8]?

    /// - Parameters:
    ///   - database: With ``schema``.
    ///   - objects: Keeps photos, pictures and videos.
    ///   - mailer: Takes the e-mails.
    ///   - secret: Keys the fingerprints of requests under an `Idempotency-Key`, and seals e-mails that wait.
    ///   - report: Receives each e-mail that was not sent: its number, the error, and whether it is tried again.
    public init(
        database: Database, objects: any ObjectStore, passwords: Passwords, images: @escaping ImageMaker,
        mailer: any Mailer, secret: [UInt8], time: TimeSource = .system, settings: Settings,
        report: @escaping @Sendable (_ email: Int64?, any Error, _ isTriedAgain: Bool) -> Void
    ) {
        self.database = database
        self.objects = objects
        self.sessions = CookieSessions(
            database: database,
            cookie: SessionCookie(
                name: "dunbar.session", isSecure: settings.publicURL.lowercased().hasPrefix("https:")),
            time: time)
        self.accounts = Accounts(
            database: database, passwords: passwords, secret: secret, limits: settings.attempts,
            phrases: Dunbar.phrases, time: time)
        self.uploadThrottle = UploadThrottle(limit: settings.uploadsPerHour, phrases: Dunbar.phrases)
        self.images = images
        let urls = PublicURLs(base: settings.publicURL, secret: secret, time: time)
        self.emails = AccountEmails(
            database: database, mailer: mailer, throttle: accounts.throttle, secret: secret, time: time,
            verification: { .verification(of: $0, link: urls.verification($1)) },
            reset: { .reset(of: $0, token: $1) }, report: report)
        self.searches = CallerTurns(atOnce: database.readsOfOneCaller)
        self.urls = urls
        self.time = time
        self.settings = settings
        self.origins = OriginPolicy([settings.publicURL] + settings.origins)
        self.secret = secret
    }

    /// Returns every operation with its handler, and the files.
    public func routes() -> Routes<Dunbar, Caller> {
        var routes = Routes<Dunbar, Caller>(
            spool: ObjectSpool(objects), secret: secret, name: { Users.name(of: $0.user) },
            admit: { [origins] in try origins.admit($0, Dunbar.phrases) },
            authenticate: { [sessions] info in
                guard let caller = try await sessions.caller(info.headers) else { throw Self.unauthorized }
                return caller
            }, headers: { _, caller in caller.headers })
        authentication(&routes)
        accounts(&routes)
        users(&routes)
        search(&routes)
        posts(&routes)
        reports(&routes)
        comments(&routes)
        follows(&routes)
        blocks(&routes)
        health(&routes)
        routes.serve(
            publicly: objects, under: "/" + MediaFile.folder, cacheControl: "private, max-age=86400, immutable",
            admit: admitToFile
        ) { MediaFile.type(of: $0)?.contentType }
        return routes
    }

    static let unauthorized = Problem(.unauthorized, "Unauthorized")

    /// Sends e-mails until the task is cancelled. One task for each node; without it they wait.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        started()
        await emails.outbox.run()
    }

    /// Sends the e-mails that are due now: for tests.
    public func sendDueEmails() async throws { try await emails.outbox.sendDue() }

    /// Looks at what the service depends on.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files") { try await objects.check() },
        ]
    }

    /// Makes people findable who are not yet: those of an older database, or made by an older node. To be called before
    /// the first request.
    public func prepare() async throws { try await UserSearch.bringUpToDate(database) }

    /// Forgets what has expired, and moves stored files that nothing shows to the trash. To be called now and then.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try Accounts<Users>.sweep(at: now, in: db)
            try CookieSessions<Dunbar.User.ID>.sweep(at: now, in: db)
            try AccountEmails<Users>.sweep(at: now, in: db)
            try UnsignedFiles.sweep(at: now, in: db)
            try FormerRows.sweep(at: now, in: db)
            try Rejections.sweep(at: now, in: db)
            try Reports.sweep(at: now, in: db)
        }
        try await sweepSizes()
        try await prepare()
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: now / 1000, keeping: references, limits: limits)
    }

    /// Makes a user an admin, or no longer one: for the operator.
    ///
    /// - Parameter username: In any case.
    /// - Returns: Whether there is such a user.
    public static func setAdmin(_ isAdmin: Bool, _ username: String, in database: Database) async throws -> Bool {
        try await database.write { db in
            try db.run("UPDATE users SET is_admin = \(isAdmin) WHERE username_key = \(Users.key(username))") > 0
        }
    }
}

/// Where what the server has is found from outside.
struct PublicURLs: Sendable {
    private let base: String
    private let signatures: ExpiringURLs
    private let time: TimeSource

    init(base: String, secret: [UInt8], time: TimeSource) {
        self.base = base
        self.time = time
        signatures = ExpiringURLs(secret: secret, purpose: "dunbar media")
    }

    /// Returns the URL of a stored file, for users who may see it now. It is valid for two days at most.
    func file(_ name: String) -> String {
        let path = Self.path(name)
        return "\(base)\(path)?\(signatures.query(for: path, at: time.milliseconds()))"
    }

    func verdict(on query: String?, forFile name: String) -> ExpiringURLs.Verdict {
        signatures.verdict(on: query, for: Self.path(name), at: time.milliseconds())
    }

    func verification(_ token: String) -> String { "\(base)\(Dunbar.basePath)/verify-email/\(token)" }

    private static func path(_ name: String) -> String { "/\(MediaFile.folder)/\(name)" }
}
