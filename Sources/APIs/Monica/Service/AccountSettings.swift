import Backend
import Contract
import Database

extension MonicaService {
    /// The settings of an account that the operator makes.
    public struct AccountSettings: Codable, Hashable, Sendable {
        /// The owner's address, to which e-mails about reminders go; empty for none. Nil leaves it as it is.
        public var email: String?
        /// The zone of the account's days, an IANA name. Nil leaves it as it is.
        public var zone: String?
        /// The hour at which the account is reminded, from 0 to 23. Nil leaves it as it is.
        public var reminderHour: Int?

        public init(email: String? = nil, zone: String? = nil, reminderHour: Int? = nil) {
            self.email = email
            self.zone = zone
            self.reminderHour = reminderHour
        }
    }

    /// Changes the settings of an account. The next dates of its reminders come at the new hour.
    ///
    /// - Parameter name: The operator's name for the account.
    /// - Returns: The settings that the account has now; nil when there is no such account.
    public func change(
        _ settings: AccountSettings, of name: String, audit: Audit
    ) async throws -> AccountSettings? {
        let now = time.milliseconds()
        return try await database.write { [zones] db in
            guard let account = try Accounts.find(name, in: db), try Accounts.lock(account, in: db) else { return nil }
            try db.run(
                """
                UPDATE accounts SET email = COALESCE(\(settings.email), email), zone = COALESCE(\(settings.zone), zone),
                    reminder_hour = COALESCE(\(settings.reminderHour), reminder_hour), updated_at = \(now)
                WHERE id = \(account)
                """)
            let times = try Reminders.time(of: account, zones, in: db)
            try Reminders.reschedule(account, by: times, in: db)
            try audit.record(name, in: db)
            return try db.one("SELECT email, zone, reminder_hour FROM accounts WHERE id = \(account)") {
                AccountSettings(email: try $0.get(0), zone: try $0.get(1), reminderHour: try $0.get(2))
            }
        }
    }
}
