import Contract
import Foundation

/// Reads JSON at a place of a file's bytes, and says at which line one is wrong.
struct JSONFileReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var index: Int
    private let end: Int
    private var depth = 0

    private static let maximumDepth = 64

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        (index, end) = (range.lowerBound, range.upperBound)
    }

    /// Reads a value.
    ///
    /// - Parameter isKept: False when only its form matters; the result is null then.
    mutating func value(isKept: Bool = true) throws -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"):
            var members: [String: JSONValue] = [:]
            try object { name, reader in
                let value = try reader.value(isKept: isKept)
                if isKept { members[name] = value }
            }
            return isKept ? .object(members) : .null
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try list { reader in
                let value = try reader.value(isKept: isKept)
                if isKept { elements.append(value) }
            }
            return isKept ? .list(elements) : .null
        case UInt8(ascii: "\""):
            let text = try string()
            return isKept ? .string(text) : .null
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    /// Whether the next value is an object, or a list.
    mutating func isAt(_ byte: UInt8) -> Bool {
        skipSpace()
        return peek == byte
    }

    /// Reads an object.
    ///
    /// - Parameter member: Reads the value of a member.
    mutating func object(_ member: (_ name: String, inout JSONFileReader) throws -> Void) throws {
        try enter(UInt8(ascii: "{"))
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                let name = try string()
                try require(UInt8(ascii: ":"))
                try member(name, &self)
            } while take(UInt8(ascii: ","))
            try require(UInt8(ascii: "}"))
        }
        depth -= 1
    }

    /// Reads a list.
    ///
    /// - Parameter element: Reads an element.
    mutating func list(_ element: (inout JSONFileReader) throws -> Void) throws {
        try enter(UInt8(ascii: "["))
        if !take(UInt8(ascii: "]")) {
            repeat {
                skipSpace()
                try element(&self)
            } while take(UInt8(ascii: ","))
            try require(UInt8(ascii: "]"))
        }
        depth -= 1
    }

    /// Requires that nothing follows.
    mutating func requireEnd() throws {
        skipSpace()
        guard index == end else { throw fault("there is something behind the end") }
    }

    private mutating func enter(_ byte: UInt8) throws {
        try require(byte)
        depth += 1
        guard depth <= Self.maximumDepth else { throw fault("there are too many levels") }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws -> JSONValue {
        for byte in text.description.utf8 {
            guard peek == byte else { throw fault("this is no JSON") }
            index += 1
        }
        return value
    }

    private mutating func number() throws -> JSONValue {
        guard index < end else { throw fault("the file ends too early") }
        let start = index
        if peek == UInt8(ascii: "-") { index += 1 }
        // A zero stands alone.
        if peek == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if peek == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            index += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw fault("the number is too large") }
        return .number(number)
    }

    private mutating func digits() throws {
        let start = index
        while index < end, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[index] { index += 1 }
        guard index > start else { throw fault("this is no JSON") }
    }

    private mutating func string() throws -> String {
        guard take(UInt8(ascii: "\"")) else { throw fault("a quote is missing") }
        let start = index
        var isPlain = true
        while index < end, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] < 0x20 { throw fault("a text has a control character") }
            if bytes[index] == UInt8(ascii: "\\") {
                isPlain = false
                index += 1
            }
            index += 1
        }
        guard index < end else { throw fault("a text does not end") }
        let text = UnsafeBufferPointer(rebasing: bytes[start..<index])
        index += 1
        if isPlain {
            guard let text = String(validating: text, as: UTF8.self) else { throw fault("a text is not UTF-8") }
            return text
        }
        let quoted = Data(bytes[(start - 1)..<index])
        guard let text = try? JSONDecoder().decode(String.self, from: quoted) else {
            throw fault("a text has an escape that is none")
        }
        return text
    }

    private var peek: UInt8? { index < end ? bytes[index] : nil }

    private mutating func skipSpace() {
        while index < end {
            switch bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func require(_ byte: UInt8) throws {
        guard take(byte) else {
            throw fault(index < end ? "'\(Character(UnicodeScalar(byte)))' is missing" : "the file ends too early")
        }
    }

    private func fault(_ what: String) -> MonicaService.ImportRefused {
        let line = bytes[..<min(index, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return MonicaService.ImportRefused(description: "line \(line): \(what)")
    }
}
