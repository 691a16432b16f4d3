import Foundation
import Testbed
import Testing

#if os(Linux)
/// The short drill of `Tools/check-package`: the service as its unit has it, in a folder with the package's files.
@Suite(.timeLimit(.minutes(30))) struct PackageDrillTests {
    #if DEBUG
    private static let findsAService = true
    #else
    private static let findsAService = false
    #endif

    @Test(
        .enabled(if: StockTools.python != nil, "`make test` installs Python and sets CONCORD_PYTHON"),
        .enabled(if: findsAService, "a release takes no other root for the service; `make check-package` installs one"))
    func theServiceWorksAsItsUnitAndTheDocumentsSay() async throws {
        let run = try await StockTools.run(
            try #require(StockTools.python),
            [StockTools.package + "/Tools/check-package", "--program", ConcordProcess.executable("concord").path])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("The package works as its documents say."), "\(run.output)")
    }
}
#endif
