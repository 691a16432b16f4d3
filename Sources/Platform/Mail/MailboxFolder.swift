import Foundation

/// Writes e-mails into a folder instead of sending them, one file each (`.eml`), for development.
public struct MailboxFolder: Mailer {
    /// The folder, which is created with the first e-mail.
    public let path: String
    private let sender: String
    /// Returns the time in Unix seconds.
    private let now: @Sendable () -> Int64

    public init(path: String, from sender: String, now: @escaping @Sendable () -> Int64) {
        self.path = path
        self.sender = sender
        self.now = now
    }

    public func send(_ message: MailMessage) async throws {
        let (time, id) = (now(), UUID().uuidString.lowercased())
        let email = try InternetMessage(message, from: sender, at: time, id: id)
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // E-mails contain links that give access to accounts, so only their owner may read them. The rename makes
            // them appear as a whole.
            let (draft, file) = ("\(path)/.\(id)", "\(path)/\(time)-\(id).eml")
            guard
                FileManager.default.createFile(
                    atPath: draft, contents: Data(email.text.utf8), attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            try FileManager.default.moveItem(atPath: draft, toPath: file)
        } catch {
            throw MailError("the mailbox \(path) cannot be written to: \(error)", isTransient: true)
        }
    }
}
