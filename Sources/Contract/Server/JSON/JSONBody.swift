import NIOCore

/// Encodes JSON for response bodies and socket frames: RFC 8259 text whose members have the order in which they are
/// encoded.
///
/// A value becomes text at the moment at which it is encoded, without an intermediate form. Members therefore keep the
/// order of their declaration, and a nested container or a super encoder has to be filled before its parent is written
/// to again; filling it later throws.
///
/// - Integers are exact. `Double` and `Float` are the shortest text that reads back as the same number; whole numbers
///   up to 2⁵³ have no fraction (`1`, not `1.0`). NaN and the infinities throw.
/// - Only `"`, `\` and the control characters are escaped.
/// - `UUID` is lower-case text, `URL` its absolute text, `Data` Base64, `Decimal` a number. `Date` throws, since each
///   contract has a format of its own: it belongs to a type such as `Timestamp`.
public enum JSONBody {
    /// Appends the JSON of `value` to `buffer`.
    ///
    /// - Throws: `EncodingError` with the path of a value that has no JSON, or what an `encode(to:)` on the way throws.
    ///   `buffer` is then as it was.
    public static func encode<T: Encodable>(_ value: T, into buffer: inout ByteBuffer) throws {
        _ = try text(of: value).withBytes { buffer.writeBytes($0) }
    }

    /// Returns the JSON of `value` in a new buffer of the size that it needs.
    ///
    /// - Throws: `EncodingError` with the path of a value that has no JSON, or the error of an `encode(to:)` on the
    ///   way.
    public static func encode<T: Encodable>(_ value: T, allocator: ByteBufferAllocator = .init()) throws -> ByteBuffer {
        try text(of: value).withBytes { allocator.buffer(bytes: $0) }
    }

    private static func text<T: Encodable>(of value: T) throws -> JSONText {
        let text = JSONText()
        try text.write(value)
        if let failure = text.failure { throw failure }
        return text
    }
}

/// The encoder of one value, and its single value container: three words, which an existential holds without a box.
struct JSONEncoding: Encoder, SingleValueEncodingContainer {
    let text: JSONText
    let position: JSONPosition

    var codingPath: [any CodingKey] { text.path(to: position) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObject(text: text, position: text.open("{", at: position)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONArray(text: text, position: text.open("[", at: position))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try text.begin(at: position)
        text.write(literal: "null")
    }

    @inline(__always)
    func encode<S: JSONScalar>(_ value: S) throws {
        try text.begin(at: position)
        guard value.hasJSON else { throw text.error(value, at: position, "JSON has no \(value)") }
        value.writeJSON(to: text)
    }

    func encode<T: Encodable>(_ value: T) throws {
        try text.begin(at: position)
        try text.write(value)
    }
}

/// A keyed container. One generic method answers for all the scalar types; the compiler makes one of each.
struct JSONObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let text: JSONText
    let position: JSONPosition

    var codingPath: [any CodingKey] { text.path(to: position.outside) }

    func encodeNil(forKey key: Key) throws {
        try text.beginMember(key.stringValue, of: position)
        text.write(literal: "null")
    }

    @inline(__always)
    func encode<S: JSONScalar>(_ value: S, forKey key: Key) throws {
        let mark = text.count
        try text.beginMember(key.stringValue, of: position)
        guard value.hasJSON else { return try text.write(member: value, from: mark) }
        value.writeJSON(to: text)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let mark = text.count
        try text.beginMember(key.stringValue, of: position)
        try text.write(member: value, from: mark)
    }

    func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(JSONObject<K>(text: text, position: text.open("{", at: member(key))))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONArray(text: text, position: text.open("[", at: member(key)))
    }

    func superEncoder() -> any Encoder {
        JSONEncoding(text: text, position: member(JSONText.Key(stringValue: "super")))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        JSONEncoding(text: text, position: member(key))
    }

    private func member(_ key: some CodingKey) -> JSONPosition {
        text.deferValue { try text.beginMember(key.stringValue, of: position) }
    }
}

struct JSONArray: UnkeyedEncodingContainer {
    let text: JSONText
    let position: JSONPosition

    var codingPath: [any CodingKey] { text.path(to: position.outside) }
    var count: Int { text.members(of: position) }

    func encodeNil() throws {
        try text.beginMember(of: position)
        text.write(literal: "null")
    }

    @inline(__always)
    func encode<S: JSONScalar>(_ value: S) throws {
        let mark = text.count
        try text.beginMember(of: position)
        guard value.hasJSON else { return try text.write(member: value, from: mark) }
        value.writeJSON(to: text)
    }

    func encode<T: Encodable>(_ value: T) throws {
        let mark = text.count
        try text.beginMember(of: position)
        try text.write(member: value, from: mark)
    }

    func nestedContainer<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        KeyedEncodingContainer(JSONObject<K>(text: text, position: text.open("{", at: member())))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONArray(text: text, position: text.open("[", at: member()))
    }

    func superEncoder() -> any Encoder { JSONEncoding(text: text, position: member()) }

    private func member() -> JSONPosition {
        text.deferValue { try text.beginMember(of: position) }
    }
}
