import HTTPTypes

/// What names a request in answers and logs.
enum RequestID {
    /// The client's own id, when it is 1 to 128 visible ASCII characters, else a new UUID.
    static func make(for headers: HTTPFields) -> String {
        if let own = headers[.requestID], 1...128 ~= own.utf8.count, own.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) {
            return own
        }
        return randomUUID()
    }

    /// A random UUID (RFC 9562 §5.4) in lower case. Foundation opens and reads /dev/urandom for each of its own.
    private static func randomUUID() -> String {
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
