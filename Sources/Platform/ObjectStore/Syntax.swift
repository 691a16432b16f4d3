extension String {
    /// Returns the UTF-8 bytes of the string. Literal bytes are unchanged, and others are "%" with two upper-case
    /// digits.
    func percentEncoded(leaving literals: ByteSet) -> String {
        // Most texts are names and numbers.
        if utf8.allSatisfy(literals.contains) { return self }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 16)
        for byte in utf8 {
            if literals.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The string as a value in a query, with everything encoded but the unreserved characters (RFC 3986 §2.3): the
    /// form that a signature covers.
    var queryEncoded: String { percentEncoded(leaving: .unreserved) }

    /// The string as a value in a query, with the characters that RFC 3986 §3.4 allows there unencoded, so that clients
    /// that normalize URLs leave it unchanged. Separators of parameters are encoded, and so is "+", which forms read as
    /// a space.
    var queryValue: String { percentEncoded(leaving: .queryValue) }
}

/// A set of ASCII characters.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The letters and digits of ASCII, and the given characters, which are ASCII too.
    init(lettersDigitsAnd others: String) {
        for byte in UInt8(0)..<0x80 where byte.isLetterOrDigit || others.utf8.contains(byte) {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low & 1 << UInt64(byte) != 0
        case 64..<128: high & 1 << UInt64(byte - 64) != 0
        default: false
        }
    }

    static let unreserved = ByteSet(lettersDigitsAnd: "-._~")
    static let path = ByteSet(lettersDigitsAnd: "-._~/")
    static let queryValue = ByteSet(lettersDigitsAnd: "-._~!$'()*,/:?@")
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension Substring {
    /// The text without the spaces and tabs around it, `OWS` of RFC 9110 §5.6.3.
    var trimmingOptionalWhitespace: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
