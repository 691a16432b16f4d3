import Backend
import Contract
import ContractCheck
import ContractClient
import ContractServer
import Database
import DunbarAPI
import DunbarService
import Foundation
import Identity
import Mail
import NIOConcurrencyHelpers
import ObjectStore

/// A Dunbar server of a test's own, and how to reach it.
public struct DunbarHost: TestHost {
    /// With `/api` at its end.
    public let baseURL: URL
    public let transport: any Transport
    public let clock: TestClock
    public let service: DunbarService
    public let database: Database
    public let objects: LocalObjectStore
    public let mailbox: TestMailbox
    /// Nobody listens there.
    public let sockets: any SocketTransport
    public let folder: String
}

/// Takes letters, or refuses them.
public final class TestMailbox: Mailer {
    private struct State {
        var letters: [MailMessage] = []
        var failure: (any Error)?
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    public var letters: [MailMessage] { state.withLockedValue { $0.letters } }

    /// Fails every letter from now on; nil takes them again.
    public func fail(with error: (any Error)?) { state.withLockedValue { $0.failure = error } }

    public func send(_ message: MailMessage) async throws {
        try state.withLockedValue { state in
            if let failure = state.failure { throw failure }
            state.letters.append(message)
        }
    }
}

/// How a Dunbar server of a test's own is set up.
public struct DunbarSetup: Sendable {
    public var clock: TestClock
    public var publicURL: String?
    public var origins: [String] = []
    public var attempts = SignInThrottle.Limits()
    public var storageQuota: Int64?
    public var uploadsPerHour: Int?
    /// Whom the server sees behind a request that is handed over within the process.
    public var peer = "127.0.0.1"
    public var images: DunbarService.ImageMaker = { path, _, _ in try SampleImages.processed(path) }

    public init(clock: TestClock = TestClock()) { self.clock = clock }
}

/// Stands in for the image library, whose scaling is its own affair: what is kept of an image is its head and a mark, and
/// what has no size is no image.
public enum SampleImages {
    public static let mark = Array("processed".utf8)

    static func processed(_ path: String) throws -> [UInt8]? {
        let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        guard !file.suffix(6).elementsEqual("broken".utf8) else { return nil }
        return Array(file.prefix(64)) + mark
    }
}

/// Runs a test on a Dunbar server with an empty database.
public func withDunbar(
    on stack: Stack, _ setup: DunbarSetup = .init(), _ body: (DunbarHost) async throws -> Void
) async throws {
    try await withDunbarNodes(1, on: stack, setup) { try await body($0[0]) }
}

/// Runs a test on a Dunbar server of several nodes: each with its own connections to the one database, with files, letters
/// and the clock in common.
///
/// - Parameter count: More than one on PostgreSQL only; SQLite has one node.
public func withDunbarNodes(
    _ count: Int, on stack: Stack, _ setup: DunbarSetup = .init(), _ body: ([DunbarHost]) async throws -> Void
) async throws {
    try await withTestDatabase(on: stack.engine, migrated: DunbarService.schema) { place in
        let server = TestDunbar(wire: stack.wire, place: place, setup: setup, mailbox: TestMailbox())
        try await withNodes(count, of: DunbarService.schema, at: place, server.withNode, body)
    }
}

/// What the nodes of one server have in common.
private struct TestDunbar {
    let wire: Stack.Wire
    let place: TestDatabase
    let setup: DunbarSetup
    let mailbox: TestMailbox

    func withNode(on database: Database, _ body: (DunbarHost) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        let objects = try address.store(in: place, clock: setup.clock)
        var settings = DunbarService.Settings(publicURL: setup.publicURL ?? address.base)
        settings.origins = setup.origins
        settings.attempts = setup.attempts
        settings.storageQuota = setup.storageQuota ?? settings.storageQuota
        settings.uploadsPerHour = setup.uploadsPerHour ?? settings.uploadsPerHour
        let service = DunbarService(
            database: database, objects: objects, passwords: Passwords(cost: .testing, queueLimit: 1024),
            images: setup.images,
            mailer: mailbox, secret: Array(repeating: 9, count: 32), time: setup.clock.source, settings: settings
        ) { _, _, _ in }
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        let table = RouteTable(routes, options: .init(logger: .silent) { Problem.unavailable($0, Dunbar.phrases) })

        try await address.serve(table, peer: setup.peer) { transport, sockets in
            try await body(
                DunbarHost(
                    baseURL: address.url(of: Dunbar.self), transport: transport, clock: setup.clock, service: service,
                    database: database, objects: objects, mailbox: mailbox, sockets: sockets, folder: place.folder))
        }
    }
}
