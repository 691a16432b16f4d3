import Foundation

/// How many digits a timestamp shows behind the seconds.
public protocol TimestampPrecision: Sendable {
    static var fractionDigits: Int { get }
}

/// `2026-02-23T10:00:00Z`
public enum Seconds: TimestampPrecision {
    public static let fractionDigits = 0
}

/// `2026-02-23T10:00:00.000Z`
public enum Milliseconds: TimestampPrecision {
    public static let fractionDigits = 3
}

/// A moment, written as ISO 8601 in UTC with a fixed number of digits; cut, never rounded.
///
/// Reads any RFC 3339 time: with or without a fraction, with `Z` or an offset.
public struct Timestamp<Precision: TimestampPrecision>: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Cut to a millisecond; what goes on the wire is cut to the precision.
    public init(_ date: Date) { milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down)) }

    /// For formatting and arithmetic.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Nil when the text is no RFC 3339 date-time.
    public init?(_ text: String) {
        guard let milliseconds = parseDateTime(text) else { return nil }
        self.milliseconds = milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: CustomStringConvertible {
    public var description: String {
        let (days, time) = milliseconds.quotientAndRemainderFlooring(dividingBy: 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let seconds = time / 1000
        return String(unsafeUninitializedCapacity: 24) { bytes in
            var writer = DigitWriter(bytes)
            writer.write(date)
            writer.write(ascii: UInt8(ascii: "T"))
            writer.write(seconds / 3600, digits: 2)
            writer.write(ascii: UInt8(ascii: ":"))
            writer.write(seconds / 60 % 60, digits: 2)
            writer.write(ascii: UInt8(ascii: ":"))
            writer.write(seconds % 60, digits: 2)
            if Precision.fractionDigits > 0 {
                writer.write(ascii: UInt8(ascii: "."))
                writer.write(time % 1000, digits: 3)
            }
            writer.write(ascii: UInt8(ascii: "Z"))
            return writer.count
        }
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let milliseconds = parseDateTime(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time: \(text)")
        }
        self.milliseconds = milliseconds
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
