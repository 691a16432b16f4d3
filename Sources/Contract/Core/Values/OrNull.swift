/// An optional value whose key is always written: `null` when there is no value.
///
/// Swift's synthesised coding leaves out the key of a nil. Contracts that say "sent as null" need the key.
@propertyWrapper
public struct OrNull<Wrapped> {
    /// The value, or nil, which is written as `null`.
    public var wrappedValue: Wrapped?

    public init(wrappedValue: Wrapped?) { self.wrappedValue = wrappedValue }
}

extension OrNull: Sendable where Wrapped: Sendable {}
extension OrNull: Equatable where Wrapped: Equatable {}
extension OrNull: Hashable where Wrapped: Hashable {}

extension OrNull: Encodable where Wrapped: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension OrNull: Decodable where Wrapped: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Wrapped.self)
    }
}

extension KeyedDecodingContainer {
    /// Reads an absent key as null, because an older server may not send it yet.
    public func decode<Wrapped: Decodable>(_: OrNull<Wrapped>.Type, forKey key: Key) throws -> OrNull<Wrapped> {
        OrNull(wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key))
    }

    /// Decodes a key that is written in some answers only: nil without the key, an empty value for null.
    public func decodeIfPresent<Wrapped: Decodable>(
        _: OrNull<Wrapped>.Type, forKey key: Key
    ) throws -> OrNull<Wrapped>? {
        contains(key) ? try decode(OrNull<Wrapped>.self, forKey: key) : nil
    }
}
