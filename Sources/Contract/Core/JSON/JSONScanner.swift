/// A value of a JSON text, or the key of a member, by its place in the text.
struct JSONToken {
    enum Kind: UInt8 {
        case object, list, string, number, `true`, `false`, null
    }

    var kind: Kind
    /// Whether a string is ASCII without escapes: its bytes are its characters.
    var isPlain = false
    /// The bytes of the value; those of a string without its quotes.
    var start: UInt32
    var end: UInt32
    /// The index of the token behind the value and all that is in it.
    var next: UInt32
    /// The index of the container's token.
    var parent: UInt32
    /// The position among the elements of a list, or among the keys and values of an object.
    var position: UInt32
    /// The number of elements; in an object, the number of keys and values.
    var count: UInt32 = 0
}

/// Scans a JSON text once, without recursion, and notes where its values are. An object's keys and values take turns.
struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var tokens: [JSONToken] = []
    private var isASCII = true
    private var index = 0
    private var depth = 0
    /// The innermost open container.
    private var container = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Returns whether the text is one JSON object, as ``JSONShape/isObject(_:)`` says.
    mutating func scan() -> Bool {
        // Places are 32 bits.
        guard bytes.count < UInt32.max, scanObject() else { return false }
        return isASCII || String(validating: bytes, as: UTF8.self) != nil
    }

    private mutating func scanObject() -> Bool {
        tokens.reserveCapacity(min(bytes.count / 8, 64) + 2)
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else { return false }
        repeat {
            skipSpace()
            let start = index
            guard let byte = next() else { return false }
            switch byte {
            case UInt8(ascii: "{"):
                guard open(.object, from: start) else { return false }
                skipSpace()
                if take(UInt8(ascii: "}")) { _ = close() } else if scanKey() { continue } else { return false }
            case UInt8(ascii: "["):
                guard open(.list, from: start) else { return false }
                skipSpace()
                if take(UInt8(ascii: "]")) { _ = close() } else { continue }
            case UInt8(ascii: "\""): guard scanString() else { return false }
            case UInt8(ascii: "t"): guard scan("rue", .true, from: start) else { return false }
            case UInt8(ascii: "f"): guard scan("alse", .false, from: start) else { return false }
            case UInt8(ascii: "n"): guard scan("ull", .null, from: start) else { return false }
            default:
                guard scanNumber(byte) else { return false }
                note(.number, from: start, to: index)
            }
            guard scanEnds() else { return false }
        } while depth > 0
        return index == bytes.count
    }

    /// Scans what follows a value: closing brackets, then a comma and, in an object, the next key.
    private mutating func scanEnds() -> Bool {
        skipSpace()
        while depth > 0 {
            let inObject = tokens[container].kind == .object
            if take(UInt8(ascii: ",")) {
                skipSpace()
                return !inObject || scanKey()
            }
            guard take(inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")), close() else { return false }
            skipSpace()
        }
        return true
    }

    private mutating func note(_ kind: JSONToken.Kind, isPlain: Bool = false, from start: Int, to end: Int) {
        let isFirst = tokens.isEmpty
        tokens.append(
            JSONToken(
                kind: kind, isPlain: isPlain, start: UInt32(truncatingIfNeeded: start),
                end: UInt32(truncatingIfNeeded: end), next: UInt32(truncatingIfNeeded: tokens.count + 1),
                parent: UInt32(truncatingIfNeeded: container), position: isFirst ? 0 : tokens[container].count))
        if !isFirst { tokens[container].count += 1 }
    }

    private mutating func open(_ kind: JSONToken.Kind, from start: Int) -> Bool {
        guard depth < JSONShape.maximumDepth else { return false }
        depth += 1
        note(kind, from: start, to: start)
        container = tokens.count - 1
        return true
    }

    /// Closes the innermost container, and returns whether it has no key twice.
    private mutating func close() -> Bool {
        let closed = container
        depth -= 1
        tokens[closed].end = UInt32(truncatingIfNeeded: index)
        tokens[closed].next = UInt32(truncatingIfNeeded: tokens.count)
        container = Int(tokens[closed].parent)
        return tokens[closed].kind == .list || JSONKeys(object: closed, tokens: tokens, bytes: bytes).areDistinct
    }

    private mutating func scanKey() -> Bool {
        guard take(UInt8(ascii: "\"")), scanString() else { return false }
        skipSpace()
        return take(UInt8(ascii: ":"))
    }

    /// Scans the rest of a string, including its closing quote.
    private mutating func scanString() -> Bool {
        let start = index
        var isPlain = true
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""):
                note(.string, isPlain: isPlain, from: start, to: index - 1)
                return true
            case UInt8(ascii: "\\"):
                guard scanEscape() else { return false }
                isPlain = false
            case 0..<0x20: return false
            case 0x80...:
                isASCII = false
                isPlain = false
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
            guard let value = next()?.hexadecimalValue else { return nil }
            unit = unit << 4 | UInt16(value)
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

    /// Scans the rest of a word.
    private mutating func scan(_ word: StaticString, _ kind: JSONToken.Kind, from start: Int) -> Bool {
        guard word.withUTF8Buffer({ $0.allSatisfy { take($0) } }) else { return false }
        note(kind, from: start, to: index)
        return true
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

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
