/// One promise of a contract, as something to try on a running server.
///
/// A scenario makes its own users and looks at nothing that others made, so that many can run at once, against a
/// server in the same process or any base URL.
public struct Scenario<World: Sendable>: Sendable, CustomStringConvertible {
    /// In words: what holds.
    public let name: String
    /// The operation or section of the contract, such as `GET /me`: verdicts are given for each.
    public let clause: String
    /// Who can be held to it.
    public let level: Level
    /// Ends a scenario that waits for something that does not come.
    public let limit: Duration
    let body: @Sendable (World) async throws -> Void

    public init(
        _ name: String, clause: String, level: Level = .addition, within limit: Duration = .seconds(120),
        run body: @escaping @Sendable (World) async throws -> Void
    ) {
        self.name = name
        self.clause = clause
        self.level = level
        self.limit = limit
        self.body = body
    }

    /// Tries it.
    ///
    /// - Parameter limit: Instead of the scenario's own.
    /// - Throws: ``Broken``, ``TimedOut``, or what the SDK threw where it should not have.
    public func run(_ world: World, within limit: Duration? = nil) async throws {
        try await TimeLimit(limit ?? self.limit).hold { try await body(world) }
    }

    public var description: String { name }
}

/// Thrown by a scenario that cannot be tried on this server, in words: it counts as skipped.
public struct NotTried: Error {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// Who can be held to a scenario.
public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
    /// Any server of the contract: the published text says so, in words or by example.
    case contract
    /// Concord: it settles what the contract leaves open, or adds to it.
    case addition

    public static func < (left: Level, right: Level) -> Bool { left == .contract && right == .addition }
}
