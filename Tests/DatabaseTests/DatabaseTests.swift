import Database
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

let notesSchema = Schema(
    "notes",
    [
        .init(
            "notes",
            ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL UNIQUE, bytes {BYTES}, score DOUBLE PRECISION)"])
    ])

private struct Refused: Error, Equatable {}

func withDatabase(_ engine: Stack.Engine, _ body: (Database, TestDatabase) async throws -> Void) async throws {
    try await withTestDatabase(on: engine) { place in
        let database = try place.open(notesSchema)
        try await body(database, place)
        try await database.close()
    }
}

extension Database {
    fileprivate func texts() async throws -> [String] {
        try await read { try $0.all("SELECT text FROM notes ORDER BY id") { try $0.get(0) } }
    }
}

/// Transactions, bindings and durability work the same on both engines.
@Suite(.timeLimit(.minutes(30))) struct DatabaseTests {
    @Test(arguments: Stack.Engine.available)
    func bindsValuesAndReadsThemBack(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let hostile = "'); DROP TABLE notes; --"
            let row = try await database.write { db in
                try db.one(
                    """
                    INSERT INTO notes (text, bytes, score) VALUES (\(hostile), \([0, 255, 7] as [UInt8]), \(1.5))
                    RETURNING id, text, bytes, score
                    """
                ) { row in
                    try (
                        row.get(0, as: Int64.self), row.get(1, as: String.self), row.get(2, as: [UInt8].self),
                        row.get(3, as: Double.self)
                    )
                }
            }
            #expect(row?.0 == 1)
            #expect(row?.1 == hostile)
            #expect(row?.2 == [0, 255, 7])
            #expect(row?.3 == 1.5)
            let absent: String? = nil
            let matches = try await database.read { db in
                (
                    try db.exists("SELECT 1 FROM notes WHERE text = \(absent)"),
                    try db.all("SELECT id FROM notes WHERE text IN (\(list: [hostile, "x"]))") {
                        try $0.get(0, as: Int64.self)
                    },
                    try db.exists("SELECT 1 FROM notes WHERE text IN (\(list: [String]()))"),
                    try db.value("SELECT score FROM notes WHERE bytes IS NOT NULL", as: Double?.self)
                )
            }
            #expect(!matches.0)
            #expect(matches.1 == [1])
            #expect(!matches.2)
            #expect(matches.3 == 1.5)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aListOfAnyLengthMatchesItsElements(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            try await database.write { db in
                for number in 1...100 { try db.run("INSERT INTO notes (text) VALUES (\("\(number)"))") }
            }
            try await database.read { db in
                for length in 1...100 {
                    let texts = (1...length).map { "\($0)" }
                    let found: Int? = try db.value("SELECT COUNT(*) FROM notes WHERE text IN (\(list: texts))")
                    let others: Int? = try db.value("SELECT COUNT(*) FROM notes WHERE text NOT IN (\(list: texts))")
                    #expect(found == length && others == 100 - length)
                }
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aTextOfTwoStatementsIsRefused(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("a"))") }
            await #expect(throws: DatabaseFailure.self) {
                try await database.write { try $0.run("DELETE FROM notes WHERE text = 'b'; DELETE FROM notes") }
            }
            #expect(try await database.texts() == ["a"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aColumnOfAnotherTypeIsAnErrorNotACrash(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("a"))") }
            await #expect(throws: (any Error).self) {
                try await database.read { try $0.value("SELECT bytes FROM notes", as: [UInt8].self) }
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aWriteThatThrowsLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            await #expect(throws: Refused()) {
                try await database.write { db in
                    try db.run("INSERT INTO notes (text) VALUES (\("lost"))")
                    throw Refused()
                }
            }
            let texts = try await database.texts()
            #expect(texts == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aReadSeesOneStateAndCannotWrite(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            await #expect(throws: (any Error).self) {
                try await database.read { _ = try $0.run("INSERT INTO notes (text) VALUES (\("x"))") }
            }
            let texts = try await database.texts()
            #expect(texts == [])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aReadSeesNoWritesMadeMeanwhile(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("before"))") }
            let (begun, written) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            async let seen = database.read { db in
                let count = "SELECT COUNT(*) FROM notes" as SQL
                let first = try db.value(count, as: Int.self)
                begun.continuation.yield()
                written.wait()
                return (first, try db.value(count, as: Int.self))
            }
            for await _ in begun.stream { break }
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("meanwhile"))") }
            written.signal()
            let counts = try await seen
            #expect(counts == (1, 1))
            let texts = try await database.texts()
            #expect(texts == ["before", "meanwhile"])
        }
    }

    @Test(arguments: Stack.Engine.available)
    func twoStatementsAtOnceAreSerialised(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let texts = Query.all("SELECT text FROM notes ORDER BY id") { try $0.get(0, as: String.self) }
            @Sendable func exists(_ text: String) -> Query<Bool> { .exists("SELECT 1 FROM notes WHERE text = \(text)") }
            let added = Query.all("INSERT INTO notes (text) VALUES (\("a")) RETURNING id") {
                try $0.get(0, as: Int.self)
            }
            let missing = Query<Bool>.exists("SELECT missing FROM notes")
            // One statement is in the middle of a transaction, another is the first of one.
            let written = try await database.write { db in
                try db.run("INSERT INTO notes (text) VALUES (\("first"))")
                return (try db.both(added, exists("a")), try db.both(exists("b"), texts))
            }
            #expect(written.0 == ([2], true))
            #expect(written.1 == (false, ["first", "a"]))
            let read = try await database.read { try $0.both(exists("first"), texts) }
            #expect(read == (true, ["first", "a"]))

            for (first, second) in [(missing, exists("a")), (exists("a"), missing)] {
                await #expect(throws: DatabaseFailure.self) {
                    try await database.read { _ = try $0.both(first, second) }
                }
                await #expect(throws: DatabaseFailure.self) {
                    try await database.write { db in
                        try db.run("DELETE FROM notes")
                        _ = try db.both(first, second)
                    }
                }
            }
            let kept = try await database.texts()
            #expect(kept == ["first", "a"])
        }
    }

    /// A read may say which statements are its last, alone or after others; a failure there leaves the connection usable.
    @Test(arguments: Stack.Engine.available)
    func theLastStatementsOfAReadEndIt(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("first"))") }
            let texts = Query.all("SELECT text FROM notes ORDER BY id") { try $0.get(0, as: String.self) }
            let one = Query.one("SELECT text FROM notes ORDER BY id") { try $0.get(0, as: String.self) }
            let none = Query.one("SELECT text FROM notes WHERE id < 0") { try $0.get(0, as: String.self) }
            let missing = Query<Bool>.exists("SELECT missing FROM notes")
            for _ in 0..<5 {
                #expect(try await database.read { try $0.finish(texts) } == ["first"])
                #expect(try await database.read { try $0.finish(one) } == "first")
                let both = try await database.read { try $0.finish(none, texts) }
                #expect(both == (nil, ["first"]))
                let after = try await database.read { db in (try db.get(one), try db.finish(texts)) }
                #expect(after == ("first", ["first"]))
                await #expect(throws: DatabaseFailure.self) { try await database.read { _ = try $0.finish(missing) } }
                await #expect(throws: DatabaseFailure.self) {
                    try await database.read { _ = try $0.finish(texts, missing) }
                }
                await #expect(throws: Refused()) {
                    try await database.read { db in
                        _ = try db.finish(texts)
                        throw Refused()
                    }
                }
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aClosureNeedNotRunAStatement(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            for _ in 0..<5 {
                let (read, written) = try await (database.read { _ in 7 }, database.write { _ in 8 })
                #expect((read, written) == (7, 8))
                await #expect(throws: Refused()) { try await database.read { _ in throw Refused() } }
                await #expect(throws: Refused()) { try await database.write { _ in throw Refused() } }
            }
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("kept"))") }
            let texts = try await database.texts()
            #expect(texts == ["kept"])
        }
    }

    /// Writes share a transaction. One that fails, before or after it has written, does not affect the others.
    @Test(arguments: Stack.Engine.available)
    func aFailureInAGroupDoesNotAffectOthers(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
                for index in 0..<300 {
                    group.addTask {
                        do {
                            try await database.write { db in
                                if index % 5 == 1 { throw Refused() }
                                try db.run("INSERT INTO notes (text) VALUES (\("note \(index)"))")
                                if index % 5 == 2 { throw Refused() }
                            }
                            return (index, true)
                        } catch {
                            return (index, false)
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for index in 0..<300 { #expect(outcomes[index] == (index % 5 != 1 && index % 5 != 2)) }
            let expected = (0..<300).filter { $0 % 5 != 1 && $0 % 5 != 2 }.map { "note \($0)" }
            let texts = try await database.texts()
            #expect(Set(texts) == Set(expected))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aConstraintDecidesUnderConcurrency(_ engine: Stack.Engine) async throws {
        try await withDatabase(engine) { database, _ in
            let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await database.write {
                            try $0.run("INSERT INTO notes (text) VALUES (\("same")) ON CONFLICT DO NOTHING") == 1
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
            await #expect {
                try await database.write { _ = try $0.run("INSERT INTO notes (text) VALUES (\("same"))") }
            } throws: { error in
                if case DatabaseFailure.constraint = error { true } else { false }
            }
        }
    }

    /// Commit actions run in the order of the commits, once, for committed writes only, and before the caller
    /// continues.
    @Test func commitActionsRunInOrderAndOnlyForCommits() async throws {
        try await withDatabase(.sqlite) { database, _ in
            let published = NIOLockedValueBox<[Int64]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let written = try? await database.write { db -> Int64 in
                            let id = try db.value(
                                "INSERT INTO notes (text) VALUES (\("note \(index)")) RETURNING id", as: Int64.self)
                            let note = try #require(id)
                            db.afterCommit { published.withLockedValue { $0.append(note) } }
                            if index % 7 == 3 { throw Refused() }
                            return note
                        }
                        guard let written else { return }
                        let known = published.withLockedValue { $0.contains(written) }
                        #expect(known)
                    }
                }
                try await group.waitForAll()
            }
            let ids = try await database.read { db in
                try db.all("SELECT id FROM notes ORDER BY id") { try $0.get(0, as: Int64.self) }
            }
            #expect(published.withLockedValue { $0 } == ids)
        }
    }

    @Test func flushesEveryCommitToTheDisk() async throws {
        try await withDatabase(.sqlite) { database, _ in
            // 2 is FULL: acknowledged means durable, even if the power fails.
            let (synchronous, journal) = try await database.write { db in
                try (
                    db.value("PRAGMA synchronous", as: Int.self), db.value("PRAGMA journal_mode", as: String.self)
                )
            }
            #expect(synchronous == 2)
            #expect(journal == "wal")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func dataIsThereAfterClosing(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let first = try place.open(notesSchema)
            try await first.write { try $0.run("INSERT INTO notes (text) VALUES (\("kept"))") }
            try await first.close()
            let second = try place.open(notesSchema)
            #expect(try await second.texts() == ["kept"])
            try await second.close()
        }
    }
}
