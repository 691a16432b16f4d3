/// The streak that a user's credited days make.
struct Streak: Hashable, Sendable {
    /// The number of consecutive days up to today, or up to yesterday while today can still be credited.
    let current: Int
    let longest: Int
    let total: Int
    /// The last credited day.
    let last: Int64?

    /// - Parameter days: The credited days, ascending and distinct.
    init(of days: some Sequence<Int64>, today: Int64) {
        var (run, longest, total) = (0, 0, 0)
        var last: Int64?
        for day in days {
            run = last.map { $0 + 1 == day } ?? false ? run + 1 : 1
            longest = max(longest, run)
            total += 1
            last = day
        }
        self.longest = longest
        self.total = total
        self.last = last
        // After a change to a zone further west, the last credited day may be tomorrow.
        current = last.map { $0 >= today - 1 } ?? false ? run : 0
    }
}

enum Compliance {
    /// Returns whether at least four of five tasks are completed. A day without tasks is not compliant.
    static func holds(completed: Int, of total: Int) -> Bool { total > 0 && completed * 5 >= total * 4 }
}
