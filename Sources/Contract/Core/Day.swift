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

    public static func < (left: Self, right: Self) -> Bool { left.daysSince1970 < right.daysSince1970 }
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
