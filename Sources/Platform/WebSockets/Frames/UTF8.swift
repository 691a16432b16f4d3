import NIOCore

extension ByteBuffer {
    /// Whether the readable bytes are UTF-8, without overlong forms, surrogates or anything above U+10FFFF (RFC 3629
    /// §4). The standard library's validating initialisers need newer platforms than this package does.
    var isValidUTF8: Bool {
        withUnsafeReadableBytes { bytes in
            var index = 0
            while index < bytes.count {
                if index + 8 <= bytes.count,
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                    continue
                }
                let length: Int
                let second: ClosedRange<UInt8>
                switch bytes[index] {
                case 0x00...0x7F: (length, second) = (1, 0x00...0x00)
                case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
                case 0xE0: (length, second) = (3, 0xA0...0xBF)
                case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
                case 0xED: (length, second) = (3, 0x80...0x9F)
                case 0xF0: (length, second) = (4, 0x90...0xBF)
                case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
                case 0xF4: (length, second) = (4, 0x80...0x8F)
                default: return false
                }
                guard index + length <= bytes.count,
                    length < 2 || second.contains(bytes[index + 1]),
                    length < 3 || bytes[index + 2] & 0xC0 == 0x80,
                    length < 4 || bytes[index + 3] & 0xC0 == 0x80
                else { return false }
                index += length
            }
            return true
        }
    }
}
