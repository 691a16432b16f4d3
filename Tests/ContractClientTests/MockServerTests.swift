import Contract
import ContractClient
import ContractMocks
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

/// A mock of the sample API with examples of two operations.
private struct SampleMock: APIMock {
    let server: MockServer<Sample>

    init(base: String = "https://sample.example", sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in })
    {
        server = MockServer(
            baseURL: URL(string: base)!, sleep: sleep,
            authorize: { token in if token == nil { throw Problem(.unauthorized, "Who are you?") } },
            accept: { connection in
                guard connection.url.path.hasSuffix("/echo") else { throw SocketRefused(status: 404, body: []) }
                return { connection, text in connection.push(text) }
            })
        server.example(of: Sample.GetThing.self) { .init(name: $0.id) }
        server.example(of: Sample.FindThings.self) { [.init(name: $0.name)] }
        server.example(of: Sample.PutThing.self) { .init(name: $0.name) }
        server.example(of: Sample.DeleteThing.self) { _ in Empty() }
        server.example(of: Sample.AddThing.self) { .init(name: $0.name) }
        server.example(of: Sample.AddFile.self) { .init(name: $0.caption) }
    }

    func client(signedIn: Bool = true, retry: Retry = .never) -> Client<Sample> {
        let session = TokenSession(
            store: MemoryTokenStore(tokens("a")), now: { start }, refresh: { _ in throw SignedOut() })
        return Client(baseURL: baseURL, transport: self, credentials: signedIn ? session : nil, retry: retry)
    }
}

