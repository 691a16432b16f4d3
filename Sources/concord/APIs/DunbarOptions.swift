import ArgumentParser
import Mail

/// The options of Dunbar alone, which browsers use, too, and which sends e-mails.
struct DunbarOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin whose pages may make changes, in addition to the public URL's own. Repeatable. "
                + "[CONCORD_DUNBAR_ORIGINS, separated by commas] (default: none)",
            valueName: "url"))
    var dunbarOrigin: [String] = []

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

    func settings(_ environment: Environment) throws -> DunbarSettings {
        var server: SMTPServer?
        let url = try environment.value(smtp, "CONCORD_SMTP", { $0 }, default: "")
        if !url.isEmpty {
            // The message does not repeat the URL, which may contain a password.
            guard let known = SMTPServer(url) else {
                throw ValidationError("--smtp must be smtps://user:password@host:465 or smtp://user:password@host:587")
            }
            server = known
        }
        return DunbarSettings(
            origins: environment.list(dunbarOrigin, "CONCORD_DUNBAR_ORIGINS"), mailServer: server,
            sender: try environment.value(mailFrom, "CONCORD_MAIL_FROM", { $0 }, default: "concord@localhost"))
    }
}
