import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import Identity
import Logging
import NIOPosix
import NIOSockets
import ObjectStore

/// A test's own server, and how to reach it.
public protocol TestHost: Sendable {
    /// The URL of the API, with its base path at the end.
    var baseURL: URL { get }
    var transport: any Transport { get }
}

extension Logger {
    /// A logger that discards everything.
    public static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// A node of a test's own server, and how to reach it.
public struct TestNode<API: HostedAPI>: TestHost {
    public let api: API
    public let baseURL: URL
    public let transport: any Transport
    public let sockets: any SocketTransport
    public let clock: TestClock
    /// The API's service with its router, as ``Backend/Server`` composes it.
    public let app: ComposedAPI<API.Service>
    public let database: Database
    public let objects: LocalObjectStore
    public let folder: String
    /// Composes the API anew on the same database and files, as a restart does: nothing that was in memory is left. The
    /// transport hands requests to it within the process.
    public let restart: @Sendable () throws -> any Transport

    public var service: API.Service { app.service }
}

/// The ways in which a test's server differs from the usual.
public struct TestSetup: Sendable {
    public var clock: TestClock
    /// The address that nodes see as the client's when a request is handed over within the process.
    public var peer = "127.0.0.1"
    /// The URL by which clients reach the API; nil for the node's own.
    public var publicURL: String?
    /// Whether answers to unexpected errors say what went wrong.
    public var isDevelopment = false
    /// The environment variables of the nodes.
    public var environment: [String: String] = [:]
    /// Whether nodes work in the background.
    public var listens = true
    /// Whether nodes make the archives that people ask for.
    public var makesArchives = true
    /// Who runs the server, and whether its terms must be accepted.
    public var about = About()
    public var requiresTerms = false
    /// The words that are refused in texts that strangers read; nil for none.
    public var words: WordList?
    /// The words that are reported in texts that strangers read; nil for none.
    public var flaggedWords: WordList?
    /// The apps that open the API's links; nil for none.
    public var appLinks: AppLinks?
    /// A proxy between the first node and the database.
    public var proxy: FaultyProxy?

    public init(clock: TestClock = TestClock()) { self.clock = clock }
}

/// Runs a test on an API's server with an empty database. Its nodes have their own connections to the one database, and
/// share keys, files and the clock.
///
/// - Parameter count: The number of nodes. More than one is possible on PostgreSQL only.
public func withNodes<API: HostedAPI>(
    _ count: Int = 1, of api: API, on stack: Stack, _ setup: TestSetup = .init(),
    _ body: ([TestNode<API>]) async throws -> Void
) async throws {
    try await withTestDatabase(on: stack.engine, migrated: api.schema) { place in
        let server = TestServer(api: api, wire: stack.wire, place: place, setup: setup)
        try await withNodes(
            count, of: api.schema, at: place, first: setup.proxy.map { place.at(port: $0.port) }, server.withNode, body)
    }
}

/// The state that the nodes of one server share.
private struct TestServer<API: HostedAPI> {
    let api: API
    let wire: Stack.Wire
    let place: TestDatabase
    let setup: TestSetup

    func withNode(on database: Database, _ body: (TestNode<API>) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        let objects = try address.store(in: place, clock: setup.clock)
        // Every secret is 32 nines.
        let key = Data(repeating: 9, count: 32).base64EncodedString()
        let keys = Dictionary(uniqueKeysWithValues: api.keys.filter { $0.form == .secret }.map { ($0.variable, key) })
        var platform = Platform(
            database: database, objects: objects, secrets: SecretKeys(folder: place.folder, environment: keys),
            passwords: Passwords(cost: .testing, queueLimit: 1024), group: MultiThreadedEventLoopGroup.ofTests,
            time: setup.clock.source, logger: .silent, publicURL: setup.publicURL ?? address.base,
            folder: place.folder, environment: setup.environment)
        platform.isDevelopment = setup.isDevelopment
        platform.appLinks = setup.appLinks
        platform.about = setup.about
        platform.requiresTerms = setup.requiresTerms
        platform.words = setup.words
        platform.flaggedWords = FlaggedWords(setup.flaggedWords)
        let app = try api.compose(on: platform)
        let restart: @Sendable () throws -> any Transport = { [platform] in
            InProcessTransport(try api.compose(on: platform).router, peer: setup.peer)
        }

        let (started, start) = AsyncStream<Void>.makeStream()
        let listening = Task { if setup.listens { await app.service.listen { start.finish() } } }
        defer { listening.cancel() }
        let archiving = Task { if setup.makesArchives { await app.service.peopleDesk?.makeArchives(logger: .silent) } }
        defer { archiving.cancel() }
        // A node closes sockets that it accepted before it received other nodes' events, as after any gap.
        if database.isShared, setup.listens { for await _ in started {} }
        try await address.serve(app, peer: setup.peer) { transport, sockets in
            try await body(
                TestNode(
                    api: api, baseURL: address.url(of: API.Service.API.self), transport: transport, sockets: sockets,
                    clock: setup.clock, app: app, database: database, objects: objects, folder: place.folder,
                    restart: restart))
        }
    }
}

/// Runs a test on the nodes of one server. Each has its own connections to the database, which are closed afterwards.
///
/// - Parameters:
///   - count: The number of nodes. More than one is possible on PostgreSQL only.
///   - first: Another URL of the database, which the first node uses.
private func withNodes<Node>(
    _ count: Int, of schema: Schema, at place: TestDatabase, first: TestDatabase? = nil,
    _ withNode: @escaping (Database, (Node) async throws -> Void) async throws -> Void,
    _ body: ([Node]) async throws -> Void
) async throws {
    precondition(count == 1 || place.url != nil, "SQLite has one node")
    func begin(besides running: [Node]) async throws {
        if running.count == count { return try await body(running) }
        let database = try (running.isEmpty ? first ?? place : place).open(schema)
        let result: Result<Void, any Error>
        do {
            result = .success(try await withNode(database) { try await begin(besides: running + [$0]) })
        } catch {
            result = .failure(error)
        }
        try await database.close()
        try result.get()
    }
    try await begin(besides: [])
}

/// The address of a node: within the process, or on a port that is chosen before the node listens, because its URLs
/// contain it.
private struct TestAddress {
    private let port: Int?

    init(_ wire: Stack.Wire) async throws { port = wire == .live ? try await reservePort() : nil }

    var base: String { port.map { "http://127.0.0.1:\($0)" } ?? "http://test" }

    func url<API: ServiceAPI>(of api: API.Type) -> URL { URL(string: base + api.basePath)! }

    /// Returns the store of a server's files, whose URLs have this address.
    func store(in place: TestDatabase, clock: TestClock) throws -> LocalObjectStore {
        try LocalObjectStore(
            folder: place.folder + "/files", keys: storeKeys(7), baseURL: base + "/objects",
            now: { clock.source.seconds })
    }

    /// Serves requests while the closure runs. The closure receives the transports that reach the server.
    ///
    /// - Parameter peer: The address that the server sees as the client's when a request is handed over within the
    ///   process.
    func serve<Service>(
        _ app: ComposedAPI<Service>, peer: String, _ body: (any Transport, any SocketTransport) async throws -> Void
    ) async throws {
        guard let port else {
            let sockets = InProcessSockets(app.sockets, group: MultiThreadedEventLoopGroup.ofTests)
            return try await body(InProcessTransport(app.router, peer: peer), sockets)
        }
        try await serving(app.listener(limits: .patient), port: port) {
            try await body(URLSessionTransport.patient, NIOSocketTransport(openingTime: .minutes(25)))
        }
    }
}
