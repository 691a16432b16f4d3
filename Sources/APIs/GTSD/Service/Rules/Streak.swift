import Contract

/// The streak that a user's credited days make.
struct Streak: Hashable, Sendable {
    /// The number of consecutive days up to today, or up to yesterday while today can still be credited.
    let current: Int
    let longest: Int
    let total: Int
    /// The last credited day.
    let last: Day?

    /// - Parameters:
    ///   - days: The credited days, ascending and distinct.
    ///   - skipped: The days that the user's calendar left out. They do not count, and do not break a run.
    init(of days: some Sequence<Day>, skipping skipped: Set<Day> = [], today: Day) {
        // After a change to a zone further west, days after today may be credited, and today can still be.
        let open = skipped.union([today])
        var (run, longest, total) = (0, 0, 0)
        var last: Day?
        for day in days {
            run = last.map { Self.isNext(day, after: $0, skipping: open) } ?? false ? run + 1 : 1
            longest = max(longest, run)
            total += 1
            last = day
        }
        self.longest = longest
        self.total = total
        self.last = last
        // After a change to a zone further west, the last credited day may be tomorrow.
        current = last.map { $0 >= today || Self.isNext(today, after: $0, skipping: skipped) } ?? false ? run : 0
    }

    /// Returns whether no day lies between two but those that were skipped.
    static func isNext(_ day: Day, after last: Day, skipping skipped: Set<Day>) -> Bool {
        last.distance(to: day) - 1 <= skipped.count && (last.advanced(by: 1)..<day).allSatisfy(skipped.contains)
    }
}

enum Compliance {
    /// Returns whether at least four of five tasks are completed. A day without tasks is not compliant.
    static func holds(completed: Int, of total: Int) -> Bool { total > 0 && completed * 5 >= total * 4 }
}
