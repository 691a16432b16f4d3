import Backend
import Contract
import ContractServer
import Database
import MonicaAPI
import TimeZones

extension MonicaService {
    func reminders(_ routes: inout Routes<Monica, Caller>) {
        details(&routes, of: Monica.Reminder.self)
        routes.on(use: listUpcomingReminders)
    }

    func listUpcomingReminders(
        _ request: Monica.ListUpcomingReminders, from caller: Caller
    ) async throws -> APIResponse<[Monica.UpcomingReminder]> {
        let now = time.milliseconds()
        return try await database.read(from: .replica) { [loader = loader(of: caller.account)] db in
            let loader = loader(db)
            let today = try loader.reminderTime.get().day(at: now)
            guard let days = Month(of: today).later(by: request.month)?.days else {
                return APIResponse(data: [])
            }
            return APIResponse(data: try Reminders.upcoming(max(days.lowerBound, today)...days.upperBound, by: loader))
        }
    }
}

/// The reminders of an account. Each row has its next date, `due_day`, and the moment of it, `due_at`; both are null behind the
/// last date.
enum Reminders {
    /// Returns the reminders whose next date lies within some days, the earliest first.
    static func upcoming(_ days: ClosedRange<Day>, by loader: RecordLoader) throws -> [Monica.UpcomingReminder] {
        let rows = try loader.db.all(
            """
            SELECT t.id, t.due_day FROM reminders t
            WHERE t.account_id = \(loader.account) AND t.due_day BETWEEN \(days.lowerBound) AND \(days.upperBound)
                \(try Monica.Reminder.visible(to: loader.account, in: loader.db))
            ORDER BY t.due_day, t.id
            """
        ) { (id: try $0.get(0, as: Int.self), day: try $0.get(1, as: Day.self)) }
        let reminders = try Monica.Reminder.load(rows.map(\.id), by: loader)
        return zip(reminders, rows).map { .init($0, on: $1.day) }
    }

    /// Adds a reminder.
    ///
    /// - Parameter lifeEvent: The life event with which it is deleted.
    static func insert(
        _ title: String, _ description: String?, _ rule: ReminderRule, of contact: Int, lifeEvent: Int? = nil,
        uuid: String, by loader: RecordLoader, at now: Int64
    ) throws -> Int? {
        let next = try loader.reminderTime.get().next(rule, after: now)
        return try loader.db.insert(
            """
            INSERT INTO reminders (
                uuid, account_id, contact_id, title, description, initial_day, frequency_type, frequency_number,
                due_day, due_at, life_event_id, created_at, updated_at)
            VALUES (\(uuid), \(loader.account), \(contact), \(title), \(description), \(rule.first),
                \(rule.frequency), \(rule.number), \(next?.day), \(next?.moment), \(lifeEvent), \(now), \(now))
            """)
    }

    /// Stores a reminder's next date.
    static func setNext(_ next: (day: Day, moment: Int64)?, of id: Int, in db: Session) throws {
        try db.run("UPDATE reminders SET due_day = \(next?.day), due_at = \(next?.moment) WHERE id = \(id)")
    }

    /// Moves the next dates of an account's reminders to another hour or zone. The dates stay, so that none has two e-mails.
    static func reschedule(_ account: AccountID, by times: ReminderTime, in db: Session) throws {
        let days: [Day] = try db.all(
            "SELECT DISTINCT due_day FROM reminders WHERE account_id = \(account) AND due_day IS NOT NULL"
        ) { try $0.get(0) }
        for day in days {
            try db.run(
                """
                UPDATE reminders SET due_at = \(times.moment(on: day)) WHERE account_id = \(account) AND due_day = \(day)
                """)
        }
    }

    /// Returns the time at which an account is reminded.
    static func time(of account: AccountID, _ zones: ZoneDatabase, in db: Session) throws -> ReminderTime {
        let stored = try db.one("SELECT reminder_hour, zone FROM accounts WHERE id = \(account)") {
            ReminderTime(hour: try $0.get(0), zone: zones.zone(stored: try $0.get(1)))
        }
        return stored ?? ReminderTime(hour: 9, zone: .utc)
    }
}

extension Monica.Reminder: ContactDetail {
    static var table: SQL { "reminders" }
    static let names = "reminders"

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.ReminderOrder>?) -> ListOrder {
        let column: SQL = sort?.order == .updatedAt ? "t.updated_at" : "t.created_at"
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        try load(ids, ReminderColumn.self, by: loader) { id, row in
            Self(
                id: id, uuid: try row.get(ReminderColumn.uuid), title: try row.get(ReminderColumn.title),
                description: try row.get(ReminderColumn.description), every: try row.get(ReminderColumn.number),
                try row.get(ReminderColumn.frequency), from: try row.get(ReminderColumn.day),
                account: loader.account.number, createdAt: try row.get(ReminderColumn.createdAt),
                updatedAt: try row.get(ReminderColumn.updatedAt))
        }
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let title: String
        private let description: String?
        private let rule: ReminderRule

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let contact = input.integer("contact_id", required: true)
            let first = input.day("initial_date", required: true)
            let frequency = input.choice("frequency_type", of: Monica.ReminderFrequency.known.map(\.rawValue))
            let number = input.number("frequency_number", 1...Monica.Reminder.maximumFrequency)
            let title = input.text("title", required: true, upTo: Monica.textLength)
            description = input.text("description", upTo: Monica.textLength)
            try input.check()
            (self.contact, self.title) = (contact ?? 0, title ?? "")
            rule = ReminderRule(
                first: first ?? Day(daysSince1970: 0), frequency: .init(rawValue: frequency ?? ""), number: number ?? 1)
        }

        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            try Reminders.insert(title, description, rule, of: contact, uuid: uuid, by: loader, at: now)
        }

        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            let next = try loader.reminderTime.get().next(rule, after: now)
            try loader.db.run(
                """
                UPDATE reminders SET title = \(title), description = \(description), initial_day = \(rule.first),
                    frequency_type = \(rule.frequency), frequency_number = \(rule.number),
                    due_day = \(next?.day), due_at = \(next?.moment), updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

extension FormReader {
    fileprivate mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        let number = integer(name, required: true)
        if let number, !range.contains(number) {
            reject(name, "must be between \(range.lowerBound) and \(range.upperBound).")
        }
        return number
    }
}

private enum ReminderColumn: String, Columns {
    case uuid = "t.uuid"
    case title = "t.title"
    case description = "t.description"
    case number = "t.frequency_number"
    case frequency = "t.frequency_type"
    case day = "t.initial_day"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
