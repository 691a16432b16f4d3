import ContractClient
import Foundation
import HTTPTypes

/// A server to check, and how to reach it.
public struct Server: Sendable {
    /// The URL to which the contract's paths are appended, without a trailing slash.
    public var baseURL: URL
    public var transport: any Transport
    public var sockets: any SocketTransport
    /// The level of the check: at ``Level/contract`` the server need not have Concord's additions.
    public var level: Level
    /// Notes which of the contract's examples were seen, where a test asks for it.
    package var coverage: Coverage?

    public init(
        baseURL: URL, transport: any Transport, sockets: any SocketTransport, level: Level = .addition
    ) {
        self.baseURL = baseURL
        self.transport = transport
        self.sockets = sockets
        self.level = level
    }
}

/// All scenarios of one API, without the types of their worlds.
public struct Checklist: Sendable {
    /// A scenario of the list.
    public struct Item: Sendable {
        public let name: String
        public let clause: String
        public let level: Level
        let limit: Duration
        let begin: @Sendable (Server) -> Attempt
    }

    /// One scenario on one server.
    struct Attempt: Sendable {
        let run: @Sendable () async throws -> Void
        let cleanUp: @Sendable (_ hasFailed: Bool) async -> Remaining
    }

    /// Removes what a scenario has made, as far as the API can. It is called again after the run when the server
    /// limited it.
    public typealias CleanUp = @Sendable () async -> Remaining

    /// What stays on the server after a scenario.
    public struct Remaining: Sendable, ExpressibleByDictionaryLiteral {
        /// The numbers of resources by their name in plural, such as `["users": 2]`.
        public var counts: [String: Int]
        /// The seconds after which the server allows them to be removed, when a limit is the only obstacle.
        public var retryAfter: Int?

        public init(_ counts: [String: Int], retryAfter: Int? = nil) {
            self.counts = counts
            self.retryAfter = retryAfter
        }

        public init(dictionaryLiteral elements: (String, Int)...) {
            self.init(Dictionary(elements, uniquingKeysWith: +))
        }
    }

    /// The API's name on the command line, such as `messenger`.
    public let api: String
    public let items: [Item]
    /// A path that every server of the API answers; without credentials, with a refusal.
    let probe: String
    /// Returns whether servers limit a request by address, so that a long run has to wait.
    let isLimited: @Sendable (TransportRequest) -> Bool

    /// The tokens that the run was given, in their order. A report does not show them.
    let tokens: [String]

    /// - Parameters:
    ///   - tokens: The tokens that the run was given. A report shows variables of a shell in their place.
    ///   - enter: Creates the world of one scenario, and returns it with a function that cleans up.
    public init<World>(
        api: String, scenarios: [Scenario<World>], probe: String, tokens: [String] = [],
        isLimited: @escaping @Sendable (TransportRequest) -> Bool,
        enter: @escaping @Sendable (Server) -> (world: World, cleanUp: CleanUp)
    ) {
        self.init(
            api: api, scenarios: scenarios, probe: probe, tokens: tokens, isLimited: isLimited,
            entering: { server in
                let (world, cleanUp) = enter(server)
                return (world, { _ in await cleanUp() })
            })
    }

    /// Creates a checklist whose scenarios leave more behind after a failure, for the commands that repeat it.
    ///
    /// - Parameters:
    ///   - tokens: The tokens that the run was given. A report shows variables of a shell in their place.
    ///   - entering: Creates the world of one scenario, and returns it with a function that cleans up after a scenario that
    ///     has failed or not.
    public init<World>(
        api: String, scenarios: [Scenario<World>], probe: String, tokens: [String] = [],
        isLimited: @escaping @Sendable (TransportRequest) -> Bool,
        entering:
            @escaping @Sendable (Server) -> (
                world: World, cleanUp: @Sendable (_ hasFailed: Bool) async -> Remaining
            )
    ) {
        self.api = api
        self.probe = probe
        self.tokens = tokens
        self.isLimited = isLimited
        items = scenarios.map { scenario in
            Item(name: scenario.name, clause: scenario.clause, level: scenario.level, limit: scenario.limit) { server in
                let (world, cleanUp) = entering(server)
                return Attempt(run: { try await scenario.body(world) }, cleanUp: cleanUp)
            }
        }
    }

    /// Returns the scenarios whose name or clause contains one of the texts, regardless of case; all of them when there
    /// is no text.
    public func items(matching patterns: [String]) -> [Item] {
        guard !patterns.isEmpty else { return items }
        return items.filter { item in
            patterns.contains { pattern in
                [item.name, item.clause].contains { $0.range(of: pattern, options: .caseInsensitive) != nil }
            }
        }
    }
}
