import Backend
import Contract
import ContractClient
import Database
import DunbarService
import Foundation
import Testbed

/// A test's own Dunbar server, how to reach it, and the e-mails that it sends.
@dynamicMemberLookup
public struct DunbarHost: TestHost {
    public let node: TestNode<HostedDunbar>
    public let mailbox: TestMailbox

    fileprivate init(_ node: TestNode<HostedDunbar>, _ mailbox: TestMailbox) {
        self.node = node
        self.mailbox = mailbox
    }

    public var baseURL: URL { node.baseURL }
    public var transport: any Transport { node.transport }
    public var sockets: any SocketTransport { node.sockets }
    public var service: DunbarService { node.service }
    public var database: Database { node.database }

    public subscript<T>(dynamicMember member: KeyPath<TestNode<HostedDunbar>, T>) -> T { node[keyPath: member] }
}

/// The setup of a test's own Dunbar server.
public struct DunbarSetup: Sendable {
    public var clock: TestClock
    public var publicURL: String?
    public var origins: [String] = []
    public var attempts = SignInThrottle.Limits()
    public var storageQuota: Int64?
    public var uploadsPerHour: Int?
    /// The address that the server sees as the client's when a request is handed over within the process.
    public var peer = "127.0.0.1"
    public var images: DunbarService.ImageMaker = { path, _, _ in try SampleImages.processed(path) }

    public init(clock: TestClock = TestClock()) { self.clock = clock }
}

/// Runs a test on a Dunbar server with an empty database.
public func withDunbar(
    on stack: Stack, _ setup: DunbarSetup = .init(), _ body: (DunbarHost) async throws -> Void
) async throws {
    try await withDunbarNodes(1, on: stack, setup) { try await body($0[0]) }
}

/// Runs a test on a Dunbar server of several nodes, which share a mailbox. E-mails are sent when a test asks for it.
///
/// - Parameter count: The number of nodes. More than one is possible on PostgreSQL only.
public func withDunbarNodes(
    _ count: Int, on stack: Stack, _ dunbar: DunbarSetup = .init(), _ body: ([DunbarHost]) async throws -> Void
) async throws {
    let mailbox = TestMailbox()
    let api = HostedDunbar(
        settings: { publicURL in
            var settings = DunbarService.Settings(publicURL: publicURL)
            settings.origins = dunbar.origins
            settings.attempts = dunbar.attempts
            settings.storageQuota = dunbar.storageQuota ?? settings.storageQuota
            settings.uploadsPerHour = dunbar.uploadsPerHour ?? settings.uploadsPerHour
            return settings
        }, images: { _ in dunbar.images }, mailer: { _ in mailbox })
    var setup = TestSetup(clock: dunbar.clock)
    setup.peer = dunbar.peer
    setup.publicURL = dunbar.publicURL
    setup.listens = false
    try await withNodes(count, of: api, on: stack, setup) { try await body($0.map { DunbarHost($0, mailbox) }) }
}
