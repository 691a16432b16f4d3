import Database
import Testbed
import Testing

/// The audit keeps the newest entries of each action, and none for longer than 400 days.
@Suite(.timeLimit(.minutes(30))) struct AuditTests {
    private let schema = Schema("audit", [.init("things", ["CREATE TABLE things (id {ID})"])])

    @Test(arguments: Stack.Engine.available)
    func entriesAreKeptInOrder(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            let database = try place.open(schema)
            let day: Int64 = 86_400_000
            let entries = try await database.write { db in
                try db.audit("operator anna", "promote", "alice", at: 0)
                try db.audit("admin 7", "post delete", String(repeating: "x", count: 600), at: 400 * day)
                try db.audit("operator anna", "demote", "alice", at: 401 * day)
                return try db.auditEntries(after: 0, limit: 10)
            }
            #expect(entries.map(\.action) == ["post delete", "demote"])
            #expect(entries.first?.subject.count == 500)
            let later = try await database.read { try $0.auditEntries(after: entries[0].id, limit: 10) }
            #expect(later == [entries[1]])
            try await database.close()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func manyEntriesOfAnActionDoNotReplaceOthers(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place async throws in
            let database = try place.open(schema)
            try await database.write { db in
                try db.audit("operator anna", "promote", "alice", at: 0)
                for number in 1...10_250 { try db.audit("admin \(number)", "post delete", "", at: 1) }
            }
            let (count, first) = try await database.read { db in
                (
                    try db.value("SELECT COUNT(*) FROM audit", as: Int.self),
                    try db.auditEntries(after: 0, limit: 2).map(\.actor)
                )
            }
            #expect((10_001...10_101).contains(count ?? 0))
            #expect(first.first == "operator anna" && first.last != "admin 1")
            try await database.close()
        }
    }
}
