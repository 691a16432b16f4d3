import Contract
import Foundation
import Testbed
import Testing

/// Times are read as RFC 3339 and written with a fixed number of digits.
@Suite(.timeLimit(.minutes(30))) struct TimestampTests {
    typealias Whole = Timestamp<Seconds>
    typealias Fine = Timestamp<Milliseconds>

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-02-23T10:00:00Z", 1_771_840_800_000),
        ("2026-02-23t10:00:00z", 1_771_840_800_000),
        ("2026-02-23 10:00:00Z", 1_771_840_800_000),
        // Every fourth year is a leap year, but of the hundredth ones only every four hundredth.
        ("2024-02-29T23:59:59Z", 1_709_251_199_000),
        ("2000-02-29T00:00:00Z", 951_782_400_000),
        ("2000-03-01T00:00:00Z", 951_868_800_000),
        ("1900-03-01T00:00:00Z", -2_203_891_200_000),
        // These are the ends of the format.
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        // These are before 1970.
        ("1969-12-31T23:59:59Z", -1000),
        ("1969-12-31T23:59:59.999Z", -1),
        // These have offsets.
        ("2026-02-23T12:30:00+02:30", 1_771_840_800_000),
        ("2026-02-23T04:15:00-05:45", 1_771_840_800_000),
        ("2026-02-23T10:00:00-00:00", 1_771_840_800_000),
        ("2026-02-24T09:59:00+23:59", 1_771_840_800_000),
        ("1970-01-01T00:00:00+00:01", -60_000),
        // Fractions are cut after the third digit.
        ("1970-01-01T00:00:00.5Z", 500),
        ("1970-01-01T00:00:00.25Z", 250),
        ("1970-01-01T00:00:00.007Z", 7),
        ("1970-01-01T00:00:00.1239Z", 123),
        ("1970-01-01T00:00:00.999999999Z", 999),
        ("1970-01-01T01:00:00.042+01:00", 42),
        // A leap second is read as the second after it.
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ])
    func reads(_ text: String, _ milliseconds: Int64) throws {
        #expect(Whole(text)?.milliseconds == milliseconds)
        #expect(Fine(text)?.milliseconds == milliseconds)
        let coded = try JSONDecoder().decode([Whole].self, from: JSONEncoder().encode([text]))
        #expect(coded.map(\.milliseconds) == [milliseconds])
    }

    @Test(arguments: [
        "", " ", "Z", "2026", "2026-02-23", "2026-02-23T10:00:00", "2026-02-23T10:00Z", "2026-02-23T10Z",
        "2026-02-23T10:00:00 Z", " 2026-02-23T10:00:00Z", "2026-02-23T10:00:00Z ", "2026-02-23T10:00:00Z\n",
        "2026-02-23T10:00:00ZZ", "2026-02-23T10:00:00Z+00:00", "2026-02-23X10:00:00Z", "2026/02/23T10:00:00Z",
        "26-02-23T10:00:00Z", "+2026-02-23T10:00:00Z", "-2026-02-23T10:00:00Z", "12026-02-23T10:00:00Z",
        "2026-2-23T10:00:00Z", "2026-02-3T10:00:00Z", "20260223T100000Z", "2026-W09-1T10:00:00Z",
        // These days do not exist.
        "2026-00-10T10:00:00Z", "2026-13-10T10:00:00Z", "2026-02-00T10:00:00Z", "2026-02-29T10:00:00Z",
        "1900-02-29T10:00:00Z", "2100-02-29T10:00:00Z", "2024-02-30T10:00:00Z", "2026-04-31T10:00:00Z",
        "2026-01-32T10:00:00Z", "2026-01-99T10:00:00Z",
        // These times do not exist.
        "2026-02-23T24:00:00Z", "2026-02-23T10:60:00Z", "2026-02-23T10:00:61Z", "2026-02-23T-1:00:00Z",
        // These offsets do not exist.
        "2026-02-23T10:00:00+24:00", "2026-02-23T10:00:00+01:60", "2026-02-23T10:00:00+0100",
        "2026-02-23T10:00:00+01", "2026-02-23T10:00:00+1:00", "2026-02-23T10:00:00+", "2026-02-23T10:00:00UTC",
        // These fractions do not exist.
        "2026-02-23T10:00:00.Z", "2026-02-23T10:00:00.1234567890Z", "2026-02-23T10:00:00,5Z",
        "2026-02-23T10:00:00.-5Z", "2026-02-23T10:00:00.5", "2026-02-23T10:00:00.5.5Z",
        // Digits of other scripts are refused.
        "٢٠٢٦-02-23T10:00:00Z", "2026-02-23T10:00:00Z\u{301}",
    ])
    func rejects(_ text: String) throws {
        #expect(Whole(text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Whole].self, from: json) }
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        (1_771_840_800_999, "2026-02-23T10:00:00Z", "2026-02-23T10:00:00.999Z"),
        (1_771_840_800_007, "2026-02-23T10:00:00Z", "2026-02-23T10:00:00.007Z"),
        (-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z"),
        (-1000, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z"),
        (-62_167_219_200_000, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"),
    ])
    func timesAreTruncatedNotRounded(_ milliseconds: Int64, _ seconds: String, _ fine: String) throws {
        #expect(Whole(milliseconds: milliseconds).description == seconds)
        #expect(Fine(milliseconds: milliseconds).description == fine)
        let json = try JSONEncoder().encode([Whole(milliseconds: milliseconds)])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(seconds)\"]")
    }

    /// Times that the format cannot express are written as text of the same length.
    @Test(arguments: [Int64.min, .max, -62_167_219_200_001, 253_402_300_800_000])
    func timesBeyondTheFormatKeepItsShape(_ milliseconds: Int64) {
        let text = Whole(milliseconds: milliseconds).description
        #expect(text.utf8.count == 20)
        #expect(text.hasPrefix(milliseconds < 0 ? "0000-" : "9999-"))
    }

    @Test func agreesWithFoundation() throws {
        var random = SeededGenerator(seed: 1)
        let utc = Date.ISO8601FormatStyle()
        for _ in 0..<2000 {
            // Foundation's calendar is Gregorian from 1600, and the format ends in 9999.
            let seconds = Int64.random(in: -11_676_096_000..<253_402_214_400, using: &random)
            let fraction = Int64.random(in: 0..<1000, using: &random)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(Whole(milliseconds: seconds * 1000 + fraction).description == utc.format(date))
            #expect(Whole(utc.format(date))?.milliseconds == seconds * 1000)

            let offset = Int.random(in: -14 * 60...14 * 60, using: &random) * 60
            let zone = try #require(TimeZone(secondsFromGMT: offset))
            let local = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone).format(date)
            #expect(Whole(local)?.milliseconds == seconds * 1000, "\(local)")

            let exact = Fine(milliseconds: seconds * 1000 + fraction)
            #expect(Fine(exact.description) == exact)
        }
    }

    @Test func comparesByTime() throws {
        let early = try #require(Whole("2026-02-23T12:00:00+02:00"))
        let late = try #require(Whole("2026-02-23T10:00:01Z"))
        #expect(early < late)
        #expect(early == Whole("2026-02-23T10:00:00Z"))
        #expect(Set([early, late, early]).count == 2)
    }
}

