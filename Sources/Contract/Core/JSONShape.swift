/// A check of a JSON text before it is parsed: strict, and bounded for hostile input.
public enum JSONShape {
    /// The deepest nesting of objects and lists that is accepted, counting the outermost.
    public static let maximumDepth = 64

    /// Returns whether the bytes are one JSON object (RFC 8259): UTF-8, without NUL, at most ``maximumDepth`` deep, and
    /// without an unpaired surrogate, which is not a character (RFC 8259 §8.2).
    ///
    /// Foundation's parser accepts other encodings, 512 levels and trailing commas, and skips values that the model
    /// does not read. The contracts accept none of these.
    public static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        func check(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            var scanner = JSONScanner(bytes: bytes)
            guard scanner.scanObject() else { return false }
            return scanner.isASCII || String(validating: bytes, as: UTF8.self) != nil
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}

/// Scans a JSON text once, without recursion.
private struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var isASCII = true
    private var index = 0
    private var depth = 0
    /// The open containers as a stack of bits, the innermost lowest: 1 for an object, 0 for a list.
    private var containers: UInt64 = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func scanObject() -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else { return false }
        repeat {
            skipSpace()
            guard let byte = next() else { return false }
            switch byte {
            case UInt8(ascii: "{"):
                guard open(isObject: true) else { return false }
                skipSpace()
                if take(UInt8(ascii: "}")) { close() } else if scanKey() { continue } else { return false }
            case UInt8(ascii: "["):
                guard open(isObject: false) else { return false }
                skipSpace()
                if take(UInt8(ascii: "]")) { close() } else { continue }
            case UInt8(ascii: "\""): guard scanString() else { return false }
            case UInt8(ascii: "t"): guard scan("rue") else { return false }
            case UInt8(ascii: "f"): guard scan("alse") else { return false }
            case UInt8(ascii: "n"): guard scan("ull") else { return false }
            default: guard scanNumber(byte) else { return false }
            }
            guard scanEnds() else { return false }
        } while depth > 0
        return index == bytes.count
    }

    /// Scans what follows a value: closing brackets, then a comma and, in an object, the next key.
    private mutating func scanEnds() -> Bool {
        skipSpace()
        while depth > 0 {
            let inObject = containers & 1 == 1
            if take(UInt8(ascii: ",")) {
                skipSpace()
                return !inObject || scanKey()
            }
            guard take(inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
            close()
            skipSpace()
        }
        return true
    }

    private mutating func open(isObject: Bool) -> Bool {
        guard depth < JSONShape.maximumDepth else { return false }
        depth += 1
        containers = containers << 1 | (isObject ? 1 : 0)
        return true
    }

    private mutating func close() {
        depth -= 1
        containers >>= 1
    }

    private mutating func scanKey() -> Bool {
        guard take(UInt8(ascii: "\"")), scanString() else { return false }
        skipSpace()
        return take(UInt8(ascii: ":"))
    }

    /// Scans the rest of a string, including its closing quote.
    private mutating func scanString() -> Bool {
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard scanEscape() else { return false }
            case 0..<0x20: return false
            case 0x80...: isASCII = false
            default: break
            }
        }
        return false
    }

    private mutating func scanEscape() -> Bool {
        switch next() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard let unit = scanCodeUnit() else { return false }
            switch unit {
            case 0xD800...0xDBFF:
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let second = scanCodeUnit() else {
                    return false
                }
                return 0xDC00...0xDFFF ~= second
            case 0xDC00...0xDFFF: return false
            default: return true
            }
        default:
            return false
        }
    }

    /// Scans four hexadecimal digits.
    private mutating func scanCodeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next() else { return nil }
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt16(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt16(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }

    /// Scans a number whose first byte has been taken.
    private mutating func scanNumber(_ first: UInt8) -> Bool {
        var first = first
        if first == UInt8(ascii: "-") {
            guard let digit = next() else { return false }
            first = digit
        }
        guard isDigit(first) else { return false }
        if first != UInt8(ascii: "0") { _ = scanDigits() }
        if take(UInt8(ascii: ".")), !scanDigits() { return false }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return scanDigits()
        }
        return true
    }

    /// Scans digits, and returns whether there was at least one.
    private mutating func scanDigits() -> Bool {
        let start = index
        while index < bytes.count, isDigit(bytes[index]) { index += 1 }
        return index > start
    }

    private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private mutating func scan(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { $0.allSatisfy { take($0) } }
    }

    private mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): index += 1
            default: return
            }
        }
    }

    private mutating func next() -> UInt8? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }
}
