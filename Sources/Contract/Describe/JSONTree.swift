import ContractExamples
import Foundation

/// A JSON value whose objects keep the order of their members, so that a document reads as it was composed and is the same
/// bytes each time.
public indirect enum JSONTree: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case list([JSONTree])
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        public let name: String
        public let value: JSONTree

        init(_ name: String, _ value: JSONTree) {
            self.name = name
            self.value = value
        }
    }

    /// The value of an object's member; nil when there is none, or when the value is not an object.
    public subscript(name: String) -> JSONTree? {
        if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
    }

    /// The members of an object; none for another value.
    public var members: [Member] { if case .object(let members) = self { members } else { [] } }
    /// The elements of a list; none for another value.
    public var elements: [JSONTree] { if case .list(let elements) = self { elements } else { [] } }
    /// The text; nil for another value.
    public var text: String? { if case .string(let text) = self { text } else { nil } }

    /// Returns the object with a member set, in its place or at the end; without it for nil.
    func setting(_ name: String, _ value: JSONTree?) -> JSONTree {
        var members = members
        let index = members.firstIndex { $0.name == name }
        if let index { members.remove(at: index) }
        if let value { members.insert(Member(name, value), at: index ?? members.count) }
        return .object(members)
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    public init(dictionaryLiteral elements: (String, JSONTree)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONTree {
    /// The value as JSON without white space.
    public var compact: String {
        var text = ""
        write(into: &text, indent: nil)
        return text
    }

    /// The value as JSON with a line for each member and element, and a line break at the end. A list or an object that
    /// fits into a line stays in one.
    public var pretty: String {
        var text = ""
        write(into: &text, indent: 0)
        return text + "\n"
    }

    private func write(into text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += Int64(exactly: value).map(String.init) ?? "\(value)"
        case .string(let value): text += Self.quoted(value)
        case .list(let elements):
            Self.write(elements.map { ("", $0) }, between: "[", "]", into: &text, indent)
        case .object(let members):
            Self.write(members.map { (Self.quoted($0.name) + ":", $0.value) }, between: "{", "}", into: &text, indent)
        }
    }

    private static func write(
        _ parts: [(head: String, value: JSONTree)], between open: String, _ close: String, into text: inout String,
        _ indent: Int?
    ) {
        guard let indent, !parts.isEmpty else {
            text += open
            for (index, part) in parts.enumerated() {
                text += (index > 0 ? "," : "") + part.head
                part.value.write(into: &text, indent: nil)
            }
            text += close
            return
        }
        if !parts.contains(where: { !$0.value.isScalar }) {
            let line = parts.map { ($0.head.isEmpty ? "" : $0.head + " ") + $0.value.compact }.joined(separator: ", ")
            if line.count + indent < 100 {
                text += open == "{" ? "{ \(line) }" : "[\(line)]"
                return
            }
        }
        text += open
        for (index, part) in parts.enumerated() {
            text += (index > 0 ? ",\n" : "\n") + String(repeating: " ", count: indent + 2) + part.head
            if !part.head.isEmpty { text += " " }
            part.value.write(into: &text, indent: indent + 2)
        }
        text += "\n" + String(repeating: " ", count: indent) + close
    }

    private var isScalar: Bool {
        switch self {
        case .list(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        default: true
        }
    }

    private static func quoted(_ text: String) -> String {
        // Few texts have a character that must be escaped.
        let isPlain = text.utf8.allSatisfy { 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension ExampleValue {
    /// The example as JSON, its members in their order.
    var tree: JSONTree {
        switch kind {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value), .id(let value): .integer(value)
        case .number(let value): .number(value)
        case .text(let text): .string(text)
        case .list(let elements): .list(elements.map(\.tree))
        case .object(let members): .object(members.map { .init($0.name, $0.value.tree) })
        case .exactly(let value), .any(let value), .anyText(let value): value.tree
        case .oneOf(let values): values[0].tree
        }
    }
}
