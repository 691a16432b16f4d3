import Backend
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

/// A socket's work runs in order, one piece at a time, even while a piece waits.
@Suite(.timeLimit(.minutes(30))) struct SerialQueueTests {
    private struct Failed: Error {}

    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Returns the words that were said, up to the last one.
    private func words(
        _ begin: @escaping @Sendable (SerialQueue, @escaping @Sendable (String) -> Void) -> Void, until last: String
    ) async throws -> [String] {
        let (said, continuation) = AsyncStream<String>.makeStream()
        try await loop.submit { [loop] in begin(SerialQueue(on: loop)) { continuation.yield($0) } }.get()
        var words: [String] = []
        for await word in said {
            words.append(word)
            if word == last { break }
        }
        return words
    }

    @Test func workElsewhereDelaysTheTurnsAfterIt() async throws {
        let (released, release) = AsyncStream<Void>.makeStream()
        let words = try await words(
            { tasks, say in
                tasks.enqueue { say("first") }
                tasks.enqueue {
                    tasks.work {
                        for await _ in released {}
                        return "second"
                    } then: { result in
                        if case .success(let word) = result { say(word) }
                    }
                }
                tasks.enqueue { say("third") }
                #expect(tasks.count == 1)
                tasks.enqueue { say("last") }
                #expect(tasks.count == 2)
                say("nothing yet")
                release.finish()
            }, until: "last")
        #expect(words == ["first", "nothing yet", "second", "third", "last"])
    }

    @Test func aFailureDoesNotStopTheTurnsAfterIt() async throws {
        let words = try await words(
            { tasks, say in
                tasks.enqueue {
                    tasks.work {
                        throw Failed()
                    } then: { (result: Result<Void, any Error>) in
                        if case .failure = result { say("failed") }
                    }
                }
                tasks.enqueue { say("last") }
            }, until: "last")
        #expect(words == ["failed", "last"])
    }

    @Test func workMayBeContinuedInOneTurn() async throws {
        let words = try await words(
            { tasks, say in
                tasks.enqueue {
                    tasks.work {
                    } then: { _ in
                        say("one")
                        tasks.work {
                        } then: { _ in
                            say("two")
                        }
                    }
                }
                tasks.enqueue { say("last") }
            }, until: "last")
        #expect(words == ["one", "two", "last"])
    }

    @Test func whatAnItemEnqueuesBeginsWhenTheItemHasEnded() async throws {
        let words = try await words(
            { tasks, say in
                tasks.enqueue {
                    tasks.enqueue {
                        tasks.work {
                        } then: { _ in
                            tasks.enqueue { say("last") }
                            say("third")
                        }
                        say("second")
                    }
                    say("first")
                }
            }, until: "last")
        #expect(words == ["first", "second", "third", "last"])
    }

    @Test func anItemEndsWhenWhatItWaitsForHasCome() async throws {
        let words = try await words(
            { tasks, say in
                var come: () -> Void = {}
                tasks.enqueue {
                    tasks.wait(for: { come = $0 }) {
                        tasks.wait(for: { $0() }) {
                            say("at once")
                        }
                        say("after it")
                    }
                }
                tasks.enqueue { say("last") }
                say("nothing yet")
                come()
            }, until: "last")
        #expect(words == ["nothing yet", "at once", "after it", "last"])
    }

    @Test func nothingIsDeliveredAfterTheEnd() async throws {
        let isOver = NIOLockedValueBox(false)
        let (released, release) = AsyncStream<Void>.makeStream()
        let (came, coming) = AsyncStream<Void>.makeStream()
        let late = NIOLockedValueBox<[String]>([])
        try await loop.submit { [loop] in
            let tasks = SerialQueue(on: loop)
            tasks.enqueue {
                tasks.work {
                    for await _ in released {}
                    // This runs on the loop after the result would have been delivered.
                    Task { loop.execute { loop.execute { coming.finish() } } }
                } then: { _ in
                    late.withLockedValue { $0.append("result") }
                }
            }
            tasks.enqueue { late.withLockedValue { $0.append("waiting") } }
            tasks.end()
            tasks.enqueue { late.withLockedValue { $0.append("new") } }
            #expect(tasks.count == 0)
            isOver.withLockedValue { $0 = true }
            release.finish()
        }.get()
        for await _ in came {}
        #expect(late.withLockedValue { $0 } == [])
    }
}
