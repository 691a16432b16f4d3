import Foundation

/// The number of decimal places that a timestamp shows.
public protocol TimestampPrecision: Sendable {
    static var fractionDigits: Int { get }
}

/// Whole seconds: `2026-02-23T10:00:00Z`.
public enum Seconds: TimestampPrecision {
    public static let fractionDigits = 0
}

/// Milliseconds: `2026-02-23T10:00:00.000Z`.
public enum Milliseconds: TimestampPrecision {
    public static let fractionDigits = 3
}

/// A point in time, written as ISO 8601 in UTC with a fixed number of decimal places; further digits are cut off, never
/// rounded.
///
/// Decoding accepts any RFC 3339 time: with or without a fraction, with `Z` or an offset.
public struct Timestamp<Precision: TimestampPrecision>: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Makes a timestamp from a date, cut to a millisecond. On the wire it is cut to its precision.
    public init(_ date: Date) { milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down)) }

    /// The same point in time as a `Date`, for formatting and arithmetic.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Parses an RFC 3339 date-time. Fails when the text is not one.
    public init?(_ text: String) {
        guard let milliseconds = parseDateTime(text) else { return nil }
        self.milliseconds = milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: CustomStringConvertible {
    public var description: String {
        String(unsafeUninitializedCapacity: DigitWriter.timeCapacity) { bytes in
            var writer = DigitWriter(bytes)
            writer.write(time: milliseconds, fractionDigits: Precision.fractionDigits)
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
