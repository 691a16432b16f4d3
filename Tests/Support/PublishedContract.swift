/// The names in a published contract: its operations with the fields of their requests and answers, and its frames. Whatever
/// else an API has is an addition.
///
/// It is text, a line for each operation, with the fields of the request behind `>`, those of the answer behind `<`, and the
/// members of a field in parentheses. Elements of lists have the place of their list. An asterisk says that the document
/// does not show what is there:
///
/// ```
/// GET /chats/{id} < id members(id role)
/// POST /logout > * < *
/// client subscribe chat_id
/// failure error(message)
/// ```
public struct PublishedContract: Sendable {
    /// Fields by their names.
    struct Fields: Sendable {
        var members: [String: Fields] = [:]
        /// Whether the document does not show the fields.
        var isOpen = false
    }

    private(set) var requests: [String: Fields] = [:]
    private(set) var answers: [String: Fields] = [:]
    /// The fields of frames, by their sender and type: `client subscribe`.
    private(set) var frames: [String: Fields] = [:]
    private(set) var failure = Fields()

    /// Reads a contract. A mistake in it is a mistake in the test, and ends it.
    public init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            let rest = words.dropFirst(2).first ?? ""
            switch words[0] {
            case "client", "server": frames["\(words[0]) \(words[1])"] = Self.fields(rest)
            case "failure": failure = Self.fields(words.dropFirst().joined(separator: " "))
            default:
                let signature = "\(words[0]) \(words[1])"
                let parts = rest.split(separator: "<", maxSplits: 1, omittingEmptySubsequences: false)
                requests[signature] = Self.fields(parts[0].drop { $0 == ">" || $0 == " " })
                answers[signature] = Self.fields(parts.dropFirst().first ?? "")
            }
        }
    }

    private static func fields(_ text: some StringProtocol) -> Fields {
        var rest = Substring(text)
        let fields = parse(&rest)
        precondition(rest.isEmpty, "\(text) has more brackets at its end than at its beginning")
        return fields
    }

    private static func parse(_ text: inout Substring) -> Fields {
        var fields = Fields()
        while let first = text.first, first != ")" {
            guard first != " " else {
                text.removeFirst()
                continue
            }
            let name = String(text.prefix { !" ()".contains($0) })
            text.removeFirst(name.count)
            var inner = Fields()
            if text.first == "(" {
                text.removeFirst()
                inner = parse(&text)
                precondition(text.first == ")", "\(name) has no closing bracket")
                text.removeFirst()
            }
            if name == "*" { fields.isOpen = true } else { fields.members[name] = inner }
        }
        return fields
    }
}