/// Days are dates without a time.
@Suite(.timeLimit(.minutes(30))) struct DayTests {
    /// Compares each day with a calendar that is built from the lengths of months only.
    @Test(arguments: [0...5, 1895...2105, 2395...2405, 9995...9999])
    func everyDayOfTheCalendar(_ years: ClosedRange<Int>) throws {
        func padded(_ value: Int, _ width: Int) -> String {
            String(repeating: "0", count: width - String(value).count) + String(value)
        }
        let first = try #require(Day("\(padded(years.lowerBound, 4))-01-01"))
        var count = first.daysSince1970
        for year in years {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            for (month, length) in lengths.enumerated() {
                for day in 1...length {
                    let text = "\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(day, 2))"
                    let read = Day(text)
                    // A comparison by hand is faster: an expectation for each of so many days would dominate the test's
                    // time.
                    if read?.daysSince1970 != count || read?.description != text { Issue.record("\(text)") }
                    count += 1
                }
                #expect(Day("\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(length + 1, 2))") == nil)
            }
        }
    }

    @Test func beginsIn1970() {
        #expect(Day("1970-01-01") == Day(daysSince1970: 0))
        #expect(Day("1969-12-31") == Day(daysSince1970: -1))
        #expect(Day(daysSince1970: 20_507).description == "2026-02-23")
    }

    @Test(arguments: [
        "", "2026-02", "2026-02-23T10:00:00Z", "2026-02-23Z", " 2026-02-23", "2026-02-23 ", "2026-2-23", "2026-02-30",
        "2026-13-01", "2026-00-01", "2026-01-00", "20260223", "2026/02/23", "02-23-2026", "-026-02-23",
    ])
    func rejects(_ text: String) throws {
        #expect(Day(text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Day].self, from: json) }
    }

    @Test func travelsAsText() throws {
        let day = try #require(Day("2026-02-23"))
        let json = try JSONEncoder().encode([day])
        #expect(String(decoding: json, as: UTF8.self) == #"["2026-02-23"]"#)
        #expect(try JSONDecoder().decode([Day].self, from: json) == [day])
        #expect(day < day.advanced(by: 1))
    }

    @Test func theFirstAndTheLastDayHaveYearsOfFourDigits() {
        #expect(Day("0001-01-01") == .earliest)
        #expect(Day("9999-12-31") == .latest)
    }

    /// The end of February is that of the calendar: 2024 has a leap day, and 2023 has none.
    @Test func daysFollowOneAnother() throws {
        let (first, last) = (try #require(Day("2024-02-28")), try #require(Day("2024-03-01")))
        #expect((first...last).map(\.description) == ["2024-02-28", "2024-02-29", "2024-03-01"])
        #expect((first..<last).map(\.description) == ["2024-02-28", "2024-02-29"])
        #expect((first..<first).isEmpty)
        #expect(try #require(Day("2023-02-28")).advanced(by: 1).description == "2023-03-01")
        #expect(first.advanced(by: 0) == first)
        #expect(first.advanced(by: 366).description == "2025-02-28")
        #expect(last.advanced(by: -2) == first)
        #expect((first.distance(to: last), last.distance(to: first), first.distance(to: first)) == (2, -2, 0))
    }

    @Test func daysBefore1970FollowOneAnother() throws {
        let (first, last) = (try #require(Day("1969-12-30")), try #require(Day("1970-01-02")))
        #expect((first...last).map(\.daysSince1970) == [-2, -1, 0, 1])
        #expect(first.advanced(by: 3) == last)
        #expect(last.advanced(by: -3) == first)
        #expect(first.distance(to: last) == 3)
        #expect(try #require(Day("0001-01-01")).distance(to: Day(daysSince1970: 0)) == 719_162)
    }

    /// Days are compared by themselves: the distance of these would be too large for an `Int`.
    @Test func daysFarApartAreCompared() {
        let (first, last) = (Day(daysSince1970: .min), Day(daysSince1970: .max))
        #expect(first < last && first != last && !(last < first))
    }
}
