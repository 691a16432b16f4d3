import Contract
import MonicaAPI
import Testing
import TimeZones

@testable import MonicaService

/// The dates of reminders, and the moments of their days, are those of the calendar and the clocks.
@Suite(.timeLimit(.minutes(30))) struct MonicaReminderRuleTests {
    private func rule(_ first: String, _ unit: Monica.ReminderFrequency, _ number: Int = 1) throws -> ReminderRule {
        ReminderRule(first: try #require(Day(first)), frequency: unit, number: number)
    }

    /// Each row has a rule, and then days with the first date from each of them on.
    @Test(arguments: [
        ("2024-02-29", "one_time", 1, ["2024-01-01": "2024-02-29", "2024-02-29": "2024-02-29", "2024-03-01": ""]),
        (
            "2024-02-29", "year", 1,
            ["2024-03-01": "2025-02-28", "2027-03-01": "2028-02-29", "2025-02-28": "2025-02-28"]
        ),
        ("2024-02-29", "year", 4, ["2024-03-01": "2028-02-29", "2096-03-01": "2100-02-28"]),
        (
            "2024-01-31", "month", 1,
            [
                "2024-02-01": "2024-02-29", "2024-03-01": "2024-03-31", "2024-04-30": "2024-04-30",
                "2025-01-31": "2025-01-31",
            ]
        ),
        ("2024-01-31", "month", 13, ["2024-02-01": "2025-02-28", "2025-03-01": "2026-03-31"]),
        ("2023-11-30", "month", 3, ["2023-12-01": "2024-02-29", "2024-03-01": "2024-05-30"]),
        (
            "2024-01-01", "week", 1,
            [
                "2024-01-01": "2024-01-01", "2024-01-02": "2024-01-08", "2024-01-08": "2024-01-08",
                "2024-02-29": "2024-03-04",
            ]
        ),
        ("2024-01-01", "week", 1000, ["2024-01-02": "2043-03-02"]),
        ("1900-01-31", "month", 1, ["2100-02-01": "2100-02-28"]),
        ("2024-01-01", "year", 1000, ["2024-01-02": "3024-01-01", "9024-01-02": ""]),
        ("9999-12-31", "week", 1, ["2024-01-01": "9999-12-31"]),
    ])
    func datesAreCountedFromTheFirst(_ first: String, _ unit: String, _ number: Int, _ table: [String: String]) throws {
        let rule = try rule(first, .init(rawValue: unit), number)
        for (from, date) in table {
            #expect(rule.date(from: try #require(Day(from)))?.description ?? "" == date, "from \(from)")
        }
    }

    /// A date is never before the day that is asked for, and no date lies between the two.
    @Test(arguments: Monica.ReminderFrequency.known.dropFirst(), [1, 2, 5])
    func noDateIsLeftOut(_ unit: Monica.ReminderFrequency, _ number: Int) throws {
        let rule = try rule("2023-08-31", unit, number)
        var day = rule.first
        for _ in 0..<60 {
            let tomorrow = day.advanced(by: 1)
            let next = try #require(rule.date(from: tomorrow))
            #expect(next > day)
            for between in tomorrow...next {
                #expect(rule.date(from: between) == next)
            }
            day = next
        }
    }

    private func milliseconds(_ text: String) throws -> Int64 { try #require(Monica.Timestamp(text)).milliseconds }

    /// The hour is the local clock's. Where the clocks skip it, a reminder comes when they do; where it comes twice, at the
    /// first.
    @Test(arguments: [
        ("Europe/Berlin", 9, "2026-01-15", "2026-01-15T08:00:00Z"),
        ("Europe/Berlin", 9, "2026-07-15", "2026-07-15T07:00:00Z"),
        ("Europe/Berlin", 2, "2026-03-29", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", 2, "2026-10-25", "2026-10-25T00:00:00Z"),
        ("America/Sao_Paulo", 0, "2018-11-04", "2018-11-04T03:00:00Z"),
        ("Pacific/Kiritimati", 0, "2026-01-01", "2025-12-31T10:00:00Z"),
        ("Asia/Kathmandu", 23, "2026-02-28", "2026-02-28T17:15:00Z"), ("UTC", 9, "2024-02-29", "2024-02-29T09:00:00Z"),
    ])
    func theHourIsTheLocalClocks(_ zone: String, _ hour: Int, _ day: String, _ moment: String) throws {
        let time = ReminderTime(hour: hour, zone: try #require(ZoneDatabase.system.zone(named: zone)))
        let found = time.moment(on: try #require(Day(day)))
        #expect(Monica.Timestamp(milliseconds: found).description == moment)
        #expect(time.day(at: found).description == day)
    }

    /// A date counts as long as its hour has not passed, by the day of the zone.
    @Test(arguments: [
        ("UTC", "2026-02-23T08:59:59Z", "2026-02-23"), ("UTC", "2026-02-23T09:00:00Z", "2026-03-02"),
        ("Asia/Tokyo", "2026-02-22T23:59:59Z", "2026-02-23"), ("Asia/Tokyo", "2026-02-23T00:00:00Z", "2026-03-02"),
        ("America/Los_Angeles", "2026-02-23T16:59:59Z", "2026-02-23"),
        ("America/Los_Angeles", "2026-02-24T05:00:00Z", "2026-03-02"),
    ])
    func theNextDateIsTheFirstWhoseHourHasNotPassed(_ zone: String, _ now: String, _ day: String) throws {
        let time = ReminderTime(hour: 9, zone: try #require(ZoneDatabase.system.zone(named: zone)))
        let next = try #require(time.next(try rule("2026-02-16", .week), after: try milliseconds(now)))
        #expect(next.day.description == day)
        #expect(next.moment == time.moment(on: next.day))
    }

    @Test func aMonthHasItsDays() throws {
        let february = Month(of: try #require(Day("2024-02-10")))
        #expect(february.days == Day("2024-02-01")!...Day("2024-02-29")!)
        #expect(february.later(by: 11)?.days == Day("2025-01-01")!...Day("2025-01-31")!)
        for months in [95_712, 120_000, Int.max] { #expect(february.later(by: months)?.days == nil) }
    }
}
