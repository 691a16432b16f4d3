import Testbed
import Testing

/// `Tools/with-services`, with which `make test` runs the tests, also works on a machine without PostgreSQL.
@Suite(.timeLimit(.minutes(30))) struct WithServicesTests {
    /// Runs a shell command with the tool, and returns its output and errors together.
    private func run(_ command: String) async throws -> (status: Int32, output: String) {
        try await StockTools.run(
            StockTools.package + "/Tools/with-services", ["sh", "-c", command],
            environment: [
                "PATH": "/usr/bin:/bin", "POSTGRESQL_BIN": "/nonexistent", "CONCORD_TEST_POSTGRES": "somebody's",
            ])
    }

    @Test func withoutPostgreSQLOtherTestsRunAndTheRunFailsWithAReason() async throws {
        let passed = try await run("echo \"ran with '$CONCORD_TEST_POSTGRES'\"")
        #expect(passed.status == 1)
        #expect(
            passed.output == """
                ran with ''

                NOT RUN: everything on PostgreSQL. PostgreSQL's server is not installed (apt-get install postgresql).
                All else ran and passed. This run counts as failed.

                """)
        let failed = try await run("exit 7")
        #expect(failed.status == 7)
        #expect(failed.output.hasSuffix("All else ran, and failed too. This run counts as failed.\n"))
    }
}
