/// Converts a request into an endpoint's value, and an endpoint's value into a request.
///
/// The two directions mirror each other: a field that is named in the route's path travels in the path, an ``Upload``
/// and the fields beside it in a form, and the rest in the query or the JSON body.
public enum RequestCoding {
    /// The parts of a request, before they are decoded.
    public struct Source: Sendable {
        /// The path's fields, percent-decoded. They take precedence over everything else.
        public var captures: [(name: String, value: String)]
        /// The query's items, or the text fields of a form. Of a repeated name, the first counts.
        public var items: [(name: String, value: String)]
        /// The files of a form by the name of their field, in the order of the form.
        public var uploads: [String: [Upload]]
        /// The JSON body; nil and empty both count as `{}`.
        public var body: [UInt8]?

        public init(
            captures: [(name: String, value: String)] = [], items: [(name: String, value: String)] = [],
            uploads: [String: [Upload]] = [:], body: [UInt8]? = nil
        ) {
            self.captures = captures
            self.items = items
            self.uploads = uploads
            self.body = body
        }
    }

    /// Decodes a request and validates it.
    ///
    /// - Throws: A problem of status 400 when the body is not one JSON object; then what ``Endpoint/validatePath()``
    ///   throws; then, unless ``Endpoint/fieldsComeLast`` is set, what ``Endpoint/validate(unreadable:)`` throws.
    public static func decode<E: Endpoint>(_ type: E.Type, from source: Source) throws(Problem) -> E {
        let (request, issues) = try read(type, from: source)
        try request.validatePath()
        if E.fieldsComeLast { return request }
        try request.validate(unreadable: issues)
        return request
    }

    static func read<E: Endpoint>(_ type: E.Type, from source: Source) throws(Problem) -> (E, [FieldIssue]) {
        let fields = Fields(source)
        do {
            guard let body = source.body, !body.isEmpty else {
                return (try E(from: FieldDecoder(fields: fields, json: nil)), fields.issues)
            }
            guard let document = JSONDocument(object: body) else { throw Self.malformedJSON(E.self) }
            let decoder = FieldDecoder(fields: fields, json: JSONValueDecoder(document: document, index: 0))
            return (try E(from: decoder), fields.issues)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Self.malformedJSON(E.self)
        }
    }

    private static func malformedJSON<E: Endpoint>(_: E.Type) -> Problem {
        Problem(.badRequest, E.API.errorMessages.malformedJSON, code: .malformedJSON)
    }
}

/// The fields that came outside the JSON body, and the issues that were found. A value lives for one decoding and on
/// one thread.
final class Fields {
    let source: RequestCoding.Source
    var issues: [FieldIssue] = []

    init(_ source: RequestCoding.Source) { self.source = source }

    func text(_ name: String) -> String? {
        source.captures.first { $0.name == name }?.value ?? source.items.first { $0.name == name }?.value
    }

    func uploads(_ name: String) -> [Upload] { source.uploads[name] ?? [] }

    func note(_ field: String, _ kind: FieldIssue.Kind) {
        issues.append(FieldIssue(field: field, kind: kind))
    }

    /// Notes a number in a text that is too large for 64 bits. Its value is then the limit of its type, which may also be
    /// sent as a number of its own.
    func noteTooLarge<T: WireField>(_ field: String, _ text: String, _: T.Type) {
        guard T.isWholeNumber, text.utf8.count >= String(Int64.max).utf8.count, Int64(text) == nil else { return }
        note(field, .unrepresentable(Double(text) ?? .infinity))
    }
}

/// Looks for each field in the path, the query or the form first, then in the JSON body.
struct FieldDecoder: Decoder {
    let fields: Fields
    /// The body that is JSON.
    let json: JSONValueDecoder?
    /// Any other body.
    let other: (any Decoder)?
    private var body: (any Decoder)? { json ?? other }
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(fields: Fields, json: JSONValueDecoder?) {
        self.fields = fields
        self.json = json
        other = nil
    }

    init(fields: Fields, body: (any Decoder)?) {
        self.fields = fields
        json = body as? JSONValueDecoder
        other = json == nil ? body : nil
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer<Key>(fields: fields, body: try body?.container(keyedBy: type)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notAnObject }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notAnObject }

    private var notAnObject: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "A request has named fields."))
    }
}

