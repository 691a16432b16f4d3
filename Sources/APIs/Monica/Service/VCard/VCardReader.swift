import Foundation

/// Reads files of vCards of the versions 4.0 (RFC 6350), 3.0 (RFC 2426), and 2.1 as far as other programs still write
/// it.
struct VCardReader {
    /// The error for a file that does not consist of vCards.
    struct Malformed: Error, CustomStringConvertible {
        let line: Int
        let reason: String
        var description: String { "line \(line): \(reason)" }
    }

    private let isSkipping: Bool
    private(set) var findings = CardFile.Findings()
    /// Whether the file is not UTF-8. Its bytes are then kept as Latin-1, and each property decides how to decode them.
    private var isBytes = false

    /// - Parameter skippingUnreadable: Whether lines that are not part of a vCard are left out, instead of refusing the
    ///   file.
    init(skippingUnreadable: Bool) { isSkipping = skippingUnreadable }

    /// Reads a file.
    ///
    /// - Parameter bytes: UTF-8 or UTF-16 with a byte order mark, or UTF-8 without one. Otherwise each property names
    ///   its character set, or has Windows-1252.
    /// - Throws: ``Malformed``.
    mutating func read(_ bytes: [UInt8]) throws -> [VCard] {
        var cards: [VCard] = []
        var current: VCard?
        // Cards can be nested; an inner card describes something else and is ignored.
        var depth = 0
        for (number, text) in unfold(Self.lines(of: decode(bytes))) {
            if text.allSatisfy(\.isWhitespace) { continue }
            switch text.filter({ !$0.isWhitespace }).uppercased() {
            case "BEGIN:VCARD":
                if isSkipping, let card = current, card.properties.last?.name != "AGENT" {
                    // The end of the previous card is probably missing.
                    try skip(card.line...(number - 1), "BEGIN:VCARD without END:VCARD")
                    depth = 0
                }
                depth += 1
                if depth == 1 { current = VCard(line: number, properties: []) }
            case "END:VCARD":
                guard var card = current else {
                    try skip(number...number, "END:VCARD without BEGIN:VCARD")
                    continue
                }
                depth -= 1
                if depth == 0 {
                    card.applyVersion()
                    cards.append(card)
                    current = nil
                }
            default:
                guard depth > 0 else {
                    try skip(number...number, "expected BEGIN:VCARD, found \"\(text.prefix(40))\"")
                    continue
                }
                guard let property = property(text) else {
                    try skip(number...number, "no property: \"\(text.prefix(40))\"")
                    continue
                }
                if depth == 1, let readable = decoded(property) { current?.properties.append(readable) }
            }
        }
        if let current { try skip(current.line...current.line, "BEGIN:VCARD without END:VCARD") }
        return cards
    }

    /// Leaves lines out, and records consecutive lines as one range.
    private mutating func skip(_ lines: ClosedRange<Int>, _ reason: String) throws {
        guard isSkipping else { throw Malformed(line: lines.lowerBound, reason: reason) }
        if let last = findings.unreadable.indices.last,
            findings.unreadable[last].lines.upperBound + 1 == lines.lowerBound,
            findings.unreadable[last].reason.prefix(12) == reason.prefix(12)
        {
            findings.unreadable[last].lines = findings.unreadable[last].lines.lowerBound...lines.upperBound
        } else {
            findings.unreadable.append(.init(lines: lines, reason: reason))
        }
    }

    // MARK: Lines

    private mutating func decode(_ bytes: [UInt8]) -> String {
        if let text = Charset.decode(byteOrderMarked: bytes) { return text }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        isBytes = true
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// Returns the lines, which end with CRLF, LF or CR, with their numbers.
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
            // NUL cannot be stored in a database, and 0x1A once marked the end of files.
            case "\0", "\u{1A}": break
            default: line.append(scalar)
            }
            wasReturn = scalar == "\r"
        }
        if !line.isEmpty { end() }
        return lines
    }

    /// Joins folded lines: a line that begins with white space continues the one before. A quoted-printable line that
    /// ends with `=` continues in the next line in any case.
    private func unfold(_ lines: [(number: Int, text: String)]) -> [(number: Int, text: String)] {
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
            isSoft = result.last.map { $0.text.hasSuffix("=") && Self.isQuotedPrintable($0.text) } ?? false
        }
        return result
    }

    private static func isQuotedPrintable(_ line: String) -> Bool {
        line.prefix { $0 != ":" }.uppercased().contains("QUOTED-PRINTABLE")
    }

    // MARK: Properties

    /// Parses a line of the form `group.NAME;PARAMETER=value,"quoted":value`.
    private func property(_ line: String) -> VCard.Property? {
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
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        let parameters = head.dropFirst().map { text -> (name: String, values: [String]) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces).uppercased()
            guard parts.count == 2 else { return (name, [String(parts[0])]) }
            return (name, parts[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        return VCard.Property(
            name: name, parameters: parameters, value: String(scalars[scalars.index(after: index)...]))
    }

    /// Decodes the value of a property; nil when its character set cannot be read, which is then among the findings.
    private mutating func decoded(_ property: VCard.Property) -> VCard.Property? {
        var property = property
        let charset = property.parameter("CHARSET").first
        let isQuoted = property.hasParameter("QUOTED-PRINTABLE")
        // The character set says nothing about a value that is in the file's own one.
        guard isQuoted || isBytes || (charset != nil && property.value.utf8.allSatisfy { $0 < 0x80 }) else {
            return property
        }
        let bytes = bytes(of: property.value)
        guard let text = text(of: isQuoted ? Self.quotedPrintable(bytes) : bytes, charset: charset) else { return nil }
        property.value = text
        if isQuoted {
            property.value = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\0", with: "")
        }
        return property
    }

    private func bytes(of value: String) -> [UInt8] {
        isBytes ? value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(value.utf8)
    }

    /// - Parameter charset: The character set that the property names; nil when it names none.
    /// - Returns: The text; nil when the character set is not known, or the bytes are not of it.
    private mutating func text(of bytes: [UInt8], charset: String?) -> String? {
        guard let charset else { return String(validating: bytes, as: UTF8.self) ?? Charset.guess(bytes) }
        if let encoding = Charset.encoding(named: charset), let text = String(data: Data(bytes), encoding: encoding) {
            return text
        }
        findings.unreadableCharsets[charset, default: 0] += 1
        return nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Decodes quoted-printable text: `=C3=A9` are the bytes of a character (RFC 2045 §6.7).
    private static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
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
        return decoded
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
