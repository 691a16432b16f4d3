import Contract
import Database
import Foundation
import NIOCore
import ObjectStore
import ZIPArchives

/// The archives that people ask for: a ZIP file with all that the server keeps of a person (``ArchiveContents``).
///
/// A request writes a row. A node makes the archive in the background, one at a time, and stores it like an uploaded file, so that
/// every node has it and a download that was interrupted goes on where it stopped. It is kept for two days. A person has one
/// archive at a time, and gets a new one at most once an hour.
public final class Archives<Table: PeopleTable>: Sendable {
    /// The time in milliseconds within which the same archive answers another request.
    static var interval: Int64 { 3_600_000 }
    /// The time in seconds for which the URL of an answer is valid.
    static var urlLifetime: Int64 { 3600 }
    /// The number of attempts after which an archive has failed.
    static var maximumAttempts: Int { 5 }
    /// The time in milliseconds for which an archive is reserved for the node that makes it. The node extends it.
    static var lease: Int64 { 60_000 }
    private static var longestPause: Int64 { 3_600_000 }
    private static var idle: Duration { .seconds(60) }

    /// Receives the reason why an archive could not be made, and whether it is tried again.
    typealias Report = @Sendable (any Error, _ isTriedAgain: Bool) -> Void

    /// The contents of an archive.
    public let contents: ArchiveContents<Table.ID>
    private let database: Database
    private let objects: any ObjectStore
    private let time: TimeSource
    private let calls: AsyncStream<Void>
    private let call: AsyncStream<Void>.Continuation

