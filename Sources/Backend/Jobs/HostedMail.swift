import Logging
import Mail

extension MailboxFolder {
    /// The sender's address of e-mails where the operator gives none.
    public static var usualSender: String { "concord@localhost" }

    /// Writes the e-mails of an API into a folder of its own in the data folder.
    ///
    /// - Parameter api: The API's name.
    public init(on platform: Platform, of api: String, from sender: String = MailboxFolder.usualSender) {
        let time = platform.time
        self.init(path: "\(platform.folder)/mail/\(api)", from: sender, now: { time.seconds })
    }
}

extension Logger {
    /// Logs that an e-mail was not sent.
    ///
    /// - Parameter email: The e-mail's number in the queue; nil when the queue could not be read.
    public func logUnsentEmail(_ email: Int64?, _ error: any Error, isTriedAgain: Bool) {
        warning(
            "an e-mail was not sent",
            metadata: [
                "email": email.map { .stringConvertible($0) } ?? "unknown", "error": "\(error)",
                "again": .stringConvertible(isTriedAgain),
            ])
    }
}
