import Contract
import ContractExamples

/// The fields of an operation's request, with what each may be.
struct RequestFields {
    let properties: [Schema.Property]
    /// The fields whose rule is not known completely, by their paths.
    let unexplained: [String]

    init<E: Endpoint>(_ endpoint: E.Type, _ example: OperationExample, components: Components) {
        let trace = Trace()
        let probe = RequestProbe(endpoint, example)
        for sample in probe.samples { _ = try? TracingDecoder.decode(endpoint, sample.tree, trace) }
        var reader = Reader(
            probe: probe, trace: trace, rules: E.fieldRules, operation: example,
            examples: example.requests.compactMap(\.body), components: components)
        properties = reader.properties(at: [])
        unexplained = reader.unexplained
    }
}

private struct Reader {
    let probe: RequestProbe
    let trace: Trace
    let rules: [String: FieldRule]
    let operation: OperationExample
    let examples: [ExampleValue]
    let components: Components
    var unexplained: [String] = []

    /// The members of an object: those that its type asks for, in that order, and those that only the examples show.
    mutating func properties(at path: JSONPath) -> [Schema.Property] {
        var names = (trace.fields[path] ?? []).map(\.name)
        for example in examples {
            names += (member(path, of: example)?.members ?? []).map(\.name).filter { !names.contains($0) }
        }
        return names.compactMap { name in
            let field = trace.fields[path]?.first { $0.name == name }
            // The files of a form have rules of their own.
            if field?.type == Upload.self || field?.type == [Upload].self { return nil }
            let inner = path + [name]
            let members = examples.compactMap { member(path, of: $0)?.members.first { $0.name == name } }
            var schema = schema(at: inner, field)
            if field?.tellsNull == true, !schema.isNullable { schema = schema.merged(with: .null) }
            return Schema.Property(
                name: name, schema: schema,
                isRequired: probe.isRequired(inner) && !members.contains { $0.presence == .sometimes }
                    || rules[inner.joined(separator: ".")]?.isRequired == true,
                isAddition: isAddition(inner))
        }
    }

    /// Whether the published contract does not have a field: the operation is an addition, or the field or one around it.
    private func isAddition(_ path: JSONPath) -> Bool {
        if operation.isAddition || path.first.map(operation.addedFields.contains) == true { return true }
        return path.indices.contains { index in
            examples.contains { example in
                member(Array(path[..<index]), of: example)?.members
                    .contains { $0.name == path[index] && $0.isAddition } == true
            }
        }
    }

    private func member(_ path: JSONPath, of example: ExampleValue) -> ExampleValue? {
        path.reduce(Optional(example)) { $0?[$1] }
    }

    private mutating func schema(at path: JSONPath, _ field: Trace.Field?) -> Schema {
        let found = kind(at: path, field)
        guard let rule = rules[path.joined(separator: ".")] else { return found }
        return found.applying(rule)
    }

    private mutating func kind(at path: JSONPath, _ field: Trace.Field?) -> Schema {
        if let list = field?.type as? any AnyList.Type {
            if trace.scalars[path + ["*"]] == nil { list.traceElement(at: path + ["*"], trace) }
            let element = kind(at: path + ["*"], .init(name: "*", type: list.element, isOptional: false))
            return .list(counted(.init(element: element), at: path))
        }
        if let type = field?.type as? any OpenEnumeration.Type, let values = values(of: type, at: path) {
            return .scalar(.init(kind: .string, values: values))
        }
        let isAnything = field.map { $0.type == JSONValue.self } ?? true
        if !isAnything, trace.scalars[path] == nil, let object = trace.objects[path] {
            guard let name = components.name(of: object) else { return .object(.init(properties: [], others: .any)) }
            let properties = properties(at: path)
            return components.add(.init(properties: properties), named: name)
        }
        let known = probe.having(path)
        if isAnything { return shown(at: path) }
        switch trace.scalars[path] {
        case let type where type == Bool.self: return .boolean
        case let type where type == Int64.self:
            let number = number(.integer, known, at: path)
            // An id that only the service looks up.
            return field?.type is any AnyIdentifier.Type && number == .integer ? .id : number
        case let type where type == Double.self: return number(.number, known, at: path)
        case let type where type == String.self: return text(known, at: path)
        default: return shown(at: path)
        }
    }

    /// The schema of the values in the examples, for a field whose type takes any.
    private func shown(at path: JSONPath) -> Schema {
        let schema = merged(at: path)
        // The rules of a list's elements stand beside those of the list.
        guard case .list(var list) = schema, let rule = rules[(path + ["*"]).joined(separator: ".")] else {
            return schema
        }
        list.element = list.element?.applying(rule)
        return .list(list)
    }

    private func merged(at path: JSONPath) -> Schema {
        let values = examples.compactMap { member(path.filter { $0 != "*" }, of: $0) }
        let schemas = values.map { components.schema(of: $0, named: [:], isAddition: operation.isAddition) }
        return schemas.dropFirst().reduce(schemas.first ?? .text()) { $0.merged(with: $1) }
    }

    /// The number of examples whose other fields may loosen a rule.
    private static let enough = 3

