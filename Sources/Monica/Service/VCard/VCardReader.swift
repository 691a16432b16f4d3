import Foundation

/// Reads files of vCards: 4.0 (RFC 6350), 3.0 (RFC 2426), and of 2.1 what other programs still write.
enum VCardReader {
    /// A file that is not vCards.
    struct Malformed: Error, CustomStringConvertible {
        let line: Int
        let reason: String
        var description: String { "line \(line): \(reason)" }
    }

    /// - Parameter bytes: UTF-8, with or without a byte order mark; what is no UTF-8 is taken for Windows-1252.
    /// - Throws: ``Malformed``.
    static func read(_ bytes: [UInt8]) throws -> [VCard] {
        var cards: [VCard] = []
        var current: VCard?
        // Cards may stand in cards: those inside are about something else.
        var depth = 0
        for (number, text) in unfold(lines(of: decode(bytes))) {
            if text.allSatisfy(\.isWhitespace) { continue }
            switch text.trimmingCharacters(in: .whitespaces).uppercased() {
            case "BEGIN:VCARD":
                depth += 1
                if depth == 1 { current = VCard(line: number, properties: []) }
            case "END:VCARD":
                guard let card = current else {
                    throw Malformed(line: number, reason: "END:VCARD without BEGIN:VCARD")
                }
                depth -= 1
                if depth == 0 {
                    cards.append(card)
                    current = nil
                }
            default:
                guard depth > 0 else {
                    throw Malformed(line: number, reason: "expected BEGIN:VCARD, found \"\(text.prefix(40))\"")
                }
                guard let property = property(text) else {
                    throw Malformed(line: number, reason: "no property: \"\(text.prefix(40))\"")
                }
                if depth == 1 { current?.properties.append(property) }
            }
        }
        if let current { throw Malformed(line: current.line, reason: "BEGIN:VCARD without END:VCARD") }
        return cards
    }

    // MARK: Lines

    private static func decode(_ bytes: [UInt8]) -> String {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return String(validating: bytes, as: UTF8.self)
            ?? String(data: Data(bytes), encoding: .windowsCP1252) ?? String(decoding: bytes, as: UTF8.self)
    }

    /// With their numbers; ended by CRLF, LF or CR.
    private static func lines(of text: String) -> [(number: Int, text: String)] {
        var lines: [(number: Int, text: String)] = []
        var line = String.UnicodeScalarView()
        var wasReturn = false
        func end() {
            lines.append((lines.count + 1, String(line)))
            line = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": if !wasReturn { end() }
            case "\r": end()
            // Not in text, and no database takes it.
            case "\0": break
            default: line.append(scalar)
            }
            wasReturn = scalar == "\r"
        }
        if !line.isEmpty { end() }
        return lines
    }

    /// Joins what was folded: a line that begins with white space goes on where the one before it ended. A line of
    /// quoted-printable that ends with `=` goes on in the next, whatever that begins with.
    private static func unfold(_ lines: [(number: Int, text: String)]) -> [(number: Int, text: String)] {
        var result: [(number: Int, text: String)] = []
        var isSoft = false
        for line in lines {
            let isFolded = line.text.unicodeScalars.first == " " || line.text.unicodeScalars.first == "\t"
            if isSoft, let last = result.indices.last {
                result[last].text.removeLast()
                result[last].text += isFolded ? String(line.text.unicodeScalars.dropFirst()) : line.text
            } else if isFolded, let last = result.indices.last {
                result[last].text += String(line.text.unicodeScalars.dropFirst())
            } else {
                result.append(line)
            }
            isSoft = result.last.map { $0.text.hasSuffix("=") && isQuotedPrintable($0.text) } ?? false
        }
        return result
    }

    private static func isQuotedPrintable(_ line: String) -> Bool {
        line.prefix { $0 != ":" }.uppercased().contains("QUOTED-PRINTABLE")
    }

    // MARK: Properties

    /// `group.NAME;PARAMETER=value,"quoted":value`
    private static func property(_ line: String) -> VCard.Property? {
        var head: [String] = [""]
        var isQuoted = false
        var index = line.unicodeScalars.startIndex
        let scalars = line.unicodeScalars
        scan: while true {
            guard index < scalars.endIndex else { return nil }
            switch scalars[index] {
            case "\"": isQuoted.toggle()
            case ":" where !isQuoted: break scan
            case ";" where !isQuoted: head.append("")
            case let scalar: head[head.count - 1].unicodeScalars.append(scalar)
            }
            index = scalars.index(after: index)
        }
        let name = head[0].split(separator: ".").last?.trimmingCharacters(in: .whitespaces).uppercased() ?? ""
        guard !name.isEmpty, name.utf8.allSatisfy(isNameByte) else { return nil }
        let parameters = head.dropFirst().map { text -> (name: String, values: [String]) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces).uppercased()
            guard parts.count == 2 else { return (name, [String(parts[0])]) }
            return (name, parts[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        var property = VCard.Property(
            name: name, parameters: parameters, value: String(scalars[scalars.index(after: index)...]))
        if property.says("QUOTED-PRINTABLE") {
            property.value = quotedPrintable(
                property.value, charset: property.parameter("CHARSET").first ?? "UTF-8")
        }
        return property
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// `=C3=A9` are the bytes of a character (RFC 2045 §6.7). A line break stands for `\n`.
    private static func quotedPrintable(_ text: String, charset: String) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "="), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        let isUTF8 = charset.uppercased().hasPrefix("UTF")
        let result =
            (isUTF8 ? String(validating: decoded, as: UTF8.self) : nil)
            ?? String(data: Data(decoded), encoding: .windowsCP1252) ?? String(decoding: decoded, as: UTF8.self)
        return result.replacingOccurrences(of: "\r\n", with: "\\n").replacingOccurrences(of: "\n", with: "\\n")
            .replacingOccurrences(of: "\0", with: "")
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
