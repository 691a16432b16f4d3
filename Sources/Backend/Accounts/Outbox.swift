import CoreMetrics
import Crypto
import Database
import Foundation
import Identity
import Mail
import NIOConcurrencyHelpers

/// Stores e-mails that are to be sent. They are written in the transaction that causes them, sent once it is durable,
/// and retried for a day. So no request waits for a mail server or fails with it, and a killed server loses no e-mail.
///
/// The rows are encrypted with the server's key, because e-mails contain tokens that give access to an account. The
/// e-mail itself is composed when it is sent. Several nodes share the table. An e-mail is sent twice only when a node
/// dies between sending it and recording that.
public final class Outbox<Job: Codable & Sendable>: Sendable {
    /// Composes the e-mail; nil when it should no longer be sent.
    public typealias Composer = @Sendable (Job) async throws -> MailMessage?
    /// Receives each failure, with the e-mail's number in the outbox (nil when the table itself could not be read), and
    /// whether the e-mail is tried again.
    public typealias Report = @Sendable (_ email: Int64?, any Error, _ isTriedAgain: Bool) -> Void

    /// The time after which an e-mail is given up, in milliseconds.
    static var lifetime: Int64 { 24 * 3_600_000 }
    /// The time in milliseconds for which an e-mail is reserved for the node that sends it. It is longer than a mailer
    /// takes.
    static var lease: Int64 { 60_000 }
    /// The number of e-mails that are sent at the same time.
    static var width: Int { 32 }
    /// The time in milliseconds for which a node leaves an e-mail that it cannot decrypt to the other nodes.
    static var abstention: Int64 { 300_000 }
    /// The longest pause between two reads of the table, because another node may have died while sending its e-mails.
    static var idle: Duration { .seconds(60) }

    private let database: Database
    private let mailer: any Mailer
    private let secret: Secret
    private let time: TimeSource
    private let compose: Composer
    private let report: Report
    private let calls: AsyncStream<Void>
    private let call: AsyncStream<Void>.Continuation
    /// The e-mails that this node cannot decrypt, with the time until which it ignores them.
    private let unreadable = NIOLockedValueBox<[Int64: Int64]>([:])
    private let metrics = OutboxMetrics()

