/// The form of a JSON value, as JSON Schema 2020-12 describes it: only those of its keywords that a contract needs.
indirect enum Schema: Hashable, Sendable {
    case any
    case null
    case scalar(Scalar)
    case list(List)
    case object(Object)
    /// A schema by its name in the document's components.
    case named(String)
    case anyOf([Schema])

    struct Scalar: Hashable, Sendable {
        enum Kind: String, Sendable {
            case string, integer, number, boolean
        }

        var kind: Kind
        var format: String?
        var values: [JSONTree] = []
        var minimum: Double?
        var maximum: Double?
        var minimumLength: Int?
        var maximumLength: Int?
        var pattern: String?
        var description: String?
    }

    struct List: Hashable, Sendable {
        /// The form of the elements; nil for a list that is always empty.
        var element: Schema?
        var minimum: Int?
        var maximum: Int?
    }

    struct Object: Hashable, Sendable {
        var properties: [Property]
        /// The form of members with other names; nil where there are none.
        var others: Schema?
    }

    struct Property: Hashable, Sendable {
        let name: String
        var schema: Schema
        var isRequired: Bool
        var isAddition = false
    }

    static func text(_ format: String? = nil) -> Schema { .scalar(Scalar(kind: .string, format: format)) }
    static let boolean = Schema.scalar(Scalar(kind: .boolean))
    static let number = Schema.scalar(Scalar(kind: .number))
    static let integer = Schema.scalar(Scalar(kind: .integer, format: "int64"))
    static let id = Schema.scalar(Scalar(kind: .integer, format: "int64", minimum: 1))

    static func only(_ value: JSONTree) -> Schema {
        switch value {
        case .string: .scalar(Scalar(kind: .string, values: [value]))
        case .integer: .scalar(Scalar(kind: .integer, format: "int64", values: [value]))
        case .number: .scalar(Scalar(kind: .number, values: [value]))
        case .bool: .scalar(Scalar(kind: .boolean, values: [value]))
        case .null: .null
        case .list: .list(List(element: nil))
        case .object: .any
        }
    }

    var isNullable: Bool {
        switch self {
        case .null, .any: true
        case .anyOf(let schemas): schemas.contains(where: \.isNullable)
        default: false
        }
    }

    /// Returns the schema of values that fit either.
    ///
    /// Two objects become one object, whose members are required if both require them: a client reads it with one type.
    func merged(with other: Schema) -> Schema {
        switch (self, other) {
        case _ where self == other: return self
        case (.any, _), (_, .any): return .any
        case (.object(let left), .object(let right)): return .object(left.merged(with: right))
        case (.list(let left), .list(let right)):
            let element = left.element.flatMap { mine in right.element.map(mine.merged) ?? mine } ?? right.element
            return .list(List(element: element))
        case (.scalar(let left), .scalar(let right)) where left.kind == right.kind:
            if !left.values.isEmpty, !right.values.isEmpty {
                var both = left
                both.values += right.values.filter { !left.values.contains($0) }
                return .scalar(both)
            }
            // A kind alone, without a rule, holds what the other one says.
            let plain = Scalar(kind: left.kind, format: left.kind == .integer ? "int64" : nil)
            if left == plain { return self }
            if right == plain { return other }
            if left.kind != .string, left.values.isEmpty, right.values.isEmpty { return .scalar(plain) }
            return .anyOf([self, other])
        case (.anyOf(let schemas), _):
            return Self.adding(other, to: schemas)
        case (_, .anyOf(let schemas)):
            return schemas.reduce(self) { $0.merged(with: $1) }
        default:
            return .anyOf([self, other])
        }
    }

    private static func adding(_ schema: Schema, to schemas: [Schema]) -> Schema {
        if case .anyOf(let more) = schema { return more.reduce(.anyOf(schemas)) { $0.merged(with: $1) } }
        var result = schemas
        for index in result.indices {
            let merged = result[index].merged(with: schema)
            if case .anyOf = merged { continue }
            result[index] = merged
            return result.count == 1 ? result[0] : .anyOf(result)
        }
        return .anyOf(result + [schema])
    }
}

