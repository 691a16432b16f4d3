import ContractClient
import Foundation
import HTTPTypes

/// A server to hold to a contract, and how to reach it.
public struct Server: Sendable {
    /// What the contract's paths are appended to; without a slash at its end.
    public var baseURL: URL
    public var transport: any Transport
    public var sockets: any SocketTransport
    /// What it is held to: at ``Level/contract`` it need not have what Concord adds.
    public var level: Level

    public init(
        baseURL: URL, transport: any Transport, sockets: any SocketTransport, level: Level = .addition
    ) {
        self.baseURL = baseURL
        self.transport = transport
        self.sockets = sockets
        self.level = level
    }
}

/// Everything that can be checked of one API: its scenarios, their worlds forgotten.
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
        let leave: Leave
    }

    /// Removes what a scenario has made, as far as the API can. It is called again when the run is over where the server
    /// limited it.
    public typealias Leave = @Sendable () async -> Remains

    /// What stays on the server.
    public struct Remains: Sendable, ExpressibleByDictionaryLiteral {
        /// By its name in plural, such as `["users": 2]`.
        public var counts: [String: Int]
        /// In how many seconds the server lets it be removed, when that is all that is in the way.
        public var retryAfter: Int?

        public init(_ counts: [String: Int], retryAfter: Int? = nil) {
            self.counts = counts
            self.retryAfter = retryAfter
        }

        public init(dictionaryLiteral elements: (String, Int)...) {
            self.init(Dictionary(elements, uniquingKeysWith: +))
        }
    }

    /// As on the command line, such as `messenger`.
    public let api: String
    public let items: [Item]
    /// A path that every server of the API answers, to a stranger with a refusal.
    let probe: String
    /// Which requests servers limit by address, so that a long run has to wait.
    let isLimited: @Sendable (TransportRequest) -> Bool

    /// - Parameter enter: Makes the world of one scenario, and the way to leave it.
    public init<World>(
        api: String, scenarios: [Scenario<World>], probe: String,
        isLimited: @escaping @Sendable (TransportRequest) -> Bool,
        enter: @escaping @Sendable (Server) -> (world: World, leave: Leave)
    ) {
        self.api = api
        self.probe = probe
        self.isLimited = isLimited
        items = scenarios.map { scenario in
            Item(name: scenario.name, clause: scenario.clause, level: scenario.level, limit: scenario.limit) { server in
                let (world, leave) = enter(server)
                return Attempt(run: { try await scenario.body(world) }, leave: leave)
            }
        }
    }

    /// The scenarios with one of the texts in their name or clause, without regard to case; all when there is no text.
    public func items(matching patterns: [String]) -> [Item] {
        guard !patterns.isEmpty else { return items }
        return items.filter { item in
            patterns.contains { pattern in
                [item.name, item.clause].contains { $0.range(of: pattern, options: .caseInsensitive) != nil }
            }
        }
    }
}
