import Database
import Testbed
import Testing

/// GTSD's queries use indexes.
@Suite(.timeLimit(.minutes(30))) struct GTSDSchemaTests {
    /// The cost of a user's query depends on that user's data, not on that of all users.
    @Test func everyQueryUsesAnIndexByUser() async throws {
        let queries: [SQL] = [
            "SELECT COUNT(completed_at), COUNT(*) FROM tasks WHERE user_id = \(1) AND day = \(2)",
            "SELECT day FROM credits WHERE user_id = \(1) ORDER BY day",
            "SELECT id FROM badges WHERE user_id = \(1)",
            "SELECT id FROM photos WHERE user_id = \(1) ORDER BY created_at DESC, id DESC LIMIT \(50) OFFSET \(0)",
            "SELECT id FROM plans WHERE user_id = \(1) AND week = \(2)",
            "SELECT MAX(id) FROM evidence WHERE task_id = \(1)",
            "SELECT COUNT(*) FROM evidence WHERE task_id = \(1)",
            "SELECT SUM(file_size) FROM photos WHERE user_id = \(1)",
            "SELECT SUM(size) FROM uploads WHERE user_id = \(1)",
            "SELECT COUNT(*) FROM evidence WHERE user_id = \(1) AND type = 'metrics'",
            "SELECT DISTINCT day FROM tasks WHERE user_id = \(1) AND day BETWEEN \(2) AND \(3) AND completed_day = day",
        ]
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host in
            for query in queries {
                let plan = try await host.database.read { try $0.plan(of: query) }
                #expect(plan.contains { $0.contains("INDEX") || $0.contains("PRIMARY KEY") }, "\(query.text): \(plan)")
                #expect(
                    !plan.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE FOR ORDER") },
                    "\(query.text): \(plan)")
            }
        }
    }
}
