/// A vCard as it is written: its properties in their order, with values that are not parsed yet.
struct VCard: Sendable {
    /// A property such as `item1.EMAIL;TYPE=home:john@example.com`.
    struct Property: Sendable, Equatable {
        /// The name in upper case, without a group.
        var name: String
        /// The parameters, with names in upper case.
        var parameters: [(name: String, values: [String])]
        /// The value, unfolded and decoded, with escapes.
        var value: String

        static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.value == right.value }

        func parameter(_ name: String) -> [String] {
            parameters.filter { $0.name == name }.flatMap(\.values)
        }

        /// Returns whether there is a parameter with a value, or one without a name, as in vCard 2.1.
        func hasParameter(_ word: String) -> Bool {
            parameters.contains { $0.values.contains { $0.uppercased() == word } || $0.name == word }
        }

        /// The value as text, with `\n`, `\,`, `\;` and `\\` unescaped.
        var text: String { Self.unescape(Substring(value)) }

        /// The components of a value such as `Doe;John;;;`, each a list of texts.
        var components: [[String]] {
            Self.split(Substring(value), at: ";").map { part in
                Self.split(part, at: ",").map(Self.unescape)
            }
        }

        /// The elements of a list such as `family,friends`.
        var elements: [String] { Self.split(Substring(value), at: ",").map(Self.unescape) }

        private static func unescape(_ text: Substring) -> String {
            guard text.unicodeScalars.contains("\\") else { return String(text) }
            var result = String.UnicodeScalarView()
            var isEscaped = false
            for scalar in text.unicodeScalars {
                if isEscaped {
                    result.append(scalar == "n" || scalar == "N" ? "\n" : scalar)
                    isEscaped = false
                } else if scalar == "\\" {
                    isEscaped = true
                } else {
                    result.append(scalar)
                }
            }
            if isEscaped { result.append("\\") }
            return String(result)
        }

        /// Splits a text where the separator is not escaped.
        private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
            var parts: [Substring] = []
            var start = text.startIndex
            var index = start
            let scalars = text.unicodeScalars
            while index < text.endIndex {
                if scalars[index] == "\\" {
                    index = scalars.index(after: index)
                    if index == text.endIndex { break }
                } else if scalars[index] == separator {
                    parts.append(Substring(scalars[start..<index]))
                    start = scalars.index(after: index)
                }
                index = scalars.index(after: index)
            }
            parts.append(Substring(scalars[start..<text.endIndex]))
            return parts
        }
    }

    /// The line at which the card begins in its file.
    var line: Int
    var properties: [Property]

    func first(_ name: String) -> Property? { properties.first { $0.name == name } }
    func all(_ name: String) -> [Property] { properties.filter { $0.name == name } }
}
