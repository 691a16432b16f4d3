import Testing

/// Runs `concord check` with these arguments and a generous limit for each scenario, and expects that all scenarios pass.
///
/// - Parameter count: The number of scenarios of the API.
/// - Returns: The report, and the log, which has a line for each scenario.
func passingCheck(
    _ arguments: [String], scenarios count: Int, skipping skipped: Int = 0,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> (output: String, errors: String) {
    let process = try ConcordProcess(["check"] + arguments + ["--timeout", "900"])
    let output = await process.wholeOutput()
    let errors = await process.standardError()
    // The report begins with a list of all clauses, behind which a log may be cut off before it says what failed.
    let parts = output.split(separator: "\n\n", maxSplits: 2)
    #expect(await process.status() == 0, "\(parts.last ?? "")\(errors)", sourceLocation: sourceLocation)
    #expect(
        output.contains("\(count) scenarios: \(count - skipped) passed, 0 failed, \(skipped) skipped, in "),
        sourceLocation: sourceLocation
    )
    return (output, errors)
}
