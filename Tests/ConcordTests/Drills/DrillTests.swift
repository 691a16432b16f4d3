import Foundation
import Testbed
import Testing

/// Components fail under a load, as they do in production. No acknowledged message is lost, none is stored twice, and
/// listeners receive all of them once and in order. The tests take seconds each; `make torture` takes minutes.
@Suite(.serialized, .timeLimit(.minutes(Torture.minutes))) struct DrillTests {
    private static let needsPostgreSQL: ConditionTrait = .enabled(
        if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL")

    @Test(arguments: Stack.Engine.available)
    func aNodeIsKilled(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            try await DrillNode.serving(1, in: place.folder, database: place.url) { nodes in
                let figures = try await Drill.run(
                    "a node is killed (\(engine))", at: nodes, mayLoseConnections: true
                ) { drill in
                    for round in 0..<Drill.rounds {
                        try await drill.acknowledged()
                        await nodes[0].kill()
                        try await nodes[0].start()
                        try await drill.reconnected(times: round + 1)
                    }
                }
                figures.expectNothingLost()
                figures.expectNothingMissed()
                #expect(figures.cut > 0)
                #expect(figures.losses.count >= Drill.rounds * figures.listeners)
            }
        }
    }

    /// The nodes recover by themselves, and answer 503 meanwhile.
    @Test(needsPostgreSQL)
    func postgreSQLStopsAsInAPowerFailure() async throws {
        try await TestPostgreSQL.serving { server in
            try await withTemporaryFolder { folder in
                try await DrillNode.serving(2, in: folder, database: server.url) { nodes in
                    let figures = try await Drill.run(
                        "PostgreSQL stops as if the power had gone", at: nodes, mayLoseConnections: false
                    ) { drill in
                        for _ in 0..<Drill.rounds {
                            try await drill.acknowledged()
                            await server.stop()
                            try await drill.refused(more: 10)
                            try await server.start()
                        }
                        try await drill.acknowledged()
                    }
                    figures.expectNothingLost()
                    figures.expectNothingMissed()
                    #expect(figures.unavailable >= 10 * Drill.rounds)
                }
            }
        }
    }

    /// The standby has every acknowledged message, and the nodes find it by themselves.
    @Test(needsPostgreSQL)
    func aStandbyTakesOver() async throws {
        try await DrillPair.serving { pair in
            try await withTemporaryFolder { folder in
                try await DrillNode.serving(2, in: folder, database: pair.url) { nodes in
                    let figures = try await Drill.run(
                        "PostgreSQL's standby takes over", at: nodes, mayLoseConnections: false
                    ) { drill in
                        for round in 0..<Drill.rounds {
                            try await drill.acknowledged()
                            let start = ContinuousClock.now
                            try await pair.failOver()
                            let promoted = ContinuousClock.now
                            try await drill.acknowledged(more: 1)
                            print(
                                "first success \(ContinuousClock.now - promoted) after the promotion, which took \(promoted - start)"
                            )
                            if round + 1 < Drill.rounds { try await pair.addStandby() }
                        }
                        try await drill.acknowledged()
                    }
                    figures.expectNothingLost()
                    figures.expectNothingMissed()
                }
            }
        }
    }

    /// Clients reach three nodes by HAProxy, which finds none of them ready while there is no primary.
    @Test(
        needsPostgreSQL,
        .enabled(if: TestServers.haProxy != nil, "`make test` unpacks HAProxy and sets CONCORD_PROXIES"))
    func aStandbyTakesOverBehindHAProxy() async throws {
        try await DrillPair.serving { pair in
            try await withTemporaryFolder { folder in
                try await DrillNode.serving(3, in: folder, database: pair.url) { nodes in
                    try await DrillBalancer.serving(nodes) { balancer in
                        let rounds = Drill.isLong ? Drill.rounds : 1
                        let figures = try await Drill.run(
                            "the primary of three nodes behind HAProxy is killed", at: nodes, through: balancer,
                            mayLoseConnections: false, rounds: rounds
                        ) { drill in
                            for round in 0..<rounds {
                                try await drill.acknowledged(more: Drill.messages * 3)
                                let start = ContinuousClock.now
                                try await pair.failOver(byKilling: true)
                                let promoted = ContinuousClock.now
                                try await drill.acknowledged(more: 1)
                                print(
                                    "first success \(ContinuousClock.now - promoted) after the promotion, which took \(promoted - start)"
                                )
                                if round + 1 < rounds { try await pair.addStandby() }
                            }
                            try await drill.acknowledged()
                        }
                        figures.expectNothingLost()
                        figures.expectNothingMissed()
                    }
                }
            }
        }
    }

    /// The nodes miss events for a moment. Their sockets read them again.
    @Test(needsPostgreSQL)
    func theConnectionThatListensIsCut() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await DrillNode.serving(2, in: place.folder, database: place.url) { nodes in
                let url = try #require(place.url)
                let figures = try await Drill.run(
                    "the connections that listen are cut", at: nodes, mayLoseConnections: false
                ) { drill in
                    for _ in 0..<Drill.rounds {
                        try await drill.acknowledged()
                        try await cutListeners(url)
                    }
                    try await drill.acknowledged()
                }
                figures.expectNothingLost()
                figures.expectNothingMissed()
                #expect(figures.unavailable == 0)
                #expect(figures.inDoubt == 0)
                figures.expectNoConnectionLost()
            }
        }
    }

    @Test(needsPostgreSQL)
    func oneOfThreeNodesIsKilled() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await DrillNode.serving(3, in: place.folder, database: place.url) { nodes in
                let figures = try await Drill.run(
                    "one of three nodes is killed", at: nodes, mayLoseConnections: true
                ) { drill in
                    for round in 0..<Drill.rounds {
                        try await drill.acknowledged()
                        await nodes[round % 3].kill()
                        // The other nodes continue without it.
                        try await drill.acknowledged()
                        try await nodes[round % 3].start()
                    }
                    try await drill.acknowledged()
                }
                figures.expectNothingLost()
                figures.expectNothingMissed()
                #expect(figures.cut > 0)
            }
        }
    }

    /// Nodes read what they were not told. Their sockets stay.
    @Test(needsPostgreSQL)
    func aTenthOfTheAnnouncementsIsLost() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await AnnouncementProxy.running(to: try #require(place.port)) { proxy in
                try await DrillNode.serving(2, in: place.folder, database: place.at(proxy).url) { nodes in
                    let figures = try await Drill.run(
                        "a tenth of the announcements is lost", at: nodes, mayLoseConnections: false
                    ) { drill in
                        proxy.lose(0.1)
                        for _ in 0..<Drill.rounds { try await drill.acknowledged() }
                    }
                    figures.expectNothingLost()
                    figures.expectNothingMissed()
                    #expect(figures.unavailable == 0)
                    figures.expectNoConnectionLost()
                    #expect(proxy.lost > Drill.rounds)
                }
            }
        }
    }

    /// The others read what a node had committed and not announced when it died.
    @Test(needsPostgreSQL)
    func aNodeIsKilledBeforeItAnnounces() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await AnnouncementProxy.running(to: try #require(place.port)) { proxy in
                let urls = [place.at(proxy).url, place.url, place.url]
                try await DrillNode.serving(3, in: place.folder, databases: urls) { nodes in
                    let figures = try await Drill.run(
                        "a node is killed before it announces", at: nodes, mayLoseConnections: true
                    ) { drill in
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
                    figures.expectNothingLost()
                    figures.expectNothingMissed()
                    #expect(figures.cut > 0)
                }
            }
        }
    }

    /// Ends the database connections over which the nodes receive events.
    private func cutListeners(_ url: String) async throws {
        let query = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'concord%'
            AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT DISTINCT application_name%')
            """
        let result = try await StockTools.run("/usr/bin/env", ["psql", url, "-Atc", query])
        #expect(result.status == 0 && (Int(result.output.dropLast()) ?? 0) >= 1, "\(result)")
    }
}
