/// One promise of a contract, as a test against a running server.
///
/// A scenario creates its own users and looks at nothing that others made, so that many can run at the same time,
/// against a server in the same process or at any base URL.
public struct Scenario<World: Sendable>: Sendable, CustomStringConvertible {
    /// The promise, in words.
    public let name: String
    /// The operation or section of the contract, such as `GET /me`. Verdicts are summed up for each.
    public let clause: String
    /// The servers to which the scenario applies.
    public let level: Level
    /// The time after which the scenario fails, because something that it waits for did not come.
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

    /// Runs the scenario.
    ///
    /// - Parameter limit: The time limit, in place of the scenario's own.
    /// - Throws: ``CheckFailure``, ``TimedOut``, or an error of the SDK that the scenario did not expect.
    public func run(_ world: World, within limit: Duration? = nil) async throws {
        try await TimeLimit(limit ?? self.limit).hold { try await body(world) }
    }

    public var description: String { name }
}

/// Thrown by a scenario that does not apply to this server, with the reason. It counts as skipped.
public struct Skipped: Error {
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// The servers to which a scenario applies.
public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
    /// Any server of the contract: the published text promises it, in words or by example.
    case contract
    /// Concord's server: the project decided what the contract leaves open, or added it.
    case addition
    /// Any server of an older API that Concord's answers in a dialect of its own, such as Monica 4.
    case dialect

    public static func < (left: Level, right: Level) -> Bool { left.order < right.order }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
