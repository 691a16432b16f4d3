import Contract
import ContractCheck
import ContractDescribe
import ContractExamples
import Foundation
import Testing

// These laws hold an API's documents to its operations and to the contract's examples.
extension Laws {
    /// Checks that the OpenAPI document has every operation and nothing else, every status of the examples, and examples
    /// that fit its own schemas; and that it leaves no rule of a field open.
    ///
    /// - Parameter hasSDK: Whether each operation has its call in Swift.
    public func checkDescription(_ description: APIDescription, hasSDK: Bool = true) {
        let document = description.openAPI
        let described = (document["paths"]?.members ?? []).flatMap { path in
            path.value.members.map { "\($0.name.uppercased()) \(path.name)" }
        }
        let operations = examples.operations.flatMap { operation in
            operation.methods.map { "\($0) \(operation.path)" }
        }
        #expect(described.sorted() == operations.sorted())
        let names = document.operations.map { $0["operationId"]?.text ?? "" }
        #expect(Set(names).count == names.count && !names.contains(""))
        for operation in examples.operations {
            let json = document["paths"]?[operation.path]?[operation.methods[0].lowercased()] ?? [:]
            #expect(json["summary"]?.text == operation.summary, "\(operation.signature)")
            #expect(!operation.summary.isEmpty, "\(operation.signature) has no sentence")
            #expect((json["x-swift"] != nil) == hasSDK, "\(operation.signature) has no request in the wire tests' list")
            let statuses = Set(operation.answers.map(\.status) + operation.refusals.map(\.status))
            for status in statuses {
                #expect(json["responses"]?["\(status)"] != nil, "\(operation.signature) \(status)")
            }
        }
        #expect(description.unexplained == [], "state these in `fieldRules`")
        checkReferences(in: document)
        checkExamples(in: document)
        guard let socket = description.asyncAPI else { return #expect(examples.frames.isEmpty) }
        checkReferences(in: socket)
        let frames = socket["components"]?["messages"]?.members ?? []
        #expect(Set(frames.compactMap { $0.value["name"]?.text }) == Set(examples.frames.map(\.type)))
        for frame in frames { checkExamples(of: frame.value, "payload", frame.name, in: socket) }
    }

    private func checkReferences(in document: JSONTree) {
        let validator = SchemaValidator(document: document)
        for reference in Set(document.references) {
            #expect(validator.resolved(reference) != nil, "\(reference) is not in the document")
        }
    }

    private func checkExamples(in document: JSONTree) {
        let validator = SchemaValidator(document: document)
        for operation in document.operations {
            let name = operation["operationId"]?.text ?? ""
            let answers = (operation["responses"]?.members ?? []).map(\.value)
            for body in [operation["requestBody"]].compactMap(\.self) + answers {
                let body = body["$ref"]?.text.flatMap(validator.resolved) ?? body
                for content in body["content"]?.members ?? [] {
                    for example in content.value["examples"]?.members ?? [] {
                        let example = example.value["$ref"]?.text.flatMap(validator.resolved) ?? example.value
                        check(example["value"] ?? .null, content.value["schema"] ?? [:], name, validator)
                    }
                }
            }
        }
    }

    private func checkExamples(of message: JSONTree, _ schema: String, _ name: String, in document: JSONTree) {
        for example in message["examples"]?.elements ?? [] {
            check(
                example["payload"] ?? .null, message[schema] ?? [:], name, SchemaValidator(document: document))
        }
    }

    private func check(_ value: JSONTree, _ schema: JSONTree, _ name: String, _ validator: SchemaValidator) {
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(value.compact.utf8)) else {
            Issue.record("\(name): an example is no JSON: \(value.compact)")
            return
        }
        let difference = validator.difference(in: json, from: schema)
        #expect(difference == nil, "\(name)")
    }
}

extension JSONTree {
    /// The operations of an OpenAPI document.
    var operations: [JSONTree] { (self["paths"]?.members ?? []).flatMap { $0.value.members.map(\.value) } }

    /// Every `$ref` in a document.
    fileprivate var references: [String] {
        switch self {
        case .list(let elements): elements.flatMap(\.references)
        case .object(let members):
            members.flatMap { $0.name == "$ref" ? [$0.value.text].compactMap(\.self) : $0.value.references }
        default: []
        }
    }
}
