import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import Logging
import NIOPosix
import NIOSockets
import ObjectStore
import WebSockets

/// A server of a test's own, and how to reach it.
public protocol TestHost: Sendable {
    /// With the API's base path at its end.
    var baseURL: URL { get }
    var transport: any Transport { get }
}

extension Logger {
    /// Says nothing.
    public static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Runs a test on the nodes of one server: each has its own connections to the database, which are closed after it.
///
/// - Parameters:
///   - count: More than one on PostgreSQL only; SQLite has one node.
///   - first: Another way to the database, which the first node takes.
func withNodes<Node>(
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

/// Where a node is reached: within the process, or on a port that is known before it listens, since its URLs name it.
struct TestAddress {
    private let port: Int?

    init(_ wire: Stack.Wire) async throws { port = wire == .live ? try await reservePort() : nil }

    var base: String { port.map { "http://127.0.0.1:\($0)" } ?? "http://test" }

    func url<API: ServiceAPI>(of api: API.Type) -> URL { URL(string: base + api.basePath)! }

    /// The store of a server's files, whose URLs lead here.
    func store(in place: TestDatabase, clock: TestClock) throws -> LocalObjectStore {
        try LocalObjectStore(
            folder: place.folder + "/files", signingKey: Array(repeating: 7, count: 32), baseURL: base + "/objects",
            now: { clock.source.seconds })
    }

    /// Answers for as long as the closure runs, which gets what leads there.
    ///
    /// - Parameter peer: Whom the server sees behind a request that is handed over within the process.
    func serve<API: ServiceAPI>(
        _ table: RouteTable<API>, sockets: [SocketRoute] = [], peer: String = "127.0.0.1",
        _ body: (any Transport, any SocketTransport) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        guard let port else {
            return try await body(InProcessTransport(table, peer: peer), InProcessSockets(sockets, group: group))
        }
        try await serving(Listener(table, sockets: sockets, group: group), port: port) {
            try await body(URLSessionTransport(), NIOSocketTransport())
        }
    }
}
