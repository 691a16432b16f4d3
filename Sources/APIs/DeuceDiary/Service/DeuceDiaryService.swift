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

/// The Deuce Diary API's behaviour. Each section of the contract is an extension in a file of its own.
public struct DeuceDiaryService: FileStoringService {
    let database: Database
    let objects: any ObjectStore
    let accounts: IssuerAccounts
    let memberships: TTLCache<Membership, Bool>
    let pictures: PictureMaker
    let hub: LiveHub
    let announcer: Announcer<LiveNews>
    let requests: RateLimits
    let time: TimeSource
    let makeID: @Sendable () -> String
    let settings: Settings
    private let secret: [UInt8]

    public struct Settings: Sendable {
        /// What invite links begin with, without a slash at its end.
        public var publicURL: String
        /// Where `GET /join/{inviteId}` leads, with `{inviteId}` for the id.
        public var joinRedirect = "deucediary://join/{inviteId}"
        public var socketAuthentication = SocketAuthentication.open
        /// How often one user may ask in a minute, and one address without a good token; nil for any number.
        public var requestsPerMinute: Int?
        /// The proxies whose `X-Forwarded-For` says where a socket's client is.
        public var trustedProxies = TrustedProxies()

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// Who may listen on the live socket.
    public enum SocketAuthentication: String, CaseIterable, Sendable {
        /// Every client that knows a group's id, as the contract has it.
        case open
        /// Members of the group, with a token: an addition to the contract.
        case member
    }

    /// Reads a bearer token; nil for one that is not good, whatever the reason. Throws when it cannot tell now.
    public typealias TokenReader = @Sendable (_ token: String) async throws -> BearerClaims?

    /// Makes a profile picture, a JPEG of 200 by 200 pixels, of the image file at a path; nil when it is no image that
    /// can be read. Throws when it cannot tell now.
    public typealias PictureMaker =
        @Sendable (
            _ path: String, _ user: DeuceDiary.User.ID
        ) async throws -> [UInt8]?

    /// - Parameters:
    ///   - database: With ``schema``.
    ///   - objects: Keeps the profile pictures.
    ///   - secret: Keys the fingerprints of requests under an `Idempotency-Key`.
    ///   - group: The event loops on which the sockets live.
    ///   - makeID: Makes UUIDs of version 4, in lower case.
    public init(
        database: Database, objects: any ObjectStore, tokens: @escaping TokenReader, pictures: @escaping PictureMaker,
        secret: [UInt8], group: any EventLoopGroup, time: TimeSource = .system,
        makeID: @escaping @Sendable () -> String = RandomUUID.make, settings: Settings
    ) {
        self.database = database
        self.objects = objects
        let accounts = IssuerAccounts(database: database, read: tokens, time: time, makeID: makeID)
        self.accounts = accounts
        let memberships = TTLCache<Membership, Bool>(time: time)
        self.memberships = memberships
        self.pictures = pictures
        let hub = LiveHub(group)
        self.hub = hub
        self.announcer = Announcer(database) { news in
            // First, so that a client that receives the event finds the change.
            switch news {
            case .left(let membership): memberships.remove(membership)
            case .deleted(let user, let issuedUntil): accounts.end(user, issuedUntil: issuedUntil)
            case .logged, .log: break
            }
            hub.deliver(news)
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
            spool: ObjectSpool(objects), secret: secret, name: { Self.name(of: $0.user) },
            authenticate: { info in
                guard let token = info.headers.bearerToken else {
                    throw IssuerAccounts.unauthorized
                }
                return try await caller(token, from: info.address)
            },
            headers: { _, caller in
                try await count(caller)
                return [:]
            })
        users(&routes)
        export(&routes)
        groups(&routes)
        members(&routes)
        invites(&routes)
        entries(&routes)
        reactions(&routes)
        locations(&routes)
        analytics(&routes)
        routes.serve(publicly: objects, under: "/" + Pictures.folder) { _ in "image/jpeg" }
        return routes
    }

    /// Tells callers apart in the scope of an idempotency key.
    static func name(of user: DeuceDiary.User.ID) -> String { "user \(user)" }

    /// Looks at what the service depends on.
    public func check() async -> [Health.Part] {
        [
            await Health.Part("database") { try await database.check() },
            await Health.Part("files") { try await objects.check() },
        ]
    }

    /// Forgets what has expired, and moves stored pictures that belong to no user to the trash. To be called now and then.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try IdempotencyStore.sweep(at: now, in: db)
            try Invites.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
        }
        return try await objects.sweep(
            olderThan: Self.orphanAge, at: now / 1000, keeping: references, limits: limits)
    }
}

extension DeuceDiary.Role: SQLConvertible {}
