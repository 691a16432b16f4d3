extension String {
    /// Returns the UTF-8 bytes of the string. Literal bytes are unchanged, and others are "%" with two upper-case
    /// digits.
    func percentEncoded(leaving literals: ByteSet) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 16)
        bytes.append(self, leaving: literals)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The string as a value in a query, with everything encoded but the unreserved characters (RFC 3986 §2.3): the
    /// form that a signature covers.
    var queryEncoded: String { percentEncoded(leaving: .unreserved) }
}

extension [UInt8] {
    /// Appends a text.
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Appends the bytes of a text; those that are not literal as "%" with two upper-case digits.
    mutating func append(_ text: String, leaving literals: ByteSet) {
        var text = text
        text.withUTF8 { text in
            // Most texts are names and numbers.
            if text.allSatisfy(literals.contains) { return append(contentsOf: text) }
            for byte in text {
                if literals.contains(byte) {
                    append(byte)
                } else {
                    append(UInt8(ascii: "%"))
                    for digit in [byte >> 4, byte & 15] {
                        append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") - 10 + digit)
                    }
                }
            }
        }
    }
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
    /// The characters that a value in a query keeps: all that RFC 3986 §3.4 allows there, so that clients that normalize
    /// URLs leave it unchanged, without the separators of parameters and "+", which forms read as a space.
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
