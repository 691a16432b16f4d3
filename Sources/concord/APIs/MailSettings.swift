import Backend
import Mail

/// The way in which APIs send e-mails to their users.
struct MailSettings: Sendable {
    /// The mail server that accepts e-mails; nil writes them into a folder.
    var server: SMTPServer?
    /// The sender's address of e-mails.
    var sender = MailboxFolder.usualSender

    /// Returns the mailer of an API, and the destination of its e-mails for the log.
    func mailer(on platform: Platform, of api: String) -> (mailer: any Mailer, place: String) {
        guard let server else {
            let folder = MailboxFolder(on: platform, of: api, from: sender)
            return (folder, folder.path)
        }
        let now: @Sendable () -> Int64 = { [time = platform.time] in time.seconds }
        return (SMTPMailer(server, from: sender, group: platform.group, now: now), "\(server.host):\(server.port)")
    }

    /// Returns the mailer of e-mails to the operator.
    ///
    /// - Parameter folder: The data folder, for e-mails that are written to files.
    func operatorsMailer(in folder: String) -> any Mailer {
        let now: @Sendable () -> Int64 = { TimeSource.system.seconds }
        guard let server else { return MailboxFolder(path: "\(folder)/mail/operator", from: sender, now: now) }
        return SMTPMailer(server, from: sender, now: now)
    }
}