private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The body's container, in a box: the layout of containers is known at run time alone, and every copy would ask for it.
    private final class Body {
        let container: KeyedDecodingContainer<Key>

        init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
    }

    private let fields: Fields
    private let box: Body?
    private var body: KeyedDecodingContainer<Key>? { box?.container }

    init(fields: Fields, body: KeyedDecodingContainer<Key>?) {
        self.fields = fields
        box = body.map(Body.init)
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { body?.allKeys ?? [] }

    func contains(_ key: Key) -> Bool {
        fields.text(key.stringValue) != nil || body?.contains(key) == true
            || !fields.uploads(key.stringValue).isEmpty
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if fields.text(key.stringValue) != nil || !fields.uploads(key.stringValue).isEmpty { return false }
        guard let box, box.container.contains(key) else { return true }
        return try box.container.decodeNil(forKey: key)
    }

    /// Returns the field, its placeholder when it is of another type, or nil when there is none.
    private func field<T: WireField>(_ type: T.Type, _ key: Key) -> T? {
        let name = key.stringValue
        let value: T?
        if let text = fields.text(name) {
            value = try? T(from: TextDecoder(text: text))
            if value != nil { fields.noteTooLarge(name, text, T.self) }
        } else if let box, box.container.contains(key), (try? box.container.decodeNil(forKey: key)) != true {
            value = try? box.container.decode(T.self, forKey: key)
        } else {
            fields.note(name, .absent)
            return nil
        }
        guard let value else {
            fields.note(name, (T.isWholeNumber ? number(key) : nil).map(FieldIssue.Kind.unrepresentable) ?? .mistyped)
            return T.malformed
        }
        if value.containsNUL { fields.note(name, .containsNUL) }
        return value
    }

    /// Returns the number in the body, whatever the field's type; nil when the value is not a number.
    private func number(_ key: Key) -> Double? {
        fields.text(key.stringValue) == nil ? try? body?.decode(Double.self, forKey: key) : nil
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { field(type, key) ?? .absent }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { field(type, key) ?? .absent }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { field(type, key) ?? .absent }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { field(type, key) ?? .absent }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { field(type, key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { field(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { field(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { field(type, key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let uploads = fields.uploads(key.stringValue)
        if type == Upload.self, let upload = uploads.first as? T { return upload }
        if type == [Upload].self, let uploads = uploads as? T { return uploads }
        guard let wire = type as? any WireField.Type else {
            return try required(type, key)
        }
        return valueOrAbsent(wire, key) as! T  // `wire` is `T`, seen through its conformance.
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if let wire = type as? any WireField.Type { return optional(wire, key) as! T? }
        guard try !decodeNil(forKey: key) else { return nil }
        return try decode(type, forKey: key)
    }

    private func valueOrAbsent<T: WireField>(_ type: T.Type, _ key: Key) -> T { field(type, key) ?? .absent }
    private func optional<T: WireField>(_ type: T.Type, _ key: Key) -> T? { field(type, key) }

    private func required<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
        if let text = fields.text(key.stringValue) { return try T(from: TextDecoder(text: text)) }
        guard let body else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "no \(key.stringValue)"))
        }
        return try body.decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        guard let body else { throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "")) }
        return try body.nestedContainer(keyedBy: type, forKey: key)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        guard let body else { throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "")) }
        return try body.nestedUnkeyedContainer(forKey: key)
    }

    func superDecoder() throws -> any Decoder { FieldDecoder(fields: fields, body: try body?.superDecoder()) }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        FieldDecoder(fields: fields, body: try body?.superDecoder(forKey: key))
    }
}

/// Decodes one value out of the path, the query or a form.
struct TextDecoder: Decoder, SingleValueDecodingContainer {
    let text: String
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> { throw mismatch("object") }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch("list") }

    func decodeNil() -> Bool { false }
    func decode(_: String.Type) throws -> String { text }
    func decode(_: Bool.Type) throws -> Bool {
        guard let value = Bool(text) else { throw mismatch("boolean") }
        return value
    }
    func decode(_: Double.Type) throws -> Double {
        guard let value = Double(text) else { throw mismatch("number") }
        return value
    }
    func decode(_: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_: Int.Type) throws -> Int { try integer() }
    func decode(_: Int8.Type) throws -> Int8 { try integer() }
    func decode(_: Int16.Type) throws -> Int16 { try integer() }
    func decode(_: Int32.Type) throws -> Int32 { try integer() }
    func decode(_: Int64.Type) throws -> Int64 { try integer() }
    func decode(_: UInt.Type) throws -> UInt { try integer() }
    func decode(_: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_: UInt64.Type) throws -> UInt64 { try integer() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }

    /// Parses digits, optionally after a minus. A number too large for its type is clamped to the type's limit: it is a
    /// valid number, and no record has it as its id.
    private func integer<T: FixedWidthInteger>() throws -> T {
        let negative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(negative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            throw mismatch("integer")
        }
        return T(text) ?? (negative ? .min : .max)
    }

    private func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(String.self, .init(codingPath: [], debugDescription: "expected \(expected), found \(text)"))
    }
}
