import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import ContractServer

/// The decision on a connection that offers another protocol works on a virtual clock.
@Suite(.timeLimit(.minutes(30))) struct ConnectionUpgradeTests {
    @Test func theServerMayTakeItsTimeToDecideOnAnOffer() throws {
        let decisions = NIOLockedValueBox<[@Sendable (sending ConnectionUpgrade.Decision) -> Void]>([])
        let upgrade = ConnectionUpgrade { _, _, decide in
            decisions.withLockedValue { $0.append(decide) }
            return {}
        }
        let channel = EmbeddedChannel()
        let connection = ConnectionGuard(upgrade: upgrade) { ByteBuffer(string: "Malformed: \($1)") }
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(connection)
        try channel.writeInbound(
            ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .minutes(5))
        #expect(channel.isActive)
        // The time for the next request begins with the answer.
        let decide = try #require(decisions.withLockedValue { $0.first })
        decide(.refuse(.forbidden, [:], ByteBuffer()))
        channel.embeddedEventLoop.advanceTime(by: .seconds(74))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
