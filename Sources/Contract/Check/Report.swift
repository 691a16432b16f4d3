import Foundation

/// The result of a run. In JSON, these are the members of `--format json`.
public struct Report: Sendable, Codable {
    public var api: String
    public var url: String
    /// The level of the check.
    public var level: Level
    public var passed: Int { count(.passed) }
    public var failed: Int { count(.failed) }
    public var skipped: Int { count(.skipped) }
    /// The duration from the first request to the last, in seconds.
    public var seconds: Double
    /// The reason for which the run ended early: the server went away, or the run was interrupted.
    public var ended: String?
    /// The numbers of resources that the run has made and the API cannot remove, by their name in plural.
    public var leftBehind: [String: Int]
    /// The verdicts in the order of the contract.
    public var scenarios: [Verdict]

    public init(
        api: String, url: String, level: Level, seconds: Double = 0, ended: String? = nil,
        leftBehind: [String: Int] = [:], scenarios: [Verdict] = []
    ) {
        self.api = api
        self.url = url
        self.level = level
        self.seconds = seconds
        self.ended = ended
        self.leftBehind = leftBehind
        self.scenarios = scenarios
    }

    private func count(_ outcome: Verdict.Outcome) -> Int { scenarios.count { $0.outcome == outcome } }

    /// The verdict on each clause, in the order of the contract.
    public var clauses: [Clause] {
        var order: [String] = []
        for verdict in scenarios where !order.contains(verdict.clause) { order.append(verdict.clause) }
        var stopped: [String: Set<String>] = [:]
        for cause in causes {
            for verdict in cause.scenarios where !cause.belongs(to: verdict.clause) {
                stopped[verdict.clause, default: []].insert(verdict.name)
            }
        }
        return order.map { name in
            Clause(name, scenarios.filter { $0.clause == name }, stopped: stopped[name] ?? [])
        }
    }

    /// A clause of the contract, with the result of its scenarios.
    public struct Clause: Sendable, Codable {
        public let clause: String
        /// Failed if one of the scenarios failed, skipped if all were skipped or not tried.
        public let outcome: Verdict.Outcome
        public let passed: Int
        public let failed: Int
        public let skipped: Int
        /// The scenarios that failed before they reached the clause: many scenarios stopped at another operation.
        public let notTried: Int

        enum CodingKeys: String, CodingKey {
            case clause, outcome, passed, failed, skipped
            case notTried = "not_tried"
        }

        init(_ name: String, _ verdicts: [Verdict], stopped: Set<String>) {
            clause = name
            passed = verdicts.count { $0.outcome == .passed }
            skipped = verdicts.count { $0.outcome == .skipped }
            notTried = verdicts.count { $0.outcome == .failed && stopped.contains($0.name) }
            failed = verdicts.count { $0.outcome == .failed } - notTried
            outcome = failed > 0 ? .failed : passed > 0 ? .passed : .skipped
        }
    }

    enum CodingKeys: String, CodingKey {
        case api, url, level, passed, failed, skipped, seconds, ended
        case leftBehind = "left_behind"
        case clauses, scenarios
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        api = try container.decode(String.self, forKey: .api)
        url = try container.decode(String.self, forKey: .url)
        level = try container.decode(Level.self, forKey: .level)
        seconds = try container.decode(Double.self, forKey: .seconds)
        ended = try container.decodeIfPresent(String.self, forKey: .ended)
        leftBehind = try container.decode([String: Int].self, forKey: .leftBehind)
        scenarios = try container.decode([Verdict].self, forKey: .scenarios)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(api, forKey: .api)
        try container.encode(url, forKey: .url)
        try container.encode(level, forKey: .level)
        try container.encode(passed, forKey: .passed)
        try container.encode(failed, forKey: .failed)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(ended, forKey: .ended)
        try container.encode(leftBehind, forKey: .leftBehind)
        try container.encode(clauses, forKey: .clauses)
        try container.encode(scenarios, forKey: .scenarios)
    }
}

/// The result of one scenario.
public struct Verdict: Sendable, Codable {
    public enum Outcome: String, Sendable, Codable {
        case passed, failed, skipped
    }

    public var name: String
    public var clause: String
    public var level: Level
    public var outcome: Outcome
    /// The duration in seconds, without the time that the server asked to wait.
    public var seconds: Double
    /// The reason for which it was skipped.
    public var reason: String?
    public var failure: Failure?

    public init(
        name: String, clause: String, level: Level, outcome: Outcome, seconds: Double = 0, reason: String? = nil,
        failure: Failure? = nil
    ) {
        self.name = name
        self.clause = clause
        self.level = level
        self.outcome = outcome
        self.seconds = seconds
        self.reason = reason
        self.failure = failure
    }
}

/// A difference between what was found and what the contract promises.
public struct Failure: Sendable, Codable {
    /// The difference in words; empty when `expected` and `found` are enough.
    public var message: String
    public var expected: String?
    public var found: String?
    /// The file and line of the scenario, where they are known.
    public var place: String?
    /// The operation of the request with the unexpected answer, or of the last request, such as `POST /chats/{id}`.
    public var operation: String?
    /// Lines for a shell that send the requests again, with the answers as comments.
    public var reproduce: [String]

    public init(
        message: String, expected: String? = nil, found: String? = nil, place: String? = nil,
        operation: String? = nil, reproduce: [String] = []
    ) {
        self.message = message
        self.expected = expected
        self.found = found
        self.place = place
        self.operation = operation
        self.reproduce = reproduce
    }
}
