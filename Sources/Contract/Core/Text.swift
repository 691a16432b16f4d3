import Foundation

extension String {
    /// Lengths in the contracts count Unicode scalars.
    package var length: Int { unicodeScalars.count }
    /// Without white space at its ends.
    package var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