    /// Makes the archives of an API.
    ///
    /// - Parameter objects: The store of the archives and of people's files.
    public init(
        of contents: ArchiveContents<Table.ID>, database: Database, objects: any ObjectStore, time: TimeSource
    ) {
        self.contents = contents
        self.database = database
        self.objects = objects
        self.time = time
        (calls, call) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The statements that create the table, for an API's schema.
    ///
    /// - Parameter id: The type of accounts' ids: `BIGINT` or `{KEY}`.
    public static func table(of id: String) -> [String] {
        [
            // The state is one of `ArchiveState`. The key, the size and the time of a ready archive are set.
            """
            CREATE TABLE archives (
                owner_id \(id) PRIMARY KEY, state TEXT NOT NULL, requested_at BIGINT NOT NULL, due_at BIGINT NOT NULL,
                attempts INTEGER NOT NULL, object_key {KEY} UNIQUE, size BIGINT, ready_at BIGINT)
            """,
            "CREATE INDEX archives_due ON archives (due_at) WHERE state = 'preparing'",
        ]
    }

    /// The times of the table.
    public static var times: [StoredTime] {
        [
            StoredTime("archives", "requested_at"), StoredTime("archives", "ready_at"),
            StoredTime("archives", "due_at", window: longestPause),
        ]
    }

    /// The column that names stored archives.
    public static var files: StoredFileColumn { StoredFileColumn("archives", "object_key", newest: "requested_at") }

    // MARK: What people ask for

    /// Asks for an archive. One that is being made, or that is younger than an hour, answers the request.
    ///
    /// - Throws: The table's ``AccountTable/gone``.
    public func request(by person: Table.ID, at now: Int64) async throws -> ArchiveRecord {
        let (record, former) = try await database.write { [call] db -> (ArchiveRecord, String?) in
            try Table.lockCaller(person, in: db)
            let present = try ArchiveRecord.one(of: person, in: db)
            if let present, present.answers(at: now, within: Self.interval) { return (present, nil) }
            try db.run(
                """
                INSERT INTO archives (owner_id, state, requested_at, due_at, attempts)
                VALUES (\(person), \(ArchiveState.preparing.rawValue), \(now), \(now), 0)
                ON CONFLICT (owner_id) DO UPDATE SET state = excluded.state, requested_at = excluded.requested_at,
                    due_at = excluded.due_at, attempts = 0, object_key = NULL, size = NULL, ready_at = NULL
                """)
            db.afterCommit { call.yield() }
            return (ArchiveRecord(state: .preparing, requestedAt: now), present?.key)
        }
        if let key = former.flatMap(ObjectKey.init) { try? await objects.delete(key) }
        return record
    }

    /// Returns the person's archive; nil for none.
    public func current(of person: Table.ID, at now: Int64) async throws -> ArchiveRecord? {
        let record = try await database.read { try ArchiveRecord.one(of: person, in: $0) }
        guard let record, !record.isOver(at: now) else { return nil }
        return record
    }

    /// Returns the URL of a ready archive, which is valid for an hour; nil for another.
    ///
    /// - Parameter name: The name of the downloaded file.
    public func url(of record: ArchiveRecord, named name: String) throws -> String? {
        guard let key = record.key.flatMap(ObjectKey.init) else { return nil }
        return try objects.downloadURL(
            for: key, as: Download(filename: name, contentType: "application/zip"), expiresIn: Self.urlLifetime)
    }

    /// Removes the archive of a person whose account is deleted; the stored file once that is durable.
    public func forget(_ person: Table.ID, in db: Session) throws {
        let key = try db.value(
            "DELETE FROM archives WHERE owner_id = \(person) RETURNING COALESCE(object_key, '')", as: String.self)
        guard let key = key.flatMap(ObjectKey.init) else { return }
        // An archive that cannot be deleted now is swept later.
        db.afterCommit { [objects] in Task { try? await objects.delete(key) } }
    }

    /// Removes archives that are over.
    func sweep() async throws {
        let now = time.milliseconds()
        let keys = try await database.write { db -> [String] in
            let preparing = ArchiveState.preparing.rawValue
            let end = now - ArchiveRecord.lifetime
            return try db.all(
                """
                DELETE FROM archives WHERE state <> \(preparing) AND COALESCE(ready_at, requested_at) <= \(end)
                RETURNING COALESCE(object_key, '')
                """
            ) { try $0.get(0) }
        }
        // An archive that cannot be deleted now is swept later.
        for key in keys.compactMap(ObjectKey.init) { try? await objects.delete(key) }
    }

    /// Writes a person's archive for an operator.
    func write(_ person: Table.ID, to write: @escaping ZIPWriter.Write) async throws {
        try await ArchiveWriter(objects: objects, now: time.seconds)
            .write(contents, of: person, in: database, to: write)
    }

    // MARK: How they are made

    /// Makes archives until the task is cancelled. Each node calls it once. An archive that is being made then is left to
    /// another node, or to the next start.
    func run(_ report: Report) async {
        call.yield()
        var alarm: Task<Void, Never>?
        for await _ in calls {
            alarm?.cancel()
            let wait: Duration
            do {
                while try await makeOne(report) {}
                wait = Self.idle
            } catch {
                if Task.isCancelled { break }
                report(error, true)
                wait = .seconds(10)
            }
            alarm = Task { [call] in
                do { try await Task.sleep(for: wait) } catch { return }
                call.yield()
            }
        }
        alarm?.cancel()
    }

    /// Makes all archives that are due now. It is for tests.
    public func makeDue() async throws { while try await makeOne({ _, _ in }) {} }

    private struct Job: Sendable {
        let person: Table.ID
        let requestedAt: Int64
        let attempts: Int

        /// The condition that the archive is still to be made: it was neither deleted nor asked for anew.
        var isWanted: SQL {
            """
            owner_id = \(person) AND requested_at = \(requestedAt) AND state = \(ArchiveState.preparing.rawValue)
            """
        }
    }

    /// The error that ends the making of an archive whose person was deleted.
    private struct Unwanted: Error {}

    /// Makes the archive that has waited longest.
    ///
    /// - Returns: False when none is due.
    private func makeOne(_ report: Report) async throws -> Bool {
        let now = time.milliseconds()
        let isDue: SQL = """
            state = \(ArchiveState.preparing.rawValue)
                AND \(StoredTimes.isOver("due_at", at: now, window: Self.longestPause))
            """
        guard try await database.read({ try $0.exists("SELECT 1 FROM archives WHERE \(isDue)") }) else { return false }
        let job = try await database.write { db in
            // A second node waits here, and then finds that it is not due.
            try db.one(
                """
                UPDATE archives SET due_at = \(now + Self.lease), attempts = attempts + 1
                WHERE \(isDue) AND owner_id = (
                    SELECT owner_id FROM archives WHERE \(isDue) ORDER BY due_at, owner_id LIMIT 1)
                RETURNING owner_id, requested_at, attempts
                """
            ) { Job(person: try $0.get(0), requestedAt: try $0.get(1), attempts: try $0.get(2)) }
        }
        guard let job else { return false }
        do {
            try await make(job)
        } catch is Unwanted {
        } catch {
            try await putOff(job, for: error, report)
        }
        return true
    }

    private func make(_ job: Job) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.store(job)
                return true
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: .milliseconds(Self.lease / 3))
                    try await self.extendLease(of: job)
                }
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private func extendLease(of job: Job) async throws {
        let end = time.milliseconds() + Self.lease
        let isWanted = try await database.write { db in
            try db.run("UPDATE archives SET due_at = \(end) WHERE \(job.isWanted)") == 1
        }
        guard isWanted else { throw Unwanted() }
    }

    private func store(_ job: Job) async throws {
        guard let key = ObjectKey("archives/\(UUID().uuidString.lowercased()).zip") else { return }
        let file = try await objects.spool()
        let size: Int64
        do {
            try await write(job.person) { try await file.append($0) }
            try await file.finish()
            size = file.count
            try await objects.put(file, at: key, contentType: "application/zip")
        } catch {
            try? await file.discard()
            throw error
        }
        let now = time.milliseconds()
        let isStored = try await database.write { db in
            try db.run(
                """
                UPDATE archives SET state = \(ArchiveState.ready.rawValue), object_key = \(key.rawValue),
                    size = \(size), ready_at = \(now)
                WHERE \(job.isWanted)
                """) == 1
        }
        if !isStored { try await objects.delete(key) }
    }

    /// Leaves an archive for later, or gives it up.
    private func putOff(_ job: Job, for error: any Error, _ report: Report) async throws {
        // What the end of this process has interrupted is not the archive's fault.
        let isCancelled = Task.isCancelled
        let isTriedAgain = isCancelled || job.attempts < Self.maximumAttempts
        let pause = isCancelled ? 0 : JobQueue<AccountEmail>.pause(after: job.attempts)
        let next = time.milliseconds() + pause
        let state = isTriedAgain ? ArchiveState.preparing : .failed
        let attempts = isCancelled ? job.attempts - 1 : job.attempts
        _ = try await Task { [database] in
            try await database.write { db in
                try db.run(
                    """
                    UPDATE archives SET due_at = \(next), attempts = \(attempts), state = \(state.rawValue)
                    WHERE \(job.isWanted)
                    """)
            }
        }.value
        if isCancelled { throw CancellationError() }
        report(error, isTriedAgain)
    }
}

