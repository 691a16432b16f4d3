import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import GTSDAPI
import GTSDService
import Identity
import ObjectStore

/// A GTSD server of a test's own, and how to reach it.
public struct GTSDHost: TestHost {
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
    try await withTestDatabase(on: stack.engine, migrated: GTSDService.schema) { place in
        let server = TestGTSD(
            wire: stack.wire, place: place, settings: settings, peer: peer, showsDetails: showsDetails, clock: clock)
        try await withNodes(count, of: GTSDService.schema, at: place, server.withNode, body)
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

    func withNode(on database: Database, _ body: (GTSDHost) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        let objects = try address.store(in: place, clock: clock)
        let service = GTSDService(
            database: database, objects: objects, passwords: Passwords(cost: .testing, queueLimit: 1024),
            tokenKey: Array(repeating: 9, count: 32), time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check), answering: GTSDService.healthy)
        routes.serve(objects, receiving: service.uploads)
        let table = RouteTable(
            routes,
            options: .init(logger: .silent, showsDetails: showsDetails) { Problem.unavailable($0, GTSD.phrases) })

        try await address.serve(table, peer: peer) { transport, sockets in
            try await body(
                GTSDHost(
                    baseURL: address.url(of: GTSD.self), transport: transport, sockets: sockets, clock: clock,
                    service: service, database: database, objects: objects, folder: place.folder))
        }
    }
}
