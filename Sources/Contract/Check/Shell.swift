import ContractClient
import Foundation
import HTTPTypes

/// Quoting and commands for a POSIX shell.
enum Shell {
    /// A shell variable that an earlier command sets.
    struct Variable: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// Returns any text as one word. The value of a variable is replaced by the variable.
    static func word(_ text: String, _ variables: [Variable] = []) -> String {
        guard !text.isEmpty else { return "''" }
        var word = ""
        var plain = text[...]
        while !plain.isEmpty {
            // The earliest value in the text is replaced first, and of those at the same place the longest.
            let next = variables.compactMap { variable in
                plain.range(of: variable.value, options: .literal).map { (variable: variable, range: $0) }
            }.min { ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound) }
            word += quoted(plain[..<(next?.range.lowerBound ?? plain.endIndex)])
            if let next { word += "\"$\(next.variable.name)\"" }
            plain = next.map { plain[$0.range.upperBound...] } ?? ""
        }
        return word
    }

    private static func quoted(_ text: Substring) -> String {
        if text.isEmpty { return "" }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:,@%+".utf8.contains(byte)
            }
        }
        return isPlain ? String(text) : "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    // MARK: Requests

    /// Returns a command that sends a request again.
    ///
    /// - Parameter options: Options of curl that precede all others.
    static func curl(_ request: TransportRequest, options: String, _ variables: [Variable] = []) -> String {
        var words = ["curl", options]
        if request.method == .head {
            words.append("--head")
        } else if request.method != .get {
            words += ["-X", request.method.rawValue]
        }
        let url = request.url.absoluteString
        if url.contains("/.") { words.append("--path-as-is") }
        if url.contains(where: "[]{}".contains) { words.append("--globoff") }
        words.append(word(url, variables))
        for field in request.headers {
            // This is curl's way to send a field without a value.
            let text = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["-H", word(text, variables)]
        }
        guard let bytes = request.body.bytes else { return words.joined(separator: " ") }
        // Without it curl adds the content type of a form.
        if request.headers[.contentType] == nil { words += ["-H", "Content-Type:"] }
        if let text = inline(bytes) {
            return (words + ["--data-raw", word(text, variables)]).joined(separator: " ")
        }
        let pieces = pieces(of: bytes).map { command(for: $0, variables) }.joined(separator: "; ")
        return "{ \(pieces); } | " + (words + ["--data-binary", "@-"]).joined(separator: " ")
    }

    /// Returns a short text, which can be an argument of the command; nil for other bytes.
    private static func inline(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= 4096, !bytes.contains(0) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return Array(text.utf8) == bytes ? text : nil
    }

    /// A part of a body that one command writes.
    private enum Piece {
        case bytes(ArraySlice<UInt8>)
        /// One character, repeated.
        case repeated(ArraySlice<UInt8>, Int)
    }

    /// Splits a body so that long padding takes a short command.
    private static func pieces(of bytes: [UInt8]) -> [Piece] {
        var (pieces, plain, index): ([Piece], Int, Int) = ([], 0, 0)
        while index < bytes.count {
            guard let (width, count) = run(in: bytes, at: index) else {
                index += 1
                continue
            }
            if plain < index { pieces.append(.bytes(bytes[plain..<index])) }
            pieces.append(.repeated(bytes[index..<index + width], count))
            index += width * count
            plain = index
        }
        if plain < bytes.count { pieces.append(.bytes(bytes[plain...])) }
        return pieces
    }

    /// Returns the length of a run of one character, if it is long enough to be worth a command.
    private static func run(in bytes: [UInt8], at start: Int) -> (width: Int, count: Int)? {
        let width = [UInt8](bytes[start...].prefix(4)).leadingScalarWidth
        guard width > 0 else { return nil }
        let length = bytes.withUnsafeBufferPointer { bytes in
            var end = start + width
            while end < bytes.count, bytes[end] == bytes[end - width] { end += 1 }
            return end - start
        }
        return length >= 512 ? (width, length / width) : nil
    }

    private static func command(for piece: Piece, _ variables: [Variable]) -> String {
        switch piece {
        case .repeated(let unit, let count):
            if unit == [0] { return "head -c \(count) /dev/zero" }
            if let byte = unit.first, unit.count == 1 {
                return "head -c \(count) /dev/zero | tr '\\000' '\\\(octal(byte))'"
            }
            return "printf '\(String(decoding: unit, as: UTF8.self))%.0s' $(seq \(count))"
        case .bytes(let bytes):
            let text = String(decoding: bytes, as: UTF8.self)
            if !bytes.contains(0), text.utf8.elementsEqual(bytes) { return "printf %s \(word(text, variables))" }
            let escaped = bytes.map { byte in
                let isPlain = 0x20..<0x7F ~= byte && !"'\\%".utf8.contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : "\\" + octal(byte)
            }
            return "printf '\(escaped.joined())'"
        }
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension TransportRequest.Body {
    /// The body's bytes; nil without a body.
    fileprivate var bytes: [UInt8]? {
        switch self {
        case .none: nil
        case .bytes(let bytes): bytes
        case .file(let url): (try? Data(contentsOf: url)).map { [UInt8]($0) }
        }
    }
}

extension [UInt8] {
    /// The width in bytes of the UTF-8 character at the beginning; 0 when there is none.
    fileprivate var leadingScalarWidth: Int {
        guard let first = String(decoding: self, as: UTF8.self).unicodeScalars.first else { return 0 }
        let bytes = Array(String(first).utf8)
        return starts(with: bytes) ? bytes.count : 0
    }
}
