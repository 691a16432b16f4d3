import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testbed
import Testing

@testable import ContractServer

/// The guard works in a server.
@Suite(.timeLimit(.minutes(30)))
struct ConnectionGuardServerTests {
    /// Runs a server that answers 413 without reading bodies.
    private func run(_ body: (Int) async throws -> Void) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let quick = {
            var limits = ConnectionGuard.Limits()
            limits.lingering = .milliseconds(200)
            return limits
        }()
        let server = HTTPServer(
            group: MultiThreadedEventLoopGroup.ofTests,
            guarding: { ConnectionGuard(limits: quick) { ByteBuffer(string: "malformed \($1)") } },
            responder: { _ in
                Reply(
                    status: .contentTooLarge, headers: [.connection: "close", .contentLength: "3"],
                    content: .bytes(ByteBuffer(string: "413")))
            })
        let app = server.server(
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.ofTests, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [.init(service: app)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = ports.makeAsyncIterator()
            try await body(await iterator.next() ?? 0)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func connect(_ port: Int) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.ofTests)
            .connectTimeout(.minutes(5))
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
    }

    @Test func theAnswerToAGiantBodyIsReadAndTheConnectionEnds() async throws {
        try await run { port in
            try await connect(port).executeThenClose { inbound, outbound in
                try await outbound.write(
                    ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n"))
                let chunk = ByteBuffer(repeating: 0, count: 65_536)
                // This writes as long as the server accepts bytes, so it ends only when the connection does.
                let writing = Task { while true { try await outbound.write(chunk) } }
                var answer = ""
                for try await buffer in inbound { answer += String(buffer: buffer) }
                #expect(answer.hasPrefix("HTTP/1.1 413 "))
                #expect(answer.hasSuffix("\r\n\r\n413"))
                await #expect(throws: (any Error).self) { try await writing.value }
            }
        }
    }

    @Test func otherProtocolsGetTheAPIsAnswer() async throws {
        try await run { port in
            try await connect(port).executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "nonsense\r\n\r\n"))
                var answer = ""
                for try await buffer in inbound { answer += String(buffer: buffer) }
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                let id = answer.components(separatedBy: "\r\n\r\nmalformed ").last
                #expect(id.flatMap(UUID.init(uuidString:)) != nil)
            }
        }
    }
}
