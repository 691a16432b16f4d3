import Foundation

extension RequestCoding {
    /// A request as it goes on the wire.
    public struct Encoded: Sendable {
        /// The encoded body of a request.
        public enum Body: Sendable {
            case none
            case json([UInt8])
            case form(fields: [(name: String, value: String)], uploads: [(name: String, upload: Upload)])
        }

        /// The path, percent-encoded, with its query.
        public var path: String
        /// The body.
        public var body: Body
    }

    /// Encodes a request.
    ///
    /// - Throws: `EncodingError` when a field cannot be encoded where it belongs, such as a nested value in the path.
    public static func encode<E: Endpoint>(_ request: E) throws -> Encoded {
        let route = E.route
        let parts = Parts(captures: Set(route.captures))
        let body: Encoded.Body
        switch route.form {
        case .query:
            parts.takesAll = true
            try request.encode(to: FieldEncoder(parts: parts, body: nil))
            body = .none
        case .json:
            body = .json(try json(of: request, parts))
        case .multipart:
            body = try form(of: request, parts)
        case .jsonOrMultipart:
            let json = try json(of: request, parts)
            body = parts.uploads.isEmpty ? .json(json) : try form(of: request, parts)
        }

        var path = ""
        for segment in route.segments {
            switch segment {
            case .literal(let text): path += "/" + text
            case .capture(let name): path += "/" + percentEncoded(parts.captured[name] ?? "")
            }
        }
        if case .query = route.form, !parts.items.isEmpty {
            let items = parts.items.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }
            path += "?" + items.joined(separator: "&")
        }
        return Encoded(path: path, body: body)
    }

    private static func json(of request: some Endpoint, _ parts: Parts) throws -> [UInt8] {
        let encoder = JSONEncoder()
        // Sorted keys make a request that is repeated in another launch of an app the same bytes.
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return [UInt8](try encoder.encode(Outgoing(request: request, parts: parts)))
    }

    private static func form(of request: some Endpoint, _ parts: Parts) throws -> Encoded.Body {
        parts.takesAll = true
        parts.uploads = []
        try request.encode(to: FieldEncoder(parts: parts, body: nil))
        return .form(fields: parts.items, uploads: parts.uploads)
    }

    /// Encodes everything but RFC 3986's unreserved characters, so that no value can change a path or a query.
    public static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}

/// Collects the fields that do not go into the JSON body. A value lives for one encoding, on one thread.
private final class Parts {
    let captures: Set<String>
    /// Whether fields outside the path become items too.
    var takesAll = false
    var captured: [String: String] = [:]
    var items: [(name: String, value: String)] = []
    var uploads: [(name: String, upload: Upload)] = []

    init(captures: Set<String>) { self.captures = captures }

    func takes(_ name: String) -> Bool { takesAll || captures.contains(name) }

    func put(_ name: String, _ value: String) {
        if captures.contains(name) { captured[name] = value } else { items.append((name, value)) }
    }
}

private struct Outgoing<Request: Encodable>: Encodable {
    let request: Request
    let parts: Parts

    func encode(to encoder: any Encoder) throws {
        try request.encode(to: FieldEncoder(parts: parts, body: encoder))
    }
}

private struct FieldEncoder: Encoder {
    let parts: Parts
    let body: (any Encoder)?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldSink<Key>(parts: parts, body: body?.container(keyedBy: type)))
    }

    // A request has named fields; any other value fails when it writes its first element.
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        var sink = FieldSink<NoKey>(parts: parts, body: nil)
        return sink.nestedUnkeyedContainer(forKey: NoKey())
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { TextEncoder(name: "", parts: parts) }
}

private struct NoKey: CodingKey {
    init() {}
    init?(stringValue: String) {}
    init?(intValue: Int) { nil }
    var stringValue: String { "" }
    var intValue: Int? { nil }
}

private struct FieldSink<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parts: Parts
    var body: KeyedEncodingContainer<Key>?
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws {
        if !parts.takes(key.stringValue) { try body?.encodeNil(forKey: key) }
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let name = key.stringValue
        if let upload = value as? Upload {
            parts.uploads.append((name, upload))
        } else if T.self == [Upload].self, let uploads = value as? [Upload] {
            parts.uploads += uploads.map { (name, $0) }
        } else if parts.takes(name) {
            try value.encode(to: TextEncoder(name: name, parts: parts))
        } else {
            try body?.encode(value, forKey: key)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        body?.nestedContainer(keyedBy: type, forKey: key)
            ?? TextEncoder(name: key.stringValue, parts: parts).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        body?.nestedUnkeyedContainer(forKey: key) ?? TextList(parts: parts, name: key.stringValue)
    }

    mutating func superEncoder() -> any Encoder { FieldEncoder(parts: parts, body: body?.superEncoder()) }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        FieldEncoder(parts: parts, body: body?.superEncoder(forKey: key))
    }
}

/// Encodes one scalar into the path, the query or a form.
private struct TextEncoder: Encoder, SingleValueEncodingContainer {
    let name: String
    let parts: Parts
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        // Each field of an object inside a query becomes an item of its own, because a query is flat.
        KeyedEncodingContainer(FieldSink<Key>(parts: parts, body: nil))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { TextList(parts: parts, name: name) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {}
    func encode(_ value: String) throws { parts.put(name, value) }
    func encode(_ value: Bool) throws { parts.put(name, String(value)) }
    func encode(_ value: Double) throws { parts.put(name, value.description) }
    func encode(_ value: Float) throws { parts.put(name, value.description) }
    func encode(_ value: Int) throws { parts.put(name, String(value)) }
    func encode(_ value: Int8) throws { parts.put(name, String(value)) }
    func encode(_ value: Int16) throws { parts.put(name, String(value)) }
    func encode(_ value: Int32) throws { parts.put(name, String(value)) }
    func encode(_ value: Int64) throws { parts.put(name, String(value)) }
    func encode(_ value: UInt) throws { parts.put(name, String(value)) }
    func encode(_ value: UInt8) throws { parts.put(name, String(value)) }
    func encode(_ value: UInt16) throws { parts.put(name, String(value)) }
    func encode(_ value: UInt32) throws { parts.put(name, String(value)) }
    func encode(_ value: UInt64) throws { parts.put(name, String(value)) }
    func encode<T: Encodable>(_ value: T) throws { try value.encode(to: self) }
}

/// Encodes a list in a query: its name, once for each element.
private struct TextList: UnkeyedEncodingContainer {
    let parts: Parts
    let name: String
    var codingPath: [any CodingKey] { [] }
    var count = 0

    mutating func encodeNil() throws { count += 1 }
    mutating func encode<T: Encodable>(_ value: T) throws {
        try value.encode(to: TextEncoder(name: name, parts: parts))
        count += 1
    }
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        TextEncoder(name: name, parts: parts).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { TextEncoder(name: name, parts: parts) }
}
