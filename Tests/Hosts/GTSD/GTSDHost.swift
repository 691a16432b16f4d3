import Backend
import GTSDService
import Testbed

/// A test's own GTSD server, and how to reach it.
public typealias GTSDHost = TestNode<HostedGTSD>

/// Runs a test on a GTSD server with an empty database.
///
/// - Parameters:
///   - peer: The address that the server sees as the client's when a request is handed over within the process.
///   - showsDetails: Whether answers to unexpected errors say what went wrong, as in development.
///   - zones: The folder of zone files; nil for the machine's.
public func withGTSD(
    on stack: Stack, settings: GTSDService.Settings = .init(), peer: String = "127.0.0.1", showsDetails: Bool = false,
    clock: TestClock = TestClock(), zones: String? = nil, _ body: (GTSDHost) async throws -> Void
) async throws {
    try await withGTSDNodes(
        1, on: stack, settings: settings, peer: peer, showsDetails: showsDetails, clock: clock, zones: zones
    ) { try await body($0[0]) }
}

/// Runs a test on a GTSD server of several nodes.
///
/// - Parameter count: The number of nodes. More than one is possible on PostgreSQL only.
public func withGTSDNodes(
    _ count: Int, on stack: Stack, settings: GTSDService.Settings = .init(), peer: String = "127.0.0.1",
    showsDetails: Bool = false, clock: TestClock = TestClock(), zones: String? = nil,
    _ body: ([GTSDHost]) async throws -> Void
) async throws {
    var setup = TestSetup(clock: clock)
    setup.peer = peer
    setup.isDevelopment = showsDetails
    setup.environment = zones.map { ["TZDIR": $0] } ?? [:]
    try await withNodes(count, of: HostedGTSD(settings: settings), on: stack, setup, body)
}
