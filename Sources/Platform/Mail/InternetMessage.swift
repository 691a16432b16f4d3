import Foundation

/// An e-mail in the form that is transmitted (RFC 5322, RFC 2045): ASCII lines that end with CR LF.
struct InternetMessage {
    let text: String

    /// - Parameters:
    ///   - sender: An address, `local@domain`.
    ///   - seconds: The time of the `Date` header, in Unix seconds.
    ///   - id: A random text for the `Message-ID` of an e-mail that has none of its own.
    /// - Throws: ``MailError`` for an address that cannot be used in an e-mail.
    init(_ message: MailMessage, from sender: String, at seconds: Int64, id: String) throws(MailError) {
        for address in [sender, message.to] { try Self.check(address) }
        let domain = sender.split(separator: "@").last ?? "localhost"
        let isASCII = message.text.utf8.allSatisfy { $0 < 0x80 }
        let lines = message.text.split(separator: "\n", omittingEmptySubsequences: false)
        // A line has at most 998 characters (RFC 5322 §2.1.1).
        let isPlain = isASCII && lines.allSatisfy { $0.utf8.count <= 998 }
        text =
            """
            Date: \(Self.date(seconds))\r
            From: \(Self.phrase(message.senderName))<\(sender)>\r
            To: <\(message.to)>\r
            Subject: \(Self.encoded(message.subject))\r
            Message-ID: <\(message.id ?? id)@\(domain)>\r
            MIME-Version: 1.0\r
            Auto-Submitted: auto-generated\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Transfer-Encoding: \(isPlain ? "7bit" : "base64")\r
            \r

            """
            + (isPlain ? lines.map { $0.filter { $0 != "\r" } }.joined(separator: "\r\n") : Self.base64(message.text))
            + "\r\n"
    }

    /// Throws unless the text is an address without characters that could end it early. The receiving server checks its
    /// parts.
    static func check(_ address: String) throws(MailError) {
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        let isSafe = address.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7F && !"<>()[],;:\\\"".unicodeScalars.contains(scalar)
                && !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control
        }
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), isSafe else {
            throw MailError("no address to send to: \(address.debugDescription)", isTransient: false)
        }
    }

    /// Returns a date such as `Mon, 23 Feb 2026 10:00:00 +0000` (RFC 5322 §3.3).
    private static func date(_ seconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    /// Returns the text of a header, encoded by RFC 2047 where it is not ASCII. A line break becomes a space.
    private static func encoded(_ text: String) -> String {
        let line = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
        if line.utf8.allSatisfy({ $0 < 0x7F }) { return line }
        // An encoded word has at most 75 characters, and characters are not split.
        var words: [String] = [""]
        for character in line {
            if (words[words.count - 1] + String(character)).utf8.count > 42 { words.append("") }
            words[words.count - 1].append(character)
        }
        return words.map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    /// Returns the name before an address (RFC 5322 §3.4), quoted unless it consists of letters and digits.
    private static func phrase(_ name: String?) -> String {
        guard let name, !name.isEmpty else { return "" }
        let text = encoded(name)
        // Encoded words may not be quoted (RFC 2047).
        guard name.utf8.allSatisfy({ $0 < 0x7F }) else { return text + " " }
        if text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == " " }) { return text + " " }
        let escaped = text.replacingOccurrences(of: #"([\\"])"#, with: #"\\$1"#, options: .regularExpression)
        return "\"\(escaped)\" "
    }

    private static func base64(_ text: String) -> String {
        Data(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)
            .base64EncodedString(options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    }
}
