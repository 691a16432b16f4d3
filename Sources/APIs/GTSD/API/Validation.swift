import Contract
import HTTPTypes

extension GTSD {
    /// A request that is refused with all its mistakes at once.
    public protocol Validatable: Contract.Endpoint where API == GTSD {
        /// Adds every mistake to the form, in the order in which they are reported.
        func validate(_ form: inout Validation)
    }

    /// The mistakes of a request, rendered as `Validation failed: <path>: <text>, <path>: <text>`.
    public struct Validation: Sendable {
        /// The type that a JSON field must have.
        public enum Expected: String, Sendable {
            case string, number, boolean, object, array
        }

        private let unreadable: [String: FieldIssue.Kind]
        private var mistakes: [String] = []

        init(_ issues: [FieldIssue]) {
            unreadable = Dictionary(issues.map { ($0.field, $0.kind) }) { first, _ in first }
        }

        /// Validates a field.
        ///
        /// - Parameters:
        ///   - expected: The field's type in JSON. Nil for a field of the path or the query, whose messages are its
        ///     own.
        ///   - absent: The message for an absent field. Nil for an optional one.
        ///   - texts: Returns the mistakes of the value.
        mutating func field(
            _ path: String, _ expected: Expected?, absent: String? = nil, _ texts: () -> [String]
        ) {
            switch unreadable[path] {
            case .absent: if let absent { mistakes.append("\(path): \(absent)") }
            case .unrepresentable where expected == nil: mistakes += texts().map { "\(path): \($0)" }
            case .mistyped where expected != nil: mistakes.append("\(path): Expected \(expected?.rawValue ?? "")")
            case .containsNUL, .unrepresentable:
                // A field's own message takes precedence.
                let own = texts()
                mistakes += (own.isEmpty ? ["Invalid \(path)"] : own).map { "\(path): \($0)" }
            case .mistyped, nil: mistakes += texts().map { "\(path): \($0)" }
            }
        }

        /// Returns a field's number, or the fractional or too large number that was sent for it.
        func number(_ path: String, _ value: Int) -> Double {
            if case .unrepresentable(let number) = unreadable[path] { number } else { Double(value) }
        }

        /// Validates a field with a single condition.
        mutating func field(
            _ path: String, _ expected: Expected?, absent: String? = nil, _ text: String, unless isRight: Bool
        ) {
            field(path, expected, absent: absent) { isRight ? [] : [text] }
        }

        /// Validates an id. Digits beyond 64 bits are none, although the largest number stands for them.
        mutating func id<Named>(
            _ path: String, _ expected: Expected?, absent: String? = nil, _ text: String, _ value: Identifier<Named>?
        ) {
            var isTooLarge = false
            if case .unrepresentable = unreadable[path] { isTooLarge = true }
            field(path, expected, absent: absent, text, unless: !isTooLarge && value?.isValid ?? true)
        }

        func finish() throws(Problem) {
            if !mistakes.isEmpty { throw Self.refusal(mistakes) }
        }

        private static func refusal(_ mistakes: [String]) -> Problem {
            Problem(.badRequest, "Validation failed: " + mistakes.joined(separator: ", "))
        }

        /// Returns the error of one field, for checks that only a server can do.
        package static func refusal(of path: String, _ text: String) -> Problem { refusal(["\(path): \(text)"]) }

        /// Returns the error of fields whose values have no messages of their own, for checks that only a server can
        /// do.
        package static func refusal(of paths: [String]) -> Problem { refusal(paths.map { "\($0): Invalid \($0)" }) }

        /// The message for an absent field.
        static let required = "Required"
    }
}

extension GTSD.Validatable {
    public func validate(_ form: inout GTSD.Validation) {}

    public func validate(unreadable issues: [FieldIssue]) throws(Problem) {
        var form = GTSD.Validation(issues)
        validate(&form)
        try form.finish()
    }

    public func validate() throws(Problem) { try validate(unreadable: []) }
}

/// A day `YYYY-MM-DD` in a request, which stays a text until it is validated.
enum DayText {
    static func mistakes(_ text: String?) -> [String] {
        guard let text, Day(text) == nil else { return [] }
        let digits = Array(text.utf8)
        let isWritten =
            digits.count == 10
            && digits.enumerated().allSatisfy { index, byte in
                [4, 7].contains(index)
                    ? byte == UInt8(ascii: "-") : UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
        return [isWritten ? "Invalid date provided" : "Date must be in YYYY-MM-DD format"]
    }
}

/// The limit and offset of a request for a list.
enum Paging {
    static let limits = 1...100

    static func validate(limit: Int?, offset: Int?, in form: inout GTSD.Validation) {
        form.field("limit", nil, "Limit must be between 1 and 100", unless: limit.map { limits ~= $0 } ?? true)
        form.field("offset", nil, "Offset must be 0 or more", unless: offset.map { $0 >= 0 } ?? true)
    }
}

extension String {
    var containsSpaceOrControl: Bool {
        unicodeScalars.contains { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
    }
}
