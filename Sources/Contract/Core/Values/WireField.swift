/// A type that a request field may have, with a placeholder for a field that is absent or of another type.
///
/// Contracts give each field its own message ("Username must be 3–32 characters", for a missing one too) and check
/// fields in a fixed order. An unreadable field therefore does not stop the decoding: a placeholder takes its place,
/// which `validate()` rejects when it comes to that field.
public protocol WireField: Decodable {
    /// The placeholder for a required field that is absent.
    static var absent: Self { get }

    /// The placeholder for a value of another type. Nil: such a value counts as absent.
    static var malformed: Self? { get }

    /// Whether the type is a whole number. A fractional number is then reported differently from a value that is no
    /// number.
    static var isWholeNumber: Bool { get }

    /// Whether the value contains U+0000.
    var containsNUL: Bool { get }
}

extension WireField {
    public static var malformed: Self? { nil }
    public static var isWholeNumber: Bool { false }
    public var containsNUL: Bool { false }
}

extension String: WireField {
    public static var absent: String { "" }
    public var containsNUL: Bool { firstIndex(of: 0) != nil }
}

extension Bool: WireField {
    public static var absent: Bool { false }
}

extension Int: WireField {
    public static var absent: Int { 0 }
    /// No rule accepts this value, so an unreadable field is always refused and never taken for a number.
    public static var malformed: Int? { .min }
    public static var isWholeNumber: Bool { true }
}

extension Int64: WireField {
    public static var absent: Int64 { 0 }
    public static var malformed: Int64? { .min }
    public static var isWholeNumber: Bool { true }
}

extension Double: WireField {
    public static var absent: Double { .nan }
    /// NaN lies in no range, so an unreadable field is always refused.
    public static var malformed: Double? { .nan }
}

extension Identifier: WireField {
    public static var absent: Self { Self(0) }
    public static var malformed: Self? { Self(.min) }
    public static var isWholeNumber: Bool { true }
}

extension Array: WireField where Element: WireField {
    public static var absent: [Element] { [] }
    public static var malformed: [Element]? { Element.malformed.map { [$0] } }
    public var containsNUL: Bool { contains { $0.containsNUL } }
}

extension Timestamp: WireField {
    public static var absent: Self { Self(milliseconds: .min) }
    /// No time can be written as this one, so an unreadable field is always refused.
    public static var malformed: Self? { Self(milliseconds: .min) }
}

/// An enumeration of strings that accepts unknown values when decoding, so that a newer server never breaks an older
/// app.
public protocol OpenEnumeration: RawRepresentable, Codable, Hashable, Sendable, WireField, CustomStringConvertible
where RawValue == String {
    /// The values that this version knows; none where the contract's examples show all of them.
    static var known: [Self] { get }

    init(rawValue: String)
}

extension OpenEnumeration {
    public static var known: [Self] { [] }
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public static var absent: Self { Self(rawValue: "") }
    public var containsNUL: Bool { rawValue.containsNUL }
    public var description: String { rawValue }
}
