import Contract
import ContractExamples
import Foundation

/// A change of one value in an answer that keeps to the answer's shape.
struct ValueChange: Sendable {
    /// The name of the change, such as `another [].user.username`.
    let name: String
    /// The members on the way to the value; `[]` stands for every element of a list.
    private let path: [String]
    /// Returns another value; nil to leave a value as it is.
    private let change: @Sendable (JSONValue) -> JSONValue?

    private init(_ what: String, _ path: [String], _ change: @escaping @Sendable (JSONValue) -> JSONValue?) {
        name = path.isEmpty ? what : "\(what) \(path.joined(separator: "."))"
        self.path = path
        self.change = change
    }

    /// Whether the value is in an element of a list.
    var isInList: Bool { path.contains("[]") }

    /// Returns what is done to which member of which object, wherever that object is.
    ///
    /// - Parameter subject: What the object is when it is the answer as a whole.
    func kind(in subject: Substring) -> String {
        let member = path.last { $0 != "[]" } ?? ""
        let object = path.dropLast().last { $0 != "[]" && $0 != "data" } ?? String(subject)
        return "\(name.prefix { $0 != " " }) \(object).\(member)"
    }

    func applied(to value: JSONValue) -> JSONValue { applied(to: value, path[...]) }

    private func applied(to value: JSONValue, _ rest: ArraySlice<String>) -> JSONValue {
        guard let step = rest.first else { return change(value) ?? value }
        switch value {
        case .list(let elements) where step == "[]":
            return .list(elements.map { applied(to: $0, rest.dropFirst()) })
        case .object(var members):
            guard let member = members[step] else { return value }
            members[step] = applied(to: member, rest.dropFirst())
            return .object(members)
        default: return value
        }
    }

    // MARK: The changes of an example

    static func all(of value: ExampleValue) -> [ValueChange] { all(of: value, []) }

    private static func all(of value: ExampleValue, _ path: [String]) -> [ValueChange] {
        switch value.kind {
        case .null, .exactly: []
        case .bool:
            [ValueChange("the opposite of", path) { if case .bool(let value) = $0 { .bool(!value) } else { nil } }]
        case .integer, .number: [ValueChange("one more than", path) { counted($0, by: 1) }]
        case .id: [ValueChange("another", path) { counted($0, by: 1_000_003) }]
        case .text, .anyText: [ValueChange("another", path, another)]
        case .any(let example):
            [ValueChange("another", path) { $0 == example.value ? nil : $0 == .null ? nil : example.value }]
        case .oneOf(let values): alternatives(values, path)
        case .list(let elements) where elements.isEmpty: []
        case .list(let elements):
            [
                ValueChange("an empty", path) { if case .list = $0 { .list([]) } else { nil } },
                ValueChange("reversed", path) {
                    if case .list(let elements) = $0 { .list(elements.reversed()) } else { nil }
                },
                ValueChange("cut short", path) {
                    if case .list(let elements) = $0 { .list(elements.dropLast()) } else { nil }
                },
            ] + (elements.first.map { all(of: $0, path + ["[]"]) } ?? [])
        // What is there sometimes is there for a request that asks for it.
        case .object(let members):
            members.filter { $0.presence != .sometimes }.flatMap { all(of: $0.value, path + [$0.name]) }
        }
    }

    private static func alternatives(_ values: [ExampleValue], _ path: [String]) -> [ValueChange] {
        let others = values.filter { $0.kind != .null }
        var changes: [ValueChange] = []
        if others.count < values.count {
            changes.append(ValueChange("null for", path) { $0 == .null ? nil : .null })
        }
        guard let first = others.first else { return changes }
        guard others.count > 1 else { return changes + all(of: first, path) }
        let all = others.map(\.value)
        changes.append(
            ValueChange("another", path) { value in
                value == .null ? nil : all.first { $0 != value && isText($0) == isText(value) }
            })
        return changes
    }

    private static func isText(_ value: JSONValue) -> Bool { if case .string = value { true } else { false } }

    private static func counted(_ value: JSONValue, by number: Int64) -> JSONValue? {
        switch value {
        case .integer(let value): .integer(value + number)
        case .number(let value): .number(value + Double(number))
        default: nil
        }
    }

    /// Another text of the same kind: a time stays a time, a UUID a UUID.
    private static func another(_ value: JSONValue) -> JSONValue? {
        guard case .string(let text) = value else { return nil }
        if text.wholeMatch(of: #/\d{4}-\d\d-\d\d(T.*)?/#) != nil, let year = Int(text.prefix(4)) {
            // Four years before, the 29th of February exists too.
            return .string("\(year - 4)\(text.dropFirst(4))")
        }
        if UUID(uuidString: text) != nil { return .string(text.dropLast() + (text.hasSuffix("a") ? "b" : "a")) }
        return .string(text.contains("@") ? "x" + text : text + "x")
    }
}
