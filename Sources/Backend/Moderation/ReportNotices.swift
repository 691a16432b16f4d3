import Database
import Logging
import Mail
import ServiceLifecycle

/// Where the server tells an operator that there are reports.
public struct ReportNoticeSettings: Sendable {
    /// The address that gets the e-mails.
    public var address: String
    public var mailer: any Mailer

    public init(to address: String, mailer: any Mailer) {
        self.address = address
        self.mailer = mailer
    }
}

/// Tells an operator by e-mail within a minute how many new reports there are, and quotes none. All
/// nodes together send at most one e-mail in ten minutes.
struct ReportNotices: Service {
    /// The time in milliseconds between two e-mails.
    static let pause: Int64 = 10 * 60_000
    private static let round = Duration.seconds(20)
    /// The time until an e-mail that the mail server did not take is tried again.
    private static let roundAfterFailure = Duration.seconds(60)

    let address: String
    let mailer: any Mailer
    let apis: [RunningAPI]
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let isSent = await send(at: TimeSource.system.milliseconds())
                try? await Task.sleep(for: isSent ? Self.round : Self.roundAfterFailure)
            }
        }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// New reports of one API, which this node has claimed.
    private struct News {
        let api: RunningAPI
        let notice: ReportNotice
    }

    /// Sends an e-mail about the reports that are new, if the last one was long enough ago.
    ///
    /// - Returns: False when it could not be sent, or a database did not answer.
    @discardableResult
    func send(at now: Int64) async -> Bool {
        let apis = apis.filter { $0.hosted.tableOfPeople?.hasReports == true }
        var news: [News] = []
        do {
            for api in apis {
                let last = try await api.database.read { try ReportNotice.lastTime(in: $0) }
                // One that lies ahead is of a clock that was wrong.
                if last <= now, now < last + Self.pause { return true }
            }
            for api in apis {
                let notice = try await api.database.write { try ReportNotice.claim(at: now, in: $0) }
                if let notice { news.append(News(api: api, notice: notice)) }
            }
            guard !news.isEmpty else { return true }
            try await mailer.send(message(about: news))
            return true
        } catch {
            if !Task.isCancelled {
                logger.warning("the operator was not told of new reports", metadata: ["error": "\(error)"])
            }
            await giveBack(news)
            return false
        }
    }

    /// Leaves the reports to a later e-mail. A server that stops does so, too: no other node will tell of them.
    private func giveBack(_ news: [News]) async {
        await Task {
            for item in news {
                try? await item.api.database.write { try item.notice.giveBack(in: $0) }
            }
        }.value
    }

    private func message(about news: [News]) -> MailMessage {
        let lines = news.map { item in
            let (new, open) = (item.notice.new, item.notice.open)
            return "\(item.api.hosted.title): \(new) new, \(open) open"
        }
        return MailMessage(
            from: "Concord", to: address, subject: "New reports",
            text: """
                People have reported what they saw:

                \(lines.joined(separator: "\n"))

                Read them on the server, the oldest first:

                    concord reports list
                """)
    }
}

/// The new reports of one API, and those that an e-mail was about before.
struct ReportNotice: Sendable {
    let new: Int
    let open: Int
    /// The newest report that the e-mail is about.
    private let newest: Int64
    private let before: (report: Int64, time: Int64)

    /// The table, with its one row.
    static let table = [
        "CREATE TABLE report_notices (last_report BIGINT NOT NULL, told_at BIGINT NOT NULL)",
        "INSERT INTO report_notices (last_report, told_at) VALUES (0, 0)",
    ]

    /// Returns the time in milliseconds of the last e-mail.
    static func lastTime(in db: Session) throws -> Int64 {
        try db.value("SELECT told_at FROM report_notices") ?? 0
    }

    /// Claims the new reports for this node; nil when there are none.
    static func claim(at now: Int64, in db: Session) throws -> ReportNotice? {
        let before = try db.lock("last_report, told_at", from: "report_notices", where: "1 = 1") {
            (report: try $0.get(0, as: Int64.self), time: try $0.get(1, as: Int64.self))
        }
        guard let before else { return nil }
        let found = try db.one(
            """
            SELECT COUNT(*), MAX(id), (SELECT COUNT(*) FROM filed_reports WHERE state = 'open')
            FROM filed_reports WHERE id > \(before.report) AND state = 'open'
            """
        ) {
            (
                new: try $0.get(0, as: Int.self), newest: try $0.get(1, as: Int64?.self),
                open: try $0.get(2, as: Int.self)
            )
        }
        guard let found, let newest = found.newest else { return nil }
        try db.run("UPDATE report_notices SET last_report = \(newest), told_at = \(now)")
        return ReportNotice(new: found.new, open: found.open, newest: newest, before: before)
    }

    /// Leaves the reports to a later e-mail, because this one was not sent.
    func giveBack(in db: Session) throws {
        try db.run(
            """
            UPDATE report_notices SET last_report = \(before.report), told_at = \(before.time)
            WHERE last_report = \(newest)
            """)
    }
}
