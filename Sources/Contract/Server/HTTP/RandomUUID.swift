/// Random UUIDs (RFC 9562 §5.4) as text. Foundation opens and reads /dev/urandom for each of its own.
public enum RandomUUID {
    /// Returns a UUID of version 4, in lower case.
    public static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(3 << 62) | 1 << 63
        return String(unsafeUninitializedCapacity: 36) { text in
            var index = 0
            for shift in stride(from: 124, through: 0, by: -4) {
                if index == 8 || index == 13 || index == 18 || index == 23 {
                    text[index] = UInt8(ascii: "-")
                    index += 1
                }
                let digit = UInt8((shift < 64 ? low : high) >> UInt64(shift & 63) & 0xF)
                text[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                index += 1
            }
            return 36
        }
    }
}
