import Foundation
import Testbed
import Testing

/// Two people and clients that no one here wrote: Python's `urllib` and PyPI's `websockets`.
@Suite struct StockClientTests {
    static let python = ProcessInfo.processInfo.environment["CONCORD_PYTHON"]

    @Test(.enabled(if: python != nil, "`make test` installs the clients and sets CONCORD_PYTHON"))
    func aWholeSession() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("StockClient/session.py")
            let session = Process()
            session.executableURL = URL(fileURLWithPath: try #require(Self.python))
            session.arguments = [script.path, "http://127.0.0.1:\(port)"]
            let output = Output()
            session.standardOutput = output.end
            session.standardError = output.end
            let ending = try ConcordProcess.Ending(running: session)
            output.begin()
            let transcript = await output.wholeText()
            #expect(await ending.status == 0, "\(transcript)")
            #expect(transcript.contains("session: as the contract says"))
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}
