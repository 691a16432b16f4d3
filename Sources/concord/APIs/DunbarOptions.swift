import ArgumentParser

/// The options of Dunbar alone, which browsers use, too, and which sends e-mails.
struct DunbarOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin whose pages may make changes, in addition to the public URL's own. Repeatable. "
                + "[CONCORD_DUNBAR_ORIGINS, separated by commas] (default: none)",
            valueName: "url"))
    var dunbarOrigin: [String] = []

    @OptionGroup var mail: MailOptions

    func settings(_ environment: Environment) throws -> DunbarSettings {
        let server = try mail.server(environment)
        return DunbarSettings(
            origins: environment.list(dunbarOrigin, "CONCORD_DUNBAR_ORIGINS"), mailServer: server,
            sender: try mail.sender(environment))
    }
}