/// A person's archive as its row has it.
public struct ArchiveRecord: Sendable {
    /// The time in milliseconds for which an archive is kept.
    public static let lifetime: Int64 = 48 * 3_600_000

    public let state: ArchiveState
    /// The times in milliseconds since 1970.
    public let requestedAt: Int64
    /// The size in bytes; nil unless it is ready.
    public private(set) var size: Int64?
    /// The time of its completion; nil unless it is ready.
    public private(set) var readyAt: Int64?
    fileprivate private(set) var key: String?

    init(state: ArchiveState, requestedAt: Int64) {
        self.state = state
        self.requestedAt = requestedAt
    }

    /// The time at which it is removed; nil unless it is ready.
    public var expiresAt: Int64? { readyAt.map { $0 + Self.lifetime } }

    fileprivate static func one(of person: some SQLConvertible, in db: Session) throws -> ArchiveRecord? {
        try db.one(
            "SELECT state, requested_at, size, ready_at, object_key FROM archives WHERE owner_id = \(person)"
        ) { row in
            var record = ArchiveRecord(
                state: ArchiveState(rawValue: try row.get(0)), requestedAt: try row.get(1))
            (record.size, record.readyAt, record.key) = (try row.get(2), try row.get(3), try row.get(4))
            return record
        }
    }

    fileprivate func isOver(at now: Int64) -> Bool {
        state != .preparing && (readyAt ?? requestedAt) <= now - Self.lifetime
    }

    /// Whether it answers a further request.
    fileprivate func answers(at now: Int64, within interval: Int64) -> Bool {
        switch state {
        case .preparing: true
        case .ready: now < (readyAt ?? 0) + interval && now >= (readyAt ?? 0) - StoredTimes.tolerance
        default: false
        }
    }
}
