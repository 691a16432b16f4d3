import Foundation
import Testbed
import Testing

/// schemathesis makes requests from each API's OpenAPI document, and holds the answers of a running server to it. This is a
/// sample; `make schemathesis` sends more.
@Suite(.timeLimit(.minutes(30))) struct SchemathesisTests {
    @Test(.enabled(if: StockTools.python != nil, "`make test` installs schemathesis and sets CONCORD_PYTHON"))
    func theServerIsAsTheDocumentsSay() async throws {
        let run = try await StockTools.run(
            try #require(StockTools.python),
            [
                StockTools.package + "/Tools/schemathesis", "--concord", ConcordProcess.executable("concord").path,
                "--examples", "5", "--seed", "1", "--phases", "examples,fuzzing",
            ])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("schemathesis: as the documents say"))
    }
}