    private func number(
        _ kind: Schema.Scalar.Kind, _ known: [(sample: RequestProbe.Sample, value: JSONTree)], at path: JSONPath
    ) -> Schema {
        let starts = known.isEmpty ? synthetic(1, at: path).map { [$0] } ?? [] : known
        let found = starts.prefix(Self.enough).map {
            FieldProbe(probe: probe, path: path, sample: $0.sample, value: $0.value).number(kind)
        }
        guard let first = found.first else { return kind == .integer ? .integer : .number }
        return .scalar(found.dropFirst().reduce(first) { $0.loosened(by: $1) })
    }

    private mutating func text(
        _ known: [(sample: RequestProbe.Sample, value: JSONTree)], at path: JSONPath
    ) -> Schema {
        let rule = rules[path.joined(separator: ".")]
        let starts = known.isEmpty ? guess(at: path).map { [$0] } ?? [] : known
        let found = starts.prefix(Self.enough).map {
            FieldProbe(probe: probe, path: path, sample: $0.sample, value: $0.value).text(rule)
        }
        if found.isEmpty && rule == nil || found.contains(where: { !$0.isExplained }) {
            unexplained.append(path.joined(separator: "."))
        }
        guard let first = found.first else { return .text() }
        if found.contains(where: \.isDayOrTime) { return .anyOf([.text("date"), .text("date-time")]) }
        return .scalar(found.dropFirst().reduce(first.scalar) { $0.loosened(by: $1.scalar) })
    }

    /// Returns a sample with a text that the examples do not have, if one of the usual forms is accepted.
    private func guess(at path: JSONPath) -> (sample: RequestProbe.Sample, value: JSONTree)? {
        for text in ["aaaaaaaa", "2025-10-26", "2025-10-26T10:00:00Z", "https://example.com/a"] {
            if let found = synthetic(.string(text), at: path) { return found }
        }
        return nil
    }

    /// Returns a sample with a value that the examples do not have, if it is accepted.
    private func synthetic(_ value: JSONTree, at path: JSONPath) -> (sample: RequestProbe.Sample, value: JSONTree)? {
        guard let sample = probe.samples.first(where: { probe.accepts(value, at: path, in: $0) }) else { return nil }
        return (sample, value)
    }

    private func counted(_ list: Schema.List, at path: JSONPath) -> Schema.List {
        guard let (sample, value) = probe.having(path).first, let element = value.elements.first else { return list }
        var list = list
        func accepts(_ count: Int) -> Bool {
            probe.accepts(.list(Array(repeating: element, count: count)), at: path, in: sample)
        }
        if !accepts(0) { list.minimum = 1 }
        if !accepts(2000) { list.maximum = (1...2000).last(where: accepts) }
        return list
    }

    /// Returns the values of an enumeration; nil when others are accepted, too.
    private func values(of type: any OpenEnumeration.Type, at path: JSONPath) -> [JSONTree]? {
        let known = probe.having(path)
        guard let sample = known.first?.sample ?? probe.samples.first else { return nil }
        guard !probe.accepts("another value", at: path, in: sample) else { return nil }
        let values = type.knownValues.map(JSONTree.string)
        return values
            + known.map(\.value).reduce(into: []) { found, value in
                if !values.contains(value), !found.contains(value) { found.append(value) }
            }
    }
}

private protocol AnyIdentifier {}

extension Identifier: AnyIdentifier {}

private protocol AnyList {
    static var element: Any.Type { get }
    /// Records what an element asks for, for a list that is empty in all examples.
    static func traceElement(at path: JSONPath, _ trace: Trace)
}

extension Array: AnyList where Element: Decodable {
    fileprivate static var element: Any.Type { Element.self }
    fileprivate static func traceElement(at path: JSONPath, _ trace: Trace) {
        _ = try? TracingDecoder.decode(Element.self, nil, at: path, trace)
    }
}

extension OpenEnumeration {
    fileprivate static var knownValues: [String] { known.map(\.rawValue) }
}

extension Schema {
    /// Returns the schema with what an endpoint says of the field.
    fileprivate func applying(_ rule: FieldRule) -> Schema {
        switch self {
        case .list(var list):
            list.minimum = rule.minimumCount ?? list.minimum
            return .list(list)
        case .scalar(var scalar):
            if rule.numbers != nil, scalar.kind == .string {
                // A number in a query, which the type reads as text.
                scalar = .init(kind: .integer, format: "int64")
            }
            if let lengths = rule.lengths {
                scalar.minimumLength = lengths.lowerBound > 0 ? lengths.lowerBound : nil
                scalar.maximumLength = lengths.upperBound < .max ? lengths.upperBound : nil
            }
            scalar.pattern = rule.pattern ?? scalar.pattern
            scalar.format = rule.format ?? scalar.format
            if let numbers = rule.numbers {
                scalar.minimum = numbers.lowerBound.isFinite ? numbers.lowerBound : nil
                scalar.maximum = numbers.upperBound.isFinite ? numbers.upperBound : nil
            }
            if !rule.values.isEmpty { scalar = .init(kind: .string, values: rule.values.map(JSONTree.string)) }
            scalar.description = rule.note
            return .scalar(scalar)
        case .anyOf(let schemas): return .anyOf(schemas.map { $0 == .null ? $0 : $0.applying(rule) })
        default: return self
        }
    }
}

extension ExampleValue {
    fileprivate var members: [Member] {
        if case .object(let members) = kind { members } else { [] }
    }
}
