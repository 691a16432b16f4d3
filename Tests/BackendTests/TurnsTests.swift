import Backend
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

/// A socket's work runs in order, one piece at a time, even while a piece waits.
@Suite(.timeLimit(.minutes(30))) struct TurnsTests {
    private struct Failed: Error {}

    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Returns the words that were said, up to the last one.
    private func words(
        _ begin: @escaping @Sendable (Turns, @escaping @Sendable (String) -> Void) -> Void, until last: String
    ) async throws -> [String] {
        let (said, continuation) = AsyncStream<String>.makeStream()
        try await loop.submit { [loop] in begin(Turns(on: loop)) { continuation.yield($0) } }.get()
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
            { turns, say in
                turns.take { say("first") }
                turns.take {
                    turns.work {
                        for await _ in released {}
                        return "second"
                    } then: { result in
                        if case .success(let word) = result { say(word) }
                    }
                }
                turns.take { say("third") }
                #expect(turns.count == 1)
                turns.take { say("last") }
                #expect(turns.count == 2)
                say("nothing yet")
                release.finish()
            }, until: "last")
        #expect(words == ["first", "nothing yet", "second", "third", "last"])
    }

    @Test func aFailureDoesNotStopTheTurnsAfterIt() async throws {
        let words = try await words(
            { turns, say in
                turns.take {
                    turns.work {
                        throw Failed()
                    } then: { (result: Result<Void, any Error>) in
                        if case .failure = result { say("failed") }
                    }
                }
                turns.take { say("last") }
            }, until: "last")
        #expect(words == ["failed", "last"])
    }

    @Test func workMayBeContinuedInOneTurn() async throws {
        let words = try await words(
            { turns, say in
                turns.take {
                    turns.work {
                    } then: { _ in
                        say("one")
                        turns.work {
                        } then: { _ in
                            say("two")
                        }
                    }
                }
                turns.take { say("last") }
            }, until: "last")
        #expect(words == ["one", "two", "last"])
    }

    @Test func nothingIsDeliveredAfterTheEnd() async throws {
        let isOver = NIOLockedValueBox(false)
        let (released, release) = AsyncStream<Void>.makeStream()
        let (came, coming) = AsyncStream<Void>.makeStream()
        let late = NIOLockedValueBox<[String]>([])
        try await loop.submit { [loop] in
            let turns = Turns(on: loop)
            turns.take {
                turns.work {
                    for await _ in released {}
                    // This runs on the loop after the result would have been delivered.
                    Task { loop.execute { loop.execute { coming.finish() } } }
                } then: { _ in
                    late.withLockedValue { $0.append("result") }
                }
            }
            turns.take { late.withLockedValue { $0.append("waiting") } }
            turns.end()
            turns.take { late.withLockedValue { $0.append("new") } }
            #expect(turns.count == 0)
            isOver.withLockedValue { $0 = true }
            release.finish()
        }.get()
        for await _ in came {}
        #expect(late.withLockedValue { $0 } == [])
    }
}
