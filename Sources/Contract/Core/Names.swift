import Foundation

/// The rules for what people call themselves, in every API.
extension String {
    /// Whether there are characters that nobody sees, or that change how others are shown: no part of a username.
    ///
    /// Those of the categories format, control, and line and paragraph separator, and blanks that look like letters to a
    /// computer. White space at the ends is somebody else's affair.
    package var containsHiddenCharacters: Bool {
        let scalars = Array(unicodeScalars)
        let inner = scalars.trimmingWhiteSpace
        return inner.contains { $0.isHidden || $0.isBlankLetter }
    }

    /// The same for a display name, in which some of them have a use: joiners between letters and inside an emoji, and the
    /// tags of a flag.
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

    /// What names are compared by where none may look like another: letters of any case and width are alike (Unicode's
    /// NFKC, with case folded and what is not seen left out).
    package var foldedForComparison: String {
        // Twice, since folding may bring apart what composing had brought together.
        var text = self
        for _ in 0..<2 {
            var folded = ""
            for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars
            where !scalar.properties.isDefaultIgnorableCodePoint {
                // By way of the capital letter, which joins what small letters keep apart: ß and ss, ς and σ.
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

    /// An empty pattern of Braille, and the fillers of Hangul.
    fileprivate var isBlankLetter: Bool { [0x2800, 0x3164, 0x115F, 0x1160, 0xFFA0].contains(value) }

    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }
    fileprivate var isTag: Bool { 0xE0020...0xE007F ~= value }
    /// Digits are emoji too, in Unicode's eyes.
    fileprivate var isEmoji: Bool { properties.isEmoji && value > 0x7F }

    /// A letter, or what stands on one.
    private var isPartOfWord: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark:
            true
        default: false
        }
    }

    /// Whether a joiner has a use between this and what follows.
    fileprivate func isJoined(to next: Unicode.Scalar?) -> Bool {
        // A virama may end a word with a joiner of its own.
        guard let next else { return properties.canonicalCombiningClass == .virama }
        let isInsideEmoji =
            (isEmoji || properties.isVariationSelector || properties.isEmojiModifier) && next.isEmoji
        return isInsideEmoji || isPartOfWord && next.isPartOfWord
    }
}
