import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    func lifeEvents(_ routes: inout Routes<Monica, Caller>) {
        details(&routes, of: Monica.LifeEvent.self, isNested: false)
    }
}

extension Monica.LifeEvent: ContactDetail {
    static var table: SQL { "life_events" }
    static let names = "life events"

    var kept: [String: JSONValue] {
        [
            "contact_id": .orNull(contact?.id), "has_reminder": false,
            "happened_at_month_unknown": .bool(happenedAtMonthUnknown),
            "happened_at_day_unknown": .bool(happenedAtDayUnknown),
        ]
    }

    static func owned(by account: AccountID) -> SQL { "t.account_id = \(account)" }

    static func order(by sort: Monica.Sort<Monica.LifeEventOrder>?) -> ListOrder {
        let column: SQL =
            switch sort?.order {
            case .happenedAt: "t.happened_at"
            case .updatedAt: "t.updated_at"
            case .createdAt, nil: "t.created_at"
            }
        return .order(column, descending: sort?.isDescending ?? false)
    }

    static func load(_ ids: [Int], by loader: RecordLoader) throws -> [Self] {
        let types = LifeEventTypes.all(of: loader.account, since: try loader.accountTime.get())
        return try load(ids, LifeEventColumn.self, by: loader) { id, row in
            guard let type = types[try row.get(LifeEventColumn.type)] else { return nil }
            return Self(
                id: id, name: try row.get(LifeEventColumn.name), note: try row.get(LifeEventColumn.note),
                happenedAt: try row.get(LifeEventColumn.happenedAt),
                isMonthUnknown: try row.get(LifeEventColumn.isMonthUnknown),
                isDayUnknown: try row.get(LifeEventColumn.isDayUnknown), type: type, account: loader.account.number,
                createdAt: try row.get(LifeEventColumn.createdAt), updatedAt: try row.get(LifeEventColumn.updatedAt))
        }
    }

    static func deleteParts(of id: Int, in db: Session) throws {
        try db.run("DELETE FROM reminders WHERE life_event_id = \(id)")
    }

    struct Fields: ContactDetailFields {
        let contact: Int
        private let kind: Monica.LifeEventKind
        private let type: Int
        private let happenedAt: Monica.Timestamp
        private let name: String?
        private let note: String?
        private let hasReminder: Bool
        private let isMonthUnknown: Bool
        private let isDayUnknown: Bool

        /// The fields are judged in the order in which Monica 4 judges them.
        init(_ form: Monica.Form, by loader: RecordLoader) throws {
            var input = FormReader(form)
            let contact = input.integer("contact_id", required: true)
            let type = input.integer("life_event_type_id", required: true)
            let kind = type.flatMap { LifeEventTypes.kind(of: $0) }
            if type != nil, kind == nil { input.rejectSelection("life_event_type_id") }
            let happenedAt = input.moment("happened_at", required: true)
            name = input.text("name")
            note = input.text("note", upTo: Monica.textLength)
            hasReminder = input.bool("has_reminder", required: true) ?? false
            isMonthUnknown = input.bool("happened_at_month_unknown", required: true) ?? false
            isDayUnknown = input.bool("happened_at_day_unknown", required: true) ?? false
            try input.check()
            (self.contact, self.type, self.kind) = (contact ?? 0, type ?? 0, kind ?? .absent)
            self.happenedAt = .init(milliseconds: happenedAt ?? 0)
        }

        /// - Parameter uuid: The UUID of the reminder, if there is one: a life event has none.
        func insert(uuid: String, by loader: RecordLoader, at now: Int64) throws -> Int? {
            let id: Int? = try loader.db.insert(
                """
                INSERT INTO life_events (
                    account_id, contact_id, type_id, name, note, happened_at, month_unknown, day_unknown, created_at,
                    updated_at)
                VALUES (\(loader.account), \(contact), \(type), \(name), \(note), \(happenedAt.milliseconds),
                    \(isMonthUnknown), \(isDayUnknown), \(now), \(now))
                """)
            guard hasReminder, let id else { return id }
            _ = try Reminders.insert(
                LifeEventTypes.name(of: kind), nil, ReminderRule(first: happenedAt.day, frequency: .year, number: 1),
                of: contact, lifeEvent: id, uuid: uuid, by: loader, at: now)
            return id
        }

        /// The reminder stays as it is, as in Monica 4.
        func replace(_ id: Int, by loader: RecordLoader, at now: Int64) throws {
            try loader.db.run(
                """
                UPDATE life_events SET type_id = \(type), name = \(name), note = \(note),
                    happened_at = \(happenedAt.milliseconds), month_unknown = \(isMonthUnknown),
                    day_unknown = \(isDayUnknown), updated_at = \(now)
                WHERE id = \(id)
                """)
        }
    }
}

/// The types of life events and their categories, which every account has. The id of each is its place, from 1, so that new
/// ones come last.
private enum LifeEventTypes {
    private static let known = Monica.LifeEventKind.known

    /// Returns the kind of the type that has an id; nil when there is none.
    static func kind(of id: Int) -> Monica.LifeEventKind? { 1...known.count ~= id ? known[id - 1] : nil }

    /// Returns the name of a type, such as `New job`.
    static func name(of kind: Monica.LifeEventKind) -> String { words(kind.rawValue, joinedBy: " ") }

    private static func words(_ key: String, joinedBy separator: String) -> String {
        key.prefix(1).uppercased() + key.dropFirst().replacing("_", with: separator)
    }

    /// Returns the types as an account has them, by their ids.
    static func all(of account: AccountID, since time: Monica.Timestamp) -> [Int: Monica.LifeEventType] {
        var types: [Int: Monica.LifeEventType] = [:]
        for (index, (word, kinds)) in Monica.LifeEventKind.categories.enumerated() {
            let category = Monica.LifeEventCategory(
                id: index + 1, name: words(word, joinedBy: " & "), word: word, account: account.number, createdAt: time)
            for kind in kinds {
                let id = types.count + 1
                types[id] = Monica.LifeEventType(
                    id: id, name: name(of: kind), kind: kind, category: category, account: account.number,
                    createdAt: time)
            }
        }
        return types
    }
}

private enum LifeEventColumn: String, Columns {
    case type = "t.type_id"
    case name = "t.name"
    case note = "t.note"
    case happenedAt = "t.happened_at"
    case isMonthUnknown = "t.month_unknown"
    case isDayUnknown = "t.day_unknown"
    case createdAt = "t.created_at"
    case updatedAt = "t.updated_at"

    static let list = ColumnList(Self.self)
}
