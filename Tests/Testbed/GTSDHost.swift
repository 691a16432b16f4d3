import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import GTSDAPI
import GTSDService
import Identity
import Logging
import NIOPosix
import NIOSockets
import ObjectStore

/// A GTSD server of a test's own, and how to reach it.
public struct GTSDHost: Sendable {
    public let baseURL: URL
    public let transport: any Transport
    public let sockets: any SocketTransport
    public let clock: TestClock
    public let service: GTSDService
    public let database: Database
    public let objects: LocalObjectStore
    public let folder: String
}

/// Runs a test on a GTSD server with an empty database.
///
/// - Parameters:
///   - peer: Whom the server sees behind a request that is handed over within the process.
///   - showsDetails: As in development.
public func withGTSD(
    on stack: Stack, settings: GTSDService.Settings = .init(), peer: String = "127.0.0.1", showsDetails: Bool = false,
    clock: TestClock = TestClock(), _ body: (GTSDHost) async throws -> Void
) async throws {
    try await withGTSDNodes(
        1, on: stack, settings: settings, peer: peer, showsDetails: showsDetails, clock: clock
    ) { try await body($0[0]) }
}

/// Runs a test on a GTSD server of several nodes: each with its own connections to the one database, with keys, files and
/// the clock in common.
///
/// - Parameter count: More than one on PostgreSQL only; SQLite has one node.
public func withGTSDNodes(
    _ count: Int, on stack: Stack, settings: GTSDService.Settings = .init(), peer: String = "127.0.0.1",
    showsDetails: Bool = false, clock: TestClock = TestClock(), _ body: ([GTSDHost]) async throws -> Void
) async throws {
    precondition(count == 1 || stack.engine == .postgreSQL, "SQLite has one node")
    try await withTestDatabase(on: stack.engine, migrated: GTSDService.schema) { place in
        let server = TestGTSD(
            wire: stack.wire, place: place, settings: settings, peer: peer, showsDetails: showsDetails, clock: clock)
        try await server.withNodes(count, besides: [], body)
    }
}

/// What the nodes of one server have in common.
private struct TestGTSD {
    let wire: Stack.Wire
    let place: TestDatabase
    let settings: GTSDService.Settings
    let peer: String
    let showsDetails: Bool
    let clock: TestClock
    let group = MultiThreadedEventLoopGroup.singleton

    func withNodes(
        _ count: Int, besides running: [GTSDHost], _ body: ([GTSDHost]) async throws -> Void
    ) async throws {
        if running.count == count { return try await body(running) }
        let database = try place.open(GTSDService.schema)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await withNode(on: database) { try await withNodes(count, besides: running + [$0], body) })
        } catch {
            result = .failure(error)
        }
        try await database.close()
        try result.get()
    }

    private func withNode(on database: Database, _ body: (GTSDHost) async throws -> Void) async throws {
        // The port is known only once the server listens, and signed URLs name it.
        let port = wire == .live ? try await reservePort() : nil
        let base = port.map { "http://127.0.0.1:\($0)" } ?? "http://test"
        let objects = try LocalObjectStore(
            folder: place.folder + "/files", signingKey: Array(repeating: 7, count: 32), baseURL: base + "/objects",
            now: { [clock] in clock.source.seconds })
        let service = GTSDService(
            database: database, objects: objects, passwords: Passwords(cost: .testing),
            tokenKey: Array(repeating: 9, count: 32), time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check), answering: GTSDService.healthy)
        routes.serve(objects)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = RouteTable(
            routes,
            options: .init(logger: logger, showsDetails: showsDetails) { Problem.unavailable($0, GTSD.phrases) })

        func host(_ transport: any Transport, _ sockets: any SocketTransport) -> GTSDHost {
            GTSDHost(
                baseURL: URL(string: base)!, transport: transport, sockets: sockets, clock: clock, service: service,
                database: database, objects: objects, folder: place.folder)
        }
        guard let port else {
            return try await body(
                host(InProcessTransport(table, peer: peer), InProcessSockets([], group: group)))
        }
        let listener = Listener(table, sockets: [], group: group)
        try await serving(listener, port: port) {
            try await body(host(URLSessionTransport(), NIOSocketTransport()))
        }
    }
}
