import Contract

/// A vCard as it is written: its properties in their order, with values that are not parsed yet.
struct VCard: Sendable {
    /// The characters that a backslash escapes, which differ between the versions.
    enum Escapes: Sendable {
        /// Versions 3.0 and 4.0: `\n`, `\N`, `\,`, `\;` and `\\`, and `\:`, which some programs write.
        case all
        /// Version 2.1: `\;` alone.
        case semicolon

        /// Returns whether a character is escaped by a backslash before it. If it is not, the backslash is a character
        /// of the text, as in `C:\temp`.
        func include(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .all: "nN,;:\\".unicodeScalars.contains(scalar)
            case .semicolon: scalar == ";"
            }
        }
    }

    /// A property such as `item1.EMAIL;TYPE=home:john@example.com`.
    struct Property: Sendable, Equatable {
        /// The name in upper case, without a group.
        var name: String
        /// The parameters, with names in upper case.
        var parameters: [(name: String, values: [String])]
        /// The value, unfolded and decoded, with escapes.
        var value: String
        /// The escapes of the card's version, which is known at the end of the card.
        var escapes = Escapes.all

        static func == (left: Self, right: Self) -> Bool { left.name == right.name && left.value == right.value }

        func parameter(_ name: String) -> [String] {
            parameters.filter { $0.name == name }.flatMap(\.values)
        }

        /// Returns whether there is a parameter with a value, or one without a name, as in vCard 2.1.
        func hasParameter(_ word: String) -> Bool {
            parameters.contains { $0.values.contains { $0.uppercased() == word } || $0.name == word }
        }

        /// The value as text, without escapes.
        var text: String { unescape(Substring(value)) }

        /// The components of a value such as `Doe;John;;;`, each a list of texts. In version 2.1 a component is one
        /// text, with its commas.
        var components: [[String]] {
            split(Substring(value), at: ";").map { part in
                escapes == .all ? split(part, at: ",").map(unescape) : [unescape(part)]
            }
        }

        /// The elements of a list such as `family,friends`.
        var elements: [String] { split(Substring(value), at: ",").map(unescape) }

        private func unescape(_ text: Substring) -> String {
            guard text.unicodeScalars.contains("\\") else { return String(text) }
            var result = String.UnicodeScalarView()
            var isBehindBackslash = false
            for scalar in text.unicodeScalars {
                if isBehindBackslash, escapes.include(scalar) {
                    result.append(scalar == "n" || scalar == "N" ? "\n" : scalar)
                    isBehindBackslash = false
                    continue
                }
                if isBehindBackslash { result.append("\\") }
                isBehindBackslash = scalar == "\\"
                if !isBehindBackslash { result.append(scalar) }
            }
            if isBehindBackslash { result.append("\\") }
            return String(result)
        }

        /// Splits a text where the separator is not escaped.
        private func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
            var parts: [Substring] = []
            let scalars = text.unicodeScalars
            var start = text.startIndex
            var isBehindBackslash = false
            for index in scalars.indices {
                let scalar = scalars[index]
                if isBehindBackslash, escapes.include(scalar) {
                    isBehindBackslash = false
                    continue
                }
                isBehindBackslash = scalar == "\\"
                if scalar == separator {
                    parts.append(Substring(scalars[start..<index]))
                    start = scalars.index(after: index)
                }
            }
            parts.append(Substring(scalars[start..<text.endIndex]))
            return parts
        }
    }

    /// The line at which the card begins in its file.
    var line: Int
    var properties: [Property]

    /// Applies the version of the card, which its properties may give anywhere, to how they are read.
    mutating func applyVersion() {
        guard first("VERSION")?.value.trimmed.hasPrefix("2.") == true else { return }
        for index in properties.indices { properties[index].escapes = .semicolon }
    }

    func first(_ name: String) -> Property? { properties.first { $0.name == name } }
    func all(_ name: String) -> [Property] { properties.filter { $0.name == name } }
}
