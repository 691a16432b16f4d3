import Backend
import Contract
import ContractServer
import Database
import HTTPTypes
import Logging
import MonicaAPI

/// The Monica API's behaviour. Each section of the contract is an extension in a file of its own.
public struct MonicaService: HostedService {
    let database: Database
    let tokens: Tokens
    let searches: CallerTurns<AccountID>
    let time: TimeSource
    let makeID: @Sendable () -> String
    /// Where the API is, as clients reach it: `https://monica.example.com/api`.
    let baseURL: String
    let logger: Logger
    private let secret: [UInt8]

    public struct Settings: Sendable {
        /// What the absolute URLs begin with, without the `/api` and without a slash at its end.
        public var publicURL: String
        public var limits = Limits()

        public init(publicURL: String) { self.publicURL = publicURL }
    }

    /// How often one may ask, in a minute.
    public struct Limits: Sendable {
        /// For contacts and exports, with one token.
        public var contactRequests = 100
        /// For everything else together, with one token.
        public var otherRequests = 200
        /// With wrong tokens, from one address.
        public var wrongTokens = 10

        public init() {}
    }

    /// - Parameters:
    ///   - database: With ``schema``.
    ///   - secret: Keys the fingerprints of requests under an `Idempotency-Key`.
    ///   - makeID: Makes UUIDs of version 4, in lower case.
    ///   - logger: Receives the failures of work in the background. By default they are not logged.
    public init(
        database: Database, secret: [UInt8], time: TimeSource = .system,
        makeID: @escaping @Sendable () -> String = RandomUUID.make, settings: Settings,
        logger: Logger = Logger(label: "monica") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.database = database
        self.secret = secret
        self.time = time
        self.makeID = makeID
        self.logger = logger
        baseURL = settings.publicURL + Monica.basePath
        searches = CallerTurns(atOnce: database.readsOfOneCaller)
        tokens = Tokens(database: database, time: time, limits: settings.limits)
    }

    /// Returns every operation with its handler.
    public func routes() -> Routes<Monica, Caller> {
        var routes = Routes<Monica, Caller>(
            secret: secret, name: { "account \($0.account)" }, authenticate: tokens.caller,
            headers: tokens.count)
        contacts(&routes)
        lists(&routes, of: Monica.Activity.self)
        activities(&routes)
        lists(&routes, of: Monica.Note.self)
        notes(&routes)
        lists(&routes, of: Monica.Task.self)
        tasks(&routes)
        lists(&routes, of: Monica.Gift.self)
        gifts(&routes)
        tags(&routes)
        account(&routes)
        return routes
    }

    /// Looks at what the service depends on.
    public func check() async -> [Health.Part] { [await Health.Part("database") { try await database.check() }] }

    /// Makes an older database's contacts findable. To be called before the first request.
    public func prepare() async throws { try await ContactSearch.bringUpToDate(database) }

    /// Deletes what has expired. To be called now and then.
    @discardableResult
    public func sweep(limits: SweepLimits = .init()) async throws -> SweepReport {
        let now = time.milliseconds()
        try await database.write { db in
            try IdempotencyStore.sweep(at: now, in: db)
            try RateLimits.sweep(at: now, in: db)
        }
        return SweepReport()
    }

    /// A look at an account, for as long as a transaction lasts.
    func reader(_ account: AccountID, _ db: Session) -> Reader { Reader(account: account, baseURL: baseURL, db: db) }

    /// Creates something, once per key.
    func create<Item: Monica.Writable>(
        _ request: Monica.Create<Item>, for caller: Caller, _ info: RequestInfo,
        _ write: @escaping @Sendable (Reader, Monica.Form, _ now: Int64) throws -> Item?
    ) async throws -> Answer<APIResponse<Item>> {
        let now = time.milliseconds()
        return try await database.write(info.idempotencyKey, phrases: Monica.phrases, at: now) { db in
            guard let item = try write(reader(caller.account, db), request.form, now) else {
                throw Monica.Refusal.notFound(Item.singular)
            }
            return Answer(Monica.Create<Item>.route.status, APIResponse(data: item))
        }
    }

    /// Changes something of the caller's.
    ///
    /// - Parameter write: Sees the account's own resources only; nil where there is no such resource.
    func update<Item: Monica.Resource>(
        _ type: Item.Type, for caller: Caller,
        _ write: @escaping @Sendable (Reader, _ now: Int64) throws -> Item?
    ) async throws -> APIResponse<Item> {
        let now = time.milliseconds()
        return try await database.write { db in
            guard let item = try write(reader(caller.account, db), now) else {
                throw Monica.Refusal.notFound(Item.singular)
            }
            return APIResponse(data: item)
        }
    }
}