    /// - Parameter secret: The key, of 32 bytes or more. E-mails that were encrypted with another key than the present
    ///   and the former one are left to a node that has it.
    public init(
        database: Database, mailer: any Mailer, secret: Secret, time: TimeSource, compose: @escaping Composer,
        report: @escaping Report
    ) {
        self.database = database
        self.mailer = mailer
        self.secret = secret
        self.time = time
        self.compose = compose
        self.report = report
        (calls, call) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The statements that create the table, for an API's schema.
    public static var table: [String] {
        [
            """
            CREATE TABLE outbox (
                id {ID}, sealed {BYTES} NOT NULL, created_at BIGINT NOT NULL, due_at BIGINT NOT NULL,
                attempts INTEGER NOT NULL)
            """,
            "CREATE INDEX outbox_due ON outbox (due_at)",
        ]
    }

    /// Adds an e-mail, if the transaction commits.
    public func post(_ job: Job, at now: Int64, in db: Session) throws {
        let sealed = try AES.GCM.seal(JSONEncoder().encode(job), using: keys[0])
        // `combined` is only nil for nonces of another size than the standard one.
        guard let text = sealed.combined else { throw CryptoKitError.incorrectParameterSize }
        try db.run(
            """
            INSERT INTO outbox (sealed, created_at, due_at, attempts) VALUES (\(Array(text)), \(now), \(now), 0)
            """)
        db.afterCommit { [call] in call.yield() }
    }

    /// Sends e-mails until the task is cancelled. E-mails that are being sent are finished. It must be called once.
    public func run() async {
        call.yield()
        var alarm: Task<Void, Never>?
        for await _ in calls {
            alarm?.cancel()
            // This is not cancelled with the task: an e-mail that the mail server may have accepted must not be sent
            // twice.
            let round = await Task { try await deliver() }.result
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

    /// Sends all e-mails that are due now.
    public func sendDue() async throws { while try await deliver() == .zero {} }

    /// Sends some of the e-mails that are due, and returns when each has been sent, postponed or given up.
    ///
    /// - Returns: The time until the next read.
    private func deliver() async throws -> Duration {
        let now = time.milliseconds()
        let readable = readable(at: now)
        let (next, count) = try await database.read { db in
            let next = try db.value(
                "SELECT due_at FROM outbox WHERE \(readable) ORDER BY due_at LIMIT 1", as: Int64.self)
            return (next, try db.value("SELECT COUNT(*) FROM outbox", as: Int64.self) ?? 0)
        }
        metrics.waiting.record(count)
        guard let next else { return Self.idle }
        guard next <= now else { return min(.milliseconds(next - now), Self.idle) }
        let emails = try await database.write { db in
            // A second node waits here, and then finds that they are not due.
            try db.all(
                """
                UPDATE outbox SET due_at = \(now + Self.lease), attempts = attempts + 1
                WHERE due_at <= \(now)
                    AND id IN (
                        SELECT id FROM outbox WHERE due_at <= \(now) AND \(readable)
                        ORDER BY due_at, id LIMIT \(Self.width))
                RETURNING id, sealed, created_at, attempts
                """, Waiting.init(row:))
        }
        await withTaskGroup(of: Void.self) { group in
            for email in emails { group.addTask { await self.send(email) } }
        }
        return .zero
    }

    private func send(_ email: Waiting) async {
        do {
            if let message = try await compose(open(email)) {
                try await mailer.send(message)
                metrics.sent.increment()
            }
            try await remove(email)
        } catch {
            await putOff(email, for: error)
        }
    }

    private var keys: [SymmetricKey] { secret.keys(for: "outbox") }

    private func open(_ email: Waiting) throws -> Job {
        for key in keys {
            guard let box = try? AES.GCM.SealedBox(combined: email.sealed),
                let text = try? AES.GCM.open(box, using: key),
                let job = try? JSONDecoder().decode(Job.self, from: text)
            else { continue }
            return job
        }
        throw UnreadableEmail()
    }

    private func putOff(_ email: Waiting, for error: any Error) async {
        let now = time.milliseconds()
        // Another node may have the key, and has not tried to send the e-mail yet.
        let isLeft = error is UnreadableEmail
        let next = now + (isLeft ? Self.pause(after: 1) : Self.pause(after: email.attempts))
        let attempts = isLeft ? email.attempts - 1 : email.attempts
        let again = isLeft ? now + Self.abstention : next
        if isLeft { unreadable.withLockedValue { $0[email.id] = again } }
        let isFinal = (error as? MailError)?.isTransient == false
        let isTriedAgain = !isFinal && again < email.createdAt + Self.lifetime
        (isTriedAgain ? metrics.failed : metrics.givenUp).increment()
        do {
            if isTriedAgain {
                try await database.write { db in
                    try db.run("UPDATE outbox SET due_at = \(next), attempts = \(attempts) WHERE id = \(email.id)")
                }
            } else {
                try await remove(email)
            }
            report(email.id, error, isTriedAgain)
        } catch {
            // The row stays unchanged, and is due when this node's reservation ends.
            report(email.id, error, true)
        }
    }

    /// Returns a condition that excludes e-mails that this node could not decrypt recently.
    private func readable(at now: Int64) -> SQL {
        var ids = unreadable.withLockedValue { unreadable in
            unreadable = unreadable.filter { $0.value > now }
            return Array(unreadable.keys.prefix(1024))
        }
        guard let last = ids.last else { return "1 = 1" }
        // The list is padded to few lengths, so that few statements are prepared.
        while !ids.count.isPowerOfTwo { ids.append(last) }
        return "id NOT IN (\(list: ids))"
    }

    private func remove(_ email: Waiting) async throws {
        try await database.write { db in try db.run("DELETE FROM outbox WHERE id = \(email.id)") }
    }

    /// Returns the pause before the next attempt, in milliseconds: 2, 10 and 50 seconds, 4 and 21 minutes, then an hour
    /// each.
    static func pause(after attempts: Int) -> Int64 {
        var pause: Int64 = 2000
        for _ in 1..<max(1, min(attempts, 10)) { pause *= 5 }
        return min(pause, 3_600_000)
    }
}

/// Records the e-mails of an outbox.
private struct OutboxMetrics: Sendable {
    /// The e-mails of all nodes that have not been sent.
    let waiting = Gauge(label: "concord_emails_waiting")
    let sent = Self.emails("sent")
    let failed = Self.emails("failed")
    let givenUp = Self.emails("given_up")

    private static func emails(_ result: String) -> Counter {
        Counter(label: "concord_emails_total", dimensions: [("result", result)])
    }
}

extension Int {
    fileprivate var isPowerOfTwo: Bool { nonzeroBitCount == 1 }
}

/// A row of the outbox.
private struct Waiting: Sendable {
    var id: Int64
    var sealed: [UInt8]
    var createdAt: Int64
    var attempts: Int

    init(row: borrowing Row) throws {
        (id, sealed, createdAt, attempts) = try (row.get(0), row.get(1), row.get(2), row.get(3))
    }
}

/// The error for an e-mail that was encrypted with another key, or by another version.
struct UnreadableEmail: Error, CustomStringConvertible {
    var description: String {
        "an e-mail that waits cannot be read: it was encrypted with another key, which another node may have"
    }
}
