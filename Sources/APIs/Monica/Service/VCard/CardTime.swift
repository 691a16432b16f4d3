import Contract
import MonicaAPI

/// The times that vCards have for their revision and for the creation of a property.
enum CardTime {
    /// Parses times such as `20241026T142200Z`, `2024-10-26T14:22:00.123+02:00` and `2024-10-26`.
    ///
    /// - Returns: Milliseconds since 1970.
    static func milliseconds(_ text: String) -> Int64? {
        let parts = text.uppercased().split(separator: "T", maxSplits: 1)
        var reader = DigitReader(parts.first ?? "")
        guard let (year, month, number) = reader.date(), reader.isAtEnd,
            let day = Day(year: year, month: month, day: number)
        else { return nil }
        guard parts.count == 2 else { return day.start.milliseconds }
        return clock(parts[1]).map { day.start.milliseconds + $0 * 1000 }
    }

    /// Parses a time of day with an optional offset from UTC, such as `142200Z`, `14:22:00.123` and `14:22+02`.
    ///
    /// - Returns: The number of seconds since the beginning of the day in UTC.
    private static func clock(_ text: Substring) -> Int64? {
        var reader = DigitReader(text)
        guard let hours = reader.number(2) else { return nil }
        _ = reader.skip(":")
        guard let minutes = reader.number(2) else { return nil }
        let isContinued = reader.skip(":")
        let seconds = reader.number(2)
        if isContinued, seconds == nil { return nil }
        if seconds != nil, reader.skip(".") || reader.skip(","), !reader.skipDigits() { return nil }
        var offset = 0
        if !reader.skip("Z") {
            let isEast = reader.skip("+")
            if isEast || reader.skip("-") {
                guard let hours = reader.number(2) else { return nil }
                _ = reader.skip(":")
                offset = (hours * 60 + (reader.number(2) ?? 0)) * (isEast ? 1 : -1)
            }
        }
        guard reader.isAtEnd, hours < 24, minutes < 60, seconds ?? 0 < 60 else { return nil }
        return Int64((hours * 60 + minutes - offset) * 60 + (seconds ?? 0))
    }
}
