import Foundation

// ASCII in hexadecimal: 2B "+", 2D "-", 2F "/", 5F "_".

/// Base64url without padding (RFC 4648 §5), the alphabet of tokens and signatures.
public enum Base64URL {
    /// Encodes `bytes`; the text has no padding and no line breaks.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let standard = Base64.encode(bytes).utf8
        return String(decoding: standard.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }, as: UTF8.self)
    }

    /// Returns the bytes of `text`, or nil unless it is exactly what ``encode(_:)`` writes for them. Other alphabets,
    /// padding, white space and stray bits in the last character are refused, so that a value has only one spelling.
    public static func decode(_ text: String) -> [UInt8]? {
        guard !text.utf8.contains(where: { $0 == 0x2B || $0 == 0x2F }) else { return nil }
        return Base64.decode(Base64.standardAlphabet(text))
    }
}

/// Base64 without padding in the standard alphabet (RFC 4648 §4), as PHC strings write it.
enum Base64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let padded = Data(bytes).base64EncodedString()
        return String(padded.prefix { $0 != "=" })
    }

    /// Decodes the canonical spelling only: the bytes must encode to the same text again.
    static func decode(_ text: String) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text + padding) else { return nil }
        let bytes = [UInt8](data)
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }

    /// Replaces the two characters in which base64url differs.
    static func standardAlphabet(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 == 0x2D ? 0x2B : $0 == 0x5F ? 0x2F : $0 }, as: UTF8.self)
    }
}
