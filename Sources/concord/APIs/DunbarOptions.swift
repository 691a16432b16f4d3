import ArgumentParser

/// The options of Dunbar alone, which browsers use, too.
struct DunbarOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin whose pages may make changes, in addition to the public URL's own. Repeatable. "
                + "[CONCORD_DUNBAR_ORIGINS, separated by commas] (default: none)",
            valueName: "url"))
    var dunbarOrigin: [String] = []

    func settings(_ environment: Environment, mail: MailSettings) -> DunbarSettings {
        DunbarSettings(origins: environment.list(dunbarOrigin, "CONCORD_DUNBAR_ORIGINS"), mail: mail)
    }
}
