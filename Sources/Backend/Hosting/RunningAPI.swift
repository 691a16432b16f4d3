import Database
import ObjectStore

/// One API of a server, ready to listen.
struct RunningAPI: Sendable {
    let hosted: any HostedAPI
    let listener: Listener
    let health: Health
    /// The database that operators' commands work on.
    let database: Database
    /// The store of the API's files; nil for an API without files.
    let objects: (any ObjectStore)?
    let service: any HostedService
    /// The number of stored files that a sweep may remove.
    let sweepLimits: SweepLimits
    let check: StartCheck
    let logStartupWarnings: @Sendable () async -> Void
    /// Closes the connections to the database and to the object store.
    let close: @Sendable () async throws -> Void

    var name: String { hosted.name }
    /// The path that stands before the API's paths.
    var basePath: String { hosted.basePath }
}
