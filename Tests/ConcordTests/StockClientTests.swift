import Foundation
import Testbed
import Testing

/// Two users chat with stock clients: Python's `urllib` and PyPI's `websockets`.
@Suite(.timeLimit(.minutes(30))) struct StockClientTests {
    @Test(.enabled(if: StockTools.python != nil, "`make test` installs the clients and sets CONCORD_PYTHON"))
    func aWholeSession() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let session = try await StockTools.run(
                try #require(StockTools.python),
                [StockTools.package + "/Tests/StockClient/session.py", "http://127.0.0.1:\(port)"])
            #expect(session.status == 0, "\(session.output)")
            #expect(session.output.contains("session: as the contract says"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
