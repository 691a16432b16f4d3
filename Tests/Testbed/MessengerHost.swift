import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import Identity
import MessengerAPI
import MessengerService
import NIOPosix
import ObjectStore

/// A Messenger server of a test's own, and how to reach it.
public struct MessengerHost: TestHost {
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
    try await withTestDatabase(on: stack.engine, migrated: MessengerService.schema) { place in
        let messenger = TestMessenger(
            wire: stack.wire, place: place, settings: settings, peer: peer, clock: clock)
        try await withNodes(
            count, of: MessengerService.schema, at: place, first: proxy.map { place.at(port: $0.port) },
            messenger.withNode, body)
    }
}

/// What the nodes of one server have in common.
private struct TestMessenger {
    let wire: Stack.Wire
    let place: TestDatabase
    let settings: MessengerService.Settings
    let peer: String
    let clock: TestClock
    let group = MultiThreadedEventLoopGroup.singleton

    func withNode(on database: Database, _ body: (MessengerHost) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        let objects = try address.store(in: place, clock: clock)
        let service = MessengerService(
            database: database, objects: objects, passwords: Passwords(cost: .testing, queueLimit: 1024),
            tokenKey: Array(repeating: 9, count: 32), group: group, time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        routes.serve(objects)
        let table = RouteTable(routes, options: .init(logger: .silent) { Problem.unavailable($0, Messenger.phrases) })

        let listening = Task { await service.listen() }
        defer { listening.cancel() }
        try await address.serve(table, sockets: service.sockets(), peer: peer) { transport, sockets in
            try await body(
                MessengerHost(
                    baseURL: address.url(of: Messenger.self), transport: transport, sockets: sockets, clock: clock,
                    service: service, database: database, objects: objects, folder: place.folder))
        }
    }
}
