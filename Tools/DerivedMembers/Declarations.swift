import Foundation

struct Property {
    let name: String
    /// The type as it is declared; what an initial value tells, if it is not.
    let type: String?
    let initialValue: String?
    let attributes: [String]
    let isPublic: Bool
    let isPrivate: Bool
    let isSettable: Bool
    let line: Int
}

struct Structure {
    /// The path of its name, `Messenger.Message`.
    let path: String
    let conformances: [String]
    let isGeneric: Bool
    let line: Int
    var properties: [Property] = []
    var wireNames: [String: (name: String, line: Int)] = [:]
    /// The names in the braces of an operation's route.
    var pathNames: [String] = []
    /// The labels that the line of the derived initialiser states, by the parameters' names; nil without that line.
    var labels: [String: String]?
    var ownMembers: Set<Member> = []
    var namesKeys = false

    enum Member { case keys, decode, encode, write }
}

/// The declarations of an API.
struct Declarations {
    var structures: [Structure] = []
    /// The protocols that each protocol refines.
    var protocols: [String: [String]] = [:]
    /// The types that an extension declares to be written by members, which it then writes itself.
    var writtenElsewhere: Set<String> = []
    /// What type aliases stand for.
    var aliases: [String: String] = [:]
    /// The names of the types and type aliases that are declared in each type, by its path.
    var nested: [String: Set<String>] = [:]
}

let accessLevels: Set = ["public", "package", "internal", "fileprivate", "private", "open"]
let knownModifiers = accessLevels.union([
    "static", "final", "lazy", "nonisolated", "mutating", "indirect", "private(set)", "package(set)",
])

/// Splits a text at a character that is in no brackets.
func split(_ text: String, at separator: Character) -> [String] {
    var (parts, depth) = ([""], 0)
    var before: Character = " "
    for character in text {
        if "([{<".contains(character) { depth += 1 }
        if ")]}".contains(character) || character == ">" && before != "-" { depth -= 1 }
        if character == separator, depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        before = character
    }
    return parts.map { $0.trimmingCharacters(in: .whitespaces) }
}

/// The words of a line before its keyword, and the rest of it.
struct Beginning {
    var attributes: [String] = []
    var modifiers: Set<String> = []
    var keyword = ""
    var rest: Substring

    init(_ line: String) {
        rest = Substring(line).drop { $0 == " " }
        while let word = Self.word(rest) {
            rest = rest.dropFirst(word.count).drop { $0 == " " }
            if word.hasPrefix("@") {
                attributes.append(String(word))
            } else if knownModifiers.contains(String(word)) {
                modifiers.insert(String(word))
            } else {
                keyword = String(word)
                return
            }
        }
    }

    private static func word(_ text: Substring) -> Substring? {
        var depth = 0
        let end = text.firstIndex { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth == 0 && !(character.isLetter || character.isNumber || "@_)".contains(character))
        }
        // An initialiser's parameters are no part of its keyword.
        if text.hasPrefix("init") || text.hasPrefix("#") { return text.prefix { $0.isLetter || $0 == "#" } }
        let word = text[..<(end ?? text.endIndex)]
        return word.isEmpty ? nil : word
    }
}
