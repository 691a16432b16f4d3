/// The offsets of a zone in every year: the `TZ` string of POSIX in a zone file's footer (RFC 9636, 3.3), with hours from -167
/// to 167.
///
/// `CET-1CEST,M3.5.0,M10.5.0/3` is an hour east of UTC, and two from the last Sunday of March to that of October. In
/// `IST-1GMT0,M10.5.0,M3.5.0/1` the second offset, that of winter, is the smaller one.
struct RecurringRule: Sendable {
    private let standard: Int
    /// The second offset, with the local times at which it begins and ends; nil for a zone with one offset.
    private let other: (offset: Int, begin: YearlyTime, end: YearlyTime)?

    /// Reads a rule. All of the text must be one.
    init(_ text: ArraySlice<UInt8>) throws(ZoneFileError) {
        var reader = RuleReader(text)
        try reader.name()
        // POSIX counts westwards.
        standard = -(try reader.time(hours: 24))
        guard !reader.isAtEnd else {
            other = nil
            return
        }
        try reader.name()
        let offset = reader.isNext(",") ? standard + 3600 : -(try reader.time(hours: 24))
        try reader.expect(",")
        let begin = try reader.yearlyTime()
        try reader.expect(",")
        other = (offset, begin, try reader.yearlyTime())
        guard reader.isAtEnd else { throw RuleReader.error }
    }

    /// Returns the offset from UTC in seconds.
    ///
    /// - Parameter time: The seconds since 1970.
    func offset(at time: Int64) -> Int {
        guard let other else { return standard }
        // Far beyond all calendars, where seconds still count exactly.
        let time = min(max(time, -1 << 53), 1 << 53)
        let year = Civil.year(of: Civil.floorDivide(time, by: 86_400))
        // A change may fall into the year before or after. Where the second offset ends as it begins again, which is how a zone
        // has it all year, the beginning counts: it comes behind the end.
        var last: (time: Int64, offset: Int)?
        for year in year - 1...year + 1 {
            let end = (time: other.end.seconds(in: year) - Int64(other.offset), offset: standard)
            let begin = (time: other.begin.seconds(in: year) - Int64(standard), offset: other.offset)
            for change in [end, begin] where change.time <= time && change.time >= last?.time ?? .min { last = change }
        }
        return last?.offset ?? standard
    }
}

/// A local time of every year.
private struct YearlyTime: Sendable {
    enum Day: Sendable {
        /// `Jn`: 1 to 365, without 29 February.
        case withoutLeapDay(Int64)
        /// `n`: 0 to 365.
        case number(Int64)
        /// `Mm.w.d`: a weekday, 0 for Sunday, of a week of a month; week 5 is the last.
        case weekday(Int64, week: Int64, month: Int64)
    }

    let day: Day
    /// The seconds since midnight.
    let seconds: Int

    /// Returns the seconds since 1970 of the local clock in a year.
    func seconds(in year: Int64) -> Int64 { days(in: year) * 86_400 + Int64(seconds) }

    private func days(in year: Int64) -> Int64 {
        switch day {
        case .withoutLeapDay(let number):
            return number <= 59
                ? Civil.days(year, month: 1) + number - 1 : Civil.days(year, month: 3) + number - 60
        case .number(let number): return Civil.days(year, month: 1) + number
        case .weekday(let weekday, let week, let month):
            let first = Civil.days(year, month: month)
            let next = month == 12 ? Civil.days(year + 1, month: 1) : Civil.days(year, month: month + 1)
            // 1970-01-01 was a Thursday.
            let wait = Civil.floorRemainder(weekday - first - 4, by: 7)
            let day = first + wait + (week - 1) * 7
            return day < next ? day : day - 7
        }
    }
}

/// Reads the parts of a rule.
private struct RuleReader {
    static let error = ZoneFileError.malformed("rule for later years")
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    var isAtEnd: Bool { rest.isEmpty }

    func isNext(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(ZoneFileError) {
        guard skip(character) else { throw Self.error }
    }

    /// Skips an abbreviation: three letters or more, or `<…>` around letters, digits and signs.
    mutating func name() throws(ZoneFileError) {
        let isQuoted = skip("<")
        let count = rest.prefix { byte in
            switch Unicode.Scalar(byte) {
            case "A"..."Z", "a"..."z": true
            case "0"..."9", "+", "-": isQuoted
            default: false
            }
        }.count
        guard count >= 3 else { throw Self.error }
        rest = rest.dropFirst(count)
        if isQuoted { try expect(">") }
    }

    /// Reads a number.
    mutating func number(_ range: ClosedRange<Int>) throws(ZoneFileError) -> Int {
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard 1...4 ~= digits.count else { throw Self.error }
        rest = rest.dropFirst(digits.count)
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard range ~= number else { throw Self.error }
        return number
    }

    /// Reads `[+-]hh[:mm[:ss]]` as seconds.
    mutating func time(hours: Int) throws(ZoneFileError) -> Int {
        let isNegative = skip("-")
        if !isNegative { _ = skip("+") }
        var seconds = try number(0...hours) * 3600
        if skip(":") { seconds += try number(0...59) * 60 }
        if skip(":") { seconds += try number(0...59) }
        return isNegative ? -seconds : seconds
    }

    /// Reads a day and the time of that day, by default two o'clock.
    mutating func yearlyTime() throws(ZoneFileError) -> YearlyTime {
        let day: YearlyTime.Day
        if skip("M") {
            let month = Int64(try number(1...12))
            try expect(".")
            let week = Int64(try number(1...5))
            try expect(".")
            day = .weekday(Int64(try number(0...6)), week: week, month: month)
        } else {
            day = skip("J") ? .withoutLeapDay(Int64(try number(1...365))) : .number(Int64(try number(0...365)))
        }
        return YearlyTime(day: day, seconds: skip("/") ? try time(hours: 167) : 7200)
    }
}
