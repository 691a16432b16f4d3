import Foundation
import GRDB

extension Benchmark {
    static let history = Benchmark(
        name: "history", abstract: "the newest 50 of a chat of 1,000,000 messages (GET), 64 connections"
    ) { setting in
        try await MessengerServer.run(setting.concord, seed: fillSQLite) { server in
            let get = server.newestFifty
            let answer = try Exchange.answer(to: get, port: server.port)
            let bare = try ServerProcess.floor("floor-http", ["--status", "200", "--body", answer])
            defer { bare.stop() }

            let subject = try await HTTPSeries(server.process, sending: get)
            let floor = try await HTTPSeries(bare, sending: get)
            for _ in 0..<setting.turns {
                try await subject.run(setting.turn)
                try await floor.run(setting.turn)
            }
            try await subject.close()
            try await floor.close()
            let beside = "a bare Hummingbird route, \(answer.utf8.count) bytes"
            return [
                Row(
                    name: "history, server CPU", unit: "µs/request", result: subject.cpu, floor: floor.cpu,
                    beside: beside, aim: .atMost(110)),
                Row(name: "history, rate", unit: "/s", result: subject.rate, floor: floor.rate, beside: beside),
                Row(name: "history, p50", unit: "ms", result: subject.median, floor: floor.median, beside: beside),
                Row(name: "history, p99", unit: "ms", result: subject.tail, floor: floor.tail, beside: beside),
            ]
        }
    }

    /// Inserts a million messages into a chat.
    static func fillSQLite(_ path: String, user: Int, chat: Int) throws {
        try fillSQLite(path, user: user, chat: chat, messages: 1_000_000)
    }

    /// Inserts messages into a chat, in one statement.
    static func fillSQLite(_ path: String, user: Int, chat: Int, messages: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(messages))
                    \(insertion(user: user, chat: chat)) FROM numbers
                    """)
        }
        try queue.close()
    }

    /// Inserts the same on PostgreSQL, in the state in which its housekeeping leaves the table.
    static func fillPostgreSQL(_ url: String, user: Int, chat: Int) throws {
        try BenchmarkDatabase.psql(
            url, "SET search_path = messenger",
            "\(insertion(user: user, chat: chat)) FROM generate_series(1, 1000000) AS n", "VACUUM ANALYZE")
    }

    private static func insertion(user: Int, chat: Int) -> String {
        """
        INSERT INTO messages (chat_id, sender_id, content, type, file_id, created_at)
        SELECT \(chat), \(user), 'Shall we meet at seven, at the usual place by the river? (' || n || ')', 'text', NULL,
            1700000000000 + n * 1000
        """
    }
}
