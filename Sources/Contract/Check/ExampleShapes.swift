import Contract
import ContractExamples

extension ExampleValue {
    /// What every value in this example's place looks like.
    public var shape: Shape {
        switch kind {
        case .null: .exactly(.null)
        case .bool: .oneOf([true, false])
        case .integer: .integer
        case .id: .id
        case .number: .number
        case .text(let text): Shape(like: text)
        case .list(let elements): elements.first.map { .list(of: $0.shape) } ?? .exactly([])
        case .object(let members): Shape(members)
        case .exactly(let value): .exactly(value.value)
        case .any: .anything
        case .anyText: .text
        case .oneOf(let values): Shape(alternatives: values)
        }
    }

    /// The example as a value.
    public var value: JSONValue {
        switch kind {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value), .id(let value): .integer(value)
        case .number(let value): Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
        case .text(let text): .string(text)
        case .list(let elements): .list(elements.map(\.value))
        case .object(let members):
            .object(Dictionary(members.map { ($0.name, $0.value.value) }) { _, last in last })
        case .exactly(let value), .any(let value), .anyText(let value): value.value
        case .oneOf(let values): values[0].value
        }
    }
}

extension Shape {
    /// A text that is a time, a day or a UUID stands for others of its kind.
    fileprivate init(like text: String) {
        let value = JSONValue.string(text)
        self = [.timestamp, .milliseconds, .day, .uuid].first { $0.difference(in: value) == nil } ?? .text
    }

    fileprivate init(_ members: [ExampleValue.Member]) {
        func those(_ presence: ExampleValue.Member.Presence) -> [String: Shape] {
            Dictionary(members.filter { $0.presence == presence }.map { ($0.name, $0.value.shape) }) { _, last in last }
        }
        self = .object(those(.always), additions: those(.addition), optional: those(.sometimes))
    }

    /// Several texts or numbers are an enumeration. Null stands beside the others.
    fileprivate init(alternatives values: [ExampleValue]) {
        let others = values.filter { $0.kind != .null }
        let shape: Shape
        if others.count == 1 {
            shape = others[0].shape
        } else {
            let shapes = others.map { value -> Shape in
                switch (value.kind, value.shape) {
                case (.text, .text), (.integer, _): .exactly(value.value)
                default: value.shape
                }
            }
            let exact = shapes.compactMap { if case .exactly(let value) = $0 { value } else { nil } }
            shape = exact.count == shapes.count ? .oneOf(exact) : .anyOf(shapes)
        }
        self = others.count < values.count ? .nullable(shape) : shape
    }
}
