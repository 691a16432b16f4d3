/// A type that a request field may have, and what stands in when the field is absent or of another type.
///
/// Contracts word their refusals per field ("Username must be 3–32 characters" for a missing one too) and in a fixed
/// order. So an unreadable field does not end the decoding: it becomes a value that `validate()` refuses at its turn.
public protocol WireField: Decodable {
    /// Stands in for a required field that is absent.
    static var absent: Self { get }

    /// Stands in for a value of another type. Nil: such a value counts as missing.
    static var malformed: Self? { get }

    /// Whether it is a whole number: then another number is told from what is no number at all.
    static var isWholeNumber: Bool { get }

    /// Whether there is U+0000 in it.
    var containsNUL: Bool { get }
}

extension WireField {
    public static var malformed: Self? { nil }
    public static var isWholeNumber: Bool { false }
    public var containsNUL: Bool { false }
}

extension String: WireField {
    public static var absent: String { "" }
    public var containsNUL: Bool { utf8.contains(0) }
}

extension Bool: WireField {
    public static var absent: Bool { false }
}

extension Int: WireField {
    public static var absent: Int { 0 }
    /// No rule admits it, so what could not be read is refused and never taken for a number.
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
    /// In no range, so that what could not be read is refused.
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

/// A string enumeration that is open on receipt: an unknown value of a newer server never breaks an older app.
public protocol OpenEnumeration: RawRepresentable, Codable, Hashable, Sendable, WireField, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension OpenEnumeration {
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
