/// A JSON value of a contract's example, with the marks that say which other values may stand in its place.
///
/// Members keep their order, and numbers and texts keep their spelling: what is written on the wire is compared to it
/// letter by letter.
public struct ExampleValue: Sendable, Hashable {
    /// The kind of a value, which decides which values may replace it.
    public indirect enum Kind: Sendable, Hashable {
        case null
        case bool(Bool)
        /// Any integer.
        case integer(Int64)
        /// `#1`: any integer above zero.
        case id(Int64)
        /// A fraction, or `number 80`: any number.
        case number(Double)
        /// Any text. A text that is a time, a day or a UUID stands for values of its own kind.
        case text(String)
        case list([ExampleValue])
        case object([Member])
        /// `= 3600`: this value alone.
        case exactly(ExampleValue)
        /// `any {}`: any value at all.
        case any(ExampleValue)
        /// `text "2026-02-23"`: any text, whatever this one looks like.
        case anyText(ExampleValue)
        /// `"direct" | "group"`: one of these texts or numbers; null, or a value of the other's kind.
        case oneOf([ExampleValue])
    }

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// When a member is there.
        public enum Presence: Sendable {
            case always
            /// `? "name"`, or `+? "name"` for an addition to the contract: in some answers.
            case sometimes
            /// `+ "name"`: a server of the published contract alone need not have it.
            case addition
        }

        public let name: String
        public let value: ExampleValue
        public let presence: Presence
        /// Whether the published contract does not have the member.
        public let isAddition: Bool
    }

    public let kind: Kind
    /// A text or a number as the example spells it.
    let spelling: String

    init(_ kind: Kind, _ spelling: String = "") {
        self.kind = kind
        self.spelling = spelling
    }

    /// The value without its marks.
    private var plain: ExampleValue {
        switch kind {
        case .exactly(let value), .any(let value), .anyText(let value): value.plain
        case .oneOf(let values): values[0].plain
        default: self
        }
    }

    // MARK: As JSON

    /// The example as JSON, without white space between the tokens.
    ///
    /// - Parameter additions: Whether the members that are additions to the contract are written.
    public func json(additions: Bool = true) -> String {
        switch kind {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer, .id, .number, .text: spelling
        case .list(let elements): "[\(elements.map { $0.json(additions: additions) }.joined(separator: ","))]"
        case .object(let members):
            "{"
                + members.filter { additions || $0.presence != .addition }
                .map { "\"\($0.name)\":\($0.value.json(additions: additions))" }.joined(separator: ",") + "}"
        case .exactly, .any, .anyText, .oneOf: plain.json(additions: additions)
        }
    }

    /// The same example with one other value or one member less, for every mark that allows it: each is as right as the
    /// example itself.
    public var variants: [ExampleValue] {
        switch kind {
        case .null, .bool, .integer, .id, .number, .text: []
        case .exactly(let value), .any(let value), .anyText(let value): value.variants
        case .oneOf(let values): values[0].variants + values.dropFirst()
        case .list(let elements):
            elements.indices.flatMap { index in
                elements[index].variants.map { variant in
                    var copy = elements
                    copy[index] = variant
                    return ExampleValue(.list(copy))
                }
            }
        case .object(let members):
            members.indices.flatMap { index in
                let member = members[index]
                var found = member.value.variants.map { variant in
                    var copy = members
                    copy[index] = Member(
                        name: member.name, value: variant, presence: member.presence, isAddition: member.isAddition)
                    return ExampleValue(.object(copy))
                }
                if member.presence == .sometimes {
                    var copy = members
                    copy.remove(at: index)
                    found.append(ExampleValue(.object(copy)))
                }
                return found
            }
        }
    }

    /// The value of a member of an object, or of the elements of a list.
    public subscript(name: String) -> ExampleValue? {
        switch plain.kind {
        case .object(let members): members.first { $0.name == name }?.value
        case .list(let elements): elements.first?[name]
        default: nil
        }
    }

    /// The text, where the example is one.
    public var string: String? { if case .text(let text) = plain.kind { text } else { nil } }
}
