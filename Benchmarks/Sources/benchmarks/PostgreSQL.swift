import Foundation

extension Benchmark {
    static let postgreSQL = Benchmark(
        name: "postgresql", abstract: "send, and history of 1,000,000 messages, on PostgreSQL, 64 connections",
        needsPostgreSQL: true
    ) { setting in
        try await historyOnPostgreSQL(setting) + sendOnPostgreSQL(setting)
    }

    private static func historyOnPostgreSQL(_ setting: Setting) async throws -> [Row] {
        try await Turns.onBothEngines(
            setting, seeds: (fillSQLite, fillPostgreSQL),
            request: { server in
                Exchange.request(
                    "GET", server.path + "?limit=50", port: server.port, token: server.token, keepAlive: true)
            },
            statements: """
                BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
                SELECT 1 FROM members WHERE chat_id = :chat AND user_id = :user;
                SELECT id, chat_id, sender_id, content, type, file_id, created_at FROM messages
                WHERE chat_id = :chat AND id < :before ORDER BY id DESC LIMIT :limit;
                COMMIT;
                """
        ).rows("history", aim: .ratioAtLeast(0.6))
    }

    private static func sendOnPostgreSQL(_ setting: Setting) async throws -> [Row] {
        try await Turns.onBothEngines(
            setting, seeds: (nil, nil), request: { $0.send },
            statements: """
                BEGIN;
                SELECT 1 FROM members WHERE chat_id = :chat AND user_id = :user;
                UPDATE chats SET updated_at = 1700000000000 WHERE id = :chat;
                INSERT INTO messages (chat_id, sender_id, content, type, file_id, created_at)
                VALUES (:chat, :user, 'Shall we meet at seven, at the usual place by the river?', 'text', NULL,
                1700000000000) RETURNING id
                \\gset
                UPDATE members SET last_read_id = :id, read_at = 1700000000000
                WHERE chat_id = :chat AND user_id = :user;
                SELECT pg_notify('concord_messenger', repeat('x', 220));
                COMMIT;
                """
        ).rows("send", aim: .none)
    }
}

/// The turns of a server on PostgreSQL, one on SQLite, and pgbench with the statements of the former.
private final class Turns {
    /// The number of connections of a server (`Database.postgreSQL`).
    private static let databaseConnections = 12

    private let subject: HTTPSeries
    private let beside: HTTPSeries
    private var floors: [Double] = []
    /// PostgreSQL's own CPU time, in microseconds for each request, and for each of pgbench's transactions.
    private var databaseCPU: (subject: [Double], floor: [Double]) = ([], [])
    /// The CPU time of pgbench, in microseconds for each transaction.
    private var floorCPU: [Double] = []

    private init(_ subject: HTTPSeries, beside: HTTPSeries) { (self.subject, self.beside) = (subject, beside) }

    static func onBothEngines(
        _ setting: Setting, seeds: (sqlite: MessengerServer.Seed?, postgreSQL: MessengerServer.Seed?),
        request: @escaping (MessengerServer) -> String, statements: String
    ) async throws -> Turns {
        guard let url = setting.postgreSQL else { throw Failed("no PostgreSQL") }
        return try await BenchmarkDatabase.with(at: url) { database in
            try await MessengerServer.run(setting.concord, seed: seeds.sqlite) { other in
                try await MessengerServer.run(setting.concord, database: database.url, seed: seeds.postgreSQL) {
                    server in
                    let turns = Turns(
                        try await HTTPSeries(server.process, sending: request(server)),
                        beside: try await HTTPSeries(other.process, sending: request(other)))
                    let bench = PGBench(
                        database.url, statements, connections: databaseConnections,
                        variables: ["chat": server.chat, "user": server.user, "before": .max, "limit": 50])
                    for _ in 0..<setting.turns {
                        try await turns.run(setting.turn, database, bench)
                    }
                    try await turns.subject.close()
                    try await turns.beside.close()
                    return turns
                }
            }
        }
    }

    private func run(_ duration: Duration, _ database: BenchmarkDatabase, _ bench: PGBench) async throws {
        var start = database.cpu
        let requests = try await subject.run(duration)
        databaseCPU.subject.append((database.cpu - start).inMicroseconds / Double(requests))

        try await beside.run(duration)

        start = database.cpu
        let floor = try bench.run(for: duration)
        databaseCPU.floor.append((database.cpu - start).inMicroseconds / Double(floor.transactions))
        floors.append(floor.perSecond)
        floorCPU.append(floor.cpu.inMicroseconds / Double(floor.transactions))
    }

    func rows(_ name: String, aim: Row.Aim) -> [Row] {
        let (bench, sqlite) = ("pgbench, the same statements", "the same on SQLite")
        return [
            Row(
                name: "\(name), PostgreSQL, rate", unit: "/s", result: subject.rate, floor: floors.median,
                beside: bench, aim: aim),
            // The clients use the same machine and lower the rate; this is the CPU time of serving, in the server and
            // in PostgreSQL.
            Row(
                name: "\(name), PostgreSQL, of CPU", unit: "/s",
                result: 1e6 / (subject.cpu + databaseCPU.subject.median),
                floor: 1e6 / (floorCPU.median + databaseCPU.floor.median), beside: bench, aim: aim),
            Row(
                name: "\(name), PostgreSQL, rate", unit: "/s", result: subject.rate, floor: beside.rate,
                beside: sqlite),
            Row(
                name: "\(name), PostgreSQL, server CPU", unit: "µs/request", result: subject.cpu, floor: beside.cpu,
                beside: sqlite),
            Row(
                name: "\(name), PostgreSQL, its own CPU", unit: "µs/request", result: databaseCPU.subject.median,
                floor: databaseCPU.floor.median, beside: bench),
            Row(
                name: "\(name), PostgreSQL, p50", unit: "ms", result: subject.median, floor: beside.median,
                beside: sqlite),
            Row(
                name: "\(name), PostgreSQL, p99", unit: "ms", result: subject.tail, floor: beside.tail, beside: sqlite),
        ]
    }
}
