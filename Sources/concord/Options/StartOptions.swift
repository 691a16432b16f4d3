import ArgumentParser
import Backend

/// The checks that an operator overrides for one start, when database, files and keys do not belong together.
struct StartOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Accept an API's files as those of its database, although they are marked as another database's. "
                + "For one start. Repeatable.",
            valueName: "name"))
    var adoptStore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Accept an API's keys as those of all its nodes from now on. For one start. Repeatable.",
            valueName: "name"))
    var adoptKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let an API's sweeps remove more than 100 files and a tenth of all files at once. Repeatable.",
            valueName: "name"))
    var allowSweep: [String] = []

    func validate() throws {
        for name in adoptStore + adoptKeys + allowSweep { _ = try ConcordAPI.named(name) }
    }

    var exceptions: StartExceptions {
        var exceptions = StartExceptions()
        exceptions.adoptStore = Set(adoptStore)
        exceptions.adoptKeys = Set(adoptKeys)
        exceptions.allowSweep = Set(allowSweep)
        return exceptions
    }
}
