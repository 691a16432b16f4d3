import Foundation

/// The rules for usernames, and for the names that users give themselves, their groups and their places. They are the same in
/// every API.
extension String {
    /// Whether the text has characters that are invisible or that change how their neighbours are displayed. A username
    /// may have none of them.
    ///
    /// These are the characters of the categories format, control, line separator and paragraph separator, and letters
    /// that look blank. White space at the ends is checked elsewhere.
    package var containsHiddenCharacters: Bool {
        let scalars = Array(unicodeScalars)
        let inner = scalars.trimmingWhiteSpace
        return inner.contains { $0.isHidden || $0.isBlankLetter }
    }

    /// Whether the text has such characters where they have no purpose. A display name, and the name of a group or of a
    /// place, may have joiners between letters and inside an emoji, and the tag characters of a flag.
    package var containsStrayFormatting: Bool {
        let scalars = Array(unicodeScalars)
        let inner = scalars.trimmingWhiteSpace
        return inner.indices.contains { index in
            let scalar = inner[index]
            if scalar.isBlankLetter { return true }
            guard scalar.isHidden, index > inner.startIndex else { return scalar.isHidden }
            let before = inner[index - 1]
            let after = index + 1 < inner.endIndex ? inner[index + 1] : nil
            return !(scalar.isJoiner && before.isJoined(to: after) || scalar.isTag && (before.isTag || before.isEmoji))
        }
    }

    /// The text in the form in which names are compared, so that no two look alike: case and width do not count, and
    /// invisible characters are left out (Unicode's NFKC with case folding).
    package var foldedForComparison: String {
        // Folding can separate what composing had joined, so both run twice.
        var text = self
        for _ in 0..<2 {
            var folded = ""
            for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars
            where !scalar.properties.isDefaultIgnorableCodePoint {
                // The detour by the capital letter joins what lower-case letters keep apart: ß and ss, ς and σ.
                for capital in scalar.properties.uppercaseMapping.unicodeScalars {
                    folded += capital.properties.lowercaseMapping
                }
            }
            text = folded.precomposedStringWithCompatibilityMapping
        }
        return text
    }
}

extension [Unicode.Scalar] {
    fileprivate var trimmingWhiteSpace: ArraySlice<Unicode.Scalar> {
        guard let first = firstIndex(where: { !$0.properties.isWhitespace }),
            let last = lastIndex(where: { !$0.properties.isWhitespace })
        else { return [] }
        return self[first...last]
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .format, .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }
    fileprivate var isTag: Bool { 0xE0020...0xE007F ~= value }
    /// Whether the character is an emoji. Unicode counts digits as emoji too; they are left out here.
    fileprivate var isEmoji: Bool { properties.isEmoji && value > 0x7F }

    /// Whether the character is a letter or a mark on one.
    private var isPartOfWord: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark:
            true
        default: false
        }
    }

    /// Returns whether a joiner has a purpose between this character and the next.
    fileprivate func isJoined(to next: Unicode.Scalar?) -> Bool {
        // A virama may end a word with a joiner of its own.
        guard let next else { return properties.canonicalCombiningClass == .virama }
        let isInsideEmoji =
            (isEmoji || properties.isVariationSelector || properties.isEmojiModifier) && next.isEmoji
        return isInsideEmoji || isPartOfWord && next.isPartOfWord
    }
}
