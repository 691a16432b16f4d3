import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ContractServer

/// Requests under one idempotency key have their turns one after the other.
@Suite(.timeLimit(.minutes(30))) struct KeyTurnTests {
    /// Counts the handlers that run at the same time, for each text of a note.
    private final class Handlers: Sendable {
        private let counts = NIOLockedValueBox<[String: (running: Int, most: Int, all: Int)]>([:])
        let begun: AsyncStream<String>
        private let begin: AsyncStream<String>.Continuation
        private let gate = NIOLockedValueBox<[CheckedContinuation<Void, Never>]?>([])

        init() { (begun, begin) = AsyncStream.makeStream() }

        /// Handles a request. Those for the text "held" wait until the gate is opened.
        func handle(_ text: String) async {
            counts.withLockedValue { counts in
                var count = counts[text] ?? (0, 0, 0)
                count.running += 1
                counts[text] = (count.running, max(count.most, count.running), count.all + 1)
            }
            begin.yield(text)
            if text == "held" {
                await withCheckedContinuation { continuation in
                    let isOpen = gate.withLockedValue { waiting in
                        waiting?.append(continuation)
                        return waiting == nil
                    }
                    if isOpen { continuation.resume() }
                }
            }
            for _ in 0..<20 { await Task.yield() }
            counts.withLockedValue { $0[text]?.running -= 1 }
        }

        func open() {
            let waiting = gate.withLockedValue { waiting in
                defer { waiting = nil }
                return waiting ?? []
            }
            for continuation in waiting { continuation.resume() }
        }

        /// Returns how many ran at the same time at most, and how many in all.
        func count(_ text: String) -> [Int] {
            counts.withLockedValue { counts in counts[text].map { [$0.most, $0.all] } ?? [] }
        }
    }

    private func table(_ handlers: Handlers) -> Router<Sample> {
        var routes = Routes<Sample, String>(
            secrets: { [Array("secret".utf8)] }, name: { $0 }, authenticate: { $0.headers[.authorization] ?? "" })
        routes.on(answering: { (request: Sample.AddNote, _, _) in
            await handlers.handle(request.text)
            if request.text == "refused" { throw Problem(.conflict, "Taken") }
            return Answer(.created, Sample.Echo(text: request.text))
        })
        return Router(routes, options: .init(logger: LogBook().logger))
    }

    private func add(
        _ text: String, to table: Router<Sample>, key: String? = "k", caller: String = "alice"
    ) async throws -> Int {
        var headers: HTTPFields = [.authorization: caller]
        headers[.idempotencyKey] = key
        return try await table.send(
            .post, "/things/1/notes", headers: headers, body: #"{"text":"\#(text)"}"#
        ).status.code
    }

    @Test(arguments: [8, 32])
    func oneRunsAtATime(_ count: Int) async throws {
        let handlers = Handlers()
        let table = table(handlers)
        for text in ["kept", "refused"] {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count { group.addTask { try await add(text, to: table) } }
                for try await status in group { #expect(status == (text == "kept" ? 201 : 409)) }
            }
            #expect(handlers.count(text) == [1, count], "\(text)")
        }
    }

    /// A request waits for those with its own key alone: not for another's, nor for the same key of another caller.
    @Test func othersDoNotWait() async throws {
        let handlers = Handlers()
        let table = table(handlers)
        async let held = add("held", to: table)
        for await text in handlers.begun where text == "held" { break }
        async let repeated = add("held", to: table)
        #expect(try await add("x", to: table, key: "another") == 201)
        #expect(try await add("x", to: table, key: nil) == 201)
        #expect(try await add("x", to: table, caller: "bob") == 201)
        #expect(handlers.count("held") == [1, 1])
        handlers.open()
        #expect(try await [held, repeated] == [201, 201])
        #expect(handlers.count("held") == [1, 2])
    }
}
