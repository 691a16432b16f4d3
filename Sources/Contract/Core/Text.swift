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
    /// The text without white space at its ends.
    package var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
