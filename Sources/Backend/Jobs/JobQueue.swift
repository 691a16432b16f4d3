import CoreMetrics
import Crypto
import Database
import Foundation
import Identity
import NIOConcurrencyHelpers

/// Stores what is to be sent to a server elsewhere: e-mails, push notifications. A job is written in the transaction that
/// causes it, delivered once it is durable, and retried for a day. So no request waits for another server or fails with
/// it, and a killed server loses no job.
///
/// A job says only what to send; what is sent is composed when it is delivered. Several nodes share the table. A job is
/// delivered twice only when a node dies between delivering it and recording that.
public final class JobQueue<Job: Codable & Sendable>: Sendable {
    /// The outcome of an attempt to deliver a job.
    public enum Outcome: Sendable {
        /// It is delivered, or needs no delivery any more.
        case done
        /// A rest of it is delivered later, but not within this time in milliseconds.
        case again(Job, notWithin: Int64 = 0)
        /// It is replaced by jobs that can be delivered at once, each by another node.
        case split([Job])
    }

    /// Delivers a job. An error is reported, and the job is tried again (``PermanentFailure``).
    public typealias Deliver = @Sendable (Job) async throws -> Outcome
    /// Receives each failure, with the job's number in the queue (nil when the table itself could not be read), and
    /// whether the job is tried again.
    public typealias Report = @Sendable (_ job: Int64?, any Error, _ isTriedAgain: Bool) -> Void

    /// The time after which a job is given up, in milliseconds.
    public static var lifetime: Int64 { 24 * 3_600_000 }
    /// The time in milliseconds for which a job is reserved for the node that delivers it. It is longer than a delivery
    /// takes.
    static var lease: Int64 { 60_000 }
    /// The number of jobs that are delivered at the same time.
    static var width: Int { 32 }
    /// The time in milliseconds for which a node leaves a job that it cannot decrypt to the other nodes.
    static var abstention: Int64 { 300_000 }
    /// The longest time in milliseconds for which a job is put off.
    static var longestPause: Int64 { 3_600_000 }
    /// The longest pause between two reads of the table, because another node may have died while delivering its jobs.
    static var idle: Duration { .seconds(60) }

