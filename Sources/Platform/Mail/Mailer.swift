/// A letter in plain text.
public struct MailMessage: Sendable, Equatable {
    /// The name that the letter is from; nil for the address alone.
    public var senderName: String?
    /// An address, `local@domain`.
    public var to: String
    public var subject: String
    /// Lines end with a line feed.
    public var text: String

    public init(from senderName: String? = nil, to: String, subject: String, text: String) {
        self.senderName = senderName
        self.to = to
        self.subject = subject
        self.text = text
    }
}

/// Delivers letters, or hands them to somebody who does.
public protocol Mailer: Sendable {
    /// Returns once somebody else is responsible for the letter.
    ///
    /// - Throws: ``MailError`` when nobody is.
    func send(_ message: MailMessage) async throws
}

/// A letter was not taken.
public struct MailError: Error, Equatable, CustomStringConvertible {
    /// For an operator: neither the letter's text nor an address, whatever a mail server repeats of it.
    public let description: String
    /// Whether the same letter may be taken later.
    public let mayPass: Bool

    init(_ description: String, mayPass: Bool) {
        self.description = description.withoutAddresses
        self.mayPass = mayPass
    }
}

extension String {
    /// The same text with `<address>` for each word that has an `@` in it.
    var withoutAddresses: String {
        guard contains("@") else { return self }
        var (result, word) = ("", "")
        func finish() {
            result += word.contains("@") ? "<address>" : word
            word = ""
        }
        for character in self {
            if " \t<>()[],;\"'".contains(character) {
                finish()
                result.append(character)
            } else {
                word.append(character)
            }
        }
        finish()
        return result.replacing("<<address>>", with: "<address>")
    }
}
