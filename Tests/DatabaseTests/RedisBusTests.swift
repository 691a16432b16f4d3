import Foundation
import NIOPosix
import Redis
import Testbed
import Testing

@testable import Database

/// Nodes of one PostgreSQL database tell each other what happened by a Redis.
@Suite(
    .enabled(
        if: Stack.postgreSQL != nil && TestServers.redis != nil, "`make test` starts PostgreSQL and unpacks Redis"),
    .timeLimit(.minutes(30)))
struct RedisBusTests {
    private let schema = Schema("counters", [.init("counters", ["CREATE TABLE counters (n BIGINT)"])])

    private typealias Heard = AsyncStream<Announcement>.Iterator

    /// Opens the database on a thread that may block.
    private func open(_ place: TestDatabase, _ bus: String?) async throws -> Database {
        try await open(try #require(place.url), bus)
    }

    private func open(_ url: String, _ bus: String?) async throws -> Database {
        let schema = schema
        let kind: AnnouncementBus = try bus.map { .redis(try #require(RedisServer($0))) } ?? .postgreSQL
        return try await NIOThreadPool.singleton.runIfActive {
            try .postgreSQL(url: url, bus: kind, schema: schema, connections: 2, waiting: .patient)
        }
    }

    /// Opens a database of which nodes with another bus have just been closed. Their connections are listed for a moment.
    private func openSoon(_ place: TestDatabase, _ bus: String?) async throws -> Database {
        while true {
            do { return try await open(place, bus) } catch is BusMismatch {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Listens with a database of its own, from the first gap on.
    private func listening(
        to place: TestDatabase, _ bus: String, _ body: (inout Heard, Database) async throws -> Void
    ) async throws {
        let database = try await open(place, bus)
        let (heard, continuation) = AsyncStream<Announcement>.makeStream()
        let listening = Task {
            await database.listen(as: .init()) { if $0 != .round { continuation.yield($0) } }
        }
        var announcements = heard.makeAsyncIterator()
        #expect(await announcements.next() == .gap)
        try await body(&announcements, database)
        listening.cancel()
        await listening.value
        try await database.close()
    }

    @Test func announcementsArriveInOrderAndWhatIsTooLongIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestRedis.serving { redis in
                try await listening(to: place, redis.url) { announcements, _ in
                    let node = try await open(place, redis.url)
                    let announcer = Database.Announcer()
                    let texts = (0..<300).map { "\($0) " + String(repeating: "x", count: $0 * 26 % 7890) }
                    for text in texts { node.announce(from: announcer) { text } }
                    node.announce(from: announcer) { nil }
                    for text in texts { #expect(await announcements.next() == .payload(text)) }
                    #expect(await announcements.next() == .gap)
                    // What waits when a node is closed is sent, and the node is not missed afterwards.
                    for number in 0..<100 { node.announce(from: announcer) { "\(number)" } }
                    try await node.close()
                    for number in 0..<100 { #expect(await announcements.next() == .payload("\(number)")) }
                    try await Task.sleep(for: .seconds(NodePeers.silence + NodePeers.patience + 1))
                    let last = try await open(place, redis.url)
                    last.announce(from: announcer) { "last" }
                    #expect(await announcements.next() == .payload("last"))
                    try await last.close()
                }
            }
        }
    }

    /// Another database on the same server and the same Redis is another server's.
    @Test func databasesThatShareARedisDoNotHearEachOther() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await place.withSecond { url in
                try await TestRedis.serving { redis in
                    try await listening(to: place, redis.url) { announcements, _ in
                        let stranger = try await open(try #require(url), redis.url)
                        stranger.announce(from: .init()) { "of another" }
                        try await stranger.close()
                        let node = try await open(place, redis.url)
                        node.announce(from: .init()) { "own" }
                        #expect(await announcements.next() == .payload("own"))
                        try await node.close()
                    }
                }
            }
        }
    }

    /// While Redis is away, listeners read now and then; what was announced meanwhile arrives afterwards.
    @Test func aRedisThatIsAwayIsSaidAndBridgedByReading() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestRedis.serving { redis in
                try await listening(to: place, redis.url) { announcements, listener in
                    let node = try await open(place, redis.url)
                    let announcer = Database.Announcer()
                    node.announce(from: announcer) { "before" }
                    #expect(await announcements.next() == .payload("before"))
                    try listener.checkBus()
                    await redis.server.kill()
                    node.announce(from: announcer) { "meanwhile" }
                    #expect(await announcements.next() == .gap)
                    #expect(await announcements.next() == .gap)
                    let failure = #expect(throws: DatabaseFailure.self) { try listener.checkBus() }
                    #expect(failure?.description.contains("the event bus \(redis.url)/0: ") == true)
                    _ = try await node.write { try $0.run("INSERT INTO counters VALUES (1)") }
                    try await redis.server.start()
                    while (try? listener.checkBus()) == nil || (try? node.checkBus()) == nil {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                    node.announce(from: announcer) { "after" }
                    var texts: [String] = []
                    while texts.last != "after", let announcement = await announcements.next() {
                        if case .payload(let text) = announcement { texts.append(text) }
                    }
                    // The first may have been sent before the listener was back, which then reads.
                    #expect(texts == ["meanwhile", "after"] || texts == ["after"])
                    try listener.checkBus()
                    try await node.close()
                }
            }
        }
    }

    /// A node dies before it has announced anything.
    @Test func aNodeThatDiesIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestRedis.serving { redis in
                try await listening(to: place, redis.url) { announcements, _ in
                    let (url, bus) = (try #require(place.url), try #require(RedisServer(redis.url)))
                    let node = PostgreSQLNode(namespace: schema.name, isOnRedis: true)
                    try await NIOThreadPool.singleton.runIfActive {
                        let connection = try PostgreSQLConnection(url: url, namespace: "public", name: node.name)
                        let sender = try NodeBus(.redis(bus), node, at: url, connection).sender()
                        try sender.send([NodeNews(.beat, 0, of: node.id), NodeNews(.batch, 1, of: node.id, ["heard"])])
                        try withExtendedLifetime(connection) { try sender.send([NodeNews(.beat, 1, of: node.id)]) }
                    }
                    #expect(await announcements.next() == .payload("heard"))
                    #expect(await announcements.next() == .gap)
                }
            }
        }
    }

    /// A node with another bus would not be heard.
    @Test func nodesWithDifferentBusesRefuseEachOther() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestRedis.serving { redis in
                for (first, second) in [(redis.url, nil), (nil, redis.url)] {
                    let node = try await openSoon(place, first)
                    let refusal = await #expect(throws: BusMismatch.self) { _ = try await open(place, second) }
                    #expect(refusal?.description.contains("give it the same --bus or CONCORD_BUS") == true)
                    try await node.close()
                    for bus in [second, first] {
                        try await openSoon(place, bus).close()
                    }
                }
            }
        }
    }

    @Test func aRedisThatIsAwayAtTheStartIsSaid() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let port = try await reservePort()
            let refusal = await #expect(throws: RedisError.self) {
                _ = try await open(place, "redis://127.0.0.1:\(port)")
            }
            #expect(refusal?.description.hasPrefix("redis://127.0.0.1:\(port)/0 cannot be reached") == true)
        }
    }
}
