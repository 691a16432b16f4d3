import Foundation

struct Failure: Error {
    let file: String
    let line: Int
    let text: String
}

/// A file without its comments and without what its texts say: each of those characters is a space.
struct Source {
    let path: String
    let lines: [String]
    let masked: [String]
    /// The number of brackets of all kinds that are open at the beginning of each line.
    let depths: [Int]

    init(path: String) throws {
        self.path = path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        lines = text.components(separatedBy: "\n")
        var mask = Mask(characters: Array(text))
        mask.code { false }
        masked = String(mask.characters).components(separatedBy: "\n")
        var depth = 0
        depths = masked.map { line in
            defer {
                for character in line.utf8 {
                    if "{([".utf8.contains(character) { depth += 1 }
                    if "})]".utf8.contains(character) { depth -= 1 }
                }
            }
            return depth
        }
        guard depth == 0 else { throw Failure(file: path, line: lines.count, text: "brackets do not match") }
    }

    func failure(_ line: Int, _ text: String) -> Failure { Failure(file: path, line: line + 1, text: text) }
}

/// Replaces comments and texts by spaces.
private struct Mask {
    var characters: [Character]
    private var index = 0

    init(characters: [Character]) { self.characters = characters }

    private func starts(_ word: String) -> Bool { characters[index...].starts(with: word) }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where index < characters.count {
            if characters[index] != "\n" { characters[index] = " " }
            index += 1
        }
    }

    /// Reads code to its end, or until a bracket closes that was not opened in it.
    mutating func code(blanking isBlanked: () -> Bool) {
        var depth = 0
        while index < characters.count {
            if starts("//") {
                while index < characters.count, characters[index] != "\n" { blank() }
            } else if starts("/*") {
                while index < characters.count, !starts("*/") { blank() }
                blank(2)
            } else if characters[index] == "\"" || characters[index] == "#" {
                literal(isBlanked: isBlanked())
            } else {
                if characters[index] == "(" { depth += 1 }
                if characters[index] == ")" { depth -= 1 }
                if depth < 0 { return }
                if isBlanked() { blank() } else { index += 1 }
            }
        }
    }

    /// Reads a text, whose quotes stay unless it is part of another; or the number signs before something else.
    private mutating func literal(isBlanked: Bool) {
        let hashes = String(characters[index...].prefix { $0 == "#" })
        let quotes = String(characters[(index + hashes.count)...].prefix(3)) == "\"\"\"" ? "\"\"\"" : "\""
        guard starts(hashes + quotes) else {
            index += hashes.count
            return
        }
        func skip(_ mask: inout Mask, _ count: Int) { if isBlanked { mask.blank(count) } else { mask.index += count } }
        skip(&self, hashes.count + quotes.count)
        while index < characters.count, !starts(quotes + hashes) {
            if starts("\\" + hashes + "(") {
                blank(2 + hashes.count)
                code { true }
                blank()
            } else {
                blank(starts("\\" + hashes) ? 2 + hashes.count : 1)
            }
        }
        skip(&self, hashes.count + quotes.count)
    }
}
