import Contract
import ContractExamples
import Foundation

/// The parameters and the body of an operation's request, as OpenAPI describes them.
struct RequestDescription {
    private(set) var parameters: [JSONTree] = []
    private(set) var body: JSONTree?
    /// Whether the request has fields that can be wrong.
    private(set) var hasFields = false

    init<E: Endpoint>(
        _: E.Type, _ example: OperationExample, _ fields: RequestFields, name: String, components: Components
    ) {
        let route = E.route
        let samples = RequestProbe(E.self, example).samples
        let captured = route.captures.compactMap { name in fields.properties.first { $0.name == name } }
        let others = fields.properties.filter { !route.captures.contains($0.name) }
        hasFields = !others.isEmpty || example.takesKey || E.API.captureForm == .text && !captured.isEmpty
        parameters = captured.map { Self.parameter($0, in: "path", samples) }
        switch route.form {
        case .query:
            parameters += others.map { Self.parameter($0, in: "query", samples) }
        case .json:
            body = Self.body([Self.json(others, example, name, components)], others)
        case .multipart(let rules):
            body = Self.body([Self.form(others, rules, example, name, components)], others)
        case .jsonOrMultipart(let rules):
            let contents = [
                Self.json(others, example, name, components), Self.form(others, rules, example, name, components),
            ]
            body = Self.body(contents, others)
        }
        if body != nil { hasFields = true }
        if example.takesKey { parameters.append(["$ref": "#/components/parameters/IdempotencyKey"]) }
    }

    private static func parameter(
        _ property: Schema.Property, in place: String, _ samples: [RequestProbe.Sample]
    ) -> JSONTree {
        var parameter: JSONTree = [
            "name": .string(property.name), "in": .string(place),
            "required": .bool(place == "path" || property.isRequired), "schema": property.schema.json,
        ]
        if property.isAddition { parameter = parameter.setting("x-addition", true) }
        let example = samples.compactMap { $0.tree[property.name]?.text }.first
        return parameter.setting("example", example.map { value(of: $0, property.schema) })
    }

    /// A text of a path or a query as a value of its type.
    private static func value(of text: String, _ schema: Schema) -> JSONTree {
        if case .scalar(let scalar) = schema, scalar.kind != .string {
            if let number = Int64(text) { return .integer(number) }
            if let truth = Bool(text) { return .bool(truth) }
        }
        return .string(text)
    }

    private static func json(
        _ fields: [Schema.Property], _ example: OperationExample, _ name: String, _ components: Components
    ) -> JSONTree.Member? {
        let bodies = example.requests.filter { !$0.isForm }.compactMap(\.body)
        guard !fields.isEmpty else { return nil }
        let schema = components.add(.init(properties: fields), named: name + "Request")
        var content: JSONTree = ["schema": schema.json]
        if !bodies.isEmpty { content = content.setting("examples", .examples(bodies.map(\.tree))) }
        return .init("application/json", content)
    }

    private static func form(
        _ fields: [Schema.Property], _ rules: UploadRules?, _ example: OperationExample, _ name: String,
        _ components: Components
    ) -> JSONTree.Member? {
        var properties = fields
        if let rules {
            let size = "At most \(Phrase.size(rules.maximumSize))."
            let file = Schema.scalar(.init(kind: .string, format: "binary", description: size))
            let schema = rules.maximumCount > 1 ? Schema.list(.init(element: file, maximum: rules.maximumCount)) : file
            properties.append(
                .init(
                    name: rules.field, schema: schema, isRequired: rules.missing != nil,
                    isAddition: example.isAddition))
        }
        guard !properties.isEmpty else { return nil }
        let schema = components.add(.init(properties: properties), named: name + "Form")
        return .init("multipart/form-data", ["schema": schema.json])
    }

    private static func body(_ contents: [JSONTree.Member?], _ fields: [Schema.Property]) -> JSONTree? {
        let contents = contents.compactMap(\.self)
        guard !contents.isEmpty else { return nil }
        let isRequired = fields.contains(where: \.isRequired) || contents.allSatisfy { $0.name != "application/json" }
        return ["required": .bool(isRequired), "content": .object(contents)]
    }
}
