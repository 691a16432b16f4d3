/// Decodes the fields of a request one by one, for requests of which a server gets many.
///
/// It reads them from their places in the request, without the containers of a decoder, and notes the same issues. Any
/// other decoder gives the same fields through a container.
///
/// ```swift
/// public init(from decoder: any Decoder) throws {
///     let fields = try FieldReader(decoder)
///     chat = .init(rawValue: try fields.integer("id"))
///     content = try fields.text("content")
/// }
/// ```
package struct FieldReader {
    private enum Source {
        case fields(Fields, JSONValueDecoder?)
        case container(KeyedDecodingContainer<JSONStep>)
    }

    private let source: Source

    package init(_ decoder: any Decoder) throws {
        if let direct = decoder as? FieldDecoder {
            guard let body = direct.body else {
                source = .fields(direct.fields, nil)
                return
            }
            if let body = body as? JSONValueDecoder, body.document.kind(at: body.index) == .object {
                source = .fields(direct.fields, body)
                return
            }
        }
        source = .container(try decoder.container(keyedBy: JSONStep.self))
    }

    /// Reads a text; an empty one when the field is absent.
    package func text(_ name: String) throws -> String { try optionalText(name) ?? .absent }

    /// Reads a text; nil when the field is absent, null, or of another type.
    package func optionalText(_ name: String) throws -> String? {
        try read(name, String.self) {
            $0
        } json: { document, index in
            document.kind(at: index) == .string ? document.string(at: index) : nil
        }
    }

    /// Reads a whole number; zero when the field is absent.
    package func integer(_ name: String) throws -> Int64 { try optionalInteger(name) ?? .absent }

    /// Reads a whole number; nil when the field is absent or null.
    package func optionalInteger(_ name: String) throws -> Int64? {
        try read(name, Int64.self) { text in
            try? Int64(from: TextDecoder(text: text))
        } json: { document, index in
            guard document.kind(at: index) == .number else { return nil }
            return document.plainInteger(at: index, as: Int64.self)
                ?? (try? JSONValueDecoder(document: document, index: index).decode(Int64.self))
        }
    }

    @inline(__always)
    private func read<T: WireField>(
        _ name: String, _ type: T.Type, text: (String) -> T?, json: (JSONDocument, Int) -> T?
    ) throws -> T? {
        let (fields, body): (Fields, JSONValueDecoder?)
        switch source {
        case .fields(let known, let object): (fields, body) = (known, object)
        case .container(let container): return try container.decodeIfPresent(T.self, forKey: JSONStep(name))
        }
        let value: T?
        var number: Double?
        if let found = fields.text(name) {
            value = text(found)
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
