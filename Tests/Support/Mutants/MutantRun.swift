import ContractCheck
import ContractClient
import ContractExamples
import Foundation
import NIOConcurrencyHelpers
import Testing

/// Puts mutants in front of an API's server, one at a time, and counts those that its scenarios notice.
///
/// `make mutants` runs all of them. A usual run takes a sample: as many as fit into half a minute, in an order that a seed
/// decides. It prints the seed; `CONCORD_MUTANTS_SEED` makes another run take the same order. `CONCORD_MUTANTS` is `all`, or
/// a part of the descriptions of the mutants that run, or several separated by `|`.
public struct MutantRun<World: Sendable>: Sendable {
    /// Starts a server, and runs a function in a world that reaches it through a defect.
    public typealias Serve =
        @Sendable (DefectiveRoute, _ body: @escaping @Sendable (World) async throws -> Void) async throws -> Void

    private let api: String
    private let mutants: [Mutant]
    private let survivors: [String: String]
    private let scenarios: [Scenario<World>]
    private let operations: OperationTable
    private let serve: Serve
    /// Whether it prints what became of each mutant, and what noticed it.
    private let logs = ProcessInfo.processInfo.environment["CONCORD_MUTANTS_REASONS"] != nil

    /// - Parameter survivors: The mutants that a run of the checker cannot notice, each with the reason.
    public init(
        _ api: String, _ mutants: [Mutant], survivors: [String: String] = [:], scenarios: [Scenario<World>],
        examples: Examples, serve: @escaping Serve
    ) {
        self.api = api
        self.mutants = mutants
        self.survivors = survivors
        self.scenarios = scenarios
        self.operations = OperationTable(examples)
        self.serve = serve
    }

    /// What became of a mutant.
    private enum Outcome: Sendable, Equatable {
        case caught
        case survived
        /// The defect changed nothing, so there was nothing to notice.
        case neverShown
        case timedOut(String)
        case notTried
    }

    /// A scenario, and what it did on a server without a defect.
    private struct Surveyed: Sendable {
        let scenario: Scenario<World>
        let operations: Set<String>
        let duration: Duration
    }

    /// Runs the mutants, and records an issue for each that is not noticed.
    public func run() async throws {
        let names = Set(mutants.map(\.description))
        #expect(names.count == mutants.count, "Two mutants have one name: \(repeated(mutants.map(\.description)))")
        #expect(survivors.keys.allSatisfy(names.contains), "A survivor is no mutant")
        let settings = ProcessInfo.processInfo.environment
        let wanted = settings["CONCORD_MUTANTS"]
        let parts = wanted.map { $0.split(separator: "|") } ?? []
        let seed = settings["CONCORD_MUTANTS_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1_000_000)
        var generator = SeededGenerator(seed: seed)
        let order = mutants.shuffled(using: &generator).filter { mutant in
            wanted == nil || wanted == "all" || parts.contains { mutant.description.contains($0) }
        }

        let survey = try await survey()
        let start = ContinuousClock.now
        let outcomes = try await together(order.count, width: 4) { index in
            guard wanted != nil || ContinuousClock.now - start < .seconds(30) else { return Outcome.notTried }
            let outcome = try await outcome(of: order[index], survey)
            if outcome != .caught { log("\(api): \(order[index]): \(outcome)") }
            return outcome
        }
        var tried = zip(order, outcomes).filter { $1 != .notTried }
        // Four mutants run at once. On a busy machine one may exceed its time; it then runs again alone.
        for index in tried.indices {
            if case .timedOut = tried[index].1 { tried[index].1 = try await outcome(of: tried[index].0, survey) }
        }
        let survived = tried.filter { $0.1 != .caught }
        print(
            "\(api): \(tried.count - survived.count) of \(tried.count) mutants caught in \(ContinuousClock.now - start), of "
                + "\(mutants.count) in all; CONCORD_MUTANTS_SEED=\(seed)")
        let known = Set(survivors.keys).intersection(tried.map(\.0.description))
        #expect(
            Set(survived.map(\.0.description)) == known,
            "\(survived.map { "\($0.0): \($0.1)" }.sorted().joined(separator: "\n"))")
        if wanted == "all" {
            // A run of the checker meets a server with open doors.
            let doors = tried.count { survivors[$0.0.description] == Mutant.reasonOfDoors }
            let caught = tried.count - survived.count
            #expect(caught * 100 >= (tried.count - doors) * 95, "less than 95 % were caught")
        }
    }

