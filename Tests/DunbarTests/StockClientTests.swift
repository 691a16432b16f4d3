import ContractCheck
import Foundation
import Testbed
import Testing

/// Two users work with a stock client: curl, with a cookie jar each.
@Suite(.timeLimit(.minutes(30))) struct DunbarStockClientTests {
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func aWholeSession() async throws {
        for engine in Stack.Engine.available {
            try await withDunbar(on: Stack(engine, .live)) { host in
                try await withTemporaryFolder { folder in
                    for (name, size) in [("a.jpg", 16), ("b.jpg", 32)] {
                        try Data(SampleImage.jpeg(width: size, height: size))
                            .write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
                    }
                    let session = try await StockTools.run(
                        "/bin/bash",
                        [
                            StockTools.package + "/Tests/StockClient/dunbar-session", host.baseURL.absoluteString,
                            folder,
                        ])
                    print("\(engine):\n\(session.output)")
                    #expect(session.status == 0, "\(session.output)")
                    #expect(session.output.contains("session: as the contract says"))
                }
            }
        }
    }
}
