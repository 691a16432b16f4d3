import Contract
import ContractExamples
import Foundation

/// Collects the named schemas of a document, and makes schemas from examples.
///
/// An object in an example gets the name of the Swift type that decodes it. The same type in several places is one schema,
/// whose members are required where all of them require it.
final class Components {
    private let api: Any.Type
    private(set) var schemas: [(name: String, schema: Schema.Object)] = []
    /// The examples of answers, each once.
    private(set) var examples: [(name: String, value: JSONTree)] = []

    init(api: Any.Type) { self.api = api }

    func name(of type: Any.Type) -> String? { TypeName.of(type, in: api) }

    /// Returns an object by its name, and merges it with those that had the name before.
    func add(_ object: Schema.Object, named name: String) -> Schema {
        if let index = schemas.firstIndex(where: { $0.name == name }) {
            schemas[index].schema = schemas[index].schema.merged(with: object)
        } else {
            schemas.append((name, object))
        }
        return .named(name)
    }

    /// Returns examples by their names in the document. Those of a schema without a name stand where they are used.
    func examples(_ values: [JSONTree], of schema: Schema) -> JSONTree {
        guard case .named(let name) = schema else { return .examples(values) }
        var names: [String] = []
        for value in values {
            let known = examples.first { $0.value == value }?.name
            let count = examples.count { $0.name.hasPrefix(name) && Int($0.name.dropFirst(name.count)) != nil }
            if known == nil { examples.append(("\(name)\(count + 1)", value)) }
            let used = known ?? "\(name)\(count + 1)"
            if !names.contains(used) { names.append(used) }
        }
        return .object(names.map { .init($0, ["$ref": .string("#/components/examples/\($0)")]) })
    }

    /// Returns the schema of an example that a type decodes.
    ///
    /// - Parameter isAddition: Whether the published contract does not have the whole of it.
    func schema(of example: ExampleValue, decodedBy type: any Decodable.Type, isAddition: Bool) -> Schema {
        schema(of: example, named: names(in: example, decodedBy: type), isAddition: isAddition)
    }

    /// Returns the names of the objects in an example, by their paths.
    private func names(in example: ExampleValue, decodedBy type: any Decodable.Type) -> [JSONPath: String] {
        let trace = Trace()
        for variant in [example] + example.variants { _ = try? TracingDecoder.decode(type, variant.tree, trace) }
        return trace.objects.compactMapValues(name)
    }

    /// Returns the schema of values that may stand in an example's place.
    ///
    /// - Parameters:
    ///   - names: The names of the objects in it, by their paths.
    ///   - isAddition: Whether the published contract does not have the example.
    func schema(
        of example: ExampleValue, at path: JSONPath = [], named names: [JSONPath: String], isAddition: Bool
    ) -> Schema {
        switch example.kind {
        case .null: return .null
        case .bool: return .boolean
        case .integer: return .integer
        case .id: return .id
        case .number: return .number
        case .text(let text): return .text(Self.format(of: text))
        case .exactly(let value): return .only(value.tree)
        case .any: return .any
        case .anyText: return .text()
        case .list(let elements):
            let inner = elements.map { schema(of: $0, at: path + ["*"], named: names, isAddition: isAddition) }
            return .list(.init(element: inner.dropFirst().reduce(inner.first) { $0?.merged(with: $1) ?? $1 }))
        case .object(let members):
            let object = Schema.Object(
                properties: members.map { member in
                    let isAdded = isAddition || member.isAddition
                    return Schema.Property(
                        name: member.name,
                        schema: schema(of: member.value, at: path + [member.name], named: names, isAddition: isAdded),
                        isRequired: member.presence == .always, isAddition: isAdded)
                })
            return names[path].map { add(object, named: $0) } ?? .object(object)
        case .oneOf(let values): return schema(ofOne: values, at: path, names, isAddition)
        }
    }

    /// Several texts or numbers are an enumeration. Null stands beside the others.
    private func schema(
        ofOne values: [ExampleValue], at path: JSONPath, _ names: [JSONPath: String], _ isAddition: Bool
    ) -> Schema {
        let others = values.filter { $0.kind != .null }
        let schemas = values.map { value -> Schema in
            let schema = schema(of: value, at: path, named: names, isAddition: isAddition)
            guard others.count > 1 else { return schema }
            switch (value.kind, schema) {
            case (.text, .scalar(let scalar)) where scalar.format == nil: return .only(value.tree)
            case (.integer, _): return .only(value.tree)
            default: return schema
            }
        }
        return schemas.dropFirst().reduce(schemas[0]) { $0.merged(with: $1) }
    }

    /// Returns the format of a text that stands for others of its kind.
    static func format(of text: String) -> String? {
        if text.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/#) != nil { return "date-time" }
        if Day(text) != nil { return "date" }
        return TextIdentifier<Components>(text).isUUID ? "uuid" : nil
    }
}
