import Backend
import Contract
import Database
import Identity
import Mail
import MonicaAPI
import TimeZones

/// An e-mail about a date of a reminder. It is composed when it is sent.
struct ReminderEmail: Codable, Sendable {
    let reminder: Int
    let day: Day
}

/// Sends e-mails about reminders to the accounts' addresses, each at its account's hour.
///
/// The transaction that moves a reminder to its next date also queues the e-mail about the one that has come. So each date has
/// one e-mail, whichever node notices it first, and however many end meanwhile. One that a node was handing over when it was killed
/// is handed over again, with the same `Message-ID`.
struct ReminderEmails: Sendable {
    /// The time in milliseconds after which a date that came while no server ran has no e-mail. It is shorter than the time
    /// between two dates, so that at most one of them has one.
    private static let patience: Int64 = 24 * 3_600_000
    /// The reminders that one transaction moves.
    private static let batch = 200

    let queue: JobQueue<ReminderEmail>
    private let database: Database
    private let zones: ZoneDatabase
    private let time: TimeSource

    /// - Parameter secret: The key of the queue.
    init(
        database: Database, mailer: any Mailer, secret: Secret, zones: ZoneDatabase, time: TimeSource,
        report: @escaping JobQueue<ReminderEmail>.Report
    ) {
        queue = JobQueue(database: database, mailer: mailer, secret: secret, time: time) { email in
            try await database.read {
                try Self.message(about: email, zones, at: time.milliseconds(), in: $0)
            }
        } report: {
            report($0, $1, $2)
        }
        self.database = database
        self.zones = zones
        self.time = time
    }

    /// Queues the e-mails about all dates that have come.
    func queueDue() async throws {
        let now = time.milliseconds()
        while try await database.read({ try $0.exists("SELECT 1 FROM reminders WHERE due_at <= \(now)") }) {
            try await database.write { try self.queueSome(at: now, in: $0) }
        }
    }

    func queueSome(at now: Int64, in db: Session) throws {
        // A second node waits here, and then finds that they are not due.
        let due = try db.all(
            """
            UPDATE reminders SET due_at = NULL
            WHERE due_at <= \(now)
                AND id IN (SELECT id FROM reminders WHERE due_at <= \(now) ORDER BY due_at, id LIMIT \(Self.batch))
            RETURNING id, account_id, initial_day, frequency_type, frequency_number
            """, Due.init(row:))
        for due in due {
            let times = try Reminders.time(of: due.account, zones, in: db)
            try Reminders.setNext(times.next(due.rule, after: now), of: due.id, in: db)
            guard let date = times.next(due.rule, after: now - Self.patience - 1), date.moment <= now else { continue }
            try queue.post(ReminderEmail(reminder: due.id, day: date.day), at: now, in: db)
        }
    }

    /// A reminder whose date has come.
    private struct Due {
        let id: Int
        let account: AccountID
        let rule: ReminderRule

        init(row: borrowing Row) throws {
            (id, account) = (try row.get(0), try row.get(1))
            rule = try ReminderRule(row: row, at: 2)
        }
    }

    /// Composes an e-mail; nil when the reminder or its account is gone, or the account has no address or is suspended.
    private static func message(
        about email: ReminderEmail, _ zones: ZoneDatabase, at now: Int64, in db: Session
    ) throws -> MailMessage? {
        let account: AccountID? = try db.value("SELECT account_id FROM reminders WHERE id = \(email.reminder)")
        guard let account,
            let address: String = try db.value(
                """
                SELECT email FROM accounts
                WHERE id = \(account) AND email <> '' AND \(Accounts.isPresent) AND \(Accounts.isUsable(at: now))
                """),
            let reminder = try Monica.Reminder.one(
                email.reminder, by: RecordLoader(account: account, baseURL: "", links: .none, zones: zones, db: db))
        else { return nil }
        return message(to: address, about: reminder, on: email.day)
    }

    private static func message(to address: String, about reminder: Monica.Reminder, on day: Day) -> MailMessage {
        let name = reminder.contact?.completeName ?? ""
        let texts = ["This is your reminder of \(day) about \(name):", reminder.title, reminder.description]
        return MailMessage(
            from: "Monica", to: address, subject: line("\(name): \(reminder.title)"),
            text: texts.compactMap(\.self).joined(separator: "\n\n"), id: "\(reminder.uuid).\(day)")
    }

    /// Returns the beginning of a text in one line, as a subject has it.
    private static func line(_ text: String) -> String {
        String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(120))
    }
}

extension MonicaService {
    /// Sends e-mails about reminders until the task is cancelled.
    func sendReminders() async {
        guard let reminderEmails else { return }
        async let sending: Void = reminderEmails.queue.run()
        await repeatedly("looking for reminders", every: .seconds(20)) { try await reminderEmails.queueDue() }
        await sending
    }

    /// Sends the e-mails about the dates that have come. It is for tests.
    public func sendDueReminders() async throws {
        try await reminderEmails?.queueDue()
        try await reminderEmails?.queue.sendDue()
    }
}
