import Contract
import ContractDescribe
import ContractExamples
import Testing

// These laws hold the marks of additions to the published contract: what is not in it has one, and nothing else.
extension Laws {
    /// Checks the marks of the examples: of operations, of the fields of requests and answers, of refusals and of frames.
    public func checkAdditions(to contract: PublishedContract) {
        let known = Set(examples.operations.flatMap { example in example.methods.map { "\($0) \(example.path)" } })
        for signature in contract.answers.keys { #expect(known.contains(signature), "no example of \(signature)") }
        for example in examples.operations {
            for method in example.methods {
                let signature = "\(method) \(example.path)"
                #expect(example.isAddition == (contract.answers[signature] == nil), "\(signature)")
            }
            guard !example.isAddition, let fields = contract.requests[example.signature] else { continue }
            for request in example.requests {
                for name in Self.parameters(of: request) where !fields.isOpen {
                    let isAdded = example.addedFields.contains(name)
                    #expect(isAdded == (fields.members[name] == nil), "\(example.signature) ?\(name)")
                }
                if let body = request.body {
                    Self.check(body, fields, example.addedFields, "\(example.signature) >")
                }
            }
            for body in example.answers.compactMap(\.body) {
                Self.check(body, contract.answers[example.signature] ?? .init(), [], "\(example.signature) <")
            }
        }
        Self.check(examples.failure, contract.failure, [], "refusals")
        for frame in examples.frames {
            let name = "\(frame.sender) \(frame.type)"
            #expect(frame.isAddition == (contract.frames[name] == nil), "\(name)")
            if var fields = contract.frames[name] {
                fields.members["type"] = .init()
                Self.check(frame.value, fields, [], name)
            }
        }
        let frames = Set(examples.frames.map { "\($0.sender) \($0.type)" })
        for name in contract.frames.keys { #expect(frames.contains(name), "no example of the frame \(name)") }
    }

    private static func parameters(of request: OperationExample.Request) -> [String] {
        let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return query.split(separator: "&").map { String($0.prefix { $0 != "=" }) }
    }

    /// Checks the members of an example's value.
    ///
    /// - Parameter added: The members that are marked elsewhere.
    private static func check(
        _ value: ExampleValue, _ fields: PublishedContract.Fields, _ added: Set<String>, _ place: String
    ) {
        guard !fields.isOpen else { return }
        switch value.kind {
        case .null, .bool, .integer, .id, .number, .text, .any, .anyText: break
        case .exactly(let value): check(value, fields, added, place)
        case .list(let values), .oneOf(let values): for value in values { check(value, fields, added, place) }
        case .object(let members):
            for member in members {
                let inner = fields.members[member.name]
                let isAdded = member.isAddition || added.contains(member.name)
                #expect(isAdded == (inner == nil), "\(place) \(member.name)")
                if let inner { check(member.value, inner, [], "\(place) \(member.name)") }
            }
        }
    }

    /// Checks `x-addition` in the documents: every operation, parameter, field and frame has it that is not in the contract,
    /// also where no example shows it, and nothing else.
    public func checkAdditions(in description: APIDescription, to contract: PublishedContract) {
        let document = description.openAPI
        var marks = Marks(document: document)
        for path in document["paths"]?.members ?? [] {
            for method in path.value.members {
                let (signature, operation) = ("\(method.name.uppercased()) \(path.name)", method.value)
                let isAdded = contract.answers[signature] == nil
                #expect(operation.isMarked == isAdded, "\(signature)")
                let request = contract.requests[signature] ?? .init()
                for parameter in (operation["parameters"]?.elements ?? []).map(marks.resolved) {
                    let name = parameter["name"]?.text ?? ""
                    let isPublished =
                        switch parameter["in"]?.text {
                        case "path": !isAdded
                        case "query": !isAdded && (request.isOpen || request.members[name] != nil)
                        default: false
                        }
                    #expect(parameter.isMarked == !isPublished, "\(signature) \(name)")
                }
                marks.visit(operation["requestBody"], request, isAdded, "\(signature) >")
                for response in operation["responses"]?.members ?? []
                where !["4", "5"].contains(response.name.prefix(1)) {
                    marks.visit(response.value, contract.answers[signature] ?? .init(), isAdded, "\(signature) <")
                }
            }
        }
        for (field, uses) in marks.fields {
            #expect(uses.isMarked == !uses.isPublished, "\(field)")
        }
        guard let messages = description.asyncAPI?["components"]?["messages"]?.members else { return }
        let additions = Set(examples.frames.filter(\.isAddition).map { "\($0.sender) \($0.type)" })
        #expect(messages.count { $0.value.isMarked } == additions.count)
    }

    /// The fields of a document, and whether the contract has each in one of the operations that use it.
    private struct Marks {
        let document: JSONTree
        private(set) var fields: [String: (isMarked: Bool, isPublished: Bool)] = [:]

        init(document: JSONTree) { self.document = document }

        func resolved(_ tree: JSONTree) -> JSONTree {
            tree["$ref"]?.text.flatMap(SchemaValidator(document: document).resolved) ?? tree
        }

        mutating func visit(
            _ body: JSONTree?, _ fields: PublishedContract.Fields, _ isAdded: Bool, _ place: String
        ) {
            for content in body?["content"]?.members ?? [] {
                visit(content.value["schema"] ?? [:], fields, isAdded, place, depth: 0)
            }
        }

        private mutating func visit(
            _ schema: JSONTree, _ known: PublishedContract.Fields, _ isAdded: Bool, _ place: String, depth: Int
        ) {
            // A type may contain itself.
            guard isAdded || !known.isOpen, depth < 12 else { return }
            let place = schema["$ref"]?.text.flatMap { $0.split(separator: "/").last.map(String.init) } ?? place
            let schema = resolved(schema)
            for schema in (schema["anyOf"]?.elements ?? []) + [schema["items"]].compactMap(\.self) {
                visit(schema, known, isAdded, place, depth: depth + 1)
            }
            for property in schema["properties"]?.members ?? [] {
                let (inner, field) = (known.members[property.name], "\(place).\(property.name)")
                let isPublished = !isAdded && inner != nil
                let before = fields[field]?.isPublished ?? false
                fields[field] = (property.value.isMarked, before || isPublished)
                visit(property.value, inner ?? .init(), !isPublished, field, depth: depth + 1)
            }
        }
    }
}

extension JSONTree {
    fileprivate var isMarked: Bool { self["x-addition"] == true }
}
