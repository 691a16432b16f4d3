/// A positive 64-bit id on the wire, told apart by what it names.
///
/// `Identifier<Messenger.Chat>` is not an `Identifier<Messenger.User>`: one cannot be passed for the other.
public struct Identifier<Named>: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// An id that was kept as a number. In code a literal will do: `send(Messenger.GetChat(id: 5))`.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    public init(integerLiteral value: Int64) { self.rawValue = value }

    /// Ids start at 1. What stands in for an unreadable one does not.
    public var isValid: Bool { rawValue > 0 }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { String(rawValue) }
}
