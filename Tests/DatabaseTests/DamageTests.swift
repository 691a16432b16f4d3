import Database
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

private let schema = Schema(
    "notes", [.init("notes", ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)"])])

/// A damaged SQLite file is detected, and no write to it is acknowledged.
@Suite(.timeLimit(.minutes(30))) struct DamageTests {
    /// The reports that the owner of a database received.
    private struct Reports: Sendable {
        let looks = NIOLockedValueBox<[String]>([])
        let damages = NIOLockedValueBox<[DatabaseDamage]>([])

        var owner: Database.Owner {
            Database.Owner(
                looks: { [looks] path in looks.withLockedValue { $0.append(path) } },
                damaged: { [damages] damage in damages.withLockedValue { $0.append(damage) } })
        }
    }

    private func open(_ path: String, _ reports: Reports) throws -> Database {
        try .sqlite(path: path, schema: schema, readers: 2, owner: reports.owner)
    }

    /// Fills a file with some 400 pages and closes it cleanly.
    private func fill(_ path: String) async throws {
        let database = try open(path, Reports())
        for _ in 0..<20 {
            try await database.write { db in
                for _ in 0..<50 {
                    try db.run("INSERT INTO notes (text) VALUES (\(String(repeating: "x", count: 1500)))")
                }
            }
        }
        try await database.close()
    }

    private func overwrite(_ path: String, pages: Range<UInt64>) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: pages.lowerBound * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: pages.count * 4096))
        try file.synchronize()
    }

    private func contents(_ path: String) -> [Data?] {
        ["", "-wal"].map { FileManager.default.contents(atPath: path + $0) }
    }

    @Test func damageIsReportedOnceAndNothingMoreIsWritten() async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            try await fill(path)
            let reports = Reports()
            let database = try open(path, reports)
            try overwrite(path, pages: 100..<120)
            // Pages that are not damaged still answer.
            let first = try await database.read { try $0.value("SELECT text FROM notes WHERE id = 1", as: String.self) }
            #expect(first?.count == 1500)
            try await database.check()
            for _ in 0..<3 {
                let error = await #expect(throws: DatabaseFailure.self) {
                    try await database.read { try $0.all("SELECT text FROM notes") { try $0.get(0, as: String.self) } }
                }
                guard case .damaged = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(reports.damages.withLockedValue { $0.count } == 1)
            let words = reports.damages.withLockedValue { $0.first?.description } ?? ""
            #expect(words.contains(path) && words.contains("backup"))

            let before = contents(path)
            for _ in 0..<3 {
                let error = await #expect(throws: DatabaseFailure.self) {
                    try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("more"))") }
                }
                guard case .damaged = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            await #expect(throws: DatabaseFailure.self) { try await database.check() }
            try await database.close()
            #expect(contents(path) == before)
        }
    }

    /// A write that meets the damage fails, and so do the writes in the same transaction.
    @Test func aWriteThatMeetsDamageIsNotAcknowledged() async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            try await fill(path)
            let reports = Reports()
            let database = try open(path, reports)
            try overwrite(path, pages: 100..<120)
            await #expect(throws: DatabaseFailure.self) {
                try await database.write { try $0.run("UPDATE notes SET text = \("short")") }
            }
            #expect(reports.damages.withLockedValue { $0.count } == 1)
            let rest = try await database.read {
                try $0.value("SELECT COUNT(*) FROM notes WHERE id < 10 AND text = \("short")", as: Int.self)
            }
            #expect(rest == 0)
            try await database.close()
        }
    }

    @Test func aFileIsCheckedAfterAnUncleanStop() async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            try await fill(path)
            func isLookedAt() async throws -> Bool {
                let reports = Reports()
                try await open(path, reports).close()
                return reports.looks.withLockedValue { $0 } == [path]
            }
            #expect(try await !isLookedAt())
            #expect(try await !isLookedAt())
            // A `kill -9` leaves no mark that the file was closed.
            try FileManager.default.removeItem(atPath: path + "-clean")
            #expect(try await isLookedAt())
            #expect(try await !isLookedAt())
            // Another process has written to the file, or replaced it.
            try Database.administer(path: path, "INSERT INTO notes (text) VALUES ('by hand')")
            #expect(try await isLookedAt())
        }
    }

    @Test(arguments: [100..<120, 0..<1] as [Range<UInt64>])
    func aDamagedFileIsRefusedAtTheStart(_ pages: Range<UInt64>) async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            try await fill(path)
            try overwrite(path, pages: pages)
            let before = contents(path)
            let error = #expect(throws: DatabaseDamage.self) { _ = try open(path, Reports()) }
            #expect(error?.description.contains("The database \(path) is damaged") == true)
            #expect(contents(path)[0] == before[0])
        }
    }

    /// A `kill -9` leaves a write-ahead log next to the file. The log must stay.
    @Test func aDamagedFileIsRefusedWithItsLogAsItIs() async throws {
        try await withTemporaryFolder { folder async throws in
            let (path, copy) = (folder + "/notes.sqlite", folder + "/copy.sqlite")
            try await fill(path)
            let database = try open(path, Reports())
            try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("the last"))") }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            try await database.close()

            // An undamaged copy has everything that was acknowledged.
            let sound = folder + "/sound.sqlite"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: copy + suffix, toPath: sound + suffix)
            }
            let again = try open(sound, Reports())
            let last = try await again.read {
                try $0.value("SELECT text FROM notes ORDER BY id DESC LIMIT 1", as: String.self)
            }
            #expect(last == "the last")
            try await again.close()

            try overwrite(copy, pages: 100..<120)
            let before = contents(copy)
            #expect(throws: DatabaseDamage.self) { _ = try open(copy, Reports()) }
            #expect(contents(copy) == before)
        }
    }

    /// A long read keeps the log from being reused; afterwards the log shrinks again.
    @Test func theLogShrinksAgain() async throws {
        try await withTemporaryFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            let database = try open(path, Reports())
            let (begun, hasBegun) = AsyncStream<Void>.makeStream()
            let end = DispatchSemaphore(value: 0)
            let reading = Task {
                try await database.read { db in
                    let count = try db.value("SELECT COUNT(*) FROM notes", as: Int.self)
                    hasBegun.yield()
                    end.wait()
                    return count
                }
            }
            for await _ in begun { break }
            for _ in 0..<30 {
                try await database.write { db in
                    for _ in 0..<100 {
                        try db.run("INSERT INTO notes (text) VALUES (\(String(repeating: "x", count: 9000)))")
                    }
                }
            }
            func size() throws -> Int {
                try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
            }
            #expect(try size() > 24 << 20)
            end.signal()
            #expect(try await reading.value == 0)
            for _ in 0..<3 { try await database.write { try $0.run("INSERT INTO notes (text) VALUES (\("x"))") } }
            #expect(try size() <= 9 << 20)
            try await database.close()
        }
    }
}
