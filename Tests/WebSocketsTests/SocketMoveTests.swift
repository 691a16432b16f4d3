import ContractServer
import Logging
import NIOCore
import NIOPosix
import Testbed
import Testing

@testable import WebSockets

/// Half of a server's event loops have its sockets. Connections that begin elsewhere are moved, which neither side notices.
@Suite(.timeLimit(.minutes(30)))
struct SocketMoveTests {
    /// Runs `body` against a server with two event loops, which accepts connections on both in turn.
    private func withServer(connections: ConnectionLimits? = nil, _ body: (TestServer, Events) async throws -> Void)
        async throws
    {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let events = Events()
        try await TestServer.run([.echo(events: events)], on: group, connections: connections) { server in
            try await body(server, events)
        }
        try await group.shutdownGracefully()
    }

    @Test func socketsShareOneOfTwoLoops() async throws {
        try await withServer { server, _ in
            var loops: Set<String> = []
            var connections: [RawConnection] = []
            for _ in 0..<6 {
                let connection = try await RawConnection.upgraded(port: server.port)
                try await connection.send(frame(0x81, "loop"))
                loops.insert(String(decoding: try await connection.readFrame().payload, as: UTF8.self))
                connections.append(connection)
            }
            #expect(loops.count == 1)
            for connection in connections { await connection.close() }
        }
    }

    /// The server receives in order what a client sends with its handshake, or as soon as that is answered.
    @Test(arguments: [0, 1, 3]) func nothingIsLostInAMove(early: Int) async throws {
        try await withServer { server, _ in
            for _ in 0..<40 {
                let connection = try await RawConnection(port: server.port)
                let texts = (0..<5).map { "text \($0)" }
                var bytes = Array(RawConnection.handshake.utf8)
                for text in texts.prefix(early) { bytes += frame(0x81, text) }
                try await connection.send(bytes)
                #expect(try await connection.readResponse().status == 101)
                for text in texts.dropFirst(early) { try await connection.send(frame(0x81, text)) }
                for text in texts { #expect(try await connection.readFrame() == .text(text)) }
                await connection.close()
            }
        }
    }

    /// A server that stops says so to every socket, and waits until they are closed.
    @Test func aServerThatStopsClosesAllSockets() async throws {
        try await withServer { server, _ in
            var connections: [RawConnection] = []
            for _ in 0..<6 { connections.append(try await RawConnection.upgraded(port: server.port)) }
            await server.shutDown()
            for connection in connections {
                #expect(try await connection.readFrame().closeCode == 1001)
                await connection.close()
            }
        }
    }

    /// A client that leaves closes its socket.
    @Test func theEndOfTheClientIsNoticed() async throws {
        try await withServer { server, events in
            for _ in 0..<6 {
                let connection = try await RawConnection.upgraded(port: server.port)
                await events.wait(for: "opened")
                await connection.close()
                await events.wait(for: "closed")
            }
        }
    }

    /// A connection counts until it is closed, wherever it is.
    @Test func aMovedConnectionStillCounts() async throws {
        let limits = ConnectionLimits(total: 4, perAddress: 4, logger: Logger(label: "test")) { _ in false }
        try await withServer(connections: limits) { server, events in
            for _ in 0..<3 {
                var connections: [RawConnection] = []
                for _ in 0..<4 {
                    connections.append(try await RawConnection.upgraded(port: server.port))
                    await events.wait(for: "opened")
                }
                #expect(limits.load.open == 4)
                let another = try await RawConnection(port: server.port)
                try await another.send(RawConnection.handshake)
                #expect(try await another.readResponse().status == 503)
                await another.close()
                for connection in connections {
                    await connection.close()
                    await events.wait(for: "closed")
                }
                while limits.load.open > 0 { try await Task.sleep(for: .milliseconds(5)) }
            }
        }
    }
}
