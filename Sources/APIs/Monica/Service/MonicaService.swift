import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Identity
import Logging
import Mail
import MonicaAPI
import ObjectStore
import TimeZones

/// Implements the Monica API. Each section of the contract is an extension in a file of its own.
public final class MonicaService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let tokens: Tokens
    let archives: Archives<Accounts>
    let searches: CallerLimit<AccountID>
    let zones: ZoneDatabase
    let files: FileServer
    let photoMaker: PhotoMaker
    let initialsMaker: InitialsMaker
    let drawnInitials = BoundedCache<String, [UInt8]>(capacity: Initials.kept)
    let uploadThrottle: UploadThrottle
    let limits: Limits
    /// The e-mails about reminders; nil in a service that sends none.
    let reminderEmails: ReminderEmails?
    let time: TimeSource
    let makeID: @Sendable () -> String
    let publicURL: String
    let logger: Logger
    private let secret: Secret

    public struct Settings: Sendable {
        /// The beginning of absolute URLs, without `/api` and without a slash at its end.
        public var publicURL: String
        public var limits = Limits()

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// The numbers of requests that a client may send in a minute, and what one account may store.
    public struct Limits: Sendable {
        /// The limit for contacts and exports, for each token.
        public var contactRequests = 100
        /// The limit for all other operations together, for each token.
        public var otherRequests = 200
        /// The limit for requests with wrong tokens, for each address.
        public var wrongTokens = 10
        /// The size that all photos and documents of one account may have together, in bytes.
        public var storageQuota: Int64 = 5 * 1024 * 1024 * 1024
        /// The number of photos and documents that one account may upload in an hour.
        public var uploadsPerHour = 500
        /// The time after which an import tries a photo again that could not be converted beside the owner's others.
        var pauseOfImports = Duration.seconds(5)

        public init() {}
    }

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - database: A database with ``schema``.
    ///   - objects: The store for photos, documents and archives.
    ///   - photos: Writes photos again without metadata.
    ///   - initials: Draws the pictures of contacts that have none, for apps of Monica 4.
    ///   - mailer: The mailer that sends e-mails about reminders; nil for a service that sends none.
    ///   - secret: The key for the fingerprints of requests under an `Idempotency-Key`, for links to photos, and for e-mails
    ///     that wait.
    ///   - zones: The time zones that decide about accounts' days.
    ///   - makeID: Returns a new UUID of version 4, in lower case.
    ///   - logger: Logs the failures of background work. By default they are not logged.
    public init(
        database: Database, objects: any ObjectStore, photos: @escaping PhotoMaker,
        initials: @escaping InitialsMaker, mailer: (any Mailer)? = nil, secret: Secret,
        zones: ZoneDatabase = .system, time: TimeSource = .system,
        makeID: @escaping @Sendable () -> String = RandomUUID.make, settings: Settings,
        logger: Logger = Logger(label: "monica") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.database = database
        self.objects = objects
        self.secret = secret
        self.zones = zones
        files = FileServer(objects, secret: secret, publicURL: settings.publicURL, time: time)
        photoMaker = photos
        initialsMaker = initials
        uploadThrottle = UploadThrottle(limit: settings.limits.uploadsPerHour, errorMessages: Monica.errorMessages)
        limits = settings.limits
        reminderEmails = mailer.map { mailer in
            ReminderEmails(database: database, mailer: mailer, secret: secret, zones: zones, time: time) {
                logger.logUnsentEmail($0, $1, isTriedAgain: $2)
            }
        }
        self.time = time
        self.makeID = makeID
        self.logger = logger
        publicURL = settings.publicURL
        searches = CallerLimit(atOnce: database.readsOfOneCaller)
        tokens = Tokens(database: database, time: time, limits: settings.limits)
        let exporter = Exporter(database: database, baseURL: settings.publicURL, files: files, time: time)
        archives = Archives(
            of: Self.archiveContents(from: exporter), database: database, objects: objects, time: time)
    }

    /// Returns every operation with its handler.
    public func routes() -> Routes<Monica, Caller> {
        var routes = Routes<Monica, Caller>(
            spool: ObjectSpool(objects), secrets: { [secret] in secret.bytes }, name: { "account \($0.account)" },
            authenticate: tokens.caller, headers: tokens.count, dialects: dialect(of:))
        contacts(&routes)
        merges(&routes)
        relationships(&routes)
        lists(&routes, of: Monica.Activity.self)
        activities(&routes)
        lists(&routes, of: Monica.Note.self)
        notes(&routes)
        lists(&routes, of: Monica.Task.self)
        tasks(&routes)
        lists(&routes, of: Monica.Gift.self)
        gifts(&routes)
        phoneCalls(&routes)
        conversations(&routes)
        reminders(&routes)
        debts(&routes)
        pets(&routes)
        lifeEvents(&routes)
        photos(&routes)
        initials(&routes)
        documents(&routes)
        journal(&routes)
        contactFields(&routes)
        addresses(&routes)
        tags(&routes)
        genders(&routes)
        activityTypes(&routes)
        currencies(&routes)
        account(&routes)
        personalTokens(&routes)
        archive(&routes)
        signIn(&routes)
        if let store = objects as? LocalObjectStore { routes.serve(store) }
        return routes
    }

    /// Checks the database and the object store.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files", isNeeded: false) { try await objects.check() },
        ]
    }

    /// The age in seconds from which an object without a row belongs to an upload that failed, or to an archive that was not
    /// finished.
    static let orphanAge: Int64 = 3600

    public static let storedFiles = [
        StoredFileColumn("photos", "object_key", newest: "id"),
        StoredFileColumn("documents", "object_key", newest: "id"), Archives<Accounts>.files,
    ]

    /// Adds the contacts of an older database to the search index. It must run before the first request.
    public func prepare() async throws { try await ContactSearch.bringUpToDate(database) }

    /// Finishes imports that have stopped, and sends e-mails about reminders, until the task is cancelled.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        started()
        async let reminders: Void = sendReminders()
        await repeatedly("cleaning up imports", every: .seconds(10)) { try await cleanUpImports() }
        await reminders
    }

    /// Does something until the task is cancelled, with a pause behind each time.
    func repeatedly(_ work: String, every pause: Duration, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do { try await body() } catch {
                if !Task.isCancelled { logger.warning("\(work) failed", metadata: ["error": "\(error)"]) }
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// The columns whose times are compared with the clock.
    public static var storedTimes: [StoredTime] {
        IdempotencyStore.times + RateLimits.times + UploadThrottle.times + Archives<Accounts>.times
            + JobQueue<ReminderEmail>.times + SignIn.times
            + [StoredTime("tokens", "last_used_at"), Merges.time]
    }

    /// Deletes rows that have expired, and moves stored objects that no row names to the trash. It should run periodically.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try StoredTimes.bringBack(Self.storedTimes, at: now, in: db)
            try IdempotencyStore.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
            try SignIn.sweep(at: now, in: db)
            try Merges.sweep(at: now, in: db)
            try UploadThrottle.sweep(at: now, in: db)
            try ContactDetails.completeAddresses(in: db)
        }
        try await removeDeletedAccounts(for: .seconds(60))
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: now / 1000, keeping: ObjectReferences(Self.storedFiles, in: database),
            limits: limits)
    }

    /// Returns the form of a caller's answers.
    @Sendable private func dialect(of caller: Caller) -> (any Dialect)? {
        guard caller.dialect == .monica4 else { return nil }
        return Monica4(for: caller.account, baseURL: baseURL, links: files.links, in: database)
    }

    /// The beginning of absolute URLs in the answer to the present request.
    private var baseURL: String { LinkOrigin.current(else: publicURL) + Monica.basePath }

    /// Returns a function that makes the loader of an account's records for a transaction. Ask for it before the
    /// transaction: the records' URLs begin as links in the answer to the present request do.
    func loader(of account: AccountID) -> @Sendable (Session) -> RecordLoader {
        return { [zones, baseURL, links = files.links] in
            RecordLoader(account: account, baseURL: baseURL, links: links, zones: zones, db: $0)
        }
    }

    /// Creates a resource, once per `Idempotency-Key`.
    func create<Item: Monica.Writable>(
        _ request: Monica.Create<Item>, for caller: Caller, _ info: RequestInfo,
        _ write: @escaping @Sendable (RecordLoader, Monica.Form, _ now: Int64) throws -> Item?
    ) async throws -> Answer<APIResponse<Item>> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, errorMessages: Monica.errorMessages, at: now) {
            [loader = loader(of: caller.account)] db in
            guard let item = try write(loader(db), request.form, now) else {
                throw Monica.Problems.notFound(Item.singular)
            }
            return Answer(Monica.Create<Item>.route.status, APIResponse(data: item))
        }
    }

    /// Changes a resource of the caller.
    ///
    /// - Parameter write: Changes the resource, with a loader of the account's own records. It returns nil when there
    ///   is no such resource.
    func update<Item: Monica.Resource>(
        _ type: Item.Type, for caller: Caller,
        _ write: @escaping @Sendable (RecordLoader, _ now: Int64) throws -> Item?
    ) async throws -> APIResponse<Item> {
        let now = time.milliseconds()
        return try await database.write { [loader = loader(of: caller.account)] db in
            guard let item = try write(loader(db), now) else {
                throw Monica.Problems.notFound(Item.singular)
            }
            return APIResponse(data: item)
        }
    }
}
