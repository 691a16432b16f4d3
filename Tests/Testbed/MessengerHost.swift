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
import NIOConcurrencyHelpers
import NIOPosix
import NIOSockets
import ObjectStore
import ServiceLifecycle

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
    try await withTestDatabase(on: stack.engine) { place in
        let folder = place.folder
        let group = MultiThreadedEventLoopGroup.singleton
        let database = try place.open(MessengerService.schema)

        func run(
            on base: String, _ body: (MessengerService, LocalObjectStore, RouteTable<Messenger>) async throws -> Void
        ) async throws {
            let objects = try LocalObjectStore(
                folder: folder + "/files", signingKey: Array(repeating: 7, count: 32), baseURL: base + "/objects",
                now: { clock.source.seconds })
            let service = MessengerService(
                database: database, objects: objects, passwords: Passwords(cost: .testing),
                tokenKey: Array(repeating: 9, count: 32), group: group, time: clock.source, settings: settings)
            var routes = service.routes()
            routes.serve(Health(check: service.check))
            routes.serve(objects)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let table = RouteTable(
                routes, options: .init(logger: logger) { Problem.unavailable($0, Messenger.phrases) })
            let listening = Task { await service.listen() }
            defer { listening.cancel() }
            try await body(service, objects, table)
        }

        switch stack.wire {
        case .inProcess:
            try await run(on: "http://test") { service, objects, table in
                try await body(
                    MessengerHost(
                        baseURL: URL(string: "http://test")!, transport: InProcessTransport(table, peer: peer),
                        sockets: InProcessSockets(service.sockets(), group: group), clock: clock, service: service,
                        database: database, objects: objects, folder: folder))
            }
        case .live:
            // The port is known only once the server listens, and signed URLs name it.
            let reserved = try await reservePort()
            try await run(on: "http://127.0.0.1:\(reserved)") { service, objects, table in
                let listener = Listener(table, sockets: service.sockets(), group: group)
                try await serving(listener, port: reserved) {
                    try await body(
                        MessengerHost(
                            baseURL: URL(string: "http://127.0.0.1:\(reserved)")!, transport: URLSessionTransport(),
                            sockets: NIOSocketTransport(), clock: clock, service: service, database: database,
                            objects: objects, folder: folder))
                }
            }
        }
        try await database.close()
    }
}
