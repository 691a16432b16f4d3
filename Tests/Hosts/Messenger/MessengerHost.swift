import Backend
import MessengerService
import Testbed

/// A test's own Messenger server, and how to reach it.
public typealias MessengerHost = TestNode<HostedMessenger>

/// Runs a test on a Messenger server with an empty database.
public func withMessenger(
    on stack: Stack, settings: MessengerService.Settings = .init(), peer: String = "127.0.0.1",
    clock: TestClock = TestClock(), _ body: (MessengerHost) async throws -> Void
) async throws {
    try await withMessengerNodes(1, on: stack, settings: settings, peer: peer, clock: clock) { try await body($0[0]) }
}

/// Runs a test on a Messenger server of several nodes.
///
/// - Parameters:
///   - count: The number of nodes. More than one is possible on PostgreSQL only.
///   - peer: The address that nodes see as the client's when a request is handed over within the process.
///   - proxy: A proxy between the first node and the database.
public func withMessengerNodes(
    _ count: Int, on stack: Stack, settings: MessengerService.Settings = .init(), peer: String = "127.0.0.1",
    clock: TestClock = TestClock(), behind proxy: FaultyProxy? = nil, _ body: ([MessengerHost]) async throws -> Void
) async throws {
    var setup = TestSetup(clock: clock)
    setup.peer = peer
    setup.proxy = proxy
    // A client on a busy machine may need long for its first frame.
    var settings = settings
    settings.signInTime = .seconds(1500)
    try await withNodes(count, of: HostedMessenger(settings: settings), on: stack, setup, body)
}
