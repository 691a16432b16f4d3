import ArgumentParser

/// The place of uploaded files, for commands that may run without a server.
struct ObjectsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The place of uploaded files, as `concord serve` has it. A running server knows its own. "
                + "[CONCORD_OBJECTS] (default: local)",
            valueName: "local|s3://bucket?endpoint=…"))
    var objects: String?

    func validate() throws {
        if let objects, Serve.store(objects) == nil {
            throw ValidationError("--objects must be 'local' or 's3://bucket?endpoint=…', not '\(objects)'")
        }
    }

    func place(_ environment: Environment) throws -> String {
        try environment.value(objects, "CONCORD_OBJECTS", Serve.store, default: "local")
    }
}
