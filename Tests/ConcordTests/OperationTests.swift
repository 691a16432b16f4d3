import ContractClient
import Foundation
import Testbed
import Testing

@testable import concord

/// The server behaves well when something in its environment fails.
@Suite(.timeLimit(.minutes(30)))
struct OperationTests {
    private func get(_ path: String, _ port: Int) async throws -> Testbed.RawConnection.Response {
        let (answer, connection) = try await answered(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port)
        await connection.close()
        return answer
    }

    /// Sends a request over a new connection. On a busy machine the server may time out before the request is sent; the
    /// request is then sent over another connection.
    private func answered(
        _ request: String, _ port: Int
    ) async throws -> (Testbed.RawConnection.Response, Testbed.RawConnection) {
        while true {
            try Task.checkCancellation()
            let connection = try await Testbed.RawConnection(port: port)
            do {
                try await connection.send(request)
                return (try await connection.readResponse(), connection)
            } catch {
                await connection.close()
            }
        }
    }

    // MARK: The log

    /// A log that no process reads does not block writers, and dropped lines are counted.
    @Test func anUnreadLogDoesNotBlockWriters() throws {
        let pipe = Pipe()
        let writer = LogWriter(to: pipe.fileHandleForWriting.fileDescriptor, capacity: 10_000) { "dropped \($0)\n" }
        let line = String(repeating: "x", count: 99) + "\n"
        pipe.fill()
        // This is more than the buffer holds.
        for _ in 1...3000 { writer.write(line) }
        let start = ContinuousClock.now
        writer.flush(within: 0.1)
        #expect(ContinuousClock.now - start >= .milliseconds(100))

        var read = Data()
        while !read.suffix(200).contains(Data("dropped ".utf8)) { read += pipe.fileHandleForReading.availableData }
        let text = String(decoding: read, as: UTF8.self).split(separator: "\n")
        let kept = text.count { $0.hasPrefix("x") }
        let dropped = text.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }.reduce(0, +)
        #expect(kept + dropped == 3000)
        #expect(dropped > 0)
        writer.write("later\n")
        writer.flush(within: 60)
        #expect(String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) == "later\n")
    }

    /// The server answers and stops although no process reads its log.
    @Test func aServerWithAnUnreadLogServes() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let unread = Pipe()
            let process = Process()
            let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("concord")
            process.arguments = ["serve", "messenger", "--data", folder, "--port", "messenger=\(port)"]
            process.environment = ["PATH": "/usr/bin:/bin", "CONCORD_PORT_OPERATOR": "off"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = unread
            let ending = try ProcessEnding(running: process)
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            // Each request logs a line of more than 100 bytes, and a pipe holds 64 KiB. A failed connection is followed
            // by another: the server may not listen yet, and on a busy machine this process may be slower than the
            // server's time-out.
            var answered = 0
            while answered < 1500 {
                guard let connection = try? await Testbed.RawConnection(port: port) else {
                    try Task.checkCancellation()
                    await Task.yield()
                    continue
                }
                do {
                    try await connection.send(String(repeating: request, count: 100))
                    for _ in 1...100 {
                        #expect(try await connection.readResponse().status == 200)
                        answered += 1
                    }
                } catch {
                    try Task.checkCancellation()
                    try #require(process.isRunning)
                }
                await connection.close()
            }
            process.terminate()
            #expect(await ending.status == 0)
            withExtendedLifetime(unread) {}
        }
    }

    /// A phone that loses its network is logged as one line of level info, with status 499.
    @Test func aClientThatDisconnectsIsNoAlarm() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            func count(_ words: String, in log: String) -> Int { log.components(separatedBy: words).count - 1 }
            var (broken, cut) = (0, 0)
            for length in ["Content-Length: 23", "Content-Length: 100000", "Transfer-Encoding: chunked"] {
                let wanted = broken + 1
                while broken < wanted {
                    let head = "POST /auth/refresh HTTP/1.1\r\nHost: a\r\n\(length)\r\n\r\n"
                    let body = length.hasPrefix("T") ? "5\r\n{\"ref" : "{\"ref"
                    let connection = try await Testbed.RawConnection(port: port, sending: head + body)
                    await connection.close()
                    // On a busy machine the request may come so late that the server has cut the connection.
                    try await process.waitForLog { log in
                        let now = (count("status=499", in: log), count("malformed request", in: log))
                        defer { (broken, cut) = now }
                        return now.0 > broken || now.1 > cut
                    }
                }
            }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            let log = await process.standardError()
            for word in [" error ", " warning ", "status=5"] { #expect(!log.contains(word), "\(word)") }
            #expect(count("malformed request", in: log) == cut)
        }
    }

    /// A server that is stopped as soon as it is ready cancels its background work, and logs no warning about it.
    @Test func aServerThatIsStoppedAtOnceWarnsOfNothing() async throws {
        try await withTemporaryFolder { folder in
            for _ in 1...6 {
                var arguments = ["serve", "--data", folder]
                for name in ConcordAPI.names { arguments += ["--port", "\(name)=\(try await reservePort())"] }
                let process = try ConcordProcess(arguments)
                try await process.waitUntilReady()
                process.signal(SIGTERM)
                #expect(await process.status() == 0)
                let log = await process.standardError()
                #expect(!log.lowercased().contains("cancel"), "\(log)")
            }
        }
    }

    /// A balancer that does not wait for the answer of `/ready` says nothing of the server's parts.
    @Test func aCheckWhoseClientLeavesIsNoAlarm() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            for _ in 1...100 {
                let connection = try await Testbed.RawConnection(
                    port: port, sending: "GET /ready HTTP/1.1\r\nHost: a\r\n\r\n")
                await connection.close()
            }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            let log = await process.standardError()
            #expect(!log.contains(" warning "), "\(log)")
        }
    }

    // MARK: Descriptors

    @Test func aServerWithFewDescriptorsRefusesAndRecovers() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try ConcordProcess(
                ["serve", "messenger", "--data", folder, "--port", "messenger=\(port)"], descriptors: 128)
            try await process.waitUntilReady()
            // On a busy machine the server closes silent connections about as fast as they are opened.
            let opening = Task {
                var open: [Testbed.RawConnection] = []
                while !Task.isCancelled {
                    open.append(try await Testbed.RawConnection(port: port))
                    if open.count > 150 { await open.removeFirst().close() }
                }
                for connection in open { await connection.close() }
            }
            try await process.waitForLog { $0.contains("connections refused") }
            opening.cancel()
            try await opening.value
            var isServed = false
            while !isServed { isServed = try await (try? get("/ready", port))?.status == 200 }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            #expect(await process.standardError().contains("limit=64"))
        }
    }

    /// New connections wait in the system's queue while existing ones are served.
    @Test(.enabled(if: ConcordProcess.canLimitDescriptors, "`prlimit` comes with Linux"))
    func aServerWithoutADescriptorLeftPausesAndRecovers() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port)
            let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let (first, early) = try await answered(request, port)
            #expect(first.status == 200)

            try await process.limitDescriptors(toFurther: 8)
            var open: [Testbed.RawConnection] = []
            for _ in 1...32 { open.append(try await Testbed.RawConnection(port: port)) }
            try await process.waitForLog { $0.contains("error no connection can be accepted") }
            try await early.send(request)
            #expect(try await early.readResponse().status == 200)

            for connection in open { await connection.close() }
            try await process.waitForLog { $0.contains("notice connections are accepted again") }
            // The limit is unchanged, but the other connections have closed.
            #expect(try await get("/ready", port).status == 200)
            await early.close()
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    // MARK: Readiness

    /// Messages work without the file store; nothing works without the database.
    @Test func readinessNamesTheMissingPart() async throws {
        try await withTemporaryFolder { folder in
            let (port, other) = (try await reservePort(), try await reservePort())
            let process = try ConcordProcess(
                [
                    "serve", "messenger", "gtsd", "--data", folder, "--port", "messenger=\(port)", "--port",
                    "gtsd=\(other)", "--objects", "s3://bucket?endpoint=http://127.0.0.1:9",
                ], environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"])
            try await process.waitUntilReady()
            let messenger = try await get("/ready", port)
            #expect(messenger.status == 200)
            #expect(messenger.body == #"{"status":"ok","parts":{"database":"ok","files":"unavailable"}}"#)
            #expect(messenger.fields["cache-control"] == "no-store")
            let gtsd = try await get("/ready", other)
            #expect(gtsd.status == 503)
            #expect(gtsd.body.hasPrefix(#"{"error":{"message":"Not ready","requestId":""#))
            #expect(gtsd.body.hasSuffix(#""},"parts":{"database":"ok","files":"unavailable"}}"#))
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
            let log = await process.standardError()
            #expect(log.contains("warning unavailable api=messenger error="))
            #expect(log.contains("part=files"))
        }
    }

    /// A load balancer sees that the server is about to stop while it still serves.
    @Test func aStoppingServerStillServesForAWhile() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port, more: ["--drain-delay", "30"])
            #expect(try await get("/ready", port).status == 200)
            process.signal(SIGTERM)
            var answer = try await get("/ready", port)
            while answer.status == 200 { answer = try await get("/ready", port) }
            #expect(answer.status == 503)
            #expect(answer.body == #"{"error":"Not ready","parts":{"server":"stopping"}}"#)
            #expect(try await get("/health", port).status == 200)
            #expect(await process.status() == 0)
        }
    }

    // MARK: Paths

    /// A slash at the end of a path is ignored for the APIs whose first servers did so.
    @Test func aSlashAtAPathsEnd() async throws {
        try await withTemporaryFolder { folder in
            var arguments = ["serve", "--data", folder]
            var ports: [String: Int] = [:]
            for api in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
                let port = try await reservePort()
                ports[api] = port
                arguments += ["--port", "\(api)=\(port)"]
            }
            let process = try ConcordProcess(arguments)
            try await process.waitUntilReady()
            for (api, path, status) in [
                ("dunbar", "/api/storage/health/", 200), ("dunbar", "/api/storage/health//", 404),
                ("gtsd", "/auth/me/", 401), ("gtsd", "/auth/me//", 404), ("deuce-diary", "/api/auth/user/", 401),
                ("deuce-diary", "/api/auth/user//", 404), ("messenger", "/me/", 404), ("monica", "/api/me/", 401),
                ("monica", "/api/me//", 404),
            ] {
                let answer = try await get(path, try #require(ports[api]))
                #expect(answer.status == status, "\(path)")
                #expect(answer.fields["www-authenticate"] == (status == 401 ? "Bearer" : nil))
            }
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    // MARK: Links

    @Test func brokenLinksAreReportedAtTheStart() async throws {
        try await withTemporaryFolder { folder in
            let words = "set --public-url"
            for (more, isWarned) in [
                (["--host", "0.0.0.0"], true),
                (["--host", "0.0.0.0", "--public-url", "messenger=http://10.0.0.7:8080"], false),
                (["--host", "127.0.0.1"], false),
            ] {
                let process = try await ConcordProcess.serving(
                    data: folder, port: try await reservePort(), more: more + ["--drain-delay", "0"])
                process.signal(SIGTERM)
                #expect(await process.status() == 0)
                #expect(await process.standardError().contains(words) == isWarned)
            }
        }
    }

    @Test func aQuarterOfTheDescriptorsIsForOtherThings() {
        #expect(ConnectionOptions.connections(within: 128) == 64)
        #expect(ConnectionOptions.connections(within: 1024) == 768)
        #expect(ConnectionOptions.connections(within: 1_048_576) == 1_044_480)
        #expect(ConnectionOptions.connections(within: 20) == 16)
    }
}

extension Pipe {
    /// Writes lines to the pipe until it is full.
    fileprivate func fill() {
        let descriptor = fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        for size in [4096, 1] {
            let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: size)
            while write(descriptor, bytes, size) > 0 {}
        }
        _ = fcntl(descriptor, F_SETFL, flags)
    }
}
