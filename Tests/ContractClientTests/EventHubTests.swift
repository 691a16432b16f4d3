import ContractClient
import Foundation
import NIOConcurrencyHelpers
import Testing

@Suite("Event hub", .timeLimit(.minutes(30))) struct EventHubTests {
    @Test("Gives each consumer the events that it wants, in order")
    func events() async throws {
        let hub = EventHub<Int>()
        hub.produce { try await Task.sleep(for: .seconds(86_400)) }
        let (all, even) = (hub.consumer(), hub.consumer { $0.isMultiple(of: 2) })
        for number in 1...4 { hub.add(number) }
        hub.finish()
        #expect(try await all.next() == 1)
        for number in [2, 4] { #expect(try await even.next() == number) }
        for number in 2...4 { #expect(try await all.next() == number) }
        #expect(try await all.next() == nil)
        #expect(try await even.next() == nil)
        #expect(try await hub.consumer().next() == nil)
    }

    @Test("Runs the producer while there are consumers, and again for later ones")
    func producer() async throws {
        let hub = EventHub<String>()
        let runs = NIOLockedValueBox(0)
        let ends = AsyncStream<Void>.makeStream()
        hub.produce { [weak hub] in
            defer { ends.continuation.yield() }
            let number = runs.withLockedValue { runs in
                runs += 1
                return runs
            }
            hub?.add("run \(number)")
            try await Task.sleep(for: .seconds(86_400))
        }
        var ended = ends.stream.makeAsyncIterator()
        for number in 1...2 {
            let consumer = hub.consumer()
            #expect(try await consumer.next() == "run \(number)")
            let waiting = Task { try await consumer.next() }
            waiting.cancel()
            #expect(try await waiting.value == nil)
            await ended.next()
        }
        // A consumer that nothing refers to any more has gone too.
        var last: EventConsumer? = hub.consumer()
        #expect(try await last?.next() == "run 3")
        last = nil
        await ended.next()
    }

    @Test("Ends every consumer with the producer's error")
    func failure() async throws {
        let hub = EventHub<Int>()
        let both = AsyncStream<Void>.makeStream()
        hub.produce {
            for await _ in both.stream { break }
            throw URLError(.userAuthenticationRequired)
        }
        let (first, second) = (hub.consumer(), hub.consumer())
        both.continuation.yield()
        for consumer in [first, second, hub.consumer()] {
            await #expect(throws: URLError.self) { while try await consumer.next() != nil {} }
        }
    }
}
