import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// A database moves from one engine to the other and back, with every value as it was.
@Suite(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"), .timeLimit(.minutes(30)))
struct MoveTests {
    /// Tables that refer to each other in a circle, with every kind of value and key.
    private static let schema = Schema(
        "move-sample",
        [
            .init(
                "all kinds",
                [
                    """
                    CREATE TABLE users (
                        id {ID}, name {KEY} NOT NULL UNIQUE, weight DOUBLE PRECISION, photo {BYTES}, boss_id BIGINT
                        REFERENCES users (id) ON DELETE SET NULL, bio TEXT)
                    """,
                    """
                    CREATE TABLE "groups" (
                        id {KEY} PRIMARY KEY, owner_id BIGINT NOT NULL REFERENCES users (id), count INTEGER NOT NULL)
                    """,
                    """
                    CREATE TABLE members (
                        group_id {KEY} NOT NULL REFERENCES "groups" (id) ON DELETE CASCADE,
                        user_id BIGINT NOT NULL REFERENCES users (id), PRIMARY KEY (group_id, user_id))
                    """,
                    "CREATE TABLE tokens (hash {BYTES} NOT NULL PRIMARY KEY, until BIGINT NOT NULL)",
                    "INSERT INTO users (name) VALUES ('default')",
                ])
        ])

    private func sqlite(_ path: String) throws -> Database { try .sqlite(path: path, schema: Self.schema) }

    /// Fills a database, so that the highest id is one of a row that is gone.
    private func fill(_ path: String) async throws {
        let database = try sqlite(path)
        try await database.write { db in
            for index in 1...1200 {
                let (name, photo) = (
                    "n’\(index) 👋\n\t\\", (0..<(index % 40)).map { UInt8(truncatingIfNeeded: $0 * index) }
                )
                let weight = index % 7 == 0 ? nil : 1 / Double(index)
                try db.run(
                    """
                    INSERT INTO users (name, weight, photo, boss_id, bio) VALUES
                    (\(name), \(weight), \(index % 5 == 0 ? nil : photo), \(index == 1 ? nil : index), \(""))
                    """)
                try db.run(
                    "INSERT INTO tokens (hash, until) VALUES (\(Array("\(index)".utf8)), \(Int64.max - Int64(index)))")
            }
            for index in 1...30 {
                try db.run("INSERT INTO \"groups\" (id, owner_id, count) VALUES (\("g\(index)"), \(index), \(-index))")
                for user in 1...20 {
                    try db.run("INSERT INTO members (group_id, user_id) VALUES (\("g\(index)"), \(user))")
                }
            }
            try db.run("UPDATE users SET boss_id = 1201 WHERE id = 2")
            try db.run("UPDATE users SET boss_id = NULL WHERE boss_id = 1201")
            try db.run("DELETE FROM users WHERE id = 1201")
        }
        try await database.close()
    }

    private func cells(_ database: Database, _ engine: Stack.Engine) async throws -> [String] {
        let cells = try await TableDump(database, engine: engine).cells.filter { !$0.hasPrefix("schema_migrations") }
        try await database.close()
        // The engines write fractions in different ways.
        return cells.filter { !$0.hasPrefix("users.weight") }.sorted()
    }

    private func withPlaces(_ body: (_ path: String, _ url: String) async throws -> Void) async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            try await withTemporaryFolder { try await body($0 + "/sample.sqlite", try #require(place.url)) }
        }
    }

    private func next(_ database: Database) async throws -> Int {
        try await database.write { try $0.value("INSERT INTO users (name) VALUES ('new') RETURNING id") ?? 0 }
    }

    @Test func everyValueArrivesAndComesBack() async throws {
        try await withPlaces { path, url async throws in
            try await fill(path)
            let before = try await cells(try sqlite(path), .sqlite)
            let there = try await DatabaseMove(Self.schema, from: .sqlite(path: path), to: .postgreSQL(url: url))
                .run { _ in }
            #expect(there.rows["users"] == 1200 && there.rows["tokens"] == 1200 && there.rows["members"] == 600)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(FileManager.default.fileExists(atPath: there.kept))

            let server = try Database.postgreSQL(url: url, schema: Self.schema, connections: 2)
            // The deleted row's id is never given again, and the constraints hold.
            #expect(try await next(server) == 1202)
            await #expect(throws: DatabaseFailure.self) {
                try await server.write { try $0.run("INSERT INTO members (group_id, user_id) VALUES ('g1', 9999)") }
            }
            try await server.write { db in
                _ = try db.run("DELETE FROM users WHERE name = 'new'")
            }
            #expect(try await cells(server, .postgreSQL) == before)

            let back = try await DatabaseMove(Self.schema, from: .postgreSQL(url: url), to: .sqlite(path: path))
                .run { _ in }
            #expect(back.rows == there.rows)
            let returned = try sqlite(path)
            #expect(try await next(returned) == 1203)
            try await returned.write { db in _ = try db.run("DELETE FROM users WHERE name = 'new'") }
            let weights = SQL(trusted: "SELECT weight FROM users ORDER BY id")
            let found = try await returned.read { try $0.all(weights) { try $0.get(0, as: Double?.self) } }
            #expect(found[1] == 1 && found[3] == 1 / Double(3) && found[7] == nil)
            #expect(try await cells(returned, .sqlite) == before)
        }
    }

    @Test func anInterruptedMoveGoesOn() async throws {
        try await withPlaces { path, url async throws in
            try await fill(path)
            let before = try await cells(try sqlite(path), .sqlite)
            let move = DatabaseMove(Self.schema, from: .sqlite(path: path), to: .postgreSQL(url: url))
            let (start, signal) = AsyncStream<Void>.makeStream()
            let running = NIOLockedValueBox<Task<DatabaseMove.Report, any Error>?>(nil)
            let task = Task {
                for await _ in start { break }
                return try await move.run { step in
                    guard case .copying("users", 500, _) = step else { return }
                    running.withLockedValue { $0?.cancel() }
                }
            }
            running.withLockedValue { $0 = task }
            signal.finish()
            await #expect(throws: CancellationError.self) { try await task.value }
            // A server that is started meanwhile finds no database there.
            #expect(try await !Database.exists(url: url, Self.schema))
            #expect(FileManager.default.fileExists(atPath: path))

            let steps = NIOLockedValueBox<[Int]>([])
            _ = try await move.run { step in
                if case .copying("users", let done, _) = step { steps.withLockedValue { $0.append(done) } }
            }
            #expect(steps.withLockedValue { $0 } == [1000, 1200])
            let server = try Database.postgreSQL(url: url, schema: Self.schema, connections: 2)
            #expect(try await cells(server, .postgreSQL) == before)
        }
    }

    @Test func whatIsThereIsNotTouched() async throws {
        try await withPlaces { path, url async throws in
            try await fill(path)
            try await Database.postgreSQL(url: url, schema: Self.schema, connections: 1).close()
            let move = DatabaseMove(Self.schema, from: .sqlite(path: path), to: .postgreSQL(url: url))
            await #expect(throws: DatabaseCopy.PlaceNotEmpty.self) { try await move.run { _ in } }
            let other = path + "2"
            try await sqlite(other).close()
            let onto = DatabaseMove(Self.schema, from: .postgreSQL(url: url), to: .sqlite(path: other))
            await #expect(throws: MoveRefused.self) { try await onto.run { _ in } }
            let server = try Database.postgreSQL(url: url, schema: Self.schema, connections: 1)
            await #expect(throws: MoveRefused.self) { try await DatabaseMove.requireUnused(url) }
            try await server.close()
            try await DatabaseMove.requireUnused(url)
        }
    }

    /// The source has changed between two attempts, so the copy is begun again.
    @Test func aSourceThatChangesIsNoticed() async throws {
        try await withPlaces { path, url async throws in
            try await fill(path)
            let move = DatabaseMove(Self.schema, from: .sqlite(path: path), to: .postgreSQL(url: url))
            let isChanged = NIOLockedValueBox(false)
            let refusal = await #expect(throws: MoveRefused.self) {
                try await move.run { step in
                    guard case .comparing = step, !isChanged.withLockedValue({ $0 }) else { return }
                    isChanged.withLockedValue { $0 = true }
                    try? Database.administer(path: path, "UPDATE users SET bio = 'changed' WHERE id = 7")
                }
            }
            #expect(refusal?.description.contains("The table users is not the same") == true)
            #expect(try await !Database.exists(url: url, Self.schema))
            #expect(try await move.run { _ in }.rows["users"] == 1200)
        }
    }
}
