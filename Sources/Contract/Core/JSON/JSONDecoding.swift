import Foundation

/// The decoder of a value in a ``JSONDocument``. It decodes what Foundation's decoder decodes, and refuses what that
/// refuses, at the same paths.
struct JSONValueDecoder: Decoder {
    let document: JSONDocument
    let index: Int

    var codingPath: [any CodingKey] { document.path(to: index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try JSONMembers<Key>(document, index))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONElements(document, index) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.kind(at: index) == .null }

    func decode(_: Bool.Type) throws -> Bool {
        switch document.kind(at: index) {
        case .true: true
        case .false: false
        // Foundation reports a null as another type, too.
        default: throw mismatch(Bool.self, isNull: false)
        }
    }

    func decode(_: String.Type) throws -> String {
        guard document.kind(at: index) == .string else { throw mismatch(String.self) }
        return document.string(at: index)
    }

    func decode<I: FixedWidthInteger & Decodable>(_: I.Type) throws -> I {
        guard document.kind(at: index) == .number else { throw mismatch(I.self) }
        if let value = document.plainInteger(at: index, as: I.self) { return value }
        if let number = document.double(at: index) {
            guard let value = I(exactly: number) else { throw unrepresentable(I.self) }
            // Beyond 2⁵³ a number of type `Double` may be another than the text's.
            if value.magnitude < 1 << 53 { return value }
        }
        return try foundation(I.self)
    }

    func decode(_: Double.Type) throws -> Double {
        guard document.kind(at: index) == .number else { throw mismatch(Double.self) }
        return try document.double(at: index) ?? foundation(Double.self)
    }

    func decode(_: Float.Type) throws -> Float {
        guard document.kind(at: index) == .number else { throw mismatch(Float.self) }
        return try foundation(Float.self)
    }

    func decode<T: Decodable>(_: T.Type) throws -> T {
        // Foundation does not ask these types to decode themselves.
        if T.self == URL.self || T.self == Data.self || T.self == Decimal.self { return try foundation(T.self) }
        return try T(from: self)
    }

    /// Decodes a value of a form that is rare.
    private func foundation<T: Decodable>(_: T.Type) throws -> T {
        do {
            return try JSONDecoder().decode(T.self, from: document.slice(at: index))
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw mismatch(T.self)
        } catch {
            throw unrepresentable(T.self)
        }
    }

    private func unrepresentable(_ type: any Any.Type) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: "\(type) has no such value"))
    }

    func mismatch(_ type: any Any.Type) -> DecodingError { mismatch(type, isNull: decodeNil()) }

    private func mismatch(_ type: any Any.Type, isNull: Bool) -> DecodingError {
        let kind = document.kind(at: index)
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "expected \(type), found \(kind)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: JSONDocument
    let object: Int

    init(_ document: JSONDocument, _ index: Int) throws {
        guard document.kind(at: index) == .object else {
            throw JSONValueDecoder(document: document, index: index).mismatch([String: Any].self)
        }
        self.document = document
        object = index
    }

    var codingPath: [any CodingKey] { document.path(to: object) }

    var allKeys: [Key] { document.keys(of: object).compactMap { Key(stringValue: document.string(at: $0)) } }

    func contains(_ key: Key) -> Bool { document.member(key.stringValue, of: object) != nil }

    private func member(_ key: Key) throws -> JSONValueDecoder {
        guard let index = document.member(key.stringValue, of: object) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no \(key.stringValue)"))
        }
        return JSONValueDecoder(document: document, index: index)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(Bool.self) }
    func decode(_: String.Type, forKey key: Key) throws -> String { try member(key).decode(String.self) }
    func decode(_: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(Double.self) }
    func decode(_: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(Float.self) }
    func decode<I: FixedWidthInteger & Decodable>(_: I.Type, forKey key: Key) throws -> I {
        try member(key).decode(I.self)
    }
    func decode<T: Decodable>(_: T.Type, forKey key: Key) throws -> T { try member(key).decode(T.self) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let index = document.member("super", of: object) else {
            throw DecodingError.valueNotFound(
                (any Decoder).self, .init(codingPath: codingPath, debugDescription: "there is no super"))
        }
        return JSONValueDecoder(document: document, index: index)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

/// The elements of a list.
private struct JSONElements: UnkeyedDecodingContainer {
    let document: JSONDocument
    let list: Int
    private(set) var currentIndex = 0
    /// The token of the next element.
    private var index: Int

    init(_ document: JSONDocument, _ index: Int) throws {
        guard document.kind(at: index) == .list else {
            throw JSONValueDecoder(document: document, index: index).mismatch([Any].self)
        }
        self.document = document
        list = index
        self.index = index + 1
    }

    var codingPath: [any CodingKey] { document.path(to: list) }
    var count: Int? { document.count(of: list) }
    var isAtEnd: Bool { currentIndex == document.count(of: list) }

    /// Decodes the next element. One that cannot be decoded stays the next.
    private mutating func next<T>(_ decode: (JSONValueDecoder) throws -> T) throws -> T {
        guard !isAtEnd else {
            let path = codingPath + [JSONStep(currentIndex)]
            throw DecodingError.valueNotFound(
                T.self, .init(codingPath: path, debugDescription: "the list has no further element"))
        }
        let value = try decode(JSONValueDecoder(document: document, index: index))
        index = document.next(after: index)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        var copy = self
        let isNil = try copy.next { $0.decodeNil() }
        if isNil { self = copy }
        return isNil
    }

    mutating func decode(_: Bool.Type) throws -> Bool { try next { try $0.decode(Bool.self) } }
    mutating func decode(_: String.Type) throws -> String { try next { try $0.decode(String.self) } }
    mutating func decode(_: Double.Type) throws -> Double { try next { try $0.decode(Double.self) } }
    mutating func decode(_: Float.Type) throws -> Float { try next { try $0.decode(Float.self) } }
    mutating func decode<I: FixedWidthInteger & Decodable>(_: I.Type) throws -> I { try next { try $0.decode(I.self) } }
    mutating func decode<T: Decodable>(_: T.Type) throws -> T { try next { try $0.decode(T.self) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
