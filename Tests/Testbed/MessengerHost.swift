import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import Identity
import Logging
import MessengerAPI
import MessengerService
import NIOPosix
import NIOSockets
import ObjectStore

/// A Messenger server of a test's own, and how to reach it.
public struct MessengerHost: Sendable {
    public let baseURL: URL
    public let transport: any Transport
    public let sockets: any SocketTransport
    public let clock: TestClock
    public let service: MessengerService
    public let database: Database
    public let objects: LocalObjectStore
    public let folder: String
}

/// Runs a test on a Messenger server with an empty database.
public func withMessenger(
    on stack: Stack, settings: MessengerService.Settings = .init(), peer: String = "127.0.0.1",
    clock: TestClock = TestClock(), _ body: (MessengerHost) async throws -> Void
) async throws {
    try await withMessengerNodes(1, on: stack, settings: settings, peer: peer, clock: clock) { nodes in
        try await body(nodes[0])
    }
}

/// Runs a test on a Messenger server of several nodes: each with its own connections to the one database, with keys,
/// files and the clock in common.
///
/// - Parameters:
///   - count: More than one on PostgreSQL only; SQLite has one node.
///   - peer: Whom the nodes see behind a request that is handed over within the process.
///   - proxy: Stands between the first node and the database.
public func withMessengerNodes(
    _ count: Int, on stack: Stack, settings: MessengerService.Settings = .init(), peer: String = "127.0.0.1",
    clock: TestClock = TestClock(), behind proxy: FaultyProxy? = nil, _ body: ([MessengerHost]) async throws -> Void
) async throws {
    precondition(count == 1 || stack.engine == .postgreSQL, "SQLite has one node")
    try await withTestDatabase(on: stack.engine, migrated: MessengerService.schema) { place in
        let messenger = TestMessenger(
            wire: stack.wire, place: place, settings: settings, peer: peer, clock: clock, proxy: proxy)
        try await messenger.withNodes(count, besides: [], body)
    }
}

/// What the nodes of one server have in common.
private struct TestMessenger {
    let wire: Stack.Wire
    let place: TestDatabase
    let settings: MessengerService.Settings
    let peer: String
    let clock: TestClock
    let proxy: FaultyProxy?
    let group = MultiThreadedEventLoopGroup.singleton

    func withNodes(
        _ count: Int, besides running: [MessengerHost], _ body: ([MessengerHost]) async throws -> Void
    ) async throws {
        if running.count == count { return try await body(running) }
        let way = running.isEmpty ? proxy.map { place.at(port: $0.port) } : nil
        try await withNode(at: way ?? place) { try await withNodes(count, besides: running + [$0], body) }
    }

    private func withNode(at place: TestDatabase, _ body: (MessengerHost) async throws -> Void) async throws {
        let database = try place.open(MessengerService.schema)
        let result: Result<Void, any Error>
        do { result = .success(try await withNode(on: database, body)) } catch { result = .failure(error) }
        try await database.close()
        try result.get()
    }

    private func withNode(on database: Database, _ body: (MessengerHost) async throws -> Void) async throws {
        // The port is known only once the server listens, and signed URLs name it.
        let port = wire == .live ? try await reservePort() : nil
        let base = port.map { "http://127.0.0.1:\($0)" } ?? "http://test"
        let objects = try LocalObjectStore(
            folder: place.folder + "/files", signingKey: Array(repeating: 7, count: 32), baseURL: base + "/objects",
            now: { [clock] in clock.source.seconds })
        let service = MessengerService(
            database: database, objects: objects, passwords: Passwords(cost: .testing),
            tokenKey: Array(repeating: 9, count: 32), group: group, time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        routes.serve(objects)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = RouteTable(routes, options: .init(logger: logger) { Problem.unavailable($0, Messenger.phrases) })

        func host(_ transport: any Transport, _ sockets: any SocketTransport) -> MessengerHost {
            MessengerHost(
                baseURL: URL(string: base)!, transport: transport, sockets: sockets, clock: clock, service: service,
                database: database, objects: objects, folder: place.folder)
        }
        let listening = Task { await service.listen() }
        defer { listening.cancel() }
        guard let port else {
            return try await body(
                host(InProcessTransport(table, peer: peer), InProcessSockets(service.sockets(), group: group)))
        }
        let listener = Listener(table, sockets: service.sockets(), group: group)
        try await serving(listener, port: port) {
            try await body(host(URLSessionTransport(), NIOSocketTransport()))
        }
    }
}
