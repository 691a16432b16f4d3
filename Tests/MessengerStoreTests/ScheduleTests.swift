import Foundation
import Testbed
import Testing

/// Two devices of a user show what the server has, after any schedule of losses, deaths, and changes by others; and what
/// the user wrote arrived once.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct ScheduleTests {
    /// The seeds: a sample, or with `CONCORD_TORTURE=1` a thousand. `CONCORD_SCHEDULES=100000` runs more, and
    /// `CONCORD_SCHEDULES=5000-10000` those from 5,000 on, beside another process with those before. A failure prints its
    /// seed; `CONCORD_SEED=17` runs that one alone.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["CONCORD_SEED"].flatMap(UInt64.init) { return seed..<seed + 1 }
        let bounds = environment["CONCORD_SCHEDULES"]?.split(separator: "-").compactMap { UInt64($0) } ?? []
        return (bounds.count > 1 ? bounds[0] : 0)..<(bounds.last ?? (Torture.isOn ? 1000 : 50))
    }()

    @Test func bothDevicesShowWhatTheServerHas() async {
        let begun = ContinuousClock.now
        let (count, wrong) = await onThread {
            var count = ScheduleCounts()
            var wrong: [UInt64: [String]] = [:]
            for seed in Self.seeds {
                let schedule = Schedule(seed: seed)
                schedule.run()
                count += schedule.count
                if !schedule.violations.isEmpty { wrong[seed] = schedule.violations }
            }
            return (count, wrong)
        }
        print("\(Self.seeds.count) schedules in \(begun.duration(to: .now)): \(count)")
        for (seed, violations) in wrong.sorted(by: { $0.key < $1.key }).prefix(3) {
            // The same schedule again, with a trace.
            let trace = await onThread {
                let schedule = Schedule(seed: seed, isTraced: true)
                schedule.run()
                return schedule.simulation.trace
            }
            Issue.record("seed \(seed): \(violations)\n\(trace)")
        }
        #expect(wrong.isEmpty, "\(wrong.count) schedules: \(wrong.keys.sorted().prefix(50))")
        // An event that never occurs in any schedule would leave its rule untested.
        if Self.seeds.count >= 1000 {
            // An answer that nothing tells about is too rare for this sample.
            for path in ScheduleCounts.all where path != \.failed { #expect(count[keyPath: path] > 0, "\(path)") }
        }
    }

    /// Schedules that once ended with a difference, or did not end: a message arrived while a chat was begun again, and the
    /// page that was on its way did not have it; a sent message was deleted on another device before it had come back; a
    /// device that could store nothing asked again each second; a message came as a frame after the list with its edit.
    @Test(arguments: [752, 986, 2187, 3032, 3891, 5737, 8459, 8745, 9751] as [UInt64])
    func aScheduleThatOnceFailedPasses(_ seed: UInt64) async {
        let violations = await onThread {
            let schedule = Schedule(seed: seed)
            schedule.run()
            return schedule.violations
        }
        #expect(violations.isEmpty)
    }

    @Test func aScheduleIsTheSameEachTime() async {
        for seed in 0..<3 as Range<UInt64> {
            let traces = await onThread {
                (0..<2).map { _ in
                    let schedule = Schedule(seed: seed, isTraced: true)
                    schedule.run()
                    return schedule.simulation.trace
                }
            }
            let lines = traces.map { $0.split(separator: "\n") }
            let first = zip(lines[0], lines[1]).first { $0 != $1 }
            let isSame = traces[0] == traces[1]
            #expect(isSame, "seed \(seed): \(first.map { "\($0)" } ?? "")")
        }
    }
}
