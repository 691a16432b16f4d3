import Contract

extension Monica {
    static let reminders = Section(
        "Reminders",
        [
            List<Reminder>.self, ListOfContact<Reminder>.self, Get<Reminder>.self, Create<Reminder>.self,
            Update<Reminder>.self, Delete<Reminder>.self, ListUpcomingReminders.self,
        ])

    /// The orders of a list of reminders.
    public enum ReminderOrder: String, Order {
        case createdAt = "created_at"
        case updatedAt = "updated_at"
    }

    /// The unit in which a reminder recurs.
    public struct ReminderFrequency: OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The reminder has one date.
        public static let oneTime = Self(rawValue: "one_time")
        /// The reminder recurs after a number of weeks.
        public static let week = Self(rawValue: "week")
        /// The reminder recurs after a number of months.
        public static let month = Self(rawValue: "month")
        /// The reminder recurs after a number of years.
        public static let year = Self(rawValue: "year")
        public static let known = [oneTime, week, month, year]
    }

    /// A reminder of something about a contact, on one day or on many.
    ///
    /// A day that a month lacks is the month's last: a monthly reminder of 31 January is due on 28 February and 31 March, and
    /// a yearly one of 29 February on 28 February.
    public struct Reminder: Listed, Writable, ReadByMembers, Identifiable {
        public typealias By = ReminderOrder
        public typealias Draft = ReminderDraft
        public static let plural = "reminders"
        public static let singular = "reminder"
        public static let fieldRules = reminderRules
        public static let createdStatus = HTTPStatus.created
        /// The maximum number of units between two dates.
        public static let maximumFrequency = 1000

        /// The reminder's id.
        public var id: Int
        /// A UUID, which the contract publishes beside the id.
        public var uuid: String
        /// The type of the object on the wire.
        public private(set) var object = "reminder"
        /// The text that says what to do or to think of.
        public var title: String
        /// A longer text; nil when there is none.
        @OrNull public var description: String?
        /// The unit in which the reminder recurs.
        public var frequencyType: ReminderFrequency
        /// The number of units between two dates. It means nothing for a reminder with one date.
        public var frequencyNumber: Int
        /// The first date, as its beginning in UTC.
        public var initialDate: Timestamp
        /// Whether the reminder can be deleted. Those of this project's server can.
        public var delible: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of the last change.
        public var updatedAt: Timestamp

        /// The first date.
        public var initialDay: Day { initialDate.day }

        package init(
            id: Int, uuid: String, title: String, description: String?, every number: Int,
            _ frequency: ReminderFrequency, from day: Day, account: Int, createdAt: Timestamp, updatedAt: Timestamp
        ) {
            self.id = id
            self.uuid = uuid
            self.title = title
            self.description = description
            frequencyType = frequency
            frequencyNumber = number
            initialDate = day.start
            delible = true
            self.account = AccountReference(id: account)
            self.createdAt = createdAt
            self.updatedAt = updatedAt
        }

        public func isOf(_ contact: Int) -> Bool { self.contact?.id == contact }
    }

    /// The fields of a new or changed reminder.
    public struct ReminderDraft: Draft, Hashable {
        public typealias Item = Reminder

        /// The contact's id. A reminder stays with its contact: a change names the same one.
        public var contactID: Int
        /// The text that says what to do or to think of: at most 100,000 characters.
        public var title: String
        /// The first date.
        public var initialDate: Day
        /// The unit in which the reminder recurs.
        public var frequencyType: ReminderFrequency = .oneTime
        /// The number of units between two dates, from 1 to 1000.
        public var frequencyNumber: Int = 1
        /// A longer text, of at most 100,000 characters; nil when there is none.
        public var description: String? = nil
        private init(derived: Never) { switch derived {} }

        public var form: Form {
            Form([
                "contact_id": .integer(Int64(contactID)), "title": .string(title),
                "initial_date": .string(initialDate.description), "frequency_type": .string(frequencyType.rawValue),
                "frequency_number": .integer(Int64(frequencyNumber)), "description": .orNull(description),
            ])
        }
    }

    /// `GET /reminders/upcoming/{month}`: returns the next dates of reminders that lie in a month, the earliest first.
    ///
    /// Each reminder is there at most once, with the first of its dates whose hour has not passed. Months and hours are those of
    /// the account's time zone (``User/timezone``).
    public struct ListUpcomingReminders: Endpoint {
        public static let route = Route.get("/reminders/upcoming/{month}")
        public typealias Output = APIResponse<[UpcomingReminder]>
        public static let fieldRules = ["month": FieldRule(numbers: 0...(.infinity))]

        /// The number of months from now: 0 for this month, 1 for the next.
        public var month: Int

        public init(month: Int = 0) { self.month = month }

        public func validate() throws(Problem) {
            guard month >= 0 else { throw Problems.month }
        }
    }

    /// The next date of a reminder.
    public struct UpcomingReminder: Codable, ReadByMembers, Hashable, Sendable, Identifiable {
        /// The id of the date. This project's server has the reminder's here.
        public var id: Int
        /// The reminder's id.
        public var reminderID: Int
        /// The type of the object on the wire.
        public private(set) var object = "reminder"
        /// The date, as its beginning in UTC.
        public var plannedDate: Timestamp
        /// The text that says what to do or to think of.
        public var title: String
        /// A longer text; nil when there is none.
        @OrNull public var description: String?
        /// The unit in which the reminder recurs.
        public var frequencyType: ReminderFrequency
        /// The number of units between two dates.
        public var frequencyNumber: Int
        /// The first date, as its beginning in UTC.
        public var initialDate: Timestamp
        /// Whether the reminder can be deleted.
        public var delible: Bool
        /// The account that it belongs to.
        public var account: AccountReference
        /// The contact; nil when there is none.
        @OrNull public var contact: ShortContact?
        /// The time of the reminder's creation.
        public var createdAt: Timestamp
        /// The time of the reminder's last change.
        public var updatedAt: Timestamp

        /// The date.
        public var plannedDay: Day { plannedDate.day }

        package init(_ reminder: Reminder, on day: Day) {
            (id, reminderID) = (reminder.id, reminder.id)
            plannedDate = day.start
            title = reminder.title
            description = reminder.description
            frequencyType = reminder.frequencyType
            frequencyNumber = reminder.frequencyNumber
            initialDate = reminder.initialDate
            delible = reminder.delible
            account = reminder.account
            contact = reminder.contact
            createdAt = reminder.createdAt
            updatedAt = reminder.updatedAt
        }
    }
}
