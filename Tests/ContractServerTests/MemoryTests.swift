import Backend
import Contract
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Testbed
import Testing

@testable import ContractServer

/// Connections, bodies and answers have bounds on their memory.
@Suite(.timeLimit(.minutes(30)))
struct MemoryTests {
    // MARK: The budget

    @Test func requestsWithoutRoomWaitInAQueue() async throws {
        let budget = MemoryBudget(limit: 100)
        try await budget.take(60)
        try await budget.take(40)
        let first = Task { try await budget.take(50) }
        while budget.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        budget.remove(20)
        // There is room for the second, but the first waits before it.
        let second = Task { try await budget.take(10) }
        while budget.waiting < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(budget.used == 80)
        #expect(budget.isShort)
        budget.remove(30)
        try await first.value
        #expect(budget.used == 100)
        #expect(budget.waiting == 1)
        budget.remove(10)
        try await second.value
        #expect(budget.used == 100)
        #expect(!budget.isShort)
    }

    /// A request that waits for its turn and not for bytes does not make those that hold some give way.
    @Test func onlySomeRequestsHoldMemoryAtATime() async throws {
        let budget = MemoryBudget(limit: 100, width: 2)
        try await budget.take(1)
        try await budget.take(1)
        let third = Task { try await budget.take(1) }
        while budget.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(!budget.isShort)
        budget.give(1)
        try await third.value
        #expect(budget.used == 2)
    }

    @Test func aRequestLargerThanTheBudgetRunsAlone() async throws {
        let budget = MemoryBudget(limit: 100)
        try await budget.take(500)
        let next = Task { try await budget.take(1) }
        while budget.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        budget.give(500)
        try await next.value
        #expect(budget.used == 1)
    }

