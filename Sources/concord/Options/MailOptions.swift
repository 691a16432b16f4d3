import ArgumentParser
import Backend
import Contract
import Mail

/// The options of e-mails.
struct MailOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The mail server for outgoing e-mails: smtps:// (TLS, port 465) or smtp:// (STARTTLS, port 587). Put a URL "
                + "with a name and a password into the variable. ?tls=none is for a server on this machine, ?ca=FILE "
                + "trusts another authority. [CONCORD_SMTP] (default: none, e-mails are written to files in "
                + "<data>/mail)",
            valueName: "smtps://…"))
    var smtp: String?

    @Option(
        help: ArgumentHelp(
            "The sender's address of e-mails. [CONCORD_MAIL_FROM] (default: concord@localhost)",
            valueName: "address"))
    var mailFrom: String?

    @Option(
        help: ArgumentHelp(
            "The address that receives e-mails about new reports, within a minute and at most once in ten minutes. They say "
                + "how many there are, and quote none. [CONCORD_REPORTS_TO] (default: none)",
            valueName: "address"))
    var reportsTo: String?

    /// Returns the settings of e-mails about new reports; nil for none.
    ///
    /// - Parameter folder: The data folder, for e-mails that are written to files.
    func reportNotices(_ environment: Environment, folder: String) throws -> ReportNoticeSettings? {
        let address = try environment.value(reportsTo, "CONCORD_REPORTS_TO", { $0 }, default: "", shown: "none")
        guard !address.isEmpty else { return nil }
        guard EmailAddress.isValid(address) else {
            throw ValidationError("--reports-to must be an e-mail address, not '\(address)'")
        }
        return ReportNoticeSettings(to: address, mailer: try settings(environment).operatorsMailer(in: folder))
    }

    /// Returns a function that sends a test e-mail to an address, and says which mail server has taken it.
    ///
    /// - Parameter folder: The data folder, for the error of a server without a mail server.
    func testSender(
        _ environment: Environment, folder: String
    ) throws -> @Sendable (_ address: String) async throws -> String {
        let (server, sender) = (try server(environment), try sender(environment))
        return { address in
            guard let server else {
                throw OperatorError(
                    "no mail server is set, so e-mails are files in \(folder)/mail: set CONCORD_SMTP")
            }
            try await SMTPMailer(server, from: sender, now: { TimeSource.system.seconds }).send(
                MailMessage(
                    from: "Concord", to: address, subject: "Test",
                    text: "This is a test of Concord's mail server. Its e-mails come from \(sender).\n"))
            return "\(server.host):\(server.port) has taken the e-mail from \(sender) to \(address)."
        }
    }

    /// Returns the way in which APIs send e-mails.
    func settings(_ environment: Environment) throws -> MailSettings {
        MailSettings(server: try server(environment), sender: try sender(environment))
    }

    /// Returns the mail server; nil when there is none.
    func server(_ environment: Environment) throws -> SMTPServer? {
        let url = try environment.value(smtp, "CONCORD_SMTP", { $0 }, default: "")
        guard !url.isEmpty else { return nil }
        // The message does not repeat the URL, which may contain a password.
        guard let server = SMTPServer(url) else {
            throw ValidationError("--smtp must be smtps://user:password@host:465 or smtp://user:password@host:587")
        }
        return server
    }

    /// Returns the sender's address.
    func sender(_ environment: Environment) throws -> String {
        try environment.value(mailFrom, "CONCORD_MAIL_FROM", { $0 }, default: "concord@localhost")
    }
}
