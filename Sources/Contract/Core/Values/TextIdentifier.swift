import Foundation

/// An id in the form of text, typed by the resource that it names: a UUID that the server made, or an id from another
/// system.
///
/// Ids are compared byte for byte, as databases and other languages do. Swift's own comparison treats more strings as
/// equal.
public struct TextIdentifier<Named>: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Whether the id is a UUID in its usual form (RFC 9562 §4), in upper or lower case.
    public var isUUID: Bool {
        let text = rawValue.utf8
        return text.count == 36
            && zip(0..., text).allSatisfy { index, byte in
                switch byte {
                case UInt8(ascii: "-"): [8, 13, 18, 23].contains(index)
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    ![8, 13, 18, 23].contains(index)
                default: false
                }
            }
    }

    public static func == (left: Self, right: Self) -> Bool {
        let areEqual = left.rawValue.utf8.withContiguousStorageIfAvailable { left in
            right.rawValue.utf8.withContiguousStorageIfAvailable { right in
                left.count == right.count
                    && (left.isEmpty || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0)
            }
        }
        // Strings of Objective-C are not stored in UTF-8.
        return areEqual.flatMap(\.self) ?? left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

extension TextIdentifier: Codable {
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension TextIdentifier: WireField {
    public static var absent: Self { Self("") }
    /// A value that no request can hold, because U+0000 is refused in every field.
    public static var malformed: Self? { Self("\u{0}") }
    public var containsNUL: Bool { rawValue.containsNUL }
}

extension TextIdentifier: CustomStringConvertible {
    public var description: String { rawValue }
}
