/// An e-mail in plain text.
public struct MailMessage: Sendable, Equatable {
    /// The name of the sender; nil for the address alone.
    public var senderName: String?
    /// The recipient's address, `local@domain`.
    public var to: String
    public var subject: String
    /// The text; its lines end with a line feed.
    public var text: String
    /// A text for the `Message-ID`, of letters, digits, dots and hyphens. An e-mail that is sent again has the same one, so that the
    /// recipient's mail system can drop it. Nil for a random one.
    public var id: String?

    public init(from senderName: String? = nil, to: String, subject: String, text: String, id: String? = nil) {
        self.senderName = senderName
        self.to = to
        self.subject = subject
        self.text = text
        self.id = id
    }
}

/// Delivers e-mails, or passes them to a server that does.
public protocol Mailer: Sendable {
    /// Sends an e-mail. It returns when another server is responsible for it.
    ///
    /// - Throws: ``MailError`` when no server is.
    func send(_ message: MailMessage) async throws
}

/// The error for an e-mail that was not accepted.
public struct MailError: Error, Equatable, CustomStringConvertible {
    /// The reason, for the operator. It contains neither the e-mail's text nor an address, even when a mail server
    /// repeats them.
    public let description: String
    /// Whether the same e-mail may be accepted later.
    public let isTransient: Bool

    init(_ description: String, isTransient: Bool) {
        self.description = description.withoutAddresses
        self.isTransient = isTransient
    }
}

extension String {
    /// The text with `<address>` for each word that contains an `@`.
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
