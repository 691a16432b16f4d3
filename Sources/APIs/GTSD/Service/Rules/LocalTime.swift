import Contract
import TimeZones

/// The local time in a user's zone, which decides about their days, weeks and streaks.
struct LocalTime: Hashable, Sendable {
    let day: Day
    /// The minutes since midnight on the local clock, 0 to 1439. When clocks change, a day repeats or skips some of
    /// them.
    let minute: Int64

    /// - Parameter milliseconds: The time since 1970, in UTC.
    init(milliseconds: Int64, in zone: Zone) {
        let instant = floorDivide(milliseconds, by: 1000)
        let seconds = instant + Int64(zone.offset(at: instant))
        let days = floorDivide(seconds, by: 86_400)
        day = Day(daysSince1970: days)
        minute = (seconds - days * 86_400) / 60
    }
}

/// Computes weeks, which begin on Monday.
enum Week {
    /// Returns 0 for Monday to 6 for Sunday. 1970-01-01 was a Thursday.
    static func weekday(of day: Day) -> Int {
        let shifted = day.daysSince1970 + 3
        return Int(shifted - floorDivide(shifted, by: 7) * 7)
    }

    /// Returns the Monday of a day's week.
    static func start(of day: Day) -> Day { day.advanced(by: -weekday(of: day)) }
}

func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}
