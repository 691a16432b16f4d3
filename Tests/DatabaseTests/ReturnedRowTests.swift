import Database
import Testbed
import Testing

/// Inserts and updates return what they wrote, on both engines.
@Suite(.timeLimit(.minutes(30))) struct ReturnedRowTests {
    @Test(arguments: Stack.Engine.available)
    func anInsertReturnsTheIDUnlessNothingIsInserted(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let ids = try await database.write { db in
                let first: Int? = try db.insert("INSERT INTO notes (text) VALUES (\("a"))")
                let second: Int? = try db.insert("INSERT INTO notes (text) VALUES (\("b"))")
                let again: Int? = try db.insert(
                    "INSERT INTO notes (id, text) VALUES (\(second ?? 0), \("c")) ON CONFLICT DO NOTHING")
                return [first, second, again]
            }
            #expect(ids[0].map { $0 + 1 } == ids[1] && ids[1] != nil && ids[2] == nil)
            let stored = try await database.read {
                try $0.all("SELECT id FROM notes ORDER BY id") { try $0.get(0, as: Int.self) }
            }
            #expect(stored == ids.compactMap(\.self))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anUpdateReturnsTheRowAsItIsAfterwards(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let results = try await database.write { db in
                let id: Int? = try db.insert("INSERT INTO notes (text, score) VALUES (\("a"), \(1.5))")
                _ = try db.insert("INSERT INTO notes (text, score) VALUES (\("b"), \(1.5))") as Int?
                let change = { (key: SQL, condition: SQL?) in
                    try db.update(
                        "notes", set: "score = score + \(1.0)", where: key, if: condition, returning: "text, score"
                    ) { "\(try $0.get(0, as: String.self)) \(try $0.get(1, as: Double.self))" }
                }
                return [
                    try change("id = \(id)", nil), try change("id = \(id)", "score < \(3.0)"),
                    try change("id = \(id)", "score < \(3.0)"), try change("id = \(-1)", nil),
                ]
            }
            #expect(results == ["a 2.5", "a 3.5", nil, nil])
            let others = try await database.read {
                try $0.value("SELECT score FROM notes WHERE text = \("b")", as: Double.self)
            }
            #expect(others == 1.5)
        }
    }
}
