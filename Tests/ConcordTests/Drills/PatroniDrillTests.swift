import Foundation
import Testbed
import Testing

/// Three nodes behind HAProxy, whose PostgreSQL is two servers under Patroni: the lead is handed over, and the leader's machine
/// is killed.
@Suite(
    .serialized,
    .enabled(
        if: Stack.postgreSQL != nil && TestServers.cluster != nil && TestServers.haProxy != nil,
        "`make test` installs PostgreSQL, and unpacks Patroni, etcd and HAProxy"),
    .timeLimit(.minutes(Torture.minutes)))
struct PatroniDrillTests {
    /// Each is half switchovers and half killed leaders.
    private static let rounds = Drill.isLong ? 10 : 2

    @Test func theLeaderIsReplacedByItself() async throws {
        try await DrillCluster.serving { cluster in
            try await withTemporaryFolder { folder in
                try await DrillNode.serving(3, in: folder, database: cluster.url) { nodes in
                    try await DrillBalancer.serving(nodes) { balancer in
                        let figures = try await Drill.run(
                            "Patroni replaces the leader of three nodes' database", at: nodes, through: balancer,
                            mayLoseConnections: false, rounds: Self.rounds
                        ) { drill in
                            for round in 0..<Self.rounds {
                                try await drill.acknowledged(more: Drill.messages * 3)
                                let pause = try await drill.pause {
                                    if round.isMultiple(of: 2) {
                                        try await cluster.switchOver()
                                    } else {
                                        try await cluster.killLeader()
                                    }
                                }
                                print(round.isMultiple(of: 2) ? "switchover:" : "killed leader:", pause)
                                try await cluster.restore()
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
}
