import Backend
import Contract
import ContractClient
import ContractServer
import Database
import Foundation
import MonicaAPI
import MonicaService

/// A Monica server of a test's own, and how to reach it.
public struct MonicaHost: TestHost {
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
        let server = TestMonica(wire: stack.wire, limits: limits, clock: clock)
        try await withNodes(1, of: MonicaService.schema, at: place, server.withNode) { try await body($0[0]) }
    }
}

private struct TestMonica {
    let wire: Stack.Wire
    let limits: MonicaService.Limits
    let clock: TestClock

    func withNode(on database: Database, _ body: (MonicaHost) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        var settings = MonicaService.Settings(publicURL: address.base)
        settings.limits = limits
        let service = MonicaService(
            database: database, secret: Array(repeating: 9, count: 32), time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        let table = RouteTable(routes, options: .init(logger: .silent) { Problem.unavailable($0, Monica.phrases) })
        try await address.serve(table) { transport, _ in
            try await body(
                MonicaHost(
                    baseURL: address.url(of: Monica.self), transport: transport, clock: clock, service: service,
                    database: database))
        }
    }
}
