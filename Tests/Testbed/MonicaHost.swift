import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import Logging
import MonicaAPI
import MonicaService
import NIOPosix

/// A Monica server of a test's own, and how to reach it.
public struct MonicaHost: Sendable {
    /// With the `/api` at its end.
    public let baseURL: URL
    public let transport: any Transport
    public let clock: TestClock
    public let service: MonicaService
    public let database: Database

    /// A token of an account, which is made when there is none of that name.
    public func token(_ account: String = "first") async throws -> String {
        try await service.makeToken(account: account, name: "test")
    }
}

extension MonicaService.Limits {
    /// None that a test meets by accident.
    public static let outOfTheWay: Self = {
        var limits = Self()
        limits.contactRequests = 1_000_000
        limits.otherRequests = 1_000_000
        limits.wrongTokens = 1_000_000
        return limits
    }()
}

/// Runs a test on a Monica server with an empty database.
public func withMonica(
    on stack: Stack, clock: TestClock = TestClock(), limits: MonicaService.Limits = .outOfTheWay,
    _ body: (MonicaHost) async throws -> Void
) async throws {
    try await withTestDatabase(on: stack.engine, migrated: MonicaService.schema) { place in
        let database = try place.open(MonicaService.schema)
        let result: Result<Void, any Error>
        do {
            result = .success(try await withMonica(on: stack.wire, database, clock, limits, body))
        } catch {
            result = .failure(error)
        }
        try await database.close()
        try result.get()
    }
}

private func withMonica(
    on wire: Stack.Wire, _ database: Database, _ clock: TestClock, _ limits: MonicaService.Limits,
    _ body: (MonicaHost) async throws -> Void
) async throws {
    let port = wire == .live ? try await reservePort() : nil
    let base = port.map { "http://127.0.0.1:\($0)" } ?? "http://test"
    var settings = MonicaService.Settings(publicURL: base)
    settings.limits = limits
    let service = MonicaService(
        database: database, secret: Array(repeating: 9, count: 32), time: clock.source, settings: settings)
    var routes = service.routes()
    routes.serve(Health(check: service.check))
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let table = RouteTable(routes, options: .init(logger: logger) { Problem.unavailable($0, Monica.phrases) })
    func host(_ transport: any Transport) -> MonicaHost {
        MonicaHost(
            baseURL: URL(string: base + Monica.basePath)!, transport: transport, clock: clock, service: service,
            database: database)
    }
    guard let port else { return try await body(host(InProcessTransport(table))) }
    let listener = Listener(table, sockets: [], group: MultiThreadedEventLoopGroup.singleton)
    try await serving(listener, port: port) { try await body(host(URLSessionTransport())) }
}
