/// A look at a JSON text before it is parsed: cheap, and bounded for hostile input.
public enum JSONShape {
    /// Objects and lists within each other, the outermost counted.
    public static let maximumDepth = 64

    /// Whether the bytes can be one JSON object: UTF-8, no NUL, first an opening brace, at most ``maximumDepth`` deep.
    ///
    /// The parser behind it takes other encodings and 512 levels; the contracts do not.
    public static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        var depth = 0
        var inString = false
        var escaped = false
        var isASCII = true
        var started = false
        for byte in bytes {
            if byte >= 0x80 { isASCII = false }
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                } else if byte == 0 {
                    return false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                continue
            case UInt8(ascii: "\""):
                inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if !started, byte != UInt8(ascii: "{") { return false }
                depth += 1
                if depth > maximumDepth { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            case 0:
                return false
            default:
                break
            }
            if !started, byte != UInt8(ascii: "{") { return false }
            started = true
        }
        guard started else { return false }
        return isASCII || String(validating: bytes, as: UTF8.self) != nil
    }
}
