import Backend
import Contract
import ContractServer
import Database
import DeuceDiaryAPI
import HTTPTypes
import Identity
import NIOCore
import ObjectStore
import WebSockets

/// Implements the Deuce Diary API. Each section of the contract is an extension in a file of its own.
public final class DeuceDiaryService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let accounts: IssuerAccounts
    let archives: Archives<Users>
    let memberships: TTLCache<Membership, Bool>
    let pictures: PictureMaker
    let hub: LiveHub
    let publisher: EventPublisher<DeuceDiary.Group.ID, LiveAnnouncement>
    let requests: RateLimits
    let time: TimeSource
    let makeID: @Sendable () -> String
    let settings: Settings
    private let secret: Secret

    public struct Settings: Sendable {
        /// The beginning of invite links, without a slash at its end.
        public var publicURL: String
        /// The target of `GET /join/{inviteId}`, with `{inviteId}` for the id.
        public var joinRedirect = "deucediary://join/{inviteId}"
        /// Whether invite links lead browsers to a page: where the app is installed, it opens them by itself.
        public var showsInvitations = false
        /// The URL at which the page offers the app; nil for none.
        public var appStore: String?
        public var socketAuthentication = SocketAuthentication.open
        /// The number of requests in a minute for each user, and for each address without a valid token; nil for no
        /// limit.
        public var requestsPerMinute: Int?
        /// The words because of which the server reports a text.
        public var flaggedWords = FlaggedWords()
        /// The proxies whose `X-Forwarded-For` is trusted for the addresses of sockets' clients.
        public var trustedProxies = TrustedProxies()

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// The clients that may listen on the live socket.
    public enum SocketAuthentication: String, CaseIterable, Sendable {
        /// Every client that knows a group's id, as the contract has it.
        case open
        /// Members of the group, with a token: an addition to the contract.
        case member
    }

    /// Verifies a bearer token and returns its claims; nil for a token that is not valid for any reason. It throws when
    /// verification is not possible now.
    public typealias TokenReader = @Sendable (_ token: String) async throws -> BearerClaims?

    /// Converts the image file at a path to a profile picture, a JPEG of 200 by 200 pixels. It returns nil when the
    /// file is not an image that can be read, and throws when the converter does not work.
    public typealias PictureMaker =
        @Sendable (
            _ path: String, _ user: DeuceDiary.User.ID
        ) async throws -> [UInt8]?

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - database: A database with ``schema``.
    ///   - objects: The store for profile pictures.
    ///   - secret: The key for the fingerprints of requests under an `Idempotency-Key`.
    ///   - group: The event loops of the sockets.
    ///   - makeID: Returns a new UUID of version 4, in lower case.
    public init(
        database: Database, objects: any ObjectStore, tokens: @escaping TokenReader, pictures: @escaping PictureMaker,
        secret: Secret, group: any EventLoopGroup, time: TimeSource = .system,
        makeID: @escaping @Sendable () -> String = RandomUUID.make, settings: Settings
    ) {
        self.database = database
        self.objects = objects
        let accounts = IssuerAccounts(database: database, read: tokens, time: time, makeID: makeID)
        self.accounts = accounts
        self.archives = Archives(
            of: Self.archiveContents(in: database, time: time), database: database, objects: objects, time: time)
        let memberships = TTLCache<Membership, Bool>("memberships", time: time)
        self.memberships = memberships
        self.pictures = pictures
        let hub = LiveHub(group, onDelivered: SocketWrites.whenDone)
        self.hub = hub
        self.publisher = EventPublisher(database, subscribersRead: false) { news in
            // This comes first, so that a client that receives the event finds the change.
            switch news {
            case .left(let membership): memberships.remove(membership)
            case .deleted(let user, let issuedUntil): accounts.refuseTokens(of: user, issuedUntil: issuedUntil)
            case .suspended(let user): accounts.noteSuspension(of: user, at: time.milliseconds())
            case .logged, .entry: break
            }
            hub.deliver(news)
        } gap: { group in
            hub.publish(to: .group(group)) { .gap }
        }
        self.requests = RateLimits(database, time: time)
        self.time = time
        self.makeID = makeID
        self.settings = settings
        self.secret = secret
    }

    /// Returns every operation with its handler, and the profile pictures.
    public func routes() -> Routes<DeuceDiary, Caller> {
        var routes = Routes<DeuceDiary, Caller>(
            spool: ObjectSpool(objects), secrets: { [secret] in secret.bytes }, name: { Self.name(of: $0.user) },
            authenticate: { info in
                guard let token = info.headers.bearerToken else {
                    throw IssuerAccounts.unauthorized
                }
                return try await self.caller(token, from: info.address)
            },
            headers: { _, caller in
                try await self.count(caller)
                return [:]
            })
        users(&routes)
        export(&routes)
        archive(&routes)
        groups(&routes)
        members(&routes)
        invites(&routes)
        entries(&routes)
        reactions(&routes)
        locations(&routes)
        reports(&routes)
        blocks(&routes)
        analytics(&routes)
        if let files = objects as? LocalObjectStore { routes.serve(files) }
        routes.serve(publicly: objects, under: "/" + Pictures.folder, admit: admitToPicture) { _ in "image/jpeg" }
        if settings.showsInvitations { routes.page(InvitationPage.path + "/{inviteId}", use: showInvitation) }
        return routes
    }

    /// Returns the caller's name, which distinguishes callers in the scope of an idempotency key.
    static func name(of user: DeuceDiary.User.ID) -> String { "user \(user)" }

    /// Checks the database and the object store.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files") { try await objects.check() },
        ]
    }

    /// The columns whose times are compared with the clock. Until a sweep has brought back the end of an account, tokens that the
    /// user gets after it are refused.
    public static var storedTimes: [StoredTime] {
        IdempotencyStore.times + RateLimits.times + Registration.times + Archives<Users>.times + Reports.Queue.times + [
            StoredTime("invites", "expires_at", window: Self.inviteLifetime),
            StoredTime("deletions", "issued_until", unit: 1000),
        ]
    }

    /// Deletes rows that have expired, and moves stored pictures that belong to no user to the trash. It should run
    /// periodically.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try StoredTimes.bringBack(Self.storedTimes, at: now, in: db)
            try IdempotencyStore.sweep(at: now, keeping: [DeuceDiary.LogDeuce.route], in: db)
            try Invites.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
            try Reports.Queue.sweep(at: now, in: db)
            try Registration.sweep(at: now, in: db)
        }
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: now / 1000, keeping: ObjectReferences(Self.storedFiles, in: database),
            limits: limits)
    }
}

extension DeuceDiary.Role: SQLConvertible {}
