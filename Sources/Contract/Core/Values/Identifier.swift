/// A positive 64-bit id, typed by the resource that it names.
///
/// `Identifier<Messenger.Chat>` is not an `Identifier<Messenger.User>`: one cannot be passed for the other.
public struct Identifier<Named>: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Makes an id from a stored number. In code an integer literal is enough: `send(Messenger.GetChat(id: 5))`.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    public init(integerLiteral value: Int64) { self.rawValue = value }

    /// Whether the id can name a resource: ids start at 1, and the placeholder for an unreadable id is less.
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
