/// A value that many others have, such as the author of many posts.
///
/// Copies share one object. So a list of posts holds each author once, and a server makes the JSON of each author once.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    @usableFromInline
    final class Box: Sendable {
        @usableFromInline let value: Value

        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    /// The value. A new one is shared with the copies that are made from then on.
    public var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }

    /// Makes an object for a value.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
}

extension Shared: Equatable where Value: Equatable {
    @inlinable
    public static func == (left: Self, right: Self) -> Bool {
        left.box === right.box || left.box.value == right.box.value
    }
}

extension Shared: Hashable where Value: Hashable {
    @inlinable
    public func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}

extension Shared: Encodable where Value: Encodable {
    @inlinable
    public func encode(to encoder: any Encoder) throws { try box.value.encode(to: encoder) }
}

extension Shared: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws { self.init(wrappedValue: try Value(from: decoder)) }
}

extension KeyedDecodingContainer {
    /// Decodes the value by its own type, so that descriptions name that.
    public func decode<Value: Decodable>(_: Shared<Value>.Type, forKey key: Key) throws -> Shared<Value> {
        Shared(wrappedValue: try decode(Value.self, forKey: key))
    }
}
