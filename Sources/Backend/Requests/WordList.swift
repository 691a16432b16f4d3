import Contract
import Foundation
import HTTPTypes

/// Words and phrases that a server looks for in the texts that strangers read (`PublishesTexts`), to refuse them (`--words`)
/// or to report them (`--flag-words`).
///
/// They are compared as names are (`foldedForComparison`): case and width do not count, and invisible characters are left
/// out. A word is found where it stands alone: "ass" is not found in "class". What separates words (spaces, marks, symbols) does
/// not count, and so a phrase is found in whatever form it is set.
public struct WordList: Sendable {
    /// The refusal of a text.
    public static let refusal = Problem(.badRequest, "Text contains a word that is not allowed here")

    /// The most words and phrases.
    static let most = 10_000
    /// The length of a word or phrase in characters.
    static let longest = 100

    private struct Entry {
        let text: String
        let words: [String]
    }

    /// The entries by their first words.
    private var entries: [String: [Entry]] = [:]

    /// Reads a list: a word or phrase on each line. Empty lines, and those that begin with `#`, are ignored.
    ///
    /// - Throws: ``Mistake`` for a line that has no word, and for a list that is too long.
    public init(_ text: String) throws(Mistake) {
        var count = 0
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let words = Self.words(of: line)
            guard let first = words.first else { throw Mistake(description: "line \(index + 1) has no word") }
            guard line.count <= Self.longest else {
                throw Mistake(description: "line \(index + 1) is longer than \(Self.longest) characters")
            }
            count += 1
            guard count <= Self.most else { throw Mistake(description: "it has more than \(Self.most) entries") }
            entries[first, default: []].append(Entry(text: line, words: words))
        }
    }

    /// Why a list cannot be used.
    public struct Mistake: Error, CustomStringConvertible {
        public let description: String
    }

    /// Refuses texts.
    ///
    /// - Throws: ``refusal``, when one of them has a word or phrase of the list.
    @Sendable func review(_ texts: [String]) throws {
        if entry(in: texts) != nil { throw Self.refusal }
    }

    /// Returns the first entry, as the list has it, that is found in texts.
    func entry(in texts: [String]) -> String? {
        for text in texts {
            let words = Self.words(of: text)
            for index in words.indices {
                let found = entries[words[index]]?.first { words[index...].starts(with: $0.words) }
                if let found { return found.text }
            }
        }
        return nil
    }

    /// Returns the words of a text in the form in which they are compared: runs of letters, marks and digits.
    private static func words(of text: String) -> [String] {
        text.foldedForComparison.unicodeScalars.split { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
                .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
                false
            default: true
            }
        }.map(String.init)
    }
}
