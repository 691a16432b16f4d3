import ContractCheck
import Foundation
import Testbed
import Testing

/// A user works with a stock client: curl.
@Suite(.timeLimit(.minutes(30))) struct GTSDStockClientTests {
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func aWholeSession() async throws {
        for engine in Stack.Engine.available {
            try await withGTSD(on: Stack(engine, .live)) { host in
                try await withTemporaryFolder { folder in
                    try Data(SampleImage.jpeg(width: 16, height: 16))
                        .write(to: URL(fileURLWithPath: folder + "/front.jpg"))
                    let session = try await StockTools.run(
                        "/bin/bash",
                        [StockTools.package + "/Tests/StockClient/gtsd-session", host.baseURL.absoluteString, folder])
                    print("\(engine):\n\(session.output)")
                    #expect(session.status == 0, "\(session.output)")
                    #expect(session.output.contains("session: as the contract says"))
                }
            }
        }
    }
}
