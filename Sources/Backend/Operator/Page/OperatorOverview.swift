import Contract
import Logging

extension OperatorAPI {
    static let overview = Section(
        "Overview",
        [GetOverview.self, ListProblems.self, ListAudit.self, BackUpNow.self, SendTestEmail.self])

    /// The state of the server, as the first view of the page shows it.
    struct Overview: Codable, Equatable, Sendable {
        let apis: [ServedAPI]
        /// The last hour of all APIs together by minute, as each API has its own.
        let minutes: [Minute]
        let disk: Disk?
        let backup: Backup
        let certificateExpiresAt: Timestamp<Seconds>?
        /// The number of warnings and errors among the newest lines of the log.
        let warnings: Int

        enum CodingKeys: String, CodingKey {
            case apis, minutes, disk, backup
            case certificateExpiresAt = "certificate_expires_at"
            case warnings
        }
    }

    /// An API that the server serves.
    struct ServedAPI: Codable, Equatable, Sendable {
        let name: String
        let title: String
        let url: String
        /// The parts that cannot be used, such as `database`; an API that is ready has none.
        let unavailable: [String]
        /// Whether the API answers requests.
        let isReady: Bool
        let sockets: Int
        let emailsWaiting: Int
        let emailsFailed: Int
        let pushesWaiting: Int
        let pushesFailed: Int
        let reportsOpen: Int?
        let oldestReportAt: Timestamp<Seconds>?
        /// The last hour as a whole.
        let hour: Minute
        /// The last hour by minute, the oldest first; the last one is the present minute.
        let minutes: [Minute]

        enum CodingKeys: String, CodingKey {
            case name, title, url, unavailable
            case isReady = "ready"
            case sockets
            case emailsWaiting = "emails_waiting"
            case emailsFailed = "emails_failed"
            case pushesWaiting = "pushes_waiting"
            case pushesFailed = "pushes_failed"
            case reportsOpen = "reports_open"
            case oldestReportAt = "oldest_report_at"
            case hour, minutes
        }
    }

    /// The requests of a minute, or of an hour.
    struct Minute: Codable, Equatable, Sendable {
        let requests: Int
        /// The answers with a status of 500 or more.
        let errors: Int
        /// The time in milliseconds within which 95 of 100 requests were answered; nil without requests.
        let p95: Double?
    }

    /// The disk of the data folder, in bytes.
    struct Disk: Codable, Equatable, Sendable {
        let available: Int64
        let size: Int64
        /// The available space below which uploads are refused.
        let reserve: Int64
    }

    /// The backups that the server makes.
    struct Backup: Codable, Equatable, Sendable {
        /// The place; nil for a server that makes none.
        let place: String?
        /// The time of the newest backup; nil for none.
        let newestAt: Timestamp<Seconds>?
        /// Its size in bytes.
        let size: Int64?
        /// Why the place cannot be read, or the last attempt failed.
        let problem: String?
        /// Whether a backup is being made for the page, and how much of it is done.
        let isRunning: Bool
        let done: Int
        let total: Int

        enum CodingKeys: String, CodingKey {
            case place
            case newestAt = "newest_at"
            case size, problem
            case isRunning = "running"
            case done, total
        }
    }

    /// `GET /overview` returns the state of the server.
    struct GetOverview: Operation {
        typealias Output = Overview
        static let route = Route.get("/overview")
    }

    /// `GET /problems` returns what is wrong with the settings, as `concord config` finds it.
    struct ListProblems: Operation {
        typealias Output = [String]
        static let route = Route.get("/problems")
    }

    /// `GET /audit` returns the newest entries of the audit, the newest last.
    struct ListAudit: Operation {
        typealias Output = [AuditRecord]
        static let route = Route.get("/audit")
        /// The most entries, 1 to 1000: by default 20.
        let last: Int?

        func validate() throws(Problem) { try Problem.require(1...1000 ~= last ?? 20, "last must be 1 to 1000") }
    }

    /// `POST /backups` begins a backup at the place of the server's own backups.
    struct BackUpNow: Operation {
        typealias Output = Empty
        static let route = Route.post("/backups", .accepted)
    }

    /// `POST /test-email` sends a test e-mail.
    struct SendTestEmail: Operation {
        typealias Output = Said
        static let route = Route.post("/test-email")
        let address: String

        func validate() throws(Problem) {
            try Problem.require(EmailAddress.isValid(address), "The address is not an e-mail address")
        }
    }
}

extension OperatorAPI {
    static let log = Section("Log", [ReadLog.self])

    /// A line of the log.
    struct LogLine: Codable, Equatable, Sendable {
        /// The number of the line since the start.
        let number: Int
        let level: String
        let text: String
    }

    /// Lines of the log.
    struct LogLines: Codable, Equatable, Sendable {
        /// The number of the newest line that the server has logged.
        let newest: Int
        /// The lines that were asked for, the oldest first.
        let lines: [LogLine]
    }

    /// `GET /log` returns the newest lines of the log that are in memory and match.
    struct ReadLog: Operation {
        typealias Output = LogLines
        static let route = Route.get("/log")
        /// The words that a line must have, with spaces between them.
        let text: String?
        /// The least level, such as `warning`; nil for all.
        let level: String?
        /// The API of the person whose requests are asked for; nil for all lines.
        let api: String?
        /// The person's id, which `api` needs.
        let user: String?
        /// The number of a line: only later ones are returned.
        let after: Int?
        /// The most lines, 1 to 1000: by default 200.
        let limit: Int?

        func validate() throws(Problem) {
            try Problem.require(level.map { RecentLines.level(named: $0) != nil } ?? true, "level is not one of a log")
            try Problem.require((api == nil) == (user == nil), "api and user name a person together")
            try Problem.require(1...1000 ~= limit ?? 200, "limit must be 1 to 1000")
        }

        static let fieldRules = ["level": FieldRule(values: Logger.Level.allCases.map(\.rawValue))]
    }
}
