import Foundation

extension String {
    /// Runs a closure with the text in UTF-8. The text is not copied, unless Foundation has it in another encoding.
    @inlinable
    @inline(__always)
    package func withBytes<T>(_ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }

    /// The length as the contracts count it, in Unicode scalars. Each has one byte that continues no other.
    package var length: Int {
        withBytes { bytes in bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
    }

    /// Returns the place of a byte in the UTF-8, from 0.
    package func firstIndex(of byte: UInt8) -> Int? {
        withBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(start)
        }
    }

    /// The text without white space at its ends; empty when it is blank.
    package var trimmed: String { isBlank ? "" : trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Whether the text shows nothing: it has only white space, characters that are not displayed, and blank letters. Every
    /// operation that needs a text refuses such a one as it refuses an empty one.
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.isBlank) }
}

extension Unicode.Scalar {
    /// Whether the character shows nothing where it stands alone.
    package var isBlank: Bool {
        if isASCII { return properties.isWhitespace }
        return properties.isWhitespace || properties.isDefaultIgnorableCodePoint
            || properties.generalCategory == .format || isBlankLetter
    }

    /// Whether the character is a letter or a sign that looks blank: the empty Braille pattern, Hangul's fillers, Khmer's
    /// inherent vowels.
    package var isBlankLetter: Bool {
        switch value {
        case 0x2800, 0x3164, 0x115F, 0x1160, 0x17B4, 0x17B5, 0xFFA0: true
        default: false
        }
    }
}
