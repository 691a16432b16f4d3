import Foundation

/// The keys of an object whose end has been scanned.
struct JSONKeys {
    /// The index of the object's token.
    let object: Int
    let tokens: [JSONToken]
    let bytes: UnsafeBufferPointer<UInt8>

    /// The number of keys up to which each is compared with every other one.
    private static let few = 16

    /// Whether no two keys are equal to Swift, once their escapes are read: of two that are, only one could be decoded.
    var areDistinct: Bool {
        let count = Int(tokens[object].count) / 2
        if count < 2 { return true }
        guard count <= Self.few else { return areDistinctTexts(count) }
        var key = object + 1
        while let next = next(after: key) {
            var other = next
            while true {
                if areEqual(tokens[key], tokens[other]) { return false }
                guard let further = self.next(after: other) else { break }
                other = further
            }
            key = next
        }
        return true
    }

    /// Compares many keys in a time that grows with their number, and not with its square.
    private func areDistinctTexts(_ count: Int) -> Bool {
        var texts = Set<String>(minimumCapacity: count)
        var key: Int? = object + 1
        while let index = key {
            guard texts.insert(tokens[index].text(in: bytes)).inserted else { return false }
            key = next(after: index)
        }
        return true
    }

    /// The index of the key behind another one; nil after the last.
    private func next(after key: Int) -> Int? {
        let next = Int(tokens[key + 1].next)
        return next < tokens[object].next ? next : nil
    }

    private func areEqual(_ one: JSONToken, _ other: JSONToken) -> Bool {
        guard one.isPlain, other.isPlain else { return one.text(in: bytes) == other.text(in: bytes) }
        let length = one.end - one.start
        guard length == other.end - other.start else { return false }
        guard length > 0, let start = bytes.baseAddress else { return true }
        return memcmp(start + Int(one.start), start + Int(other.start), Int(length)) == 0
    }
}

extension JSONToken {
    /// Returns the text of a string, or of a key.
    func text(in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let text = UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)])
        return isPlain || !text.contains(UInt8(ascii: "\\"))
            ? String(decoding: text, as: UTF8.self) : Self.unescaped(text)
    }

    private static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: text.count) { result in
            var count = 0
            var rest = text[...]
            func codeUnit() -> UInt32 {
                (0..<4).reduce(0) { unit, _ in unit << 4 | UInt32(rest.removeFirst().hexadecimalValue ?? 0) }
            }
            while let byte = rest.popFirst() {
                var scalar: Unicode.Scalar?
                if byte == UInt8(ascii: "\\") {
                    switch rest.removeFirst() {
                    case UInt8(ascii: "b"): scalar = "\u{8}"
                    case UInt8(ascii: "f"): scalar = "\u{C}"
                    case UInt8(ascii: "n"): scalar = "\n"
                    case UInt8(ascii: "r"): scalar = "\r"
                    case UInt8(ascii: "t"): scalar = "\t"
                    case UInt8(ascii: "u"):
                        var unit = codeUnit()
                        if 0xD800...0xDBFF ~= unit {
                            rest.removeFirst(2)
                            unit = 0x10000 + (unit - 0xD800) << 10 + (codeUnit() - 0xDC00)
                        }
                        scalar = Unicode.Scalar(unit)
                    case let other: scalar = Unicode.Scalar(other)
                    }
                }
                if let scalar {
                    for unit in UTF8.encode(scalar)! {
                        result[count] = unit
                        count += 1
                    }
                } else {
                    result[count] = byte
                    count += 1
                }
            }
            return count
        }
    }
}
