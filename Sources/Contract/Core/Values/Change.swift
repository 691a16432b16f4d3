/// A change of a field that may be empty.
///
/// In JSON `{}`, `{"bio": null}` and `{"bio": "Hi"}` are three requests. An optional field cannot tell the first two apart;
/// a field of this type does, without any coding by hand.
public enum Change<Value: Sendable>: Sendable {
    /// Leaves the value as it is: the key is not sent.
    case unchanged
    /// Removes the value: `null`.
    case cleared
    /// Sets a new value.
    case to(Value)

    /// The new value; nil where none is set.
    package var given: Value? { if case .to(let value) = self { value } else { nil } }

    /// Applies the change.
    package func apply(to value: inout Value?) {
        switch self {
        case .unchanged: break
        case .cleared: value = nil
        case .to(let new): value = new
        }
    }
}

extension Change: Equatable where Value: Equatable {}
extension Change: Hashable where Value: Hashable {}

extension Change: Codable where Value: WireField & Codable & Equatable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .cleared : .to(try container.decode(Value.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if case .to(let value) = self { try container.encode(value) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a change. A value of another type counts as an absent one.
    public func decode<Value: WireField & Codable & Equatable>(
        _: Change<Value>.Type, forKey key: Key
    ) throws -> Change<Value> {
        let value = try decodeIfPresent(Value.self, forKey: key)
        if let value, value != Value.malformed { return .to(value) }
        return try contains(key) && decodeNil(forKey: key) ? .cleared : .unchanged
    }
}

extension KeyedEncodingContainer {
    /// Encodes a change. A field that stays as it is has no key.
    public mutating func encode<Value: WireField & Codable & Equatable>(
        _ change: Change<Value>, forKey key: Key
    ) throws {
        switch change {
        case .unchanged: break
        case .cleared: try encodeNil(forKey: key)
        case .to(let value): try encode(value, forKey: key)
        }
    }
}
