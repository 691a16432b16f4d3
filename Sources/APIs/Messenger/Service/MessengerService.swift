import Backend
import Contract
import ContractServer
import Database
import EventBus
import HTTPTypes
import Identity
import Logging
import Mail
import MessengerAPI
import NIOCore
import ObjectStore
import Push
import WebSockets

/// Implements the Messenger API. Each section of the contract is an extension in a file of its own.
public final class MessengerService: FileStoringService {
    /// The table of the queue of e-mails; that of notifications has the usual name.
    static let emailTable = "email_outbox"

    let database: Database
    let objects: any ObjectStore
    let accounts: Accounts<Users>
    let emails: AccountEmails<Users>
    let sessions: TokenSessions<Messenger.User.ID>
    let archives: Archives<Users>
    let uploadThrottle: UploadThrottle
    let hub: LiveHub
    let publisher: Publisher
    /// Answers the other nodes which users listen to a chat.
    private let attendance: Attendance
    let sends: SharedWrites<Sends.Waiting, Answer<Messenger.SentMessage>>?
    /// Notifies devices of messages; nil where the operator has no key of Apple's push service.
    let pushes: Pushes?
    let searches: CallerLimit<Messenger.User.ID>
    /// The limit for typing frames that this node receives from its own sockets.
    let typing = TypingLimit()
    let time: TimeSource
    let settings: Settings
    private let secret: Secret

    public struct Settings: Sendable {
        /// The size that all uploads of one user may have together, in bytes.
        public var storageQuota: Int64 = 10 * 1024 * 1024 * 1024
        /// The number of files that one user may upload in an hour.
        public var uploadsPerHour = 1000
        /// The limits on guessing passwords and on creating accounts.
        public var attempts = SignInThrottle.Limits()
        /// The version of the terms that a person must accept who registers; nil for any or none.
        public var requiredTerms: String?
        /// The words because of which the server reports a text.
        public var flaggedWords = FlaggedWords()
        /// The time that a socket has for its first frame, which signs in.
        public var signInTime = Duration.seconds(10)
        /// The number of a chat's last changes whose deletions are remembered for apps that were away.
        public var keptDeletions: Int64 = 10_000
        /// The way in which devices are notified; nil for not at all.
        public var pushes: PushSettings?

        public init() {}
    }

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - database: A database with ``schema``.
    ///   - mailer: The mailer that sends e-mails.
    ///   - secret: The key that signs access and refresh tokens and encrypts e-mails that wait, with a former one that is still
    ///     accepted.
    ///   - group: The event loops of the sockets.
    ///   - logger: Receives which notifications could not be sent.
    public init(
        database: Database, objects: any ObjectStore, passwords: Passwords, mailer: any Mailer,
        secret: Secret,
        group: any EventLoopGroup, time: TimeSource = .system, settings: Settings = .init(),
        logger: Logger = Logger(label: "messenger")
    ) {
        self.database = database
        self.objects = objects
        self.accounts = Accounts(
            database: database, passwords: passwords, secret: secret, limits: settings.attempts,
            registration: Registration(requiredTerms: settings.requiredTerms),
            errorMessages: Messenger.errorMessages, time: time)
        self.emails = AccountEmails(
            database: database, table: Self.emailTable, mailer: mailer, throttle: accounts.throttle, isGuarded: true,
            secret: secret, time: time, texts: AccountEmailTexts(of: "Messenger"),
            report: { email, error, isTriedAgain in
                logger.logUnsentEmail(email, error, isTriedAgain: isTriedAgain)
            })
        self.sessions = TokenSessions(
            database: database, secret: secret, rules: Self.sessionRules, time: time, owner: Self.owner)
        self.archives = Archives(
            of: Self.archiveContents(in: database), database: database, objects: objects, time: time)
        self.uploadThrottle = UploadThrottle(limit: settings.uploadsPerHour, errorMessages: Messenger.errorMessages)
        let hub = LiveHub(group, onDelivered: SocketWrites.whenDone, batching: .chats)
        self.hub = hub
        let attendance = Attendance(hub: hub, database: database)
        let subscribers = LiveSubscribers(hub: hub, sessions: sessions)
        let publisher = Self.publisher(on: database) { chat in
            hub.publish(to: .chat(chat)) { .gap }
        } deliver: { [weak attendance] announcement in
            attendance?.receive(announcement)
            subscribers.deliver(announcement)
        }
        attendance.announce = { publisher.publish($0, short: nil, as: nil) }
        self.attendance = attendance
        self.publisher = publisher
        let pushes = settings.pushes.map { settings in
            Pushes(settings, database: database, attendance: attendance, time: time, logger: logger)
        }
        self.pushes = pushes
        self.sends = database.sharing {
            try Sends.together($0, publishing: publisher, pushing: pushes, in: $1)
        }
        self.searches = CallerLimit(atOnce: database.readsOfOneCaller)
        self.time = time
        self.settings = settings
        self.secret = secret
    }

    /// Returns every operation with its handler, and the file operations when files are in the data folder.
    public func routes() -> Routes<Messenger, Messenger.User.ID> {
        var routes = Routes<Messenger, Messenger.User.ID>(
            spool: ObjectSpool(objects), secrets: { [secret] in secret.bytes }, name: Users.name(of:),
            authenticate: authenticate)
        auth(&routes)
        account(&routes)
        archive(&routes)
        sessions(&routes)
        recovery(&routes)
        users(&routes)
        blocks(&routes)
        chats(&routes)
        members(&routes)
        messages(&routes)
        messageChanges(&routes)
        receipts(&routes)
        files(&routes)
        devices(&routes)
        muting(&routes)
        reports(&routes)
        if let files = objects as? LocalObjectStore { routes.serve(files) }
        return routes
    }

    /// Returns the live socket.
    public func sockets() -> [SocketRoute] {
        [SocketRoute(path: "/ws") { _, _ in .accept { LiveSocket(self) } }]
    }

    /// Checks the database and the object store.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files", isNeeded: false) { try await objects.check() },
        ]
    }

    /// Adds users to the search index who are not in it yet: those of an older database, or created by a node of an
    /// older version. It must run before the first request.
    public func prepare() async throws {
        try await UserSearch.bringUpToDate(database, where: Users.isPresent)
    }

    /// The columns whose times are compared with the clock.
    public static var storedTimes: [StoredTime] {
        Accounts<Users>.times + Registration.times + TokenSessions<Messenger.User.ID>.times(Self.sessionRules)
            + JobQueue<PushJob>.times + Archives<Users>.times + Reports.Queue.times + SessionNotes.times
            + AccountEmails<Users>.times(outbox: emailTable)
    }

    /// Deletes rows that have expired. Moves uploads that nothing uses, and stored objects that no file names, to the
    /// trash. It should run periodically.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try StoredTimes.bringBack(Self.storedTimes, at: now, in: db)
            try Accounts<Users>.sweep(at: now, in: db)
            try Registration.sweep(at: now, in: db)
            try TokenSessions<Messenger.User.ID>.sweep(at: now, in: db)
            try Reports.sweep(at: now, in: db)
            try AccountEmails<Users>.sweep(at: now, in: db)
        }
        try await sweepUnused()
        try await prepare()
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: time.seconds, keeping: ObjectReferences(Self.storedFiles, in: database),
            limits: limits)
    }
}

extension Messenger.ChatType: SQLConvertible {}
extension Messenger.MessageType: SQLConvertible {}
extension Messenger.Role: SQLConvertible {}
