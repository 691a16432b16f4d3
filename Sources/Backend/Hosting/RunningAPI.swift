import Database

/// One API of a server, ready to listen.
struct RunningAPI: Sendable {
    let name: String
    /// The path that stands before the API's paths.
    let basePath: String
    let listener: Listener
    let health: Health
    /// The database that operators' commands work on.
    let database: Database
    let service: any HostedService
    /// The number of stored files that a sweep may remove.
    let sweepLimits: SweepLimits
    let check: StartCheck
    let logStartupWarnings: @Sendable () async -> Void
    /// Closes the connections to the database and to the object store.
    let close: @Sendable () async throws -> Void
}
