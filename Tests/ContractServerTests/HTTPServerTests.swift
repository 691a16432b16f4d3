import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testbed
import Testing

@testable import ContractServer

/// A server starts a task for each request on its connection's event loop, and writes the answer.
@Suite(.timeLimit(.minutes(30)))
struct HTTPServerTests {
    private typealias Responder = HTTPServer.Responder

    /// A server that runs.
    private struct Running {
        let port: Int
        let services: ServiceGroup
        let task: Task<Void, any Error>
    }

    /// Runs a server on a single event loop, and shuts it down gracefully. It hangs if a connection stays open.
    private func run(
        _ responder: @escaping Responder, memory: RequestMemory? = RequestMemory(),
        limits: ConnectionGuard.Limits = .patient,
        _ body: (Running) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = HTTPServer(
            group: group,
            guarding: { ConnectionGuard(limits: limits, memory: memory) { _, _ in ByteBuffer(string: "refused") } },
            responder: responder
        ).server(
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, eventLoopGroup: group, logger: logger)
        var configuration = ServiceGroupConfiguration(services: [.init(service: server)], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(1)
        let services = ServiceGroup(configuration: configuration)
        let task = Task { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        let running = Running(port: await iterator.next() ?? 0, services: services, task: task)
        let result: Result<Void, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        await services.triggerGracefulShutdown()
        _ = try? await task.value
        try await group.shutdownGracefully()
        try result.get()
    }

    private static func text(_ text: String) -> Reply {
        let bytes = ByteBuffer(string: text)
        return Reply(status: .ok, headers: [.contentLength: "\(bytes.readableBytes)"], content: .bytes(bytes))
    }

    /// Answers with the path.
    private static let echo: Responder = { text($0.request.head.target) }

    // MARK: Requests

    /// Thousands of requests arrive in one read. Each begins when the one before has been answered, and not within its
    /// call.
    @Test func manyPipelinedRequestsAreAnsweredInTheirOrder() async throws {
        try await run(Self.echo) { server in
            let connection = try await RawConnection(port: server.port)
            let count = 30_000
            let requests = (1...count).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
            let sent = connection.channel.eventLoop.makePromise(of: Void.self)
            connection.channel.writeAndFlush(ByteBuffer(string: requests), promise: sent)
            for number in 1...count {
                let body = try await connection.readResponse().body
                guard body == "/\(number)" else {
                    Issue.record("\(body) instead of /\(number)")
                    break
                }
            }
            try await sent.futureResult.get()
            await connection.close()
        }
    }

    /// An event loop that was busy reads what a client has sent before it applies the client's deadline.
    @Test func theDelayOfABusyEventLoopIsNotTheClients() async throws {
        var limits = ConnectionGuard.Limits.patient
        limits.keepAlive = .milliseconds(50)
        let gate = DispatchSemaphore(value: 0)
        let (beginnings, begun) = AsyncStream.makeStream(of: Void.self)
        // The loop is busy from the first answer on, with which the time for the next request begins.
        let responder: Responder = { call in
            if call.request.head.target == "/first" {
                call.connection.eventLoop.execute {
                    begun.yield()
                    gate.wait()
                }
            }
            return Self.text(call.request.head.target)
        }
        try await run(responder, limits: limits) { server in
            let connection = try await RawConnection(port: server.port)
            defer { gate.signal() }
            try await connection.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in beginnings { break }
            #expect(try await connection.readResponse().body == "/first")
            try await Task.sleep(for: .milliseconds(400))
            try await connection.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
            gate.signal()
            #expect(try await connection.readResponse().body == "/second")
            await connection.close()
        }
    }

    @Test func aSmallRequestRunsOnItsEventLoop() async throws {
        let hasLoop = { @Sendable in MultiThreadedEventLoopGroup.currentEventLoop != nil }
        let server: Responder = { call in
            let before = hasLoop()
            let body = try await call.request.pieces.collect(upTo: 1000)
            try await Task.sleep(for: .milliseconds(1))
            let inside = await outsideOfEventLoops {
                await Task.yield()
                return hasLoop()
            }
            return Self.text("\(before) \(hasLoop()) \(inside) \(String(buffer: body))")
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
            #expect(try await connection.readResponse().body == "true true false hi")
            // The same when the body arrives behind its head.
            try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
            for byte in "late".utf8 { try await connection.send([byte]) }
            #expect(try await connection.readResponse().body == "true true false late")
            await connection.close()
        }
    }

    @Test func aBodyThatNobodyReadsIsSkipped() async throws {
        try await run(Self.echo, memory: nil) { server in
            let connection = try await RawConnection(port: server.port)
            for body in ["x", String(repeating: "x", count: 500_000)] {
                try await connection.send(
                    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.readResponse().body == "/a")
                #expect(try await connection.readResponse().body == "/b")
            }
            await connection.close()
        }
    }

    /// The client leaves in the middle of its body.
    @Test func aBodyThatIsCutShortIsAnError() async throws {
        let (ends, end) = AsyncStream.makeStream(of: String.self)
        let server: Responder = { call in
            do {
                _ = try await call.request.pieces.collect(upTo: 1000)
                end.yield("complete")
            } catch {
                end.yield("cut short")
            }
            return Self.text("")
        }
        for isReset in [true, false] {
            try await run(server) { server in
                let connection = try await RawConnection(port: server.port)
                try await connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
                if isReset { try await connection.reset() } else { await connection.close() }
                for await how in ends {
                    #expect(how == "cut short")
                    break
                }
            }
        }
    }

    // MARK: Answers

    /// A client that does not read makes the server wait, and then gets all of it.
    @Test func aStreamedAnswerWaitsForItsClient() async throws {
        let (size, count) = (100_000, 1000)
        let written = NIOLockedValueBox(0)
        let server: Responder = { call in
            guard call.request.head.target == "/" else { return Self.text("meanwhile") }
            return Reply(
                status: .ok, headers: [:],
                content: .streamed(
                    ResponseBody { writer in
                        for number in 0..<count {
                            try await writer.write(ByteBuffer(repeating: UInt8(number % 10) + 48, count: size))
                            written.withLockedValue { $0 += 1 }
                        }
                        try await writer.finish(nil)
                    }))
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port, reading: false)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            while written.withLockedValue({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
            // Other requests are answered meanwhile, and show that the loop has run.
            let other = try await RawConnection(port: server.port)
            for _ in 1...100 {
                try await other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await other.readResponse().body == "meanwhile")
            }
            await other.close()
            #expect(written.withLockedValue { $0 } < count / 2)
            try await connection.channel.setOption(.autoRead, value: true).get()
            let answer = await connection.readToEnd()
            #expect(written.withLockedValue { $0 } == count)
            #expect(answer.count > size * count)
            #expect(answer.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        }
    }

    #if os(Linux)
    /// A client that reads fast and then no more would leave megabytes in the kernel, which no budget sees.
    @Test func theKernelKeepsLittleOfAnAnswerThatIsNotRead() async throws {
        let (size, count) = (100_000, 1000)
        let written = NIOLockedValueBox(0)
        let server: Responder = { call in
            guard call.request.head.target == "/" else { return Self.text("meanwhile") }
            return Reply(
                status: .ok, headers: [:],
                content: .streamed(
                    ResponseBody { writer in
                        for _ in 0..<count {
                            try await writer.write(ByteBuffer(repeating: 48, count: size))
                            written.withLockedValue { $0 += 1 }
                        }
                        try await writer.finish(nil)
                    }))
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let first = try await connection.read(20 * size)
            try await connection.channel.setOption(.autoRead, value: false).get()
            let other = try await RawConnection(port: server.port)
            var before = -1
            while case let now = written.withLockedValue({ $0 }), now > before {
                before = now
                for _ in 1...100 {
                    try await other.send("GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try await other.readResponse().body == "meanwhile")
                }
            }
            await other.close()
            var unsent: Int?
            // The table is not read at one moment, and may lack a connection while others come and go.
            for _ in 0..<1000 where unsent == nil {
                unsent = Self.unsent(from: server.port, to: connection.channel.localAddress?.port ?? 0)
            }
            #expect(unsent.map { $0 < 524_288 } == true)
            try await connection.channel.setOption(.autoRead, value: true).get()
            #expect(first.count + (await connection.readToEnd().count) > size * count)
        }
    }

    /// Returns the number of bytes that the kernel has of a server for a client.
    private static func unsent(from server: Int, to client: Int) -> Int? {
        let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
        let table = String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self)
        for line in table.split(separator: "\n") {
            let columns = line.split(separator: " ")
            guard columns.count > 4, columns[1].hasSuffix(String(format: ":%04X", server)),
                columns[2].hasSuffix(String(format: ":%04X", client))
            else { continue }
            return Int(columns[4].prefix { $0 != ":" }, radix: 16)
        }
        return nil
    }
    #endif

    @Test func anAnswerWhoseClientHasGoneEndsWithAnError() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let server: Responder = { _ in
            Reply(
                status: .ok, headers: [:],
                content: .streamed(
                    ResponseBody { writer in
                        do {
                            while true { try await writer.write(ByteBuffer(repeating: 0, count: 100_000)) }
                        } catch {
                            end.yield(true)
                            throw error
                        }
                    }))
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port, reading: false)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try await connection.reset()
            for await _ in ends { break }
        }
    }

    /// The error ends the connection before the end of the chunks, so that the client notices.
    @Test func anAnswerThatFailsInTheMiddleIsCutShort() async throws {
        let server: Responder = { _ in
            Reply(
                status: .ok, headers: [:],
                content: .streamed(
                    ResponseBody { writer in
                        try await writer.write(ByteBuffer(string: "half"))
                        throw BodyCutShort()
                    }))
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(answer.hasSuffix("\r\n4\r\nhalf\r\n"))
        }
    }

    /// The client half-closes the connection behind its request, which must not cost it a large answer.
    @Test(arguments: ["", "Connection: close\r\n"])
    func aClientThatHasEndedGetsAllOfItsAnswer(_ field: String) async throws {
        let text = String(repeating: "x", count: 20_000_000)
        let server: Responder = { _ in Self.text(text) }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port, reading: false)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
            try await connection.finish()
            try await connection.channel.setOption(.autoRead, value: true).get()
            let answer = await connection.readToEnd()
            #expect(answer.count > text.utf8.count)
        }
    }

    @Test(arguments: ["close", "Close", "keep-alive, close"])
    func aClientThatSaysCloseIsToldSoToo(_ option: String) async throws {
        try await run(Self.echo) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send(
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.readResponse()
            #expect(answer.fields["connection"] == "close")
            #expect(answer.fields["date"]?.hasSuffix(" GMT") == true)
            #expect(await connection.readToEnd().isEmpty)
            await connection.close()
        }
    }

    // MARK: The end of the server

    @Test func aRequestInFlightIsAnsweredBeforeTheServerStops() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let server: Responder = { _ in
            begin.yield()
            for await _ in gate { break }
            return Self.text("done")
        }
        try await run(server) { server in
            let idle = try await RawConnection(port: server.port)
            let busy = try await RawConnection(port: server.port)
            try await busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in begun { break }
            await server.services.triggerGracefulShutdown()
            #expect(await idle.readToEnd().isEmpty)
            open.yield()
            let answer = try await busy.readResponse()
            #expect(answer.body == "done")
            #expect(answer.fields["connection"] == "close")
            #expect(await busy.readToEnd().isEmpty)
            try await server.task.value
        }
    }

    /// The server waits for a limited time.
    @Test func aRequestThatTakesTooLongIsCancelledWhenTheServerStops() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let server: Responder = { _ in
            begin.yield()
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                end.yield()
            }
            return Self.text("cancelled")
        }
        try await run(server) { server in
            let connection = try await RawConnection(port: server.port)
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            for await _ in begun { break }
            await server.services.triggerGracefulShutdown()
            for await _ in ends { break }
            #expect(try await connection.readResponse().body == "cancelled")
            await connection.close()
        }
    }
}
