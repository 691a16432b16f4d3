/// Names schemas and operations after Swift types: `Messenger.Chat` is `Chat`, `APIResponse<[Monica.Note]>` is
/// `NoteListResponse`.
enum TypeName {
    /// Returns the name for a type; nil for a type of the language, which has none of an API's own.
    ///
    /// - Parameter api: The API's type, within which the names are unique.
    static func of(_ type: Any.Type, in api: Any.Type) -> String? {
        var parser = Parser(text: Substring(String(reflecting: type)), api: String(reflecting: api))
        return parser.parse()
    }

    /// Returns a type as Swift writes it where its module is imported: `Messenger.Chat`, `Monica.Get<Monica.Note>`.
    ///
    /// - Parameter api: The API's type, which is in the same module.
    static func spelled(_ type: Any.Type, in api: Any.Type) -> String {
        let module = String(reflecting: api).prefix { $0 != "." }
        return String(reflecting: type).replacing("\(module).", with: "").replacing("Contract.", with: "")
    }

    /// Returns the name with a small first letter: `sendMessage`.
    static func uncapitalised(_ name: String) -> String {
        let capitals = name.prefix { $0.isUppercase }
        // "JSONExport" is "jsonExport".
        let count = capitals.count > 1 && capitals.count < name.count ? capitals.count - 1 : capitals.count
        return name.prefix(count).lowercased() + name.dropFirst(count)
    }

    private struct Parser {
        var text: Substring
        let api: String

        /// Reads `Module.Outer.Inner<Argument, …>`.
        mutating func parse() -> String? {
            var words: [String] = []
            var arguments: [String?] = []
            while let character = text.first, character != ",", character != ">" {
                if character == "(" {
                    // "(unknown context at $7f…)", of a private type.
                    text = text.drop { $0 != ")" }.dropFirst()
                } else if character == "<" {
                    repeat {
                        text = text.dropFirst()
                        while text.first == " " { text = text.dropFirst() }
                        arguments.append(parse())
                    } while text.first == ","
                    text = text.dropFirst()
                } else if character == "." {
                    text = text.dropFirst()
                } else {
                    let word = text.prefix { !".,<>(".contains($0) }
                    words.append(String(word))
                    text = text.dropFirst(word.count)
                }
            }
            return name(words, arguments)
        }

        private func name(_ words: [String], _ arguments: [String?]) -> String? {
            let isSwifts = words.first == "Swift" || words.first == "Foundation"
            if isSwifts {
                guard let element = arguments.first ?? nil else { return nil }
                switch words.last {
                case "Array": return element + "List"
                case "Optional": return element
                default: return nil
                }
            }
            // The module, and the API's own type.
            let apiWords = api.split(separator: ".").map(String.init)
            if words == apiWords { return nil }
            let inner = words.starts(with: apiWords) ? words.dropFirst(apiWords.count) : words.dropFirst()
            let given = arguments.compactMap(\.self).joined()
            var name = inner.joined()
            if given.isEmpty { return name }
            if let parts = name.wholeMatch(of: #/(List|Get|Create|Update|Delete|Store)(Of\w+)?/#) {
                return "\(parts.1)\(parts.1 == "List" ? Self.plural(given) : given)\(parts.2 ?? "")"
            }
            if name.hasPrefix("API") { name = String(name.dropFirst(3)) }
            return given + name
        }

        private static func plural(_ name: String) -> String {
            name.hasSuffix("y") ? name.dropLast() + "ies" : name + "s"
        }
    }
}
