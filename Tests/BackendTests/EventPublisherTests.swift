import Backend
import Database
import NIOConcurrencyHelpers
import Testbed
import Testing

/// The events of a transaction reach every node once the transaction is durable, in the order of their numbers.
@Suite(.timeLimit(.minutes(30))) struct EventPublisherTests {
    private static let schema = Schema("notes", [.init("notes", ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)"])])

    enum News: Codable, Sendable, Equatable {
        case note(Int, String)
        case long(Int)
        case missed
    }

    /// A subscriber to the events of one node.
    private struct Receiver: Sendable {
        let publisher: EventPublisher<String, News>
        let heard: AsyncStream<News>
        let database: Database

        init(_ database: Database) {
            let (heard, continuation) = AsyncStream<News>.makeStream()
            self.heard = heard
            self.database = database
            publisher = EventPublisher(database, subscribersRead: false) {
                continuation.yield($0)
            } gap: { _ in
                continuation.yield(.missed)
            }
        }

        func publish(_ number: Int, _ text: String, in db: Session) throws {
            let place = EventNumber(try db.countEvent(of: "notes"), of: "notes")
            publisher.publish(.note(number, text), short: .long(number), as: place, in: db)
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
                        try receiver.publish(-1, "lost", in: db)
                        throw Refused()
                    }
                    try await database.write { db in
                        try db.run("INSERT INTO notes (text) VALUES (\("\(number)"))")
                        try receiver.publish(number, "x", in: db)
                    }
                    order.withLockedValue { $0.append(number) }
                }
                let expected = order.withLockedValue { $0 }.map { News.note($0, "x") }
                #expect(await receiver.news(50) == expected)
            }
            try await database.close()
        }
    }

    /// An event that exceeds the database's limit is announced as a reference, which other nodes read.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func longEventsAreReadByOtherNodes() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let (first, second) = (try place.open(Self.schema), try place.open(Self.schema))
            let (here, there) = (Receiver(first), Receiver(second))
            let long = String(repeating: "x", count: 10_000)
            try await here.listening {
                try await there.listening {
                    for (number, text) in [(1, "short"), (-2, long), (3, long), (4, "short")] {
                        try await first.write { try here.publish(number, text, in: $0) }
                    }
                    #expect(
                        await here.news(4) == [
                            .note(1, "short"), .note(-2, long), .note(3, long), .note(4, "short"),
                        ])
                    // A reference to deleted data is ignored.
                    #expect(await there.news(3) == [.note(1, "short"), .note(3, "read again"), .note(4, "short")])
                }
            }
            for node in [first, second] { try await node.close() }
        }
    }

    /// Nodes that write at the same time announce in any order. Each delivers all events in that of the commits.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func everyNodeDeliversAllEventsInOneOrder() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let nodes = [try place.open(Self.schema), try place.open(Self.schema), try place.open(Self.schema)]
            let receivers = nodes.map(Receiver.init)
            let order = NIOLockedValueBox<[Int]>([])
            try await receivers[0].listening {
                try await receivers[1].listening {
                    try await receivers[2].listening {
                        // The first event to arrive may be the second one.
                        for receiver in receivers { #expect(receiver.publisher.begin("notes", at: 0)) }
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for number in 0..<200 {
                                let (node, receiver) = (nodes[number % 3], receivers[number % 3])
                                group.addTask {
                                    try? await node.write { db in
                                        try receiver.publish(number, "", in: db)
                                        // A transaction that fails leaves no hole.
                                        if number % 10 == 9 { throw CancellationError() }
                                        // The number's lock is held, so this is the order of the commits.
                                        order.withLockedValue { $0.append(number) }
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                        let expected = order.withLockedValue { $0 }.map { News.note($0, "") }
                        #expect(expected.count == 180)
                        for receiver in receivers { #expect(await receiver.news(180) == expected) }
                    }
                }
            }
            for node in nodes { try await node.close() }
        }
    }

    /// A node of another version announces an event that this version cannot decode: sockets read again what they
    /// missed.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func anUnknownEventIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let database = try place.open(Self.schema)
            let (gaps, gap) = AsyncStream<Void>.makeStream()
            let publisher = Receiver(database).publisher
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
            database.announce(from: .init()) { #"{"event":{"newer":{}}}"# }
            _ = await heard.next()
            try await database.close()
        }
    }
}
