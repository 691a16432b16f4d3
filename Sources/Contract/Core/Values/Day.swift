import Foundation

/// A day without a time or a zone: `2026-02-23`.
public struct Day: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01; negative before it.
    public let daysSince1970: Int64

    public init(daysSince1970: Int64) { self.daysSince1970 = daysSince1970 }

    /// Parses a day. Fails when the text is not `YYYY-MM-DD` or names a day that the calendar does not have.
    public init?(_ text: String) {
        var reader = DigitReader(text)
        guard let date = reader.date(), reader.isAtEnd else { return nil }
        daysSince1970 = date.daysSince1970
    }

    // The operator of `Strideable` would compute a distance instead, which is too large for an `Int` between some days.
    public static func == (left: Self, right: Self) -> Bool { left.daysSince1970 == right.daysSince1970 }
    public static func < (left: Self, right: Self) -> Bool { left.daysSince1970 < right.daysSince1970 }
}

extension Day {
    /// The days of 0001-01-01 and of 9999-12-31: between them a year has four digits, as it is written.
    package static let (earliest, latest) = (Day(daysSince1970: -719_162), Day(daysSince1970: 2_932_896))
}

extension Day: Strideable {
    /// Returns the number of days from this day to another one. The number is negative when the other day is earlier.
    public func distance(to other: Day) -> Int { Int(other.daysSince1970 - daysSince1970) }

    /// Returns the day that is a number of days later. A negative number gives an earlier day.
    public func advanced(by days: Int) -> Day { Day(daysSince1970: daysSince1970 + Int64(days)) }
}

extension Day {
    /// Creates the day on which a moment falls.
    ///
    /// - Parameter zone: The zone whose clocks and calendars count, such as the traveller's own.
    public init(_ date: Date, in zone: TimeZone = .current) {
        // Before 1970 a part of a second belongs to the second before.
        let local = date.timeIntervalSince1970 + TimeInterval(zone.secondsFromGMT(for: date))
        daysSince1970 = Int64((local / 86_400).rounded(.down))
    }

    /// Returns the first moment of the day: midnight, or a later time where the clocks go forward at midnight.
    public func date(in zone: TimeZone = .current) -> Date {
        var calendar = Foundation.Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        // A day of a zone begins within half a day of UTC's, so noon of UTC's day plus the offset is within the day.
        let noon = Date(timeIntervalSince1970: TimeInterval(daysSince1970) * 86_400 + 43_200)
        return calendar.startOfDay(for: noon - TimeInterval(zone.secondsFromGMT(for: noon)))
    }
}

extension Day: CustomStringConvertible {
    public var description: String {
        String(unsafeUninitializedCapacity: 10) { bytes in
            var writer = DigitWriter(bytes)
            writer.write(CivilDate(daysSince1970: daysSince1970))
            return writer.count
        }
    }
}

extension Day: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let day = Day(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a day: \(text)")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
