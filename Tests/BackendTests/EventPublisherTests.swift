import Backend
import Database
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The events of a transaction reach every node once the transaction is durable, in the order of the commits.
@Suite(.timeLimit(.minutes(30))) struct EventPublisherTests {
    private static let schema = Schema("notes", [.init("notes", ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)"])])

    enum News: Codable, Sendable, Equatable {
        case note(Int, String)
        case long(Int)
    }

    /// A subscriber to the events of one node.
    private struct Receiver: Sendable {
        let publisher: EventPublisher<News>
        let heard: AsyncStream<News>
        let database: Database

        init(_ database: Database) {
            let (heard, continuation) = AsyncStream<News>.makeStream()
            self.heard = heard
            self.database = database
            publisher = EventPublisher(database) { continuation.yield($0) }
        }

        /// Subscribes, waits until events arrive, and stays subscribed while the body runs.
        func listening(_ body: () async throws -> Void) async throws {
            let (begun, begin) = AsyncStream<Void>.makeStream()
            let listening = Task {
                await publisher.listen { news in
                    guard case .long(let number) = news else { return news }
                    return number < 0 ? nil : .note(number, "read again")
                } gap: {
                    begin.finish()
                }
            }
            defer { listening.cancel() }
            if database.isShared { for await _ in begun {} }
            try await body()
        }

        func news(_ count: Int) async -> [News] {
            var news: [News] = []
            for await one in heard {
                news.append(one)
                if news.count == count { break }
            }
            return news
        }
    }

    @Test(arguments: Stack.Engine.available)
    func eventsArriveInTheOrderOfTheCommits(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            let receiver = Receiver(database)
            try await receiver.listening {
                let order = NIOLockedValueBox<[Int]>([])
                for number in 0..<50 {
                    struct Refused: Error {}
                    // The events of a failed transaction are not delivered.
                    try? await database.write { db in
                        try receiver.publisher.publish(.note(-1, "lost"), short: .long(-1), in: db)
                        throw Refused()
                    }
                    try await database.write { db in
                        try db.run("INSERT INTO notes (text) VALUES (\("\(number)"))")
                        try receiver.publisher.publish(.note(number, "x"), short: .long(number), in: db)
                    }
                    order.withLockedValue { $0.append(number) }
                }
                let expected = order.withLockedValue { $0 }.map { News.note($0, "x") }
                #expect(await receiver.news(50) == expected)
            }
            try await database.close()
        }
    }

    /// An event that exceeds the database's limit is announced as a reference, which each receiver reads again.
    @Test(arguments: Stack.Engine.available)
    func longEventsAreReadAgain(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = try place.open(Self.schema)
            let receiver = Receiver(database)
            let long = String(repeating: "x", count: 10_000)
            try await receiver.listening {
                for (number, text) in [(1, "short"), (-2, long), (3, long), (4, "short")] {
                    try await database.write {
                        try receiver.publisher.publish(.note(number, text), short: .long(number), in: $0)
                    }
                }
                if database.isShared {
                    // A reference to deleted data is ignored.
                    #expect(await receiver.news(3) == [.note(1, "short"), .note(3, "read again"), .note(4, "short")])
                } else {
                    #expect(
                        await receiver.news(4) == [
                            .note(1, "short"), .note(-2, long), .note(3, long), .note(4, "short"),
                        ])
                }
            }
            try await database.close()
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func everyNodeReceivesEvents() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let (first, second) = (try place.open(Self.schema), try place.open(Self.schema))
            let (here, there) = (Receiver(first), Receiver(second))
            try await here.listening {
                try await there.listening {
                    for number in 0..<10 {
                        try await first.write {
                            try here.publisher.publish(.note(number, ""), short: .long(number), in: $0)
                        }
                    }
                    let expected = (0..<10).map { News.note($0, "") }
                    #expect(await here.news(10) == expected)
                    #expect(await there.news(10) == expected)
                }
            }
            try await first.close()
            try await second.close()
        }
    }

    /// A node of another version announces an event that this version cannot decode: sockets read again what they
    /// missed.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func anUnknownEventIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let database = try place.open(Self.schema)
            let (gaps, gap) = AsyncStream<Void>.makeStream()
            let publisher = EventPublisher<News>(database) { _ in }
            let listening = Task {
                await publisher.listen {
                    $0
                } gap: {
                    gap.yield()
                }
            }
            defer { listening.cancel() }
            var heard = gaps.makeAsyncIterator()
            _ = await heard.next()
            try await database.write { try $0.announce(#"{"newer":{}}"#) }
            _ = await heard.next()
            try await database.close()
        }
    }
}