    @Test func cancelledWaitsLetOthersContinue() async throws {
        let budget = MemoryBudget(limit: 100)
        try await budget.take(100)
        for _ in 1...100 {
            let waiting = Task { try await budget.take(90) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(budget.used == 100)
        #expect(!budget.isShort)
    }

    @Test func theLargestLatelyIsExpected() {
        let size = ExpectedSize()
        #expect(size.value == 1 << 20)
        size.note(1000)
        #expect(size.value == 1000)
        size.note(50_000)
        #expect(size.value == 50_000)
        for _ in 1...1000 { size.note(1000) }
        #expect(1000...1100 ~= size.value)
    }

    // MARK: Bodies

    private let bodySize = 1_000_000

    private func say(_ text: String) -> String {
        "POST /say HTTP/1.1\r\nHost: a\r\nContent-Length: \(text.utf8.count + 11)\r\n\r\n{\"text\":\"\(text)\"}"
    }

    /// Bodies without room in the budget are not read, and small ones do not wait.
    @Test func bodiesBeyondTheBudgetWait() async throws {
        let memory = RequestMemory(bodies: bodySize)
        try await withServer(memory: memory) { port in
            memory.bodies.add(1)
            let large = try await RawConnection(
                port: port, sending: say(String(repeating: "x", count: bodySize - 11)))
            while memory.bodies.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }

            let small = try await RawConnection(port: port, sending: say("now"))
            #expect(try await small.readResponse().status == 200)
            #expect(memory.bodies.waiting == 1)
            #expect(memory.bodies.used == 1)

            memory.bodies.remove(1)
            let answer = try await large.readResponse()
            #expect(answer.status == 200)
            #expect(answer.body.utf8.count == bodySize)
            for connection in [large, small] { await connection.close() }
            while memory.bodies.used > 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// A client that is slow with its body is disconnected while others wait for the memory that the body takes. Without
    /// others it would have 25 minutes.
    @Test func aSlowBodyMakesRoomForOthers() async throws {
        let memory = RequestMemory(bodies: bodySize + bodySize / 2)
        try await withServer(memory: memory) { port in
            let whole = say(String(repeating: "x", count: bodySize - 11))
            let slow = try await RawConnection(port: port, sending: String(whole.prefix(1000)))
            while memory.bodies.used < bodySize { try await Task.sleep(for: .milliseconds(1)) }
            let other = try await RawConnection(port: port, sending: whole)
            let answer = try await other.readResponse()
            #expect(answer.status == 200)
            #expect(answer.body.utf8.count == bodySize)
            #expect(await slow.readToEnd().isEmpty)
            for connection in [slow, other] { await connection.close() }
            while memory.bodies.used > 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    // MARK: Answers

    /// The connection is reset while its request waits for room, so no answer is made.
    @Test func noAnswerIsMadeForAClientThatHasGone() async throws {
        let (log, memory) = (LogBook(), RequestMemory(answers: 1 << 20))
        let small = "GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n"
        try await withServer(log, memory: memory) { port in
            // The server learns from the first answer that this client's answers are small.
            let first = try await RawConnection(port: port)
            try await first.send(small)
            #expect(try await first.readResponse().status == 200)
            await first.close()
            memory.answers.add(1 << 20)
            let connection = try await RawConnection(port: port)
            try await connection.send("GET /choose?how=huge HTTP/1.1\r\nHost: a\r\n\r\n")
            while memory.answers.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
            try await connection.reset()
            // Requests on other connections show that the server has seen the reset: each loop has run since.
            for _ in 0..<2 * System.coreCount {
                let other = try await RawConnection(port: port)
                try await other.send(small)
                #expect(try await other.readResponse().status == 200)
                await other.close()
            }
            memory.answers.remove(1 << 20)
            while !log.lines.contains(where: { $0.contains("/choose") }) { try await Task.sleep(for: .milliseconds(1)) }
            #expect(log.lines.filter { $0.contains("/choose") }.allSatisfy { $0.contains("status=499") })
            #expect(!log.lines.contains { $0.contains("refused") })
        }
    }

    /// An answer that is ready and waits for its event loop takes its room until then: many of them would take any memory.
    @Test func anAnswerTakesItsRoomUntilItsConnectionCountsIt() async throws {
        let memory = RequestMemory(answers: 3 << 20)
        let router = Sample.table(memory: memory)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/choose?how=huge")
        let request = ReceivedRequest(Request(head: head, body: .init(buffer: ByteBuffer())))
        var reply: Reply? = await router.reply(to: request, peer: Peer(nil))
        #expect(reply?.size.map { $0 > MemoryBudget.small } == true)
        #expect(memory.answers.used == 1 << 20)
        reply = nil
        #expect(memory.answers.used == 0)
    }

    /// A client that asks but does not read keeps one answer waiting, and is disconnected when others need the room.
    @Test func unreadAnswersMakeRoomForOthers() async throws {
        let memory = RequestMemory(answers: 3 << 20)
        try await withServer(memory: memory) { port in
            let ask = "GET /choose?how=huge HTTP/1.1\r\nHost: a\r\n\r\n"
            var silent: [RawConnection] = []
            for _ in 1...8 {
                let connection = try await RawConnection(port: port, reading: false)
                try await connection.send(String(repeating: ask, count: 20))
                silent.append(connection)
            }
            // A client that reads is served nevertheless.
            var served = 0
            while served < 3 {
                try Task.checkCancellation()
                let reader = try await RawConnection(port: port)
                try await reader.send(ask)
                // On a busy machine the reader may be slow, too, and be disconnected: then it connects again.
                if let answer = try? await reader.readResponse() {
                    #expect(answer.body.utf8.count > Sample.hugeSize)
                    served += 1
                }
                await reader.close()
            }
            for connection in silent { await connection.close() }
            while memory.answers.used > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    // MARK: Connections

    @Test func connectionsBeyondTheLimitAreAnswered503() async throws {
        let log = LogBook()
        let limits = ConnectionLimits(total: 3, perAddress: 100, logger: log.logger) { _ in true }
        try await withServer(connections: limits) { port in
            var open: [RawConnection] = []
            for _ in 1...3 {
                let connection = try await RawConnection(port: port)
                try await connection.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.readResponse().status == 200)
                open.append(connection)
            }
            let further = try await RawConnection(port: port)
            try await further.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
            let refusal = try await further.readResponse()
            #expect(refusal.status == 503)
            #expect(refusal.fields["connection"] == "close")
            #expect(refusal.fields["retry-after"] == "5")
            #expect(refusal.body.hasPrefix(#"{"error":"Too many connections","#))
            #expect(await further.readToEnd().isEmpty)
            #expect(log.lines.contains { $0.hasPrefix("warning connections refused ") && $0.contains("count=1") })
            await further.close()
            // Closed connections make room for new ones.
            await open.removeLast().close()
            while true {
                let next = try await RawConnection(port: port)
                try await next.send("GET /things/7 HTTP/1.1\r\nHost: a\r\n\r\n")
                let status = try await next.readResponse().status
                await next.close()
                if status == 200 { break }
            }
            for connection in open { await connection.close() }
        }
    }

    @Test func oneAddressHasAShare() {
        let limits = ConnectionLimits(total: 100, perAddress: 2, logger: LogBook().logger) { $0 == "10.0.0.1" }
        #expect(limits.enter("192.0.2.1") == .admitted)
        #expect(limits.enter("192.0.2.1") == .admitted)
        #expect(limits.enter("192.0.2.1") == .refused)
        #expect(limits.enter("192.0.2.2") == .admitted)
        for _ in 1...10 { #expect(limits.enter("10.0.0.1") == .admitted) }
        limits.leave("192.0.2.1", .admitted)
        #expect(limits.enter("192.0.2.1") == .admitted)
        limits.leave("192.0.2.1", .refused)
        #expect(limits.enter("192.0.2.1") == .refused)
    }

    /// The answers to refused connections take room, too.
    @Test func excessRefusedConnectionsAreDropped() {
        let limits = ConnectionLimits(total: 1, perAddress: 10, logger: LogBook().logger) { _ in true }
        let admissions = (0..<20).map { _ in limits.enter("192.0.2.1") }
        #expect(
            admissions == [.admitted] + Array(repeating: .refused, count: 16) + Array(repeating: .dropped, count: 3))
    }

    private func withServer(
        _ log: LogBook = LogBook(), memory: RequestMemory = RequestMemory(), connections: ConnectionLimits? = nil,
        _ body: (Int) async throws -> Void
    ) async throws {
        let port = try await reservePort()
        let listener = Listener(
            Sample.table(log, memory: memory) { $0 is CancellationError }, sockets: [],
            group: MultiThreadedEventLoopGroup.ofTests, limits: .patient, connections: connections)
        try await serving(listener, port: port) { try await body(port) }
    }
}
