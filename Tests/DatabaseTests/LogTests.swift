import CSQLite
import Foundation
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import Database

/// What is committed is in SQLite's files, and a write-ahead log that cannot be written loses nothing that was acknowledged.
@Suite(.serialized, .timeLimit(.minutes(30))) struct LogTests {
    private static let schema = Schema(
        "notes",
        [
            .init(
                "notes",
                ["CREATE TABLE notes (id {ID}, text TEXT NOT NULL)", "CREATE INDEX texts ON notes (text)"])
        ])

    /// The texts of a database, by id.
    private typealias Notes = [Int64: String]

    private static func notes(_ db: Session) throws -> Notes {
        let rows = try db.all("SELECT id, text FROM notes") { row in
            (try row.get(0, as: Int64.self), try row.get(1, as: String.self))
        }
        return Notes(uniqueKeysWithValues: rows)
    }

    /// Returns what a process would find that starts on the files as they are now.
    private func found(_ folder: String) throws -> Notes {
        let copy = "\(folder)/copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        for name in ["notes.sqlite", "notes.sqlite-wal"] {
            guard FileManager.default.fileExists(atPath: "\(folder)/\(name)") else { continue }
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copy)/\(name)")
        }
        return try SQLiteFile.reading("\(copy)/notes.sqlite", check: .quick, Self.notes)
    }

    /// Changes that are made at random, with an expectation of their result.
    private struct Changes {
        var random: SeededGenerator
        var expected: Notes = [:]

        /// Returns the changes of a transaction, from one row to more than the connection keeps in memory.
        mutating func next() -> [(id: Int64, text: String)] {
            let count = [1, 1, 3, 40, 1500].randomElement(using: &random)!
            return (0..<count).map { _ in
                let length = Int.random(in: 1...2500, using: &random)
                let letter = "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random)!
                return (Int64.random(in: 1...1500, using: &random), String(repeating: letter, count: length))
            }
        }
    }

    private static func make(_ changes: [(id: Int64, text: String)], in db: Session) throws {
        for change in changes {
            try db.run(
                """
                INSERT INTO notes (id, text) VALUES (\(change.id), \(change.text))
                ON CONFLICT (id) DO UPDATE SET text = excluded.text
                """)
        }
    }

    private struct Refused: Error, Equatable {}

    @Test(arguments: 1...2)
    func whatIsCommittedIsInTheFiles(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.sqlite(path: "\(folder)/notes.sqlite", schema: Self.schema)
            var changes = Changes(random: SeededGenerator(seed: seed))
            for _ in 0..<20 {
                let next = changes.next()
                if Int.random(in: 0..<4, using: &changes.random) == 0 {
                    await #expect(throws: Refused()) {
                        try await database.write { db in
                            try Self.make(next, in: db)
                            throw Refused()
                        }
                    }
                } else {
                    try await database.write { try Self.make(next, in: $0) }
                    for change in next { changes.expected[change.id] = change.text }
                }
                #expect(try found(folder) == changes.expected)
            }
            #expect(try await database.read(Self.notes) == changes.expected)
            try await database.close()
            #expect(try found(folder) == changes.expected)
        }
    }

    /// The disk refuses a write at a random place of a transaction, and those after it for a while.
    @Test(arguments: 1...3)
    func aLogThatCannotBeWrittenLosesNothing(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/notes.sqlite"
            let database = try Database.sqlite(path: path, schema: Self.schema)
            var changes = Changes(random: SeededGenerator(seed: seed))
            var refusals = 0
            for _ in 0..<25 {
                let next = changes.next()
                let isRefused = Bool.random(using: &changes.random)
                if isRefused {
                    FailingDisk.refuse(
                        path + "-wal", after: Int.random(in: 0...3, using: &changes.random),
                        partly: Bool.random(using: &changes.random))
                }
                do {
                    try await database.write { db in
                        try Self.make(next, in: db)
                        // SQLite reads the pages that do not fit in memory from the log.
                        _ = try db.value("SELECT SUM(LENGTH(text)) FROM notes", as: Int64?.self)
                    }
                    for change in next { changes.expected[change.id] = change.text }
                } catch is DatabaseFailure {
                    refusals += 1
                }
                FailingDisk.work()
                #expect(try found(folder) == changes.expected)
            }
            #expect(refusals > 3)
            #expect(try await database.read(Self.notes) == changes.expected)
            try await database.close()
            #expect(try found(folder) == changes.expected)
        }
    }

    /// Another process may write, too, once a write has failed here.
    @Test func afterAFailureAnotherProcessMayWrite() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/notes.sqlite"
            let database = try Database.sqlite(path: path, schema: Self.schema)
            var expected: Notes = [:]
            for round in Int64(1)...5 {
                FailingDisk.refuse(path + "-wal", after: 0, partly: false)
                await #expect(throws: DatabaseFailure.self) {
                    try await database.write { try Self.make([(1, "refused \(round)")], in: $0) }
                }
                FailingDisk.work()
                let text = String(repeating: "\(round)", count: 20_000)
                try Database.administer(path: path, "INSERT INTO notes (id, text) VALUES (\(100 + round), '\(text)')")
                expected[100 + round] = text
                #expect(try await database.read(Self.notes) == expected)
                try await database.write { try Self.make([(round, "\(round)")], in: $0) }
                expected[round] = "\(round)"
                #expect(try await database.read(Self.notes) == expected)
            }
            try await database.close()
            #expect(try found(folder) == expected)
        }
    }
}

/// The disk under SQLite, which refuses writes to one file when a test wants it to.
private enum FailingDisk {
    private struct State {
        var path: String?
        /// The number of writes that succeed before all fail.
        var left = 0
        /// Whether the first write that fails leaves its first half.
        var isPartial = false
    }

    private static let state = NIOLockedValueBox(State())

    private static let isInstalled: Bool = {
        guard let vfs = sqlite3_vfs_find("unix"), let set = vfs.pointee.xSetSystemCall else { return false }
        let replaced: @convention(c) (CInt, UnsafeRawPointer?, Int, off_t) -> Int = {
            FailingDisk.write($0, $1, $2, $3)
        }
        let call = unsafeBitCast(replaced, to: sqlite3_syscall_ptr.self)
        // It has the one or the other.
        let codes = ["pwrite", "pwrite64"].map { (name: String) in set(vfs, name, call) }
        return codes.contains(SQLITE_OK)
    }()

    static func refuse(_ path: String, after writes: Int, partly: Bool) {
        #expect(isInstalled)
        state.withLockedValue { $0 = State(path: path, left: writes, isPartial: partly) }
    }

    static func work() { state.withLockedValue { $0.path = nil } }

    private static func write(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ offset: off_t) -> Int {
        let allowed = state.withLockedValue { state in
            guard let path = state.path, isOpen(path, as: descriptor) else { return count }
            if state.left > 0 {
                state.left -= 1
                return count
            }
            defer { state.isPartial = false }
            return state.isPartial ? count / 2 : 0
        }
        if allowed > 0 || count == 0 { return pwrite(descriptor, bytes, allowed, offset) }
        errno = ENOSPC
        return -1
    }

    private static func isOpen(_ path: String, as descriptor: CInt) -> Bool {
        var (one, other) = (stat(), stat())
        return fstat(descriptor, &one) == 0 && stat(path, &other) == 0 && one.st_ino == other.st_ino
            && one.st_dev == other.st_dev
    }
}
