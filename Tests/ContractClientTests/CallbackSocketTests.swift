import ContractClient
import Foundation
import NIOConcurrencyHelpers
import Testing

@Suite("Reply", .timeLimit(.minutes(30))) struct ReplyTests {
    @Test("Only the first call of a callback counts")
    func twice() async throws {
        let reply = Reply<Int>()
        #expect(reply.deliver(.success(1)))
        #expect(!reply.deliver(.failure(URLError(.timedOut))))
        #expect(try await reply.value() == 1)
    }

    @Test("A wait for a callback that never comes ends with its task")
    func never() async throws {
        let reply = Reply<Int>()
        let waiting = Task { try await reply.value() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(!reply.deliver(.success(1)))
    }

    @Test("A shared task continues when one of its callers is cancelled")
    func shared() async throws {
        let reply = Reply<Int>()
        let task = Task { try await reply.value() }
        let (first, second) = (Task { try await task.sharedValue() }, Task { try await task.sharedValue() })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        reply.deliver(.success(7))
        #expect(try await second.value == 7)
    }
}

@Suite("Sockets of callbacks", .timeLimit(.minutes(30))) struct CallbackSocketTests {
    @Test("Sends, receives and closes")
    func whole() async throws {
        let task = FakeTask()
        let socket = CallbackSocket(task)
        task.socket.withLockedValue { $0 = socket }
        try await socket.open()
        try await socket.send("hello")
        #expect(task.sent == ["hello"])
        task.deliver(.success(.text("welcome")))
        #expect(try await socket.receive() == .text("welcome"))
        await socket.close(code: 1000, reason: "")
        task.deliver(.failure(URLError(.networkConnectionLost)))
        await #expect(throws: SocketClosed(code: 1000)) { try await socket.receive() }
    }

    @Test("A ping whose callback comes twice is answered once")
    func pingTwice() async throws {
        let task = FakeTask(pongs: 2)
        let socket = CallbackSocket(task)
        try await socket.ping()
        try await socket.ping()
        #expect(task.pings == 2)
    }

    @Test(
        "Waits whose callbacks never come end when they are cancelled", arguments: ["open", "ping", "receive", "send"])
    func never(what: String) async throws {
        let task = FakeTask(pongs: 0, isDeaf: true)
        let socket = CallbackSocket(task)
        let waiting = Task {
            switch what {
            case "open": try await socket.open()
            case "ping": try await socket.ping()
            case "send": try await socket.send("hello")
            default: _ = try await socket.receive()
            }
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A message that comes after its receiver was cancelled goes to the next")
    func lateMessage() async throws {
        let task = FakeTask()
        let socket = CallbackSocket(task)
        let first = Task { try await socket.receive() }
        await task.asked()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        task.deliver(.success(.text("late")))
        #expect(try await socket.receive() == .text("late"))
        #expect(task.receives == 1)
    }

    @Test("A refused handshake is an error, and the task is ended")
    func refused() async throws {
        let task = FakeTask(isDeaf: true)
        let socket = CallbackSocket(task)
        socket.didEnd(SocketRefused(status: 403, body: []))
        await #expect(throws: SocketRefused.self) { try await socket.open() }
        #expect(task.isCancelled)
    }

    @Test("A close whose peer is gone ends all the same")
    func deafPeer() async throws {
        let task = FakeTask(isDeaf: true)
        let socket = CallbackSocket(task)
        await socket.close(code: 1000, reason: "")
        #expect(task.isCancelled)
    }
}

/// A task of a platform whose callbacks come when the test says.
private final class FakeTask: CallbackTask {
    private struct State {
        var sent: [String] = []
        var pings = 0
        var receives = 0
        var receiver: (@Sendable (Result<SocketMessage, any Error>) -> Void)?
        var results: [Result<SocketMessage, any Error>] = []
        var isCancelled = false
        var frame: SocketClosed?
    }

    let socket = NIOLockedValueBox<CallbackSocket?>(nil)
    private let state = NIOLockedValueBox(State())
    private let asks = AsyncStream<Void>.makeStream()
    private let pongs: Int
    private let isDeaf: Bool

    /// - Parameters:
    ///   - pongs: How often the callback of a ping comes.
    ///   - isDeaf: Whether no other callback ever comes.
    init(pongs: Int = 1, isDeaf: Bool = false) {
        self.pongs = pongs
        self.isDeaf = isDeaf
    }

    var sent: [String] { state.withLockedValue { $0.sent } }
    var pings: Int { state.withLockedValue { $0.pings } }
    var receives: Int { state.withLockedValue { $0.receives } }
    var isCancelled: Bool { state.withLockedValue { $0.isCancelled } }
    var closeFrame: SocketClosed? { state.withLockedValue { $0.frame } }

    /// Returns once a message has been asked for.
    func asked() async { for await _ in asks.stream { return } }

    func deliver(_ result: Result<SocketMessage, any Error>) {
        let receiver = state.withLockedValue { state in
            if state.receiver == nil { state.results.append(result) }
            defer { state.receiver = nil }
            return state.receiver
        }
        receiver?(result)
    }

    func start() { if !isDeaf { socket.withLockedValue { $0 }?.didOpen() } }

    func send(_ text: String, then: @escaping @Sendable ((any Error)?) -> Void) {
        state.withLockedValue { $0.sent.append(text) }
        if !isDeaf { then(nil) }
    }

    func receive(then: @escaping @Sendable (Result<SocketMessage, any Error>) -> Void) {
        let result = state.withLockedValue { state -> Result<SocketMessage, any Error>? in
            state.receives += 1
            if !state.results.isEmpty { return state.results.removeFirst() }
            state.receiver = then
            return nil
        }
        asks.continuation.yield()
        if let result { then(result) }
    }

    func ping(then: @escaping @Sendable ((any Error)?) -> Void) {
        state.withLockedValue { $0.pings += 1 }
        for _ in 0..<pongs { then(nil) }
    }

    func close(code: UInt16, reason: String) {
        guard !isDeaf else { return }
        state.withLockedValue { $0.frame = SocketClosed(code: code, reason: reason) }
        socket.withLockedValue { $0 }?.didEnd(SocketClosed(code: code, reason: reason))
    }

    func cancel() { state.withLockedValue { $0.isCancelled = true } }
}
