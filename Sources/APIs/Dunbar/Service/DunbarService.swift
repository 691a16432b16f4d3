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

/// Implements the Dunbar API. Each section of the contract is an extension in a file of its own.
public final class DunbarService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let accounts: Accounts<Users>
    let emails: AccountEmails<Users>
    let sessions: CookieSessions<Dunbar.User.ID>
    let archives: Archives<Users>
    let uploadThrottle: UploadThrottle
    let images: ImageMaker
    let searches: CallerLimit<Dunbar.User.ID>
    /// The URLs in the answer to the present request. Ask for them before a transaction.
    var urls: PublicURLs { configuredURLs.inAnswer }
    private let configuredURLs: PublicURLs
    let time: TimeSource
    let settings: Settings
    private let origins: OriginPolicy
    private let secret: Secret

    public struct Settings: Sendable {
        /// The beginning of the URLs of files and of links in e-mails, without a slash at its end and without `/api`.
        public var publicURL: String
        /// The origins of other sites whose pages may make changes.
        public var origins: [String] = []
        /// The limits on guessing passwords, on creating accounts and on requesting e-mails.
        public var attempts = SignInThrottle.Limits()
        /// The version of the terms that a person must accept who registers; nil for any or none.
        public var requiredTerms: String?
        /// The words because of which the server reports a text.
        public var flaggedWords = FlaggedWords()
        /// The size that all files of one user's posts may have together, in bytes.
        public var storageQuota: Int64 = 5 * 1024 * 1024 * 1024
        /// The number of posts and photos that one user may upload in an hour.
        public var uploadsPerHour = 500

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// The purpose for which an uploaded image is converted.
    public enum ImageUse: Hashable, Sendable {
        /// A JPEG of at most 1024 by 1024 pixels.
        case profile
        /// An image of this type (``MediaType/jpeg`` for HEIC), of the same size.
        case post(MediaType)
    }

    /// Converts the image file at a path for its purpose, upright and without metadata. It returns nil when the file is
    /// not an image that can be read. It throws ``ImageTooLarge``, or another error when the converter does not work.
    public typealias ImageMaker =
        @Sendable (
            _ path: String, _ use: ImageUse, _ user: Dunbar.User.ID
        ) async throws -> [UInt8]?

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - database: A database with ``schema``.
    ///   - objects: The store for photos, pictures and videos.
    ///   - mailer: The mailer that sends e-mails.
    ///   - secret: The key for the fingerprints of requests under an `Idempotency-Key`, and for sealing e-mails that
    ///     wait.
    ///   - refusedOrigin: Receives the origin of each request that is refused because a page of another site has sent it.
    ///   - report: Receives each e-mail that was not sent: its number, the error, and whether it is tried again.
    public init(
        database: Database, objects: any ObjectStore, passwords: Passwords, images: @escaping ImageMaker,
        mailer: any Mailer, secret: Secret, time: TimeSource = .system, settings: Settings,
        refusedOrigin: @escaping @Sendable (_ origin: String) -> Void = { _ in },
        report: @escaping @Sendable (_ email: Int64?, any Error, _ isTriedAgain: Bool) -> Void
    ) {
        self.database = database
        self.objects = objects
        self.sessions = CookieSessions(
            database: database,
            cookie: SessionCookie(
                name: Dunbar.sessionCookie, isSecure: settings.publicURL.lowercased().hasPrefix("https:")),
            time: time, admit: { try Users.requireUsable($0, at: $1, in: $2) })
        self.accounts = Accounts(
            database: database, passwords: passwords, secret: secret, limits: settings.attempts,
            registration: Registration(requiredTerms: settings.requiredTerms),
            errorMessages: Dunbar.errorMessages, time: time)
        self.archives = Archives(
            of: Self.archiveContents(in: database), database: database, objects: objects, time: time)
        self.uploadThrottle = UploadThrottle(limit: settings.uploadsPerHour, errorMessages: Dunbar.errorMessages)
        self.images = images
        let urls = PublicURLs(base: settings.publicURL, secret: secret, time: time)
        self.emails = AccountEmails(
            database: database, mailer: mailer, throttle: accounts.throttle, isGuarded: true, secret: secret,
            time: time,
            texts: AccountEmailTexts(
                of: "Dunbar", verification: { .verification(of: $0, link: urls.verification($1)) },
                change: { .change(to: $0, link: urls.verification($1)) }), report: report)
        self.searches = CallerLimit(atOnce: database.readsOfOneCaller)
        self.configuredURLs = urls
        self.time = time
        self.settings = settings
        self.origins = OriginPolicy([settings.publicURL] + settings.origins, report: refusedOrigin)
        self.secret = secret
    }

    /// Returns every operation with its handler, and the files.
    public func routes() -> Routes<Dunbar, Caller> {
        var routes = Routes<Dunbar, Caller>(
            spool: ObjectSpool(objects), secrets: { [secret] in secret.bytes }, name: { Users.name(of: $0.user) },
            admit: { [origins] in try origins.admit($0, $1, Dunbar.errorMessages) },
            authenticate: { [sessions] info in
                guard let caller = try await sessions.caller(info.headers, from: info.address) else {
                    throw Self.unauthorized
                }
                return caller
            }, headers: { _, caller in caller.headers })
        authentication(&routes)
        accounts(&routes)
        archive(&routes)
        sessions(&routes)
        users(&routes)
        search(&routes)
        posts(&routes)
        reports(&routes)
        comments(&routes)
        follows(&routes)
        blocks(&routes)
        health(&routes)
        if let files = objects as? LocalObjectStore { routes.serve(files) }
        routes.serve(
            publicly: objects, under: "/" + MediaFile.folder, cacheControl: "private, max-age=86400, immutable",
            admit: admitToFile
        ) { MediaFile.type(of: $0)?.contentType }
        return routes
    }

    static let unauthorized = Problem(.unauthorized, "Unauthorized")

    /// Sends e-mails until the task is cancelled. Each node runs it in one task; e-mails wait while no node does.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        started()
        await emails.queue.run()
    }

    /// Sends the e-mails that are due now. It is for tests.
    public func sendDueEmails() async throws { try await emails.queue.sendDue() }

    /// Checks the database and the object store.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files") { try await objects.check() },
        ]
    }

    /// Adds users to the search index who are not in it yet: those of an older database, or created by a node of an
    /// older version. It must run before the first request.
    public func prepare() async throws { try await UserSearch.bringUpToDate(database) }

    /// The columns whose times are compared with the clock.
    public static var storedTimes: [StoredTime] {
        Accounts<Users>.times + Registration.times + CookieSessions<Dunbar.User.ID>.times + AccountEmails<Users>.times()
            + UnsignedFiles.times
            + FormerRows.times + Rejections.times + Reports.Queue.times + SessionNotes.times + Archives<Users>.times
    }

    /// Deletes rows that have expired, and moves stored files that no row names to the trash. It should run
    /// periodically.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try StoredTimes.bringBack(Self.storedTimes, at: now, in: db)
            try Accounts<Users>.sweep(at: now, keeping: [Dunbar.CreatePost.route], in: db)
            try Registration.sweep(at: now, in: db)
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
            olderThan: Self.orphanAge, at: now / 1000, keeping: ObjectReferences(Self.storedFiles, in: database),
            limits: limits)
    }

    /// Makes a user an admin or removes that right, for the operator.
    ///
    /// - Parameter username: The user's name, in upper or lower case.
    /// - Returns: Whether there is such a user.
    public static func setAdmin(
        _ isAdmin: Bool, _ username: String, in database: Database, audit: Audit
    ) async throws -> Bool {
        try await database.write { db in
            let isThere =
                try db.run(
                    "UPDATE users SET is_admin = \(isAdmin) WHERE username_key = \(Users.key(username))") > 0
            if isThere { try audit.record(username, in: db) }
            return isThere
        }
    }
}

/// The URLs of the API's files and links, as clients reach them.
struct PublicURLs: Sendable {
    private var base: String
    private let signatures: ExpiringURLs
    private let time: TimeSource

    init(base: String, secret: Secret, time: TimeSource) {
        self.base = base
        self.time = time
        signatures = ExpiringURLs(secret: secret, purpose: "dunbar media")
    }

    /// The same URLs, which begin as links in the answer to the present request do.
    var inAnswer: PublicURLs {
        var copy = self
        copy.base = LinkOrigin.current(else: base)
        return copy
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
