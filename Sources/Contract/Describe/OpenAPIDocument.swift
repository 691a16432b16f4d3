import Contract
import ContractExamples
import HTTPTypes

/// Composes the OpenAPI document of an API.
struct OpenAPIDocument<API: ServiceAPI> {
    let title: String
    let version: String
    let examples: Examples
    let signIn: String
    private let components = Components(api: API.self)
    private let refusals: Refusals<API>
    private(set) var unexplained: [String] = []

    init(title: String, version: String, examples: Examples, signIn: String) {
        self.title = title
        self.version = version
        self.examples = examples
        self.signIn = signIn
        refusals = Refusals(examples, components: components)
    }

    mutating func made() -> JSONTree {
        let paths = paths()
        return [
            "openapi": "3.1.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "description": """
                Made from the types and the contract's examples. `x-addition` marks what is not in the published \
                contract: a server of that alone need not have it. No text may contain U+0000.
                """,
            ],
            "servers": [["url": .string(API.basePath.isEmpty ? "/" : API.basePath)]],
            "security": [.object([.init(Self.scheme.name, [])])],
            "tags": .list(API.sections.filter { !$0.endpoints.isEmpty }.map { ["name": .string($0.title)] }),
            "paths": paths,
            "components": [
                "schemas": .object(
                    components.schemas.sorted { $0.name < $1.name }.map {
                        .init($0.name, Schema.object($0.schema).json)
                    }),
                "examples": .object(components.examples.map { .init($0.name, ["value": $0.value]) }),
                "responses": refusals.shared,
                "parameters": Self.parameters,
                "headers": Self.headers,
                "securitySchemes": .object([
                    .init(
                        Self.scheme.name,
                        signIn.isEmpty ? Self.scheme.json : Self.scheme.json.setting("description", .string(signIn)))
                ]),
            ],
        ]
    }

    // MARK: Operations

    private mutating func paths() -> JSONTree {
        var paths: JSONTree = [:]
        for section in API.sections {
            for endpoint in section.endpoints {
                guard let example = examples[endpoint.signature] else { continue }
                let operation = operation(endpoint, example, tag: section.title)
                var path = paths[example.path] ?? [:]
                for (index, method) in example.methods.enumerated() {
                    // A second method is another operation, whose name must differ.
                    let id = operation["operationId"]?.text ?? ""
                    let name = index == 0 ? id : "\(id)With\(method.capitalized)"
                    path = path.setting(method.lowercased(), operation.setting("operationId", .string(name)))
                }
                paths = paths.setting(example.path, path)
            }
        }
        return paths
    }

    private mutating func operation<E: Endpoint>(
        _ endpoint: E.Type, _ example: OperationExample, tag: String
    ) -> JSONTree {
        let name = TypeName.of(endpoint, in: API.self) ?? example.signature
        let fields = RequestFields(endpoint, example, components: components)
        unexplained += fields.unexplained.map { "\(example.signature) \($0)" }
        let request = RequestDescription(endpoint, example, fields, name: name, components: components)
        var operation: JSONTree = ["operationId": .string(TypeName.uncapitalised(name)), "tags": [.string(tag)]]
        if !example.summary.isEmpty { operation = operation.setting("summary", .string(example.summary)) }
        operation = operation.setting("x-swift", swift(endpoint))
        if example.isAddition { operation = operation.setting("x-addition", true) }
        if example.isOpen { operation = operation.setting("security", []) }
        if !request.parameters.isEmpty { operation = operation.setting("parameters", .list(request.parameters)) }
        operation = operation.setting("requestBody", request.body)
        var responses = answers(of: endpoint, example)
        responses += refusals.responses(of: endpoint, example, hasFields: request.hasFields)
        responses.sort { $0.name < $1.name }
        return operation.setting("responses", .object(responses))
    }

    /// Returns the SDK's call of an operation.
    private func swift<E: Endpoint>(_: E.Type) -> JSONTree? {
        let type = TypeName.spelled(E.self, in: API.self)
        if let own = examples.calls.first(where: { $0.hasPrefix(type + ": ") }) {
            return .string(String(own.dropFirst(type.count + 2)))
        }
        let call = examples.calls.first { call in
            // A function of the type may make the request: `CreateChat.direct(with: 2)`.
            call.hasPrefix(type) && ["(", "."].contains(call.dropFirst(type.count).first)
        }
        guard let call else { return nil }
        guard call.contains("\n") else { return .string("try await client.send(\(call))") }
        return .string("try await client.send(\n    \(call.split(separator: "\n").joined(separator: "\n    ")))")
    }

    /// The answers of an operation that succeeds, by status.
    private func answers<E: Endpoint>(of endpoint: E.Type, _ example: OperationExample) -> [JSONTree.Member] {
        var statuses: [Int] = []
        for answer in example.answers where !statuses.contains(answer.status) { statuses.append(answer.status) }
        return statuses.map { status in
            let answers = example.answers.filter { $0.status == status }
            var response: JSONTree = [
                "description": .string(Phrase.of(status)),
                "headers": headers(of: example, status),
            ]
            let bodies = answers.compactMap(\.body)
            let schemas = bodies.map {
                components.schema(of: $0, decodedBy: E.Output.self, isAddition: example.isAddition)
            }
            if let first = schemas.first {
                let schema = schemas.dropFirst().reduce(first) { $0.merged(with: $1) }
                var content: JSONTree = ["schema": schema.json]
                content = content.setting("examples", components.examples(bodies.map(\.tree), of: schema))
                response = response.setting("content", ["application/json": content])
            } else if let type = answers.compactMap(\.mediaType).first {
                response = response.setting("content", .object([.init(type, ["schema": ["type": "string"]])]))
            }
            return .init(String(status), response)
        }
    }

    private func headers(of example: OperationExample, _ status: Int) -> JSONTree {
        var names = ["X-Request-Id"]
        if 300..<400 ~= status { names.append("Location") }
        if example.takesKey { names.append("Idempotent-Replayed") }
        if example.isLimited { names += ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] }
        return .object(names.map { .init($0, ["$ref": .string("#/components/headers/\($0)")]) })
    }

    // MARK: What all operations share

    private static var parameters: JSONTree {
        [
            "IdempotencyKey": [
                "name": "Idempotency-Key", "in": "header", "required": false,
                "description":
                    "A request that is sent again with the same key takes effect once, and has the same answer.",
                "x-addition": true,
                "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": #"^[!-~]+$"#],
            ]
        ]
    }

    private static var headers: JSONTree {
        func header(_ description: String, _ schema: JSONTree = ["type": "string"]) -> JSONTree {
            ["description": .string(description), "schema": schema]
        }
        let count: JSONTree = ["type": "integer", "minimum": 0]
        return [
            "X-Request-Id": header("The name of the request in the server's log."),
            "Idempotent-Replayed": header("Is `true` on an answer that repeats an earlier one."),
            "Location": header("The URL to which the request is redirected."),
            "Accept-Encoding": header("The coding that a body may have: `identity`, which is none."),
            "Retry-After": header("The number of seconds after which the request may be sent again.", count),
            "X-RateLimit-Limit": header("The number of requests that a window of a minute allows.", count),
            "X-RateLimit-Remaining": header("The number of requests that are left in the window.", count),
            "X-RateLimit-Reset": header("The time at which the window ends, in seconds since 1970.", count),
        ]
    }

    private static var scheme: (name: String, json: JSONTree) {
        switch API.credentials {
        case .bearer: ("bearer", ["type": "http", "scheme": "bearer"])
        case .cookie(let name): ("session", ["type": "apiKey", "in": "cookie", "name": .string(name)])
        }
    }
}

extension JSONTree {
    /// Named examples of a body.
    static func examples(_ values: [JSONTree]) -> JSONTree {
        var different: [JSONTree] = []
        for value in values where !different.contains(value) { different.append(value) }
        return .object(different.enumerated().map { .init("example\($0 + 1)", ["value": $1]) })
    }
}
