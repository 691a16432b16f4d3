import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// Nodes of one PostgreSQL database hear what others announce, or hear that they missed something.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct AnnouncementTests {
    private let schema = Schema("counters", [.init("counters", ["CREATE TABLE counters (n BIGINT)"])])

    /// Listens with a database of its own, from the first gap on.
    private func listening(
        to place: TestDatabase, _ body: (inout AsyncStream<Announcement>.Iterator) async throws -> Void
    ) async throws {
        let database = try place.open(schema)
        let (heard, continuation) = AsyncStream<Announcement>.makeStream()
        let listening = Task {
            await database.listen(as: .init()) { if $0 != .round { continuation.yield($0) } }
        }
        var announcements = heard.makeAsyncIterator()
        #expect(await announcements.next() == .gap)
        try await body(&announcements)
        listening.cancel()
        await listening.value
        try await database.close()
    }

    @Test func announcementsOfANodeArriveInOrderWhateverTheirSize() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await listening(to: place) { announcements in
                let node = try place.open(schema)
                let announcer = Database.Announcer()
                let texts = (0..<300).map { "\($0) " + String(repeating: "x", count: $0 * 26 % 7890) }
                for text in texts { node.announce(from: announcer) { text } }
                for text in texts { #expect(await announcements.next() == .payload(text)) }
                try await node.close()
            }
        }
    }

    @Test func whatIsTooLongIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await listening(to: place) { announcements in
                let node = try place.open(schema)
                node.announce(from: .init()) { "before" }
                node.announce(from: .init()) { String(repeating: "x", count: Database.maximumAnnouncement + 1) }
                node.announce(from: .init()) { nil }
                node.announce(from: .init()) { "after" }
                for expected in [.payload("before"), .gap, .gap, .payload("after")] as [Announcement] {
                    #expect(await announcements.next() == expected)
                }
                try await node.close()
            }
        }
    }

    /// Announcements that wait when a node is closed are sent, and the node is not missed afterwards.
    @Test func aNodeThatStopsHasAnnouncedEverything() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await listening(to: place) { announcements in
                for round in 0..<3 {
                    let node = try place.open(schema)
                    for number in 0..<100 { node.announce(from: .init()) { "\(round) \(number)" } }
                    try await node.close()
                    for number in 0..<100 { #expect(await announcements.next() == .payload("\(round) \(number)")) }
                }
                // Nodes that say nothing at all leave in peace, too.
                try await place.open(schema).close()
                try await Task.sleep(for: .seconds(NodePeers.silence + 2))
                let node = try place.open(schema)
                node.announce(from: .init()) { "last" }
                #expect(await announcements.next() == .payload("last"))
                try await node.close()
            }
        }
    }

    /// Listeners read what a dead node had committed last.
    @Test func aNodeThatDiesIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await listening(to: place) { announcements in
                // A connection with the name of a node, which says that it is there, and ends.
                let node = PostgreSQLNode(namespace: schema.name)
                var connection: PostgreSQLConnection? = try PostgreSQLConnection(
                    url: try #require(place.url), namespace: schema.name, name: node.name)
                try connection?.notify([(node.channel(for: .beat), NodeNews(.beat, 0, of: node.id).text)])
                try connection?.notify([
                    (node.channel(for: .batch), NodeNews(.batch, 1, of: node.id, ["heard"]).text)
                ])
                #expect(await announcements.next() == .payload("heard"))
                connection = nil
                #expect(await announcements.next() == .gap)
            }
        }
    }

    /// A node of an older version announces something else.
    @Test func whatCannotBeReadIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await listening(to: place) { announcements in
                let connection = try PostgreSQLConnection(url: try #require(place.url), namespace: schema.name)
                let channel = PostgreSQLNode(namespace: schema.name).channel(for: .batch)
                try connection.notify([(channel, #"{"message":{}}"#)])
                #expect(await announcements.next() == .gap)
            }
        }
    }

    /// The server may still commit what a node had sent before its connection was lost, when the node does not look any
    /// more. The listeners read once it is decided.
    @Test func anUnknownOutcomeIsAGap() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await FaultyProxy.running(to: try #require(place.port)) { proxy in
                try await listening(to: place) { announcements in
                    let node = try place.at(port: proxy.port).open(schema)
                    let announcer = Database.Announcer()
                    let commits = NIOLockedValueBox(0)
                    proxy.setRule { direction, bytes in
                        guard direction == .toServer, bytes.readableBytesView.contains(Array("COMMIT".utf8)) else {
                            return .forward
                        }
                        return commits.withLockedValue {
                            $0 += 1
                            return $0 == 1 ? .forwardAndCut : .forward
                        }
                    }
                    await #expect {
                        try await node.write { db in
                            try db.run("INSERT INTO counters VALUES (1)")
                            db.afterCommit { node.announce(from: announcer) { "never" } }
                        }
                    } throws: { error in
                        if case DatabaseFailure.unknownOutcome = error { true } else { false }
                    }
                    #expect(await announcements.next() == .gap)
                    try await node.close()
                }
            }
        }
    }
}

