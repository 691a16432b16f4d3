import Foundation

/// Normalizes text for comparisons: without case and accents.
enum Folding {
    /// Returns the text folded. Case is folded through the upper case, so that `ß` is `ss` and every sigma is the same.
    /// Combining marks are removed.
    static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars.lazy.filter { !$0.isMark })
            }
        }
        return String(folded)
    }

    /// Returns the words of a text, folded.
    static func words(_ text: String) -> [String] {
        fold(text).unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map { String($0) }
    }

    /// Returns a slug such as `ete-a-paris`: the letters and digits, folded, with one hyphen for everything between
    /// them. The slug of a text without any, such as an emoji, consists of the numbers of its characters: `1f389`.
    static func slug(_ text: String) -> String {
        let words = fold(text).unicodeScalars
            .split { !($0.properties.isAlphabetic || $0.properties.numericType != nil) }
            .map { String($0) }
        return (words.isEmpty ? text.unicodeScalars.map { String($0.value, radix: 16) } : words).joined(separator: "-")
    }
}

extension Unicode.Scalar {
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
