import Foundation
import Testbed
import Testing

/// The drills of the event bus, with a Redis as the bus. What it loses costs a read, and never a message.
@Suite(
    .serialized,
    .enabled(
        if: Stack.postgreSQL != nil && TestServers.redis != nil, "`make test` starts PostgreSQL and unpacks Redis"),
    .timeLimit(.minutes(Torture.minutes)))
struct RedisDrillTests {
    /// Runs a drill on nodes of one database with a Redis.
    private func drill(
        _ name: String, nodes count: Int, mayLoseConnections: Bool = false, first: AnnouncementProxy? = nil,
        all: Bool = false, redis: TestRedis,
        _ breaking: @escaping @Sendable (Drill, [DrillNode]) async throws -> Void
    ) async throws -> DrillFigures {
        var figures = DrillFigures()
        try await withTestDatabase(on: .postgreSQL) { place in
            let more = (0..<count).map { index in
                ["CONCORD_BUS": first.flatMap { all || index == 0 ? redis.at($0) : nil } ?? redis.url]
            }
            let databases = Array(repeating: place.url, count: count)
            try await DrillNode.serving(count, in: place.folder, databases: databases, more: more) { nodes in
                figures = try await Drill.run(name, at: nodes, mayLoseConnections: mayLoseConnections) { drill in
                    try await breaking(drill, nodes)
                }
            }
        }
        figures.expectNothingLost()
        figures.expectNothingMissed()
        return figures
    }

    @Test func redisIsKilledAndStarted() async throws {
        try await TestRedis.serving { redis in
            let figures = try await drill("Redis is killed and started", nodes: 2, redis: redis) { drill, _ in
                for _ in 0..<Drill.rounds {
                    try await drill.acknowledged()
                    await redis.server.kill()
                    // Messages go on without it.
                    try await drill.acknowledged()
                    try await redis.server.start()
                }
                try await drill.acknowledged()
            }
            #expect(figures.unavailable == 0)
            #expect(figures.inDoubt == 0)
            figures.expectNoConnectionLost()
        }
    }

    @Test func theConnectionThatListensIsCut() async throws {
        try await TestRedis.serving { redis in
            let figures = try await drill("the connections to Redis are cut", nodes: 2, redis: redis) { drill, _ in
                for round in 0..<Drill.rounds {
                    try await drill.acknowledged()
                    let kind = round % 2 == 0 ? "pubsub" : "normal"
                    let script = "exec 3<>/dev/tcp/127.0.0.1/$0; echo \"CLIENT KILL TYPE $1\" >&3; read -r answer <&3"
                    let cut = try await StockTools.run("/bin/bash", ["-c", script, "\(redis.port)", kind])
                    #expect(cut.status == 0, "\(cut.output)")
                }
                try await drill.acknowledged()
            }
            #expect(figures.unavailable == 0)
            figures.expectNoConnectionLost()
        }
    }

    @Test func oneOfThreeNodesIsKilled() async throws {
        try await TestRedis.serving { redis in
            let figures = try await drill(
                "one of three nodes on Redis is killed", nodes: 3, mayLoseConnections: true, redis: redis
            ) { drill, nodes in
                for round in 0..<Drill.rounds {
                    try await drill.acknowledged()
                    await nodes[round % 3].kill()
                    // The other nodes continue without it.
                    try await drill.acknowledged()
                    try await nodes[round % 3].start()
                }
                try await drill.acknowledged()
            }
            #expect(figures.cut > 0)
        }
    }

    @Test func aTenthOfTheAnnouncementsIsLost() async throws {
        try await TestRedis.serving { redis in
            try await AnnouncementProxy.running(to: redis.port, of: .redis) { proxy in
                let figures = try await drill(
                    "Redis loses a tenth of the announcements", nodes: 2, first: proxy, all: true, redis: redis
                ) { drill, _ in
                    proxy.lose(0.1)
                    for _ in 0..<Drill.rounds { try await drill.acknowledged() }
                }
                #expect(figures.unavailable == 0)
                figures.expectNoConnectionLost()
                #expect(proxy.lost > Drill.rounds)
            }
        }
    }

    /// The others read what a node had committed and not announced when it died.
    @Test func aNodeIsKilledBeforeItAnnounces() async throws {
        try await TestRedis.serving { redis in
            try await AnnouncementProxy.running(to: redis.port, of: .redis) { proxy in
                let figures = try await drill(
                    "a node is killed before it announces to Redis", nodes: 3, mayLoseConnections: true, first: proxy,
                    redis: redis
                ) { drill, nodes in
                    for _ in 0..<Drill.rounds {
                        try await drill.acknowledged()
                        let held = proxy.held
                        proxy.hold(true)
                        try await drill.acknowledged { proxy.held != held }
                        try await drill.acknowledged(more: 20)
                        await nodes[0].kill()
                        proxy.hold(false)
                        // The other nodes continue without it.
                        try await drill.acknowledged()
                        try await nodes[0].start()
                    }
                    try await drill.acknowledged()
                }
                #expect(figures.cut > 0)
            }
        }
    }
}
