import Foundation
import NIOConcurrencyHelpers

/// Random UUIDs (RFC 9562 §5.4) as text. Foundation opens and reads /dev/urandom for each of its own.
public enum RandomUUID {
    /// Random numbers of the system, which are fetched for sixteen UUIDs at a time.
    private struct Supply {
        private var words: [UInt64] = []

        mutating func next() -> (UInt64, UInt64) {
            if words.isEmpty {
                words = [UInt64](repeating: 0, count: 32)
                let isFilled = words.withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { getentropy($0, bytes.count) } == 0
                }
                if !isFilled {
                    var generator = SystemRandomNumberGenerator()
                    for index in words.indices { words[index] = generator.next() }
                }
            }
            return (words.removeLast(), words.removeLast())
        }
    }

    private static let supply = NIOLockedValueBox(Supply())

    /// Returns a UUID of version 4, in lower case.
    public static func make() -> String {
        var (high, low) = supply.withLockedValue { $0.next() }
        high = high & ~0xF000 | 0x4000
        low = low & ~(3 << 62) | 1 << 63
        let digits = ("0123456789abcdef" as StaticString).utf8Start
        return String(unsafeUninitializedCapacity: 36) { text in
            var index = 0
            for shift in stride(from: 124, through: 0, by: -4) {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    text[index] = UInt8(ascii: "-")
                    index += 1
                }
                let digit = (shift < 64 ? low : high) &>> UInt64(shift & 63) & 0xF
                text[index] = digits[Int(digit)]
                index += 1
            }
            return 36
        }
    }
}
