/// Encodes the members of an object one by one, for types of which answers have many.
///
/// The JSON of an answer is written straight into its text, which takes a tenth of the time of an encoder's containers. Any
/// other encoder gets the same members through a container.
@usableFromInline
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
            self = ObjectWriter(text)
        } else {
            text = nil
            container = Container(encoder.container(keyedBy: JSONText.Key.self))
        }
    }

    /// Begins an object in a text.
    @usableFromInline
    init(_ text: JSONText) {
        text.put("{")
        (self.text, container) = (.passUnretained(text), nil)
    }

    /// Returns the text to which an encoder is about to write a value; nil with another encoder. The type is compared,
    /// because a cast takes longer than a member.
    private static func text<E: Encoder>(of encoder: E) -> JSONText? {
        guard E.self == JSONEncoding.self else { return nil }
        let direct = unsafeBitCast(encoder, to: JSONEncoding.self)
        return direct.text.isNext(direct.position) ? direct.text : nil
    }

    /// Ends the object.
    @usableFromInline
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
    @inlinable
    package mutating func write<Precision>(_ key: StaticString, _ value: Timestamp<Precision>) throws {
        guard let text else { return try write(key, encoding: value) }
        text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            $0.write(value)
        }
    }

    /// Writes a null.
    @usableFromInline
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
    @inlinable
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
    package mutating func write<Value: Encodable>(_ key: StaticString, _ value: Shared<Value>) throws {
        guard let text else { return try write(key, encoding: value.box.value) }
        try text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            try $0.write(value)
        }
    }

    /// Writes a list of texts.
    @usableFromInline
    package mutating func write(_ key: StaticString, _ values: [String]) throws {
        guard let text else { return try write(key, encodingAny: values) }
        text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            $0.put("[")
            for index in values.indices {
                if index > 0 { $0.put(",") }
                $0.write(values[index])
            }
            $0.put("]")
        }
    }

    /// Writes an object.
    @inlinable
    package mutating func write<Value: WrittenByMembers>(_ key: StaticString, _ value: Value) throws {
        guard let text else { return try write(key, encoding: value) }
        try text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            try $0.write(membersOf: value)
        }
    }

    /// Writes a list of objects.
    @inlinable
    package mutating func write<Value: WrittenByMembers>(_ key: StaticString, _ values: [Value]) throws {
        guard let text else { return try write(key, encoding: values) }
        try text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            try values.write(to: $0)
        }
    }

    /// Writes a list of any values. One without any, as most are, takes no encoder.
    @inlinable
    package mutating func write<Element: Encodable>(_ key: StaticString, encoding values: [Element]) throws {
        if values.isEmpty { try write(key, [] as [String]) } else { try write(key, encodingAny: values) }
    }

    /// Writes any value, as it encodes itself.
    @usableFromInline
    package mutating func write(_ key: StaticString, encoding value: some Encodable) throws {
        guard let text, let list = value as? any ListOfWritten else { return try write(key, encodingAny: value) }
        try text._withUnsafeGuaranteedRef {
            begin(key, in: $0)
            try list.write(to: $0)
        }
    }

    @usableFromInline
    mutating func write(_ key: StaticString, encodingAny value: some Encodable) throws {
        try write(key) {
            try $0.write(value)
        } _: {
            try $0.encode(value, forKey: $1)
        }
    }
}

/// A type whose members are written one by one. Inside another such type it takes no encoder at all.
///
/// ```swift
/// public func encode(to encoder: any Encoder) throws { try encodeMembers(to: encoder) }
///
/// @usableFromInline
/// package func write(to object: inout ObjectWriter) throws {
///     try object.write("id", id.rawValue)
///     try object.write("name", name)
/// }
/// ```
@usableFromInline
package protocol WrittenByMembers: Encodable {
    func write(to object: inout ObjectWriter) throws
    /// Writes values with commas between them. No type has one of its own; as a requirement it is compiled for each type,
    /// where a function of any type would copy each value.
    static func write(_ values: UnsafeBufferPointer<Self>, to text: JSONText) throws
}

extension WrittenByMembers {
    @inlinable
    package static func write(_ values: UnsafeBufferPointer<Self>, to text: JSONText) throws {
        guard let first = values.baseAddress else { return }
        for index in values.indices {
            if index > 0 { text.write(literal: ",") }
            try text.write(membersOf: first[index])
        }
    }

    /// Encodes the members.
    package func encodeMembers(to encoder: any Encoder) throws {
        var object = try ObjectWriter(encoder)
        try write(to: &object)
        object.finish()
    }
}

/// A list of values whose members are written one by one.
@usableFromInline
package protocol ListOfWritten {
    func write(to text: JSONText) throws
}

extension Array: ListOfWritten where Element: WrittenByMembers {
    @inlinable
    package func write(to text: JSONText) throws {
        text.write(literal: "[")
        try withUnsafeBufferPointer { try Element.write($0, to: text) }
        text.write(literal: "]")
    }
}

extension JSONText {
    /// Writes the value of an answer. A list whose elements need no encoder gets none for each of them.
    package func write(answer value: some Encodable) throws {
        if let list = value as? any ListOfWritten { try list.write(to: self) } else { try write(value) }
    }

    @inlinable
    func write(membersOf value: some WrittenByMembers) throws {
        var object = ObjectWriter(self)
        try value.write(to: &object)
        object.finish()
    }
}