/// The mocks of all APIs share this behaviour.
@Suite(.timeLimit(.minutes(30))) struct MockServerTests {
    private let mock = SampleMock()

    private func refusal(_ body: () async throws -> Void) async throws -> APIError {
        try #require(await #expect(throws: APIError.self) { try await body() })
    }

    // MARK: Reading

    @Test(arguments: ["https://sample.example", "https://sample.example/api/", "http://localhost/a%20b/c"])
    func anOperationIsFoundBelowTheBase(_ base: String) async throws {
        let mock = SampleMock(base: base)
        #expect(try await mock.client().send(Sample.GetThing(id: "a/b ?&é", note: "x=1&y+z")).name == "a/b ?&é")
        let sent = try #require(mock.requests(Sample.GetThing.self).first)
        #expect(sent.note == "x=1&y+z")
    }

    @Test func aLiteralStepWinsOverAField() async throws {
        #expect(try await mock.client().send(Sample.FindThings(name: "n")) == [.init(name: "n")])
        #expect(mock.requests(Sample.GetThing.self).isEmpty)
    }

    @Test func requestsAreKeptInOrder() async throws {
        let client = mock.client()
        try await client.send(Sample.AddThing(name: "a"))
        try await client.send(Sample.DeleteThing(id: 7))
        try await client.send(Sample.AddThing(name: "b"))
        #expect(
            mock.requests.map { type(of: $0).signature } == ["POST /things", "DELETE /things/{id}", "POST /things"])
        #expect(mock.requests(Sample.AddThing.self).map(\.name) == ["a", "b"])
        #expect((mock.requests[1] as? Sample.DeleteThing)?.id == 7)
    }

    @Test(arguments: [#"quo"te.jpg"#, "a%b\r\n.jpg", "é 🎉", ""])
    func aFormIsReadWithItsFile(_ filename: String) async throws {
        let content = Array("\r\n--concord\r\n\r\n\u{0}\u{FF}".utf8)
        let file = Upload(.bytes(content), filename: filename, contentType: "image/jpeg")
        #expect(
            try await mock.client().send(Sample.AddFile(caption: "line\r\nline", file: file)).name == "line\r\nline")
        let sent = try #require(mock.requests(Sample.AddFile.self).first?.file)
        // A mock cleans names as a server does.
        #expect(sent.filename == ["a%b\r\n.jpg": "a%b.jpg", "": "file"][filename] ?? filename)
        #expect(sent.contentType == "image/jpeg")
        guard case .bytes(let bytes) = sent.content else { return #expect(Bool(false), "no bytes") }
        #expect(bytes == content)
    }

    @Test func aFileOnDiskIsReadToo() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("on disk".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let reported = NIOLockedValueBox<[[Int64]]>([])
        let request = Sample.AddFile(caption: "", file: Upload(.file(url), filename: "a"))
        _ = try await mock.client().answer(request) { sent, total in
            reported.withLockedValue { $0.append([sent, total]) }
        }
        let sent = try #require(mock.requests(Sample.AddFile.self).first?.file)
        guard case .bytes(let bytes) = sent.content else { return #expect(Bool(false), "no bytes") }
        #expect(bytes == Array("on disk".utf8))
        let progress = reported.withLockedValue { $0 }
        #expect(progress.map(\.[0]) == [0, progress[0][1]])
    }

    @Test func aFileBeyondTheLimitIsRefusedInTheContractsWords() async throws {
        let file = Upload(.bytes(Array(repeating: 0, count: 10_000_001)), filename: "a")
        let error = try await refusal { try await mock.client().send(Sample.AddFile(caption: "", file: file)) }
        #expect(error.status == .contentTooLarge)
        #expect(error.message == "Large")
    }

    /// A mock refuses requests that no SDK sends in the same way as the server.
    @Test(
        arguments: [
            (.get, "/nowhere", nil, 404, "Not found"), (.put, "/act", nil, 405, "Method not allowed"),
            (.post, "/things", "{", 400, "Invalid JSON"), (.post, "/things", "{}", 400, "name required"),
            (.post, "/files", nil, 400, "No file"), (.get, "/things/1", nil, 401, "Who are you?"),
            (.post, "/act", #"{"name":"a"}"#, 501, "The mock has no answer to POST /act"),
        ] as [(HTTPRequest.Method, String, String?, Int, String)])
    func strangersAreRefused(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?, _ status: Int, _ message: String
    ) async throws {
        var request = TransportRequest(method: method, url: try #require(URL(string: "https://sample.example\(path)")))
        if let body { request.body = .bytes(Array(body.utf8)) }
        if status != 401 { request.headers[.authorization] = "Bearer a" }
        let response = try await mock.send(request, progress: nil)
        #expect(response.status.code == status)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"error":"\#(message)"}"#)
    }

    // MARK: Answers

    @Test func aSetAnswerSeesTheRequest() async throws {
        let client = mock.client()
        mock.on(Sample.GetThing.self) { .init(name: "mine, \($0.id)") }
        #expect(try await client.send(Sample.GetThing(id: "7")).name == "mine, 7")
        mock.reset(Sample.GetThing.self)
        #expect(try await client.send(Sample.GetThing(id: "7")).name == "7")
    }

    @Test func anAnswerMayHaveAStatusAndHeaders() async throws {
        mock.answer(Sample.AddThing.self) { Answer(.ok, .init(name: $0.name), headers: [.idempotentReplayed: "true"]) }
        mock.answer(Sample.Follow.self) { _ in Answer(.found, headers: [.location: "https://elsewhere/x"]) }
        let added = try await mock.client().answer(Sample.AddThing(name: "a"))
        #expect(added.status == .ok)
        #expect(added.headers[.idempotentReplayed] == "true")
        let followed = try await mock.client().answer(Sample.Follow(id: 1))
        #expect(followed.headers[.location] == "https://elsewhere/x")
    }

    @Test func aMocksErrorsAreRefusalsOrNetworkErrors() async throws {
        let client = mock.client()
        mock.on(Sample.GetThing.self) { _ in throw Problem(.notFound, "No such thing") }
        mock.on(Sample.PutThing.self) { _ in throw URLError(.timedOut) }
        let error = try await refusal { try await client.send(Sample.GetThing(id: "7")) }
        #expect(error.status == .notFound)
        #expect(error.message == "No such thing")
        #expect(error.requestID == "mock")
        await #expect(throws: URLError.self) { try await client.send(Sample.PutThing(id: 1, name: "n")) }
    }

    @Test func aMockedRefusalEndsAfterItsNumberOfTimes() async throws {
        let client = mock.client()
        mock.fail(Sample.GetThing.self, with: .serviceUnavailable, "Busy", headers: [.retryAfter: "7"], times: 2)
        for _ in 0..<2 {
            let error = try await refusal { try await client.send(Sample.GetThing(id: "7")) }
            #expect(error.message == "Busy")
            #expect(error.retryAfter == 7)
        }
        #expect(try await client.send(Sample.GetThing(id: "7")).name == "7")
        mock.fail(Sample.GetThing.self, with: .forbidden, "No")
        for _ in 0..<3 {
            #expect(try await refusal { try await client.send(Sample.GetThing(id: "7")) }.status == .forbidden)
        }
        mock.reset(Sample.GetThing.self)
        #expect(try await client.send(Sample.GetThing(id: "7")).name == "7")
        #expect(mock.requests.count == 7)
    }

    @Test func theRealSDKRetriesTransientErrors() async throws {
        let waits = Waits()
        mock.fail(Sample.GetThing.self, with: .serviceUnavailable, "Busy", times: 2)
        #expect(try await mock.client(retry: waits.retry()).send(Sample.GetThing(id: "7")).name == "7")
        #expect(waits.all.count == 2)
        #expect(mock.requests.count == 3)
    }

    // MARK: The network

    @Test func delaysAreWaitedOutByTheGivenSleep() async throws {
        let slept = NIOLockedValueBox<[Duration]>([])
        let mock = SampleMock(sleep: { duration in slept.withLockedValue { $0.append(duration) } })
        let client = mock.client()
        try await client.send(Sample.DeleteThing(id: 1))
        mock.delay = .seconds(2)
        mock.delay(Sample.GetThing.self, by: .seconds(5))
        #expect(mock.delay == .seconds(2))
        try await client.send(Sample.DeleteThing(id: 1))
        try await client.send(Sample.GetThing(id: "1"))
        mock.reset(Sample.GetThing.self)
        try await client.send(Sample.GetThing(id: "1"))
        #expect(slept.withLockedValue { $0 } == [.seconds(2), .seconds(5), .seconds(2)])
    }

    /// A request that is in flight when the network fails, fails as well.
    @Test func withoutANetworkNothingArrives() async throws {
        let client = mock.client()
        mock.offline()
        let error = await #expect(throws: URLError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(error?.code == .notConnectedToInternet)
        #expect(mock.requests.isEmpty)
        await #expect(throws: URLError.self) { try await open(mock) }
        mock.online()
        #expect(try await client.send(Sample.GetThing(id: "1")).name == "1")

        let way = NIOLockedValueBox<SampleMock?>(nil)
        let going = SampleMock(sleep: { _ in way.withLockedValue { $0 }?.offline() })
        way.withLockedValue { $0 = going }
        going.delay = .seconds(1)
        await #expect(throws: URLError.self) { try await going.client().send(Sample.GetThing(id: "1")) }
        #expect(going.requests.count == 1)
        way.withLockedValue { $0 = nil }
    }

    @Test func aDataURLIsItsOwnAnswer() async throws {
        let url = try #require(URL(string: "data:text/plain;base64,SGVsbG8h"))
        let response = try await mock.send(TransportRequest(method: .get, url: url), progress: nil)
        #expect(String(decoding: response.body, as: UTF8.self) == "Hello!")
    }

    @Test func manyTasksMayUseItAtOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask { [mock] in
                    mock.delay(Sample.PutThing.self, by: .seconds(index))
                    let thing = try await mock.client().send(Sample.GetThing(id: "\(index)"))
                    #expect(thing.name == "\(index)")
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(mock.requests(Sample.GetThing.self).map(\.id)).count == 200)
    }

    // MARK: Sockets

    @discardableResult
    private func open(_ mock: SampleMock, _ path: String = "/echo") async throws -> any Socket {
        try await mock.open(try #require(URL(string: "\(mock.baseURL)\(path)")), headers: [:], maximumMessageSize: 100)
    }

    @Test func textsTravelInBothDirectionsInOrder() async throws {
        let socket = try await open(mock)
        for index in 0..<100 { try await socket.send("\(index)") }
        for index in 0..<100 { #expect(try await socket.receive() == .text("\(index)")) }
        // The message is awaited before it arrives.
        let next = Task { try await socket.receive() }
        try await socket.send("next")
        #expect(try await next.value == .text("next"))
        try await socket.ping()
        await socket.close(code: 1000, reason: "done")
        let closed = SocketClosed(code: 1000, reason: "done")
        await #expect(throws: closed) { try await socket.receive() }
        await #expect(throws: closed) { try await socket.send("late") }
        await #expect(throws: closed) { try await socket.ping() }
        await socket.close(code: 1000, reason: "again")
    }

    @Test func aSocketMayBeRefused() async throws {
        let refused = await #expect(throws: SocketRefused.self) { try await open(mock, "/nowhere") }
        #expect(refused?.status == 404)
    }

    @Test func aBrokenConnectionIs1006AfterTheMessagesBeforeIt() async throws {
        let sockets = [try await open(mock), try await open(mock)]
        try await sockets[0].send("before")
        let waiting = Task { [sockets] in try await sockets[1].receive() }
        mock.dropSockets()
        #expect(try await sockets[0].receive() == .text("before"))
        await #expect(throws: SocketClosed(code: 1006)) { try await sockets[0].receive() }
        await #expect(throws: SocketClosed(code: 1006)) { try await waiting.value }
        #expect(try await open(mock) as? MockConnection != nil)
    }

    /// A cancelled wait consumes no message and does not end the connection.
    @Test func aReceiveThatIsCancelledLeavesTheConnectionAsItIs() async throws {
        let socket = try await open(mock)
        for index in 0..<50 {
            let waiting = Task { try await socket.receive() }
            if index % 2 == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        try await socket.send("still there")
        #expect(try await socket.receive() == .text("still there"))
    }
}
