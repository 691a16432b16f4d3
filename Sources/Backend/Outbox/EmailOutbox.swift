import CoreMetrics
import Database
import Identity
import Mail

/// E-mails are encrypted with the server's key, because they contain tokens that give access to an account.
extension Outbox {
    /// Composes the e-mail; nil when it should no longer be sent.
    public typealias Composer = @Sendable (Job) async throws -> MailMessage?

    /// Makes an outbox of e-mails.
    ///
    /// - Parameters:
    ///   - table: The table's name, for an API that has several outboxes.
    ///   - secret: The key, of 32 bytes or more. E-mails that were encrypted with another key than the present and the
    ///     former one are left to a node that has it.
    public convenience init(
        database: Database, table: String = "outbox", mailer: any Mailer, secret: Secret, time: TimeSource,
        compose: @escaping Composer,
        report: @escaping Report
    ) {
        let sent = OutboxMetrics.emails("sent")
        self.init(
            database: database, table: table, secret: secret, time: time, metrics: .emails, report: report
        ) { job in
            if let message = try await compose(job) {
                try await mailer.send(message)
                sent.increment()
            }
            return .done
        }
    }
}

extension MailError: PermanentFailure {
    public var isPermanent: Bool { !isTransient }
}

extension OutboxMetrics {
    fileprivate static var emails: OutboxMetrics {
        var metrics = OutboxMetrics("concord_emails")
        (metrics.failed, metrics.givenUp) = (emails("failed"), emails("given_up"))
        return metrics
    }

    fileprivate static func emails(_ result: String) -> Counter {
        Counter(label: "concord_emails_total", dimensions: [("result", result)])
    }
}
