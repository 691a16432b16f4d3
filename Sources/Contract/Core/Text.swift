import Foundation

extension String {
    /// The length as the contracts count it, in Unicode scalars.
    package var length: Int { unicodeScalars.count }
    /// The text without white space at its ends.
    package var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
