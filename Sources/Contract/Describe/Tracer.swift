import Contract

/// Records which types decode the parts of a JSON value: their names become the names of schemas, and what a request asks
/// for becomes its fields.
final class Trace {
    /// A member that a type asked for.
    struct Field {
        let name: String
        let type: Any.Type
        /// Whether the type goes on without it.
        var isOptional: Bool
        /// Whether null means something else than an absent member.
        var tellsNull = false
    }

    /// The types with members, by the path of their value.
    private(set) var objects: [JSONPath: Any.Type] = [:]
    /// The members that were asked for, in their order, by the path of the object.
    private(set) var fields: [JSONPath: [Field]] = [:]
    /// The scalar that was asked for, where there is one.
    private(set) var scalars: [JSONPath: Any.Type] = [:]

    func note(object: Any.Type, at path: JSONPath) { objects[path] = object }

    func note(scalar: Any.Type, at path: JSONPath) { scalars[path] = scalars[path] ?? scalar }

    func note(_ field: Field, of path: JSONPath) {
        guard let index = fields[path]?.firstIndex(where: { $0.name == field.name }) else {
            fields[path, default: []].append(field)
            return
        }
        if field.isOptional { fields[path]?[index].isOptional = true }
    }

    /// Notes that a type looks whether a member that it asked for before is there.
    func noteLook(at name: String, of path: JSONPath) {
        guard let index = fields[path]?.firstIndex(where: { $0.name == name && $0.isOptional }) else { return }
        fields[path]?[index].tellsNull = true
    }
}

/// The path of a value within another; `*` stands for every element of a list.
package typealias JSONPath = [String]

/// Decodes a JSON value and records what the types ask for.
struct TracingDecoder: Decoder {
    let value: JSONTree?
    let type: Any.Type
    let path: JSONPath
    let trace: Trace

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<T: Decodable>(_ type: T.Type, _ value: JSONTree?, at path: JSONPath = [], _ trace: Trace) throws
        -> T
    {
        // A file is in a form and never decoded.
        if type == Upload.self, let file = Upload(.bytes([]), filename: "") as? T { return file }
        return try T(from: TracingDecoder(value: value, type: type, path: path, trace: trace))
    }

    func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
        trace.note(object: type, at: path)
        guard let value, case .object = value else { throw mismatch("expected an object") }
        return KeyedDecodingContainer(TracedObject<Key>(value: value, path: path, trace: trace))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let value, case .list(let elements) = value else { throw mismatch("expected a list") }
        return TracedList(elements: elements, path: path + ["*"], trace: trace)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { TracedScalar(decoder: self) }

    /// Returns the error of another type of value. It does not say where, because nearly all of them are of types that try one
    /// kind of value after the other.
    fileprivate func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [], debugDescription: expected))
    }
}

private struct TracedObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let value: JSONTree
    let path: JSONPath
    let trace: Trace

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { value.members.compactMap { Key(stringValue: $0.name) } }

    private func isNull(_ key: Key) -> Bool { value[key.stringValue].map { $0 == .null } ?? true }

    func contains(_ key: Key) -> Bool {
        trace.noteLook(at: key.stringValue, of: path)
        return value[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { isNull(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        trace.note(.init(name: key.stringValue, type: type, isOptional: false), of: path)
        let inner = path + [key.stringValue]
        guard let member = value[key.stringValue] else {
            if type == [Upload].self, let files = [Upload]() as? T { return files }
            // The server reads a placeholder; the type records here what it would have read.
            let placeholder = (type as? any WireField.Type)?.absent as? T
            let found = try? TracingDecoder.decode(type, nil, at: inner, trace)
            if let known = found ?? placeholder { return known }
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "no \(key.stringValue)"))
        }
        return try TracingDecoder.decode(type, member, at: inner, trace)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        trace.note(.init(name: key.stringValue, type: type, isOptional: true), of: path)
        let inner = path + [key.stringValue]
        guard !isNull(key) else {
            _ = try? TracingDecoder.decode(type, nil, at: inner, trace)
            return nil
        }
        return try TracingDecoder.decode(type, value[key.stringValue], at: inner, trace)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(type, key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try scalar(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }

    private func scalar<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T { try decode(type, forKey: key) }
    private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        try decodeIfPresent(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<
        Nested
    > {
        let inner = path + [key.stringValue]
        return KeyedDecodingContainer(
            TracedObject<Nested>(value: value[key.stringValue] ?? .object([]), path: inner, trace: trace))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        TracedList(
            elements: value[key.stringValue]?.elements ?? [], path: path + [key.stringValue, "*"], trace: trace)
    }

    func superDecoder() throws -> any Decoder {
        TracingDecoder(value: value, type: Key.self, path: path, trace: trace)
    }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        TracingDecoder(value: value[key.stringValue], type: Key.self, path: path + [key.stringValue], trace: trace)
    }
}

private struct TracedList: UnkeyedDecodingContainer {
    let elements: [JSONTree]
    let path: JSONPath
    let trace: Trace

    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }
    var currentIndex = 0

    private mutating func next() throws -> JSONTree {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(JSONTree.self, .init(codingPath: [], debugDescription: "the end"))
        }
        defer { currentIndex += 1 }
        return elements[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let index = currentIndex
        do {
            return try TracingDecoder.decode(type, try next(), at: path, trace)
        } catch {
            currentIndex = index
            throw error
        }
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(TracedObject<Key>(value: try next(), path: path, trace: trace))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        TracedList(elements: try next().elements, path: path + ["*"], trace: trace)
    }

    mutating func superDecoder() throws -> any Decoder {
        TracingDecoder(value: try next(), type: TracedList.self, path: path, trace: trace)
    }
}

private struct TracedScalar: SingleValueDecodingContainer {
    let decoder: TracingDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { decoder.value == .null }

    func decode(_ type: String.Type) throws -> String {
        decoder.trace.note(scalar: type, at: decoder.path)
        guard case .string(let text) = decoder.value else { throw decoder.mismatch("expected a text") }
        return text
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        decoder.trace.note(scalar: type, at: decoder.path)
        if case .bool(let value) = decoder.value { return value }
        // In a path, a query or a form.
        guard let value = decoder.value?.text.flatMap(Bool.init) else {
            throw decoder.mismatch("expected true or false")
        }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double {
        decoder.trace.note(scalar: type, at: decoder.path)
        switch decoder.value {
        case .number(let value): return value
        case .integer(let value): return Double(value)
        default:
            guard let value = decoder.value?.text.flatMap(Double.init) else {
                throw decoder.mismatch("expected a number")
            }
            return value
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    private func integer<T: FixedWidthInteger>(_: T.Type) throws -> T {
        decoder.trace.note(scalar: Int64.self, at: decoder.path)
        if case .integer(let value) = decoder.value, let number = T(exactly: value) { return number }
        guard let value = decoder.value?.text.flatMap({ T($0) }) else { throw decoder.mismatch("expected an integer") }
        return value
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // A value in a wrapper is traced as the value.
        try TracingDecoder.decode(type, decoder.value, at: decoder.path, decoder.trace)
    }
}