/// A listener notices what it was not told.
@Suite(.timeLimit(.minutes(30))) struct NodeNewsTests {
    @Test func newsAreTexts() {
        let news = NodeNews(.batch, 7, of: "a1", [#"{"text":"a\nb"}"#, "", "c"])
        #expect(NodeNews(news.text) == news)
        for foreign in ["", "{}", "concord 1 a batch 7", "concord 2 a batch x", "concord 2 a other 7"] {
            #expect(NodeNews(foreign) == nil, "\(foreign)")
        }
    }

    @Test func batchesAreAsFewAsPossibleAndFit() {
        var number: Int64 = 4
        let texts = (0..<100).map { String(repeating: "é", count: $0 * 30) }
        let batches = NodeNews.batches(of: texts, after: &number, node: "a1")
        #expect(batches.flatMap(\.announcements) == texts)
        #expect(batches.map(\.number) == Array(5...number))
        #expect(batches.allSatisfy { $0.text.utf8.count <= NodeNews.maximumSize })
        for (one, next) in zip(batches, batches.dropFirst()) {
            #expect(one.text.utf8.count + 1 + next.announcements[0].utf8.count > NodeNews.maximumSize)
        }
    }

    @Test func aHoleInTheNumbersIsAGap() {
        var peers = NodePeers(own: "me")
        func hear(_ kind: NodeNews.Kind, _ number: Int64, of node: String = "a") -> NodePeers.Heard {
            peers.hear(NodeNews(kind, number, of: node, kind == .batch ? ["\(number)"] : []), at: 0)
        }
        // Nothing is missed of a node that is heard for the first time.
        #expect(hear(.batch, 7) == .announcements(["7"]))
        #expect(hear(.beat, 7) == .nothing)
        #expect(hear(.batch, 8) == .announcements(["8"]))
        // It was sent again.
        #expect(hear(.batch, 8) == .nothing)
        #expect(hear(.batch, 10) == .gap(["10"]))
        #expect(hear(.batch, 9) == .nothing)
        // A heartbeat tells of a batch that was lost.
        #expect(hear(.beat, 11) == .gap([]))
        #expect(hear(.batch, 12) == .announcements(["12"]))
        #expect(hear(.gap, 13) == .gap([]))
        #expect(hear(.end, 14) == .gap([]))
        #expect(hear(.beat, 0, of: "b") == .nothing)
        #expect(hear(.batch, 2, of: "b") == .gap(["2"]))
        #expect(hear(.batch, 1, of: "me") == .nothing)
    }

    /// Its first announcements may be lost, too.
    @Test func aNodeThatComesLaterBeginsToCountAtZero() {
        var peers = NodePeers(own: "me")
        peers.add("early", at: 0)
        peers.endMeeting()
        #expect(peers.hear(NodeNews(.beat, 5, of: "early"), at: 0) == .nothing)
        #expect(peers.hear(NodeNews(.batch, 1, of: "a", ["1"]), at: 1) == .announcements(["1"]))
        #expect(peers.hear(NodeNews(.batch, 2, of: "b", ["2"]), at: 1) == .gap(["2"]))
        #expect(peers.hear(NodeNews(.beat, 1, of: "c"), at: 1) == .gap([]))
        #expect(peers.hear(NodeNews(.beat, 0, of: "d"), at: 1) == .nothing)
        peers.add("late", at: 1)
        #expect(peers.hear(NodeNews(.beat, 3, of: "late"), at: 2) == .gap([]))
    }

    @Test func aSilentNodeWithoutConnectionsIsDead() {
        var peers = NodePeers(own: "me")
        func bury(_ connected: Set<String>, at now: Double) -> Bool { peers.bury(connected: connected, at: now) }
        peers.add("met", at: 0)
        peers.add("me", at: 0)
        _ = peers.hear(NodeNews(.beat, 0, of: "heard"), at: 1)
        #expect(peers.silent(at: 2) == [])
        #expect(peers.silent(at: 2.5) == ["met"])
        #expect(!bury(["met", "me"], at: 2.5))
        #expect(!bury(["met"], at: 2.9))
        #expect(bury([], at: 2.9))
        #expect(!bury([], at: 2.9))
        // A pooler may keep the connections of a dead node.
        #expect(!bury(["heard"], at: 60))
        #expect(bury(["heard"], at: 62))
        // A node that takes leave is not missed.
        _ = peers.hear(NodeNews(.beat, 0, of: "third"), at: 70)
        _ = peers.hear(NodeNews(.end, 0, of: "third"), at: 70)
        #expect(!bury([], at: 80))
    }

    /// A node that lives and is silent may have lost a bus that is apart from the database.
    @Test func whatASilentNodeMayHaveCommittedIsReadAgainAndAgain() {
        var peers = NodePeers(own: "me")
        peers.add("a", at: 0)
        func misses(_ connected: Set<String>, at now: Double) -> Bool { peers.missSome(among: connected, at: now) }
        #expect(!misses(["a"], at: 2.5))
        #expect(misses(["a"], at: 3.5))
        #expect(!misses(["a"], at: 6))
        #expect(misses(["a"], at: 7))
        #expect(!misses([], at: 11))
        _ = peers.hear(NodeNews(.beat, 0, of: "a"), at: 11)
        #expect(!misses(["a"], at: 13.5))
        #expect(misses(["a"], at: 14.5))
    }

    @Test func aRoundIsAHeartbeatOfEveryNode() {
        var peers = NodePeers(own: "me")
        let beat = { (number: Int64, node: String) in NodeNews(.beat, number, of: node) }
        func round() -> Bool { peers.completesRound() }
        peers.add("silent", at: 0)
        #expect(!round())
        _ = peers.hear(beat(0, "me"), at: 0)
        // One that has announced nothing is not waited for.
        _ = peers.hear(beat(0, "new"), at: 0)
        #expect(round())
        #expect(!round())
        _ = peers.hear(NodeNews(.batch, 1, of: "new", ["x"]), at: 0)
        _ = peers.hear(beat(0, "me"), at: 0)
        #expect(!round())
        _ = peers.hear(beat(1, "new"), at: 0)
        #expect(round())
    }
}
