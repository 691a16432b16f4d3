/// The encoder of one value, and its single value container: three words, which an existential holds without a box.
package struct JSONEncoding: Encoder, SingleValueEncodingContainer {
    let text: JSONText
    let position: JSONPosition

    package var codingPath: [any CodingKey] { text.path(to: position) }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObject(text: text, position: text.open("{", at: position)))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONArray(text: text, position: text.open("[", at: position))
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }

    package func encodeNil() throws {
        try text.begin(at: position)
        text.write(literal: "null")
    }

    @inline(__always)
    package func encode<S: JSONScalar>(_ value: S) throws {
        try text.begin(at: position)
        guard value.hasJSON else { throw text.error(value, at: position, "JSON has no \(value)") }
        value.writeJSON(to: text)
    }

    package func encode<T: Encodable>(_ value: T) throws {
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
