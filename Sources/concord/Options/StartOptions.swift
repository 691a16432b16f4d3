import ArgumentParser
import Backend

/// What an operator allows once, where database, files and keys do not fit together.
struct StartOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take the files that an API is started with as its database's own, although they are marked as another's. "
                + "For one start; repeatable.",
            valueName: "name"))
    var adoptStore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Take the keys that an API is started with as those of all its nodes from now on. For one start; repeatable.",
            valueName: "name"))
    var adoptKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let an API's sweeps take more than 100 files and a tenth of them at once. Repeatable.",
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
