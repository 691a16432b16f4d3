import Contract
import HTTPTypes

extension GTSD {
    /// A request that is refused with all its mistakes at once.
    public protocol Judged: Contract.Endpoint where API == GTSD {
        /// Notes every mistake, in the order in which they are told.
        func judge(_ form: inout Validation)
    }

    /// The mistakes of a request: `Validation failed: <path>: <text>, <path>: <text>`.
    public struct Validation: Sendable {
        /// What a field of JSON is to be.
        public enum Expected: String, Sendable {
            case string, number, boolean, object, array
        }

        private let unreadable: [String: FieldIssue.Kind]
        private var mistakes: [String] = []

        init(_ issues: [FieldIssue]) {
            unreadable = Dictionary(issues.map { ($0.field, $0.kind) }) { first, _ in first }
        }

        /// Judges a field.
        ///
        /// - Parameters:
        ///   - expected: What it is in JSON. Nil for one out of the path or the query, whose texts are its own.
        ///   - absent: The text for one that must be there and is not. Nil for one that need not be.
        ///   - texts: What is wrong with its value.
        mutating func field(
            _ path: String, _ expected: Expected?, absent: String? = nil, _ texts: () -> [String]
        ) {
            switch unreadable[path] {
            case .absent: if let absent { mistakes.append("\(path): \(absent)") }
            case .mistyped where expected != nil: mistakes.append("\(path): Expected \(expected?.rawValue ?? "")")
            case .containsNUL, .unrepresentable:
                // In the field's own words, where it has some for this.
                let own = texts()
                mistakes += (own.isEmpty ? ["Invalid \(path)"] : own).map { "\(path): \($0)" }
            case .mistyped, nil: mistakes += texts().map { "\(path): \($0)" }
            }
        }

        /// A field's number, or what was sent for it that is no whole one.
        func number(_ path: String, _ value: Int) -> Double {
            if case .unrepresentable(let number) = unreadable[path] { number } else { Double(value) }
        }

        /// Judges a field that is right or wrong.
        mutating func field(
            _ path: String, _ expected: Expected?, absent: String? = nil, _ text: String, unless isRight: Bool
        ) {
            field(path, expected, absent: absent) { isRight ? [] : [text] }
        }

        func finish() throws(Problem) {
            if !mistakes.isEmpty { throw Self.refusal(mistakes) }
        }

        private static func refusal(_ mistakes: [String]) -> Problem {
            Problem(.badRequest, "Validation failed: " + mistakes.joined(separator: ", "))
        }

        /// The refusal of one field, for what only a server can judge.
        package static func refusal(of path: String, _ text: String) -> Problem { refusal(["\(path): \(text)"]) }

        /// The refusal of fields whose values have no texts of their own, for what only a server can judge.
        package static func refusal(of paths: [String]) -> Problem { refusal(paths.map { "\($0): Invalid \($0)" }) }

        /// A text for a field whose value must be there.
        static let required = "Required"
    }
}

extension GTSD.Judged {
    public func judge(_ form: inout GTSD.Validation) {}

    public func validate(unreadable issues: [FieldIssue]) throws(Problem) {
        var form = GTSD.Validation(issues)
        judge(&form)
        try form.finish()
    }

    public func validate() throws(Problem) { try validate(unreadable: []) }
}

/// `YYYY-MM-DD` in a request: text until it is judged.
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

/// The part of a list that a request asks for.
enum Paging {
    static let limits = 1...100

    static func judge(limit: Int?, offset: Int?, in form: inout GTSD.Validation) {
        form.field("limit", nil, "Limit must be between 1 and 100", unless: limit.map { limits ~= $0 } ?? true)
        form.field("offset", nil, "Offset must be 0 or more", unless: offset.map { $0 >= 0 } ?? true)
    }
}

extension String {
    var containsSpaceOrControl: Bool {
        unicodeScalars.contains { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
    }
}

extension Identifier {
    /// Whether this is an id at all. Digits beyond 64 bits are read as the largest number, which nobody sent.
    var isRepresentable: Bool { isValid && rawValue < .max }
}
