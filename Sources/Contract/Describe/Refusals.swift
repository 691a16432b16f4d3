import Contract
import ContractExamples
import Foundation
import HTTPTypes

/// The refusals of an API, as OpenAPI describes them.
///
/// The examples show those of a single operation. Those of all operations of a kind follow from the kind: who needs a
/// caller may be answered 401, and what the API states in `callerRefusals`.
struct Refusals<API: ServiceAPI> {
    private let schema: Schema

    init(_ examples: Examples, components: Components) {
        schema = components.schema(of: examples.failure, named: [[]: "Failure"], isAddition: false)
    }

    /// The refusals that many operations have, by their names in the document's components.
    var shared: JSONTree {
        .object(Self.kinds.map { .init($0.name, response($0.status, [$0.message])) })
    }

    private static var kinds: [(status: Int, name: String, message: String)] {
        let messages = API.errorMessages
        return [
            (400, "BadRequest", messages.malformedJSON), (401, "Unauthorized", "Unauthorized"),
            (403, "Forbidden", messages.foreignOrigin), (404, "NotFound", messages.notFound),
            (413, "ContentTooLarge", messages.bodyTooLarge),
            (415, "UnsupportedMediaType", messages.unsupportedEncoding),
            (422, "UnprocessableContent", messages.reusedIdempotencyKey),
            (429, "TooManyRequests", messages.tooManyRequests),
            (500, "InternalServerError", messages.internalError),
            (503, "ServiceUnavailable", messages.unavailable),
            (507, "InsufficientStorage", "Insufficient storage"),
        ]
    }

    /// Returns the refusals of an operation.
    func responses<E: Endpoint>(
        of _: E.Type, _ example: OperationExample, hasFields: Bool
    ) -> [JSONTree.Member] {
        var statuses: Set<Int> = [429, 500, 503]
        if hasFields { statuses.insert(400) }
        if !example.isOpen { statuses.insert(401) }
        if case .cookie = API.credentials, E.route.method != .get { statuses.insert(403) }
        if case .query = E.route.form {} else { statuses.formUnion([400, 413, 415]) }
        // A number that names nothing, or a step of the path that is no number.
        if !E.route.captures.isEmpty { statuses.insert(404) }
        if E.route.form.uploadRules != nil { statuses.insert(507) }
        if example.takesKey { statuses.insert(422) }
        let ofCallers = example.isOpen ? [] : API.callerRefusals.map { (status: $0.status.code, message: $0.message) }
        let own = Dictionary(
            grouping: example.refusals.map { (status: $0.status, message: $0.message) } + ofCallers, by: \.status)
        return statuses.union(own.keys).map { status in
            if let refusals = own[status] { return .init(String(status), response(status, refusals.map(\.message))) }
            let name = Self.kinds.first { $0.status == status }?.name ?? ""
            return .init(String(status), ["$ref": .string("#/components/responses/\(name)")])
        }
    }

    private func response(_ status: Int, _ messages: [String]) -> JSONTree {
        let values = messages.map { message -> JSONTree in
            let failure = API.Failure(Problem(.init(code: status), message), requestID: "8f14e45f")
            guard let data = try? JSONEncoder().encode(failure),
                let value = try? JSONDecoder().decode(JSONValue.self, from: data)
            else { return .null }
            return JSONTree(value)
        }
        var headers = ["X-Request-Id"]
        if status == 415 { headers.append("Accept-Encoding") }
        if status == 429 || status == 503 { headers.append("Retry-After") }
        return [
            "description": .string(Phrase.of(status)),
            "headers": .object(headers.map { .init($0, ["$ref": .string("#/components/headers/\($0)")]) }),
            "content": ["application/json": ["schema": schema.json, "examples": .examples(values)]],
        ]
    }
}

extension JSONTree {
    /// Makes a tree whose objects have their members in the order of their names.
    public init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .list(let values): self = .list(values.map(JSONTree.init))
        case .object(let members):
            self = .object(members.sorted { $0.key < $1.key }.map { .init($0.key, JSONTree($0.value)) })
        }
    }
}
