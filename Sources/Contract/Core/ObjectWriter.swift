/// Encodes the members of an object one by one, for types of which answers have many.
///
/// The JSON of an answer is written straight into its text, which takes a tenth of the time of an encoder's containers. Any
/// other encoder gets the same members through a container.
///
/// ```swift
/// public func encode(to encoder: any Encoder) throws {
///     var object = try ObjectWriter(encoder)
///     try object.write("id", id.rawValue)
///     try object.write("name", name)
///     object.finish()
/// }
/// ```
package struct ObjectWriter {
    /// The container of an encoder, in a box: the layout of containers is known at run time alone, and then so would be that
    /// of a writer.
    private final class Container {
        var members: KeyedEncodingContainer<JSONText.Key>

        init(_ members: KeyedEncodingContainer<JSONText.Key>) { self.members = members }
    }

    /// The text of an answer, which lives as long as its encoder; nil with another encoder. Its references are not counted
    /// with each member, and the two are not one enumeration, which would be copied.
    @usableFromInline let text: Unmanaged<JSONText>?
    private let container: Container?
    private var isEmpty = true

    /// Begins an object. It may continue one that the encoder has begun (``TypedFrame``), but nothing may be added to it
    /// after ``finish()``.
    package init(_ encoder: any Encoder) throws {
        if let text = Self.text(of: encoder) {
            text.put("{")
            (self.text, container) = (.passUnretained(text), nil)
        } else {
            text = nil
            container = Container(encoder.container(keyedBy: JSONText.Key.self))
        }
    }

    /// Returns the text to which an encoder is about to write a value; nil with another encoder. The type is compared,
    /// because a cast takes longer than a member.
    private static func text<E: Encoder>(of encoder: E) -> JSONText? {
        guard E.self == JSONEncoding.self else { return nil }
        let direct = unsafeBitCast(encoder, to: JSONEncoding.self)
        return direct.text.isNext(direct.position) ? direct.text : nil
    }

    /// Ends the object.
    package func finish() { text?._withUnsafeGuaranteedRef { $0.put("}") } }

    /// Writes a member whose value is written by one of two closures.
    @inline(__always)
    private mutating func write(
        _ key: StaticString, _ direct: (JSONText) throws -> Void,
        _ encode: (inout KeyedEncodingContainer<JSONText.Key>, JSONText.Key) throws -> Void
    ) throws {
        if let text {
            try text._withUnsafeGuaranteedRef {
                $0.write(name: key, isFirst: isEmpty)
                try direct($0)
            }
            isEmpty = false
        } else if let container {
            try encode(&container.members, JSONText.Key(stringValue: key.description))
        }
    }

    /// Writes a number.
    package mutating func write(_ key: StaticString, _ value: Int64) throws {
        try write(key) {
            $0.write(digitsOf: value)
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }

    /// Writes a number.
    package mutating func write(_ key: StaticString, _ value: Int) throws { try write(key, Int64(value)) }

    /// Writes a boolean.
    package mutating func write(_ key: StaticString, _ value: Bool) throws {
        try write(key) {
            $0.write(literal: value ? "true" : "false")
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }

    /// Writes a text.
    package mutating func write(_ key: StaticString, _ value: String) throws {
        try write(key) {
            $0.write(value)
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }

    /// Writes a time.
    package mutating func write<Precision>(_ key: StaticString, _ value: Timestamp<Precision>) throws {
        try write(key) {
            $0.write(value)
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }

    /// Writes a null.
    package mutating func writeNull(_ key: StaticString) throws {
        try write(key) {
            $0.write(literal: "null")
        } _: {
            try $0.encodeNil(forKey: $1)
        }
    }

    /// Writes a number, or null.
    package mutating func write(_ key: StaticString, _ value: Int64?) throws {
        if let value { try write(key, value) } else { try writeNull(key) }
    }

    /// Writes a number, or null.
    package mutating func write(_ key: StaticString, _ value: Int?) throws { try write(key, value.map(Int64.init)) }

    /// Writes a boolean, or null.
    package mutating func write(_ key: StaticString, _ value: Bool?) throws {
        if let value { try write(key, value) } else { try writeNull(key) }
    }

    /// Writes a text, or null.
    package mutating func write(_ key: StaticString, _ value: String?) throws {
        if let value { try write(key, value) } else { try writeNull(key) }
    }

    /// Writes a time, or null.
    package mutating func write<Precision>(_ key: StaticString, _ value: Timestamp<Precision>?) throws {
        if let value { try write(key, value) } else { try writeNull(key) }
    }

    /// Writes the name of a member whose value the text gets next.
    @usableFromInline
    mutating func begin(_ key: StaticString, in text: JSONText) {
        text.write(name: key, isFirst: isEmpty)
        isEmpty = false
    }

    /// Writes a value that an answer may have many times, such as an author. Its text is made once and copied after that.
    @inlinable
    package mutating func write<Value: Encodable & Equatable & Identifiable>(
        _ key: StaticString, repeating value: Value
    ) throws {
        if let text = text?.takeUnretainedValue() {
            begin(key, in: text)
            try text.write(repeating: value)
        } else {
            try write(key, encoding: value)
        }
    }

    /// Writes any value, as it encodes itself.
    package mutating func write(_ key: StaticString, encoding value: some Encodable) throws {
        try write(key) {
            try $0.write(value)
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }
}
