/// Decodes the fields of a request one by one, for requests of which a server gets many.
///
/// It reads them from their places in the request, without the containers of a decoder, and notes the same issues. Any
/// other decoder gives the same fields through a container.
///
/// ```swift
/// public init(from decoder: any Decoder) throws {
///     let fields = try FieldReader(decoder)
///     chat = try fields.id("id")
///     content = try fields.text("content")
/// }
/// ```
package struct FieldReader {
    /// The request's fields; nil with another decoder. The two are not one enumeration, which would be copied with each
    /// field.
    private let fields: Fields?
    /// The request's body, if that is an object.
    private let body: JSONValueDecoder?
    private let container: Container?

    /// The container of another decoder, in a box: the layout of containers is known at run time alone, and then so would
    /// be that of a reader.
    private final class Container {
        let fields: KeyedDecodingContainer<JSONStep>

        init(_ fields: KeyedDecodingContainer<JSONStep>) { self.fields = fields }
    }

    package init(_ decoder: any Decoder) throws {
        if let direct = decoder as? FieldDecoder {
            if direct.json?.isObject ?? (direct.other == nil) {
                (fields, body, container) = (direct.fields, direct.json, nil)
                return
            }
        }
        (fields, body) = (nil, nil)
        container = Container(try decoder.container(keyedBy: JSONStep.self))
    }

    /// Reads a text; an empty one when the field is absent.
    package func text(_ name: String) throws -> String {
        try read(name, String.self, text: { $0 }, json: Self.text) ?? .absent
    }

    /// Reads a value of an enumeration, or its value for an absent field.
    package func value<T: OpenEnumeration>(_ name: String) throws -> T {
        try read(name, T.self) {
            T(rawValue: $0)
        } json: { document, index in
            Self.text(document, index).map { T(rawValue: $0) }
        } ?? .absent
    }

    /// Reads an id; zero when the field is absent.
    package func id<Named>(_ name: String) throws -> Identifier<Named> { try id(name, isOptional: false) ?? .absent }

    /// Reads an id; nil when the field is absent or null.
    package func optionalID<Named>(_ name: String) throws -> Identifier<Named>? { try id(name, isOptional: true) }

    private func id<Named>(_ name: String, isOptional: Bool) throws -> Identifier<Named>? {
        try read(name, Identifier<Named>.self, isOptional: isOptional) { text in
            try? Identifier(from: TextDecoder(text: text))
        } json: { document, index in
            guard document.kind(at: index) == .number else { return nil }
            let number =
                document.plainInteger(at: index, as: Int64.self)
                ?? (try? JSONValueDecoder(document: document, index: index).decode(Int64.self))
            return number.map { Identifier($0) }
        }
    }

    private static func text(_ document: JSONDocument, _ index: Int) -> String? {
        document.kind(at: index) == .string ? document.string(at: index) : nil
    }

    @inline(__always)
    private func read<T: WireField>(
        _ name: String, _ type: T.Type, isOptional: Bool = false, text: (String) -> T?, json: (JSONDocument, Int) -> T?
    ) throws -> T? {
        guard let fields else {
            let key = JSONStep(name)
            return try isOptional
                ? container?.fields.decodeIfPresent(T.self, forKey: key)
                : container?.fields.decode(T.self, forKey: key)
        }
        let value: T?
        var number: Double?
        if let found = fields.text(name) {
            value = text(found)
            if value != nil { fields.noteTooLarge(name, found, T.self) }
        } else if let document = body?.document, let index = body.flatMap({ document.member(name, of: $0.index) }),
            document.kind(at: index) != .null
        {
            value = json(document, index)
            if value == nil, T.isWholeNumber, document.kind(at: index) == .number {
                number = try? JSONValueDecoder(document: document, index: index).decode(Double.self)
            }
        } else {
            fields.note(name, .absent)
            return nil
        }
        guard let value else {
            fields.note(name, number.map(FieldIssue.Kind.unrepresentable) ?? .mistyped)
            return T.malformed
        }
        if value.containsNUL { fields.note(name, .containsNUL) }
        return value
    }
}

extension JSONValueDecoder {
    fileprivate var isObject: Bool { document.kind(at: index) == .object }
}