extension Schema.Object {
    func merged(with other: Schema.Object) -> Schema.Object {
        var result = self
        for index in result.properties.indices {
            let mine = result.properties[index]
            guard let theirs = other.properties.first(where: { $0.name == mine.name }) else {
                result.properties[index].isRequired = false
                continue
            }
            result.properties[index].schema = mine.schema.merged(with: theirs.schema)
            result.properties[index].isRequired = mine.isRequired && theirs.isRequired
            // One schema may serve several operations, and the contract has the field in one of them.
            result.properties[index].isAddition = mine.isAddition && theirs.isAddition
        }
        for (index, theirs) in other.properties.enumerated()
        where !properties.contains(where: { $0.name == theirs.name }) {
            var property = theirs
            property.isRequired = false
            result.properties.insert(property, at: min(index, result.properties.count))
        }
        result.others = others.flatMap { mine in other.others.map(mine.merged) ?? mine } ?? other.others
        return result
    }
}

extension Schema.Scalar {
    /// Returns the rule of texts or numbers that either rule accepts.
    func loosened(by other: Schema.Scalar) -> Schema.Scalar {
        func lower<T: Comparable>(_ left: T?, _ right: T?) -> T? {
            left.flatMap { mine in right.map { min(mine, $0) } }
        }
        func upper<T: Comparable>(_ left: T?, _ right: T?) -> T? {
            left.flatMap { mine in right.map { max(mine, $0) } }
        }
        var result = self
        result.minimum = lower(minimum, other.minimum)
        result.maximum = upper(maximum, other.maximum)
        result.minimumLength = lower(minimumLength, other.minimumLength)
        result.maximumLength = upper(maximumLength, other.maximumLength)
        result.format = format == other.format ? format : nil
        result.pattern = pattern == other.pattern ? pattern : nil
        return result
    }
}

// MARK: As JSON

extension Schema {
    /// The schema as JSON.
    var json: JSONTree {
        switch self {
        case .any: [:]
        case .null: ["type": "null"]
        case .scalar(let scalar): scalar.json
        case .list(let list): list.json
        case .object(let object): object.json
        case .named(let name): ["$ref": .string("#/components/schemas/\(name)")]
        case .anyOf(let schemas): Self.json(ofAny: schemas)
        }
    }

    private static func json(ofAny schemas: [Schema]) -> JSONTree {
        let others = schemas.filter { $0 != .null }
        guard others.count < schemas.count, others.count == 1, let type = others[0].json["type"] else {
            return ["anyOf": .list(schemas.map(\.json))]
        }
        // `"type": ["string", "null"]`, which generators read as an optional value.
        let json = others[0].json.setting("type", .list([type, "null"]))
        if let only = json["const"] { return json.setting("const", nil).setting("enum", .list([only, .null])) }
        return json["enum"].map { json.setting("enum", .list($0.elements + [.null])) } ?? json
    }
}

extension Schema.Scalar {
    fileprivate var json: JSONTree {
        var json: JSONTree = ["type": .string(kind.rawValue)]
        json = json.setting("format", format.map(JSONTree.string))
        if values.count == 1 { json = json.setting("const", values[0]) }
        if values.count > 1 { json = json.setting("enum", .list(values)) }
        return json.setting("minimum", minimum.map(JSONTree.number)).setting("maximum", maximum.map(JSONTree.number))
            .setting("minLength", minimumLength.map { .integer(Int64($0)) })
            .setting("maxLength", maximumLength.map { .integer(Int64($0)) })
            .setting("pattern", pattern.map(JSONTree.string)).setting("description", description.map(JSONTree.string))
    }
}

extension Schema.List {
    fileprivate var json: JSONTree {
        let json: JSONTree = ["type": "array", "items": element?.json ?? [:]]
        return json.setting("minItems", minimum.map { .integer(Int64($0)) })
            .setting("maxItems", element == nil ? 0 : maximum.map { .integer(Int64($0)) })
    }
}

extension Schema.Object {
    fileprivate var json: JSONTree {
        let required = properties.filter(\.isRequired)
        var json: JSONTree = ["type": "object"]
        if !required.isEmpty { json = json.setting("required", .list(required.map { .string($0.name) })) }
        if !properties.isEmpty {
            json = json.setting("properties", .object(properties.map { .init($0.name, $0.json) }))
        }
        return json.setting("additionalProperties", others?.json)
    }
}

extension Schema.Property {
    fileprivate var json: JSONTree {
        isAddition ? schema.json.setting("x-addition", true) : schema.json
    }
}
