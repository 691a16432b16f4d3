import Foundation
import Testbed
import Testing

/// Nodes whose transactions go through a PgBouncer, which is killed under load.
@Suite(
    .serialized,
    .enabled(
        if: Stack.postgreSQL != nil && TestServers.pgBouncer != nil,
        "`make test` starts PostgreSQL and unpacks PgBouncer"),
    .timeLimit(.minutes(Torture.minutes)))
struct PoolerDrillTests {
    @Test func thePoolerIsKilledAndStarted() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await TestPooler.serving(for: try #require(place.port)) { pooler in
                let more = ["CONCORD_DATABASE_POOLER": try #require(place.at(port: pooler.port).url)]
                try await DrillNode.serving(2, in: place.folder, database: place.url, more: more) { nodes in
                    let figures = try await Drill.run(
                        "PgBouncer is killed and started", at: nodes, mayLoseConnections: false
                    ) { drill in
                        for _ in 0..<Drill.rounds {
                            try await drill.acknowledged()
                            await pooler.server.kill()
                            try await drill.refused(more: 10)
                            try await pooler.server.start()
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
