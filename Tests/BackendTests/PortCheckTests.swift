import Foundation
import Testbed
import Testing

@testable import Backend

/// A start looks at its ports before it takes them.
@Suite(.timeLimit(.minutes(30))) struct PortCheckTests {
    /// A load balancer may connect at any time. A connection that the check accepted would never be answered.
    @Test func aConnectionDuringTheCheckEnds() async throws {
        let port = try await reservePort()
        var settings = ServerSettings(folder: "none", environment: [:])
        settings.operatorAddress = .init(host: "127.0.0.1", port: port)
        let checks = Task { [settings] in
            while !Task.isCancelled { #expect(await settings.portProblems(of: []) == []) }
        }
        defer { checks.cancel() }
        for _ in 0..<20 {
            var connection: RawConnection?
            while connection == nil {
                connection = try? await RawConnection(port: port)
                try Task.checkCancellation()
            }
            #expect(await connection?.readToEnd() == [])
            await connection?.close()
        }
        checks.cancel()
        await checks.value
    }
}
