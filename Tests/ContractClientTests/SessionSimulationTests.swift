import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

/// Sessions keep their rules under thousands of seeded schedules: concurrent tasks, cancelled calls, lost answers,
/// wrong clocks, restarts, slow and failing stores, two processes, revocation, sign-ins and sign-outs.
@Suite(.timeLimit(.minutes(30))) struct SessionSimulationTests {
    /// The seeds. `CONCORD_SCHEDULES=100000` runs more. A failure prints its seed; `CONCORD_SEED=17` runs that one
    /// alone.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["CONCORD_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
        return 0..<(environment["CONCORD_SCHEDULES"].flatMap(UInt64.init) ?? 10_000)
    }()

    @Test func theLawsHoldInEverySchedule() async {
        let found = NIOLockedValueBox<(count: SessionCounts, against: [UInt64: SessionLaw])>((.init(), [:]))
        await onThreads(1) { _ in
            for seed in Self.seeds {
                let world = SimulatedWorld(seed: seed)
                world.run()
                found.withLockedValue { found in
                    found.count += world.count
                    found.against[seed] = world.violations.first?.law
                }
            }
        }
        let (count, against) = found.withLockedValue { $0 }
        print("\(Self.seeds.count) schedules: \(count)")
        for (seed, law) in against.sorted(by: { $0.key < $1.key }).prefix(3) {
            // The same schedule again, with a trace.
            let world = SimulatedWorld(seed: seed, isTraced: true)
            await onThreads(1) { _ in world.run() }
            Issue.record("seed \(seed): \(law.rawValue)\n\(world.simulation.trace)")
        }
        let laws = Dictionary(grouping: against.values, by: \.rawValue).mapValues(\.count)
        #expect(against.isEmpty, "\(against.count) schedules: \(laws)")
        // An event that never occurs in any schedule would leave its rule untested.
        if Self.seeds.count >= 1000 {
            for path in SessionCounts.all { #expect(count[keyPath: path] > Self.seeds.count / 100, "\(path)") }
        }
    }

    @Test func aScheduleIsTheSameEachTime() async {
        for seed in 0..<20 as Range<UInt64> {
            let worlds = [SimulatedWorld(seed: seed, isTraced: true), SimulatedWorld(seed: seed, isTraced: true)]
            await onThreads(2) { worlds[Int($0)].run() }
            #expect(worlds[0].simulation.trace == worlds[1].simulation.trace)
            #expect(worlds[0].simulation.trace.contains("the last call ends"))
        }
    }

    /// Runs on threads of its own, so that other tests keep theirs.
    private func onThreads(_ count: UInt64, _ body: @escaping @Sendable (UInt64) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask { await onThread { body(index) } }
            }
        }
    }
}