    private func repeated(_ names: [String]) -> [String] {
        Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted()
    }

    /// Runs every scenario on a server without a defect. All pass, so a failure is due to a defect.
    private func survey() async throws -> [Surveyed] {
        try await together(scenarios.count, width: 4) { index in
            let (scenario, seen) = (scenarios[index], NIOLockedValueBox<Set<String>>([]))
            let route = DefectiveRoute(
                Defect(exchange: { request, forward in
                    if let operation = operations.signature(of: request) {
                        seen.withLockedValue { _ = $0.insert(operation) }
                    }
                    return try await forward(request)
                }))
            let start = ContinuousClock.now
            do {
                try await on(route) { try await scenario.run($0) }
            } catch {
                throw CheckFailure("without a defect, “\(scenario)” fails: \(error)")
            }
            #expect(!route.hasShown.withLockedValue { $0 }, "something changed the traffic of “\(scenario)”")
            return Surveyed(
                scenario: scenario, operations: seen.withLockedValue { $0 }, duration: ContinuousClock.now - start)
        }
    }

    /// Returns the scenarios that must notice a mutant: those of its clause, or those that use the operation. Those come
    /// first that are about the operation, and that are quick.
    private func concerned(with mutant: Mutant, _ survey: [Surveyed]) -> [Surveyed] {
        let own = survey.filter { $0.scenario.clause == mutant.clause }
        guard operations.contains(mutant.clause) else { return own }
        let others = survey.filter { $0.operations.contains(mutant.clause) && $0.scenario.clause != mutant.clause }
        return own + others.sorted { $0.duration < $1.duration }
    }

    private func outcome(of mutant: Mutant, _ survey: [Surveyed]) async throws -> Outcome {
        let concerned = concerned(with: mutant, survey)
        var hasShown = false
        for each in concerned {
            // Only waiting shows that a frame is missing, so the limit is well above the time that the frame takes
            // otherwise.
            let limit: Duration = mutant.isSilent ? .seconds(3) + each.duration * 3 : .seconds(60)
            let route = DefectiveRoute(mutant.make())
            do {
                try await on(route) { try await each.scenario.run($0, within: limit) }
            } catch is TimedOut {
                return mutant.isSilent ? .caught : .timedOut(each.scenario.name)
            } catch {
                let isDue = route.hasShown.withLockedValue { $0 }
                log("\(api): \(mutant), by “\(each.scenario)”: \("\(error)".prefix(250))")
                return isDue ? .caught : .neverShown
            }
            hasShown = hasShown || route.hasShown.withLockedValue { $0 }
        }
        return hasShown ? .survived : .neverShown
    }

    private func log(_ line: String) { if logs { FileHandle.standardError.write(Data((line + "\n").utf8)) } }

    private func on(_ route: DefectiveRoute, _ body: @escaping @Sendable (World) async throws -> Void) async throws {
        defer { route.end() }
        try await serve(route, body)
    }
}

/// The way to a server, with a defect on it.
public final class DefectiveRoute: Sendable {
    private let defect: Defect
    let hasShown = Traces(false)
    private let sockets = NIOLockedValueBox<[DefectiveSockets]>([])

    init(_ defect: Defect) { self.defect = defect }

    /// Returns a server as clients see it behind the defect.
    public func server(_ baseURL: URL, _ transport: any Transport, _ base: any SocketTransport) -> Server {
        let sockets = DefectiveSockets(base: base, defect: defect, hasShown: hasShown)
        self.sockets.withLockedValue { $0.append(sockets) }
        return Server(
            baseURL: baseURL, transport: DefectiveTransport(base: transport, defect: defect, hasShown: hasShown),
            sockets: sockets)
    }

    func end() { for sockets in sockets.withLockedValue({ $0 }) { sockets.end() } }
}

/// The operations of an API, to tell which one a request is for.
struct OperationTable: Sendable {
    private let examples: [OperationExample]

    /// Those with the fewest captures come first: they match first.
    init(_ examples: Examples) {
        self.examples = examples.operations.sorted { left, right in
            left.path.count { $0 == "{" } < right.path.count { $0 == "{" }
        }
    }

    func contains(_ signature: String) -> Bool { examples.contains { $0.signature == signature } }

    func signature(of request: TransportRequest) -> String? {
        examples.first { operation in operation.methods.contains { request.isFor("\($0) \(operation.path)") } }?
            .signature
    }
}
