import Contract
import ContractDescribe
import Foundation

/// Validates JSON values against JSON Schema 2020-12, as far as the documents of an API use it.
///
/// It is stricter than the standard in one point: an object has no members that its schema does not name, so that a document
/// cannot be true by saying nothing.
struct SchemaValidator: Sendable {
    let document: JSONTree

    /// Returns where a value first differs from a schema; nil when it fits.
    func difference(in value: JSONValue, from schema: JSONTree, at path: String = "") -> String? {
        if let reference = schema["$ref"]?.text {
            guard let target = resolved(reference) else { return "\(path): \(reference) is not in the document" }
            return difference(in: value, from: target, at: path)
        }
        if let schemas = schema["anyOf"]?.elements {
            let differences = schemas.map { difference(in: value, from: $0, at: path) }
            return differences.contains { $0 == nil } ? nil : differences.compactMap(\.self).joined(separator: "; or ")
        }
        func unless(_ holds: Bool, _ expected: String) -> String? {
            holds ? nil : "\(path.isEmpty ? "the value" : path): expected \(expected), found \(value)"
        }
        if let only = schema["const"], JSONTree(value) != only { return unless(false, only.compact) }
        if let values = schema["enum"]?.elements, !values.contains(JSONTree(value)) {
            return unless(false, "one of \(values.map(\.compact))")
        }
        guard let type = schema["type"] else { return nil }
        let types = type.text.map { [$0] } ?? type.elements.compactMap(\.text)
        switch value {
        case .null: return unless(types.contains("null"), "\(types)")
        case .bool: return unless(types.contains("boolean"), "\(types)")
        case .integer(let number):
            guard types.contains("integer") || types.contains("number") else { return unless(false, "\(types)") }
            return unless(Self.isWithin(Double(number), schema), "a number within the bounds")
        case .number(let number):
            guard types.contains("number") else { return unless(false, "\(types)") }
            return unless(Self.isWithin(number, schema), "a number within the bounds")
        case .string(let text):
            guard types.contains("string") else { return unless(false, "\(types)") }
            return unless(Self.fits(text, schema), "a text like \(schema.compact)")
        case .list(let elements):
            guard types.contains("array") else { return unless(false, "\(types)") }
            let count = Int64(elements.count)
            guard Self.number(schema["minItems"]).map({ Double(count) >= $0 }) ?? true,
                Self.number(schema["maxItems"]).map({ Double(count) <= $0 }) ?? true
            else { return unless(false, "another number of elements") }
            for (index, element) in elements.enumerated() {
                let found = difference(in: element, from: schema["items"] ?? [:], at: "\(path)[\(index)]")
                if let found { return found }
            }
            return nil
        case .object(let members):
            guard types.contains("object") else { return unless(false, "\(types)") }
            return difference(in: members, from: schema, at: path)
        }
    }

    private func difference(in members: [String: JSONValue], from schema: JSONTree, at path: String) -> String? {
        for name in (schema["required"]?.elements ?? []).compactMap(\.text) where members[name] == nil {
            return "\(path).\(name) is missing"
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            guard let inner = schema["properties"]?[name] ?? schema["additionalProperties"] else {
                return "\(path).\(name) is not in the document"
            }
            if let found = difference(in: member, from: inner, at: "\(path).\(name)") { return found }
        }
        return nil
    }

    /// Returns what a reference within the document names.
    func resolved(_ reference: String) -> JSONTree? {
        reference.split(separator: "/").dropFirst().reduce(Optional(document)) { $0?[String($1)] }
    }

    private static func number(_ value: JSONTree?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    private static func isWithin(_ value: Double, _ schema: JSONTree) -> Bool {
        number(schema["minimum"]).map { value >= $0 } ?? true && number(schema["maximum"]).map { value <= $0 } ?? true
    }

    private static func fits(_ text: String, _ schema: JSONTree) -> Bool {
        let length = Double(text.unicodeScalars.count)
        guard number(schema["minLength"]).map({ length >= $0 }) ?? true,
            number(schema["maxLength"]).map({ length <= $0 }) ?? true
        else { return false }
        if let pattern = schema["pattern"]?.text,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            return false
        }
        switch schema["format"]?.text {
        case "date-time": return Timestamp<Milliseconds>(text) != nil
        case "date": return Day(text) != nil
        case "uuid": return TextIdentifier<SchemaValidator>(text).isUUID
        default: return true
        }
    }
}
