import Backend
import Contract
import Database
import MonicaAPI
import TimeZones

/// The dates of a reminder: the first one, and those that follow it.
struct ReminderRule: Sendable, Hashable {
    let first: Day
    let frequency: Monica.ReminderFrequency
    /// The number of units between two dates, 1 or more.
    let number: Int

    /// Returns the first date that is not before a day; nil when there is none.
    func date(from day: Day) -> Day? {
        guard first < day else { return first }
        let date: Day? =
            switch frequency {
            case .week: week(from: day)
            case .month: month(from: day, every: number)
            case .year: month(from: day, every: number * 12)
            default: nil
            }
        return date.flatMap { $0 <= .latest ? $0 : nil }
    }

    private func week(from day: Day) -> Day {
        let (passed, period) = (first.distance(to: day), number * 7)
        return first.advanced(by: (passed + period - 1) / period * period)
    }

    /// Every date is counted from the first, so that the 31st comes again after a shorter month.
    private func month(from day: Day, every period: Int) -> Day? {
        let passed = Month(of: day).number - Month(of: first).number
        let periods = [passed / period, passed / period + 1]
        let months = periods.map { Month(number: Month(of: first).number + $0 * period) }
        return months.lazy.compactMap { $0.day(first.dayOfMonth) }.first { $0 >= day }
    }
}

extension Monica.ReminderFrequency: SQLConvertible {}

extension ReminderRule {
    /// Reads the rule of a row that has the first day, the unit and the number from a column on.
    init(row: borrowing Row, at column: Int) throws {
        self.init(
            first: try row.get(column), frequency: try row.get(column + 1), number: try row.get(column + 2))
    }
}

/// A month of the calendar.
struct Month: Sendable, Hashable {
    /// The number of months since the beginning of the year 0.
    let number: Int

    init(number: Int) { self.number = number }

    init(of day: Day) { number = day.year * 12 + day.month - 1 }

    /// Returns the month some months later; nil for one that an answer cannot show.
    func later(by months: Int) -> Month? { months < 120_000 ? Month(number: number + months) : nil }

    /// The first and the last day; nil for a month that an answer cannot show.
    var days: ClosedRange<Day>? {
        guard let first = day(1), let last = day(31) else { return nil }
        return first...last
    }

    /// Returns a day of the month, the last one for a day that the month lacks.
    func day(_ wanted: Int) -> Day? {
        (28...31).reversed().lazy.compactMap { last in
            Day(year: number / 12, month: number % 12 + 1, day: min(wanted, last))
        }.first
    }
}

extension Day {
    private func part(_ index: Int) -> Int { Int(description.split(separator: "-")[index]) ?? 0 }

    fileprivate var month: Int { part(1) }
    fileprivate var dayOfMonth: Int { part(2) }
}

/// The hour at which an account is reminded, in the zone of its calendar.
struct ReminderTime: Sendable {
    /// The hour, from 0 to 23.
    let hour: Int
    let zone: Zone

    /// Returns the day of a moment, which is in milliseconds since 1970.
    func day(at moment: Int64) -> Day {
        Monica.Timestamp(milliseconds: moment + Int64(zone.offset(at: moment / 1000)) * 1000).day
    }

    /// Returns the moment of a reminder on a day. Where the clocks skip the hour, it is the moment at which they do.
    func moment(on day: Day) -> Int64 {
        zone.moment(local: day.daysSince1970 * 86_400 + Int64(hour) * 3600) * 1000
    }

    /// Returns the first date of a rule whose hour has not passed; nil when there is none.
    func next(_ rule: ReminderRule, after now: Int64) -> (day: Day, moment: Int64)? {
        let today = day(at: now)
        let earliest = moment(on: today) > now ? today : today.advanced(by: 1)
        return rule.date(from: earliest).map { ($0, moment(on: $0)) }
    }
}