    private let database: Database
    private let table: SQL
    /// The key with which jobs are encrypted; nil for jobs that contain no secret.
    private let secret: Secret?
    private let time: TimeSource
    private let maximum: Int64
    private let deliver: Deliver
    private let report: Report
    private let calls: AsyncStream<Void>
    private let call: AsyncStream<Void>.Continuation
    /// The jobs that this node cannot decrypt, with the time until which it ignores them.
    private let unreadable = NIOLockedValueBox<[Int64: Int64]>([:])
    /// The number of jobs at the last read of the table.
    private let count = NIOLockedValueBox<Int64>(0)
    private let metrics: JobQueueMetrics

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - secret: The key, of 32 bytes or more, for jobs that contain secrets. Jobs that were encrypted with another key
    ///     than the present and the former one are left to a node that has it. Nil leaves jobs readable.
    ///   - table: The table's name, for an API that has several queues.
    ///   - maximum: The number of jobs above which no more are added (``isFull``).
    ///   - metrics: The names of the metrics.
    public init(
        database: Database, table: String = "outbox", secret: Secret?, time: TimeSource, maximum: Int64 = .max,
        metrics: JobQueueMetrics, report: @escaping Report, deliver: @escaping Deliver
    ) {
        self.database = database
        self.table = SQL(trusted: table)
        self.secret = secret
        self.time = time
        self.maximum = maximum
        self.deliver = deliver
        self.report = report
        self.metrics = metrics
        (calls, call) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The statements that create the table, for an API's schema.
    public static var table: [String] { table(named: "outbox") }

    /// The statements that create a table of another name.
    public static func table(named name: String) -> [String] {
        [
            """
            CREATE TABLE \(name) (
                id {ID}, sealed {BYTES} NOT NULL, created_at BIGINT NOT NULL, due_at BIGINT NOT NULL,
                attempts INTEGER NOT NULL)
            """,
            "CREATE INDEX \(name)_due ON \(name) (due_at)",
        ]
    }

    /// The times of the table.
    public static var times: [StoredTime] { times(of: "outbox") }

    /// The times of a table of another name.
    public static func times(of table: String) -> [StoredTime] {
        [StoredTime(table, "created_at"), StoredTime(table, "due_at", window: longestPause)]
    }

    /// Adds a job, if the transaction commits.
    public func post(_ job: Job, at now: Int64, in db: Session) throws {
        try insert(job, createdAt: now, at: now, in: db)
        deliverAfterCommit(of: db)
    }

    /// Delivers what the transaction adds by statements of its own, once it is durable.
    public func deliverAfterCommit(of db: Session) { db.afterCommit { [call] in call.yield() } }

    /// Whether so many jobs waited lately that no more should be added.
    public var isFull: Bool { count.withLockedValue { $0 } >= maximum }

    private func insert(_ job: Job, createdAt: Int64, at now: Int64, in db: Session) throws {
        try db.run(
            """
            INSERT INTO \(table) (sealed, created_at, due_at, attempts)
            VALUES (\(try seal(job)), \(createdAt), \(now), 0)
            """)
    }

    private func seal(_ job: Job) throws -> [UInt8] {
        let text = try JSONEncoder().encode(job)
        guard let key = keys.first else { return Array(text) }
        // `combined` is only nil for nonces of another size than the standard one.
        guard let sealed = try AES.GCM.seal(text, using: key).combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return Array(sealed)
    }

    /// Delivers jobs until the task is cancelled. Deliveries that have begun are finished. It must be called once.
    public func run() async {
        call.yield()
        var alarm: Task<Void, Never>?
        for await _ in calls {
            alarm?.cancel()
            // This is not cancelled with the task: what the other server may have accepted must not be sent twice.
            let round = await Task { try await deliverSome() }.result
            let wait: Duration
            switch round {
            case .success(let next): wait = next
            case .failure(let error):
                report(nil, error, true)
                wait = .seconds(10)
            }
            alarm = Task { [call] in
                do { try await Task.sleep(for: wait) } catch { return }
                call.yield()
            }
        }
        alarm?.cancel()
    }

    /// Delivers all jobs that are due now.
    public func sendDue() async throws { while try await deliverSome() == .zero {} }

    /// Delivers some of the jobs that are due, and returns when each has been delivered, postponed or given up.
    ///
    /// - Returns: The time until the next read.
    private func deliverSome() async throws -> Duration {
        let now = time.milliseconds()
        let readable = readable(at: now)
        let isDue = StoredTimes.isOver("due_at", at: now, window: Self.longestPause)
        let (next, count) = try await database.read { [table] db in
            // A job that was put off while a clock was ahead is due.
            let isAnyDue = try db.exists("SELECT 1 FROM \(table) WHERE \(isDue) AND \(readable)")
            let next = try db.value(
                "SELECT due_at FROM \(table) WHERE \(readable) ORDER BY due_at LIMIT 1", as: Int64.self)
            return (isAnyDue ? now : next, try db.value("SELECT COUNT(*) FROM \(table)", as: Int64.self) ?? 0)
        }
        metrics.waiting.record(count)
        self.count.withLockedValue { $0 = count }
        guard let next else { return Self.idle }
        guard next <= now else { return min(.milliseconds(next - now), Self.idle) }
        let jobs = try await database.write { [table] db in
            // A second node waits here, and then finds that they are not due.
            try db.all(
                """
                UPDATE \(table) SET due_at = \(now + Self.lease), attempts = attempts + 1,
                    created_at = CASE WHEN created_at > \(now + StoredTimes.tolerance) THEN \(now) ELSE created_at END
                WHERE \(isDue)
                    AND id IN (
                        SELECT id FROM \(table) WHERE \(isDue) AND \(readable)
                        ORDER BY due_at, id LIMIT \(Self.width))
                RETURNING id, sealed, created_at, attempts
                """, Waiting.init(row:))
        }
        await withTaskGroup(of: Void.self) { group in
            for job in jobs { group.addTask { await self.deliver(job) } }
        }
        return .zero
    }

    private func deliver(_ waiting: Waiting) async {
        do {
            switch try await deliver(open(waiting)) {
            case .done: try await remove(waiting)
            case .split(let jobs):
                try await database.write { [table] db in
                    guard try db.run("DELETE FROM \(table) WHERE id = \(waiting.id)") == 1 else { return }
                    let time = waiting.createdAt
                    for job in jobs { try self.insert(job, createdAt: time, at: time, in: db) }
                }
            case .again(let rest, let pause): try await putOff(waiting, leaving: rest, for: pause)
            }
        } catch {
            await putOff(waiting, for: error)
        }
    }

    private var keys: [SymmetricKey] { secret?.keys(for: "outbox") ?? [] }

    private func open(_ waiting: Waiting) throws -> Job {
        if secret == nil, let job = try? JSONDecoder().decode(Job.self, from: Data(waiting.sealed)) { return job }
        for key in keys {
            guard let box = try? AES.GCM.SealedBox(combined: waiting.sealed),
                let text = try? AES.GCM.open(box, using: key),
                let job = try? JSONDecoder().decode(Job.self, from: text)
            else { continue }
            return job
        }
        throw UnreadableJob()
    }

    /// Leaves the rest of a job for later, or gives it up when it is too old.
    private func putOff(_ waiting: Waiting, leaving rest: Job, for pause: Int64) async throws {
        let next = time.milliseconds() + min(max(pause, Self.pause(after: waiting.attempts)), Self.longestPause)
        guard next < waiting.createdAt + Self.lifetime else {
            metrics.givenUp?.increment()
            return try await remove(waiting)
        }
        let sealed = try seal(rest)
        metrics.failed?.increment()
        try await database.write { [table] db in
            try db.run("UPDATE \(table) SET due_at = \(next), sealed = \(sealed) WHERE id = \(waiting.id)")
        }
    }

    private func putOff(_ waiting: Waiting, for error: any Error) async {
        let now = time.milliseconds()
        // Another node may have the key, and has not tried to deliver the job yet.
        let isLeft = error is UnreadableJob
        let next = now + (isLeft ? Self.pause(after: 1) : Self.pause(after: waiting.attempts))
        let attempts = isLeft ? waiting.attempts - 1 : waiting.attempts
        let again = isLeft ? now + Self.abstention : next
        if isLeft { unreadable.withLockedValue { $0[waiting.id] = again } }
        let isFinal = (error as? any PermanentFailure)?.isPermanent == true
        let isTriedAgain = !isFinal && again < waiting.createdAt + Self.lifetime
        (isTriedAgain ? metrics.failed : metrics.givenUp)?.increment()
        do {
            if isTriedAgain {
                try await database.write { [table] db in
                    try db.run("UPDATE \(table) SET due_at = \(next), attempts = \(attempts) WHERE id = \(waiting.id)")
                }
            } else {
                try await remove(waiting)
            }
            report(waiting.id, error, isTriedAgain)
        } catch {
            // The row stays unchanged, and is due when this node's reservation ends.
            report(waiting.id, error, true)
        }
    }

    /// Returns a condition that excludes jobs that this node could not decrypt recently.
    private func readable(at now: Int64) -> SQL {
        let ids = unreadable.withLockedValue { unreadable in
            unreadable = unreadable.filter { !StoredTimes.isOver($0.value, at: now, window: Self.abstention) }
            return Array(unreadable.keys.prefix(1024))
        }
        return ids.isEmpty ? "1 = 1" : "id NOT IN (\(list: ids))"
    }

    private func remove(_ waiting: Waiting) async throws {
        try await database.write { [table] db in try db.run("DELETE FROM \(table) WHERE id = \(waiting.id)") }
    }

    /// Returns the pause before the next attempt, in milliseconds: 2, 10 and 50 seconds, 4 and 21 minutes, then an hour
    /// each.
    static func pause(after attempts: Int) -> Int64 {
        var pause: Int64 = 2000
        for _ in 1..<max(1, min(attempts, 10)) { pause *= 5 }
        return min(pause, longestPause)
    }
}

/// An error of a delivery that may be permanent: what it says of a job does not change by trying again.
public protocol PermanentFailure: Error {
    /// Whether the job is given up.
    var isPermanent: Bool { get }
}

/// The metrics of a queue of jobs.
public struct JobQueueMetrics: Sendable {
    /// The jobs of all nodes that have not been delivered.
    let waiting: Gauge
    /// The jobs that could not be delivered and are tried again; nil where deliveries are counted elsewhere.
    var failed: Counter?
    /// The jobs that were given up; nil where deliveries are counted elsewhere.
    var givenUp: Counter?

    /// Makes metrics that count the jobs that wait: `<name>_waiting`.
    public init(_ name: String) { waiting = Gauge(label: name + "_waiting") }
}

/// A row of the queue.
private struct Waiting: Sendable {
    var id: Int64
    var sealed: [UInt8]
    var createdAt: Int64
    var attempts: Int

    init(row: borrowing Row) throws {
        (id, sealed, createdAt, attempts) = try (row.get(0), row.get(1), row.get(2), row.get(3))
    }
}

/// The error for a job that was encrypted with another key, or by another version.
struct UnreadableJob: Error, CustomStringConvertible {
    var description: String {
        "what waits to be sent cannot be read: it was encrypted with another key, which another node may have"
    }
}
