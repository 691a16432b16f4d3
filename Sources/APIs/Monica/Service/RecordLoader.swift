import Backend
import Contract
import Database
import MonicaAPI
import TimeZones

/// Loads an account's records in batches, so that a page of contacts takes as many queries as one contact.
///
/// It is used within one transaction, on its thread.
final class RecordLoader {
    let account: AccountID
    let baseURL: String
    let links: FileLinks
    private let zones: ZoneDatabase
    let db: Session
    private(set) lazy var genders: Result<[Int: Monica.Gender], any Error> = Result {
        Dictionary(uniqueKeysWithValues: try Genders.all(of: account, in: db).map { ($0.id, $0) })
    }
    private(set) lazy var activityTypes: Result<[Int: Monica.ActivityType], any Error> = Result {
        Dictionary(uniqueKeysWithValues: try ActivityTypes.all(of: account, in: db).map { ($0.id, $0) })
    }
    /// The condition that restricts contacts `c` to visible ones.
    private(set) lazy var visible = Result { try Imports.visible("c.import_id", of: account, in: db) }
    /// The time at which the account was made, and with it what it began with.
    private(set) lazy var accountTime = Result {
        try db.value("SELECT created_at FROM accounts WHERE id = \(account)", as: Monica.Timestamp.self)
            ?? .init(milliseconds: 0)
    }
    private(set) lazy var fieldTypes = Result { try ContactDetails.types(of: account, in: db) }
    /// The time at which the account is reminded.
    private(set) lazy var reminderTime = Result { try Reminders.time(of: account, zones, in: db) }

    /// The URLs of the pictures of contacts that were loaded, by the contacts' ids.
    private var avatars: [Int: String] = [:]

    init(account: AccountID, baseURL: String, links: FileLinks, zones: ZoneDatabase = .system, db: Session) {
        self.account = account
        self.baseURL = baseURL
        self.links = links
        self.zones = zones
        self.db = db
    }

    // MARK: Contacts

    /// Loads contacts in the order of the ids, without those that the account does not have.
    func contacts(_ ids: [Int], with inclusion: Monica.Inclusion? = nil) throws -> [Monica.Contact] {
        let found = try countedRows(ids)
        guard !found.isEmpty else { return [] }
        try loadAvatars(of: found.map(\.row))
        let tags = try tags(of: found.filter(\.hasTags).map(\.row.id))
        let introducers = try shortContacts(found.compactMap(\.row.metThrough))
        let addresses = try addresses(of: found.filter(\.hasAddresses).map(\.row.id))
        let relationships = try relationships(of: found.filter(\.hasRelationships).map(\.row.id))
        let details = try inclusion == .contactFields ? details(of: found.map(\.row)) : nil
        return try found.map { found in
            var contact = try show(found.row)
            let id = contact.id
            contact.addresses = addresses[id] ?? []
            contact.tags = tags[id] ?? []
            contact.statistics.numberOfNotes = found.notes
            contact.statistics.numberOfTasks = found.tasks
            contact.statistics.numberOfGifts = found.gifts
            contact.statistics.numberOfActivities = found.activities
            contact.statistics.numberOfCalls = found.calls
            contact.statistics.numberOfReminders = found.reminders
            contact.statistics.numberOfDebts = found.debts
            contact.lastCalled = found.newestCall.map { .init(milliseconds: $0) }
            contact.lastActivityTogether = found.newestActivity?.start
            contact.information.relationships = relationships[id] ?? .init()
            contact.information.howYouMet.firstMetThroughContact = found.row.metThrough.flatMap { introducers[$0] }
            if let details {
                contact.contactFields = details.fields[id] ?? []
                contact.notes = details.notes[id] ?? []
            }
            return contact
        }
    }

    func contact(_ id: Int, with inclusion: Monica.Inclusion? = nil) throws -> Monica.Contact? {
        try contacts([id], with: inclusion).first
    }

    func shortContacts(_ ids: [Int]) throws -> [Int: Monica.ShortContact] {
        guard !ids.isEmpty else { return [:] }
        let rows = try contactRows(Array(Set(ids)))
        try loadAvatars(of: rows)
        return Dictionary(uniqueKeysWithValues: try rows.map { ($0.id, Monica.ShortContact(try show($0))) })
    }

    /// Loads the rows of contacts in the order of the ids.
    func contactRows(_ ids: [Int]) throws -> [ContactRow] {
        try inBatches(ids, { try db.all(query("\(ContactRow.Column.list)", of: $0), ContactRow.init(row:)) }, id: \.id)
    }

    /// Loads the rows of contacts with the numbers of their records, in the order of the ids.
    private func countedRows(_ ids: [Int]) throws -> [CountedRow] {
        try inBatches(ids, { try db.all(query(CountedRow.columns, of: $0), CountedRow.init(row:)) }, id: \.row.id)
    }

    private func query(_ columns: SQL, of contacts: [Int]) throws -> SQL {
        """
        SELECT \(columns) FROM contacts c
        WHERE c.id IN (\(list: contacts)) AND c.account_id = \(account) \(try visible.get())
        """
    }

    private func loadAvatars(of rows: [ContactRow]) throws {
        let chosen = rows.filter { $0.avatarSource != nil }
        if !chosen.isEmpty { avatars.merge(try Avatars.urls(of: chosen, by: self)) { $1 } }
    }

    /// Makes a contact of its own row, once its avatar is loaded.
    private func show(_ row: ContactRow) throws -> Monica.Contact {
        let name = row.formattedName ?? Monica.Names.complete(row.firstName, row.middleName, row.lastName)
        var contact = Monica.Contact(
            id: row.id, uuid: row.uuid, firstName: row.firstName, lastName: row.lastName, nickname: row.nickname,
            completeName: name, account: account.number, createdAt: row.createdAt, updatedAt: row.updatedAt)
        contact.middleName = row.middleName
        contact.hashID = Self.hashID(ofUUID: row.uuid)
        contact.description = row.description
        if let gender = try row.gender.flatMap({ try genders.get()[$0] }) {
            contact.genderID = gender.id
            contact.gender = gender.name
            contact.genderType = gender.type
        }
        contact.isStarred = row.isStarred
        contact.isPartial = row.isPartial
        contact.isDead = row.isDead
        contact.information.dates.birthdate = row.birth?.shown ?? .init()
        contact.information.dates.deceasedDate = row.death?.shown ?? .init()
        contact.information.career = .init(job: row.job, company: row.company)
        contact.information.avatar = .init(
            url: avatars[row.id], source: row.avatarSource ?? Monica.AvatarChoice.words[0],
            defaultAvatarColor: Self.colors[row.id % Self.colors.count])
        contact.information.foodPreferences = row.food
        contact.information.howYouMet.generalInformation = row.metHow
        contact.information.howYouMet.firstMetDate = row.met?.shown ?? .init()
        contact.url = "\(baseURL)/contacts/\(row.id)"
        return contact
    }

    private static func hashID(ofUUID uuid: String) -> String {
        uuid.withBytes { digits in
            String(unsafeUninitializedCapacity: 20) { id in
                id[0] = UInt8(ascii: "h")
                id[1] = UInt8(ascii: ":")
                var count = 2
                for byte in digits where byte != UInt8(ascii: "-") && count < 20 {
                    id[count] = byte
                    count += 1
                }
                return count
            }
        }
    }

    private static let colors = [
        "#fdb660", "#93521e", "#bd5067", "#b3d5fe", "#ff9807", "#709512", "#5f479a", "#e5e5cd",
    ]

    private func tags(of ids: [Int]) throws -> [Int: [Monica.Tag]] {
        guard !ids.isEmpty else { return [:] }
        let pairs = try db.all(
            """
            SELECT ct.contact_id, \(Tags.columns) FROM contact_tags ct JOIN tags t ON t.id = ct.tag_id
            WHERE ct.contact_id IN (\(list: ids)) ORDER BY t.name_key
            """
        ) { row in (try row.get(0, as: Int.self), try Monica.Tag(row: row, at: 1, account: account)) }
        return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
    }

    private func addresses(of ids: [Int]) throws -> [Int: [Monica.Address]] {
        guard !ids.isEmpty else { return [:] }
        let pairs = try db.all(
            """
            SELECT \(AddressColumn.list) FROM addresses WHERE contact_id IN (\(list: ids)) ORDER BY id
            """
        ) { row in
            (
                try row.get(AddressColumn.contact, as: Int.self),
                Monica.Address(
                    id: try row.get(AddressColumn.id), uuid: try row.get(AddressColumn.uuid),
                    name: try row.get(AddressColumn.name), street: try row.get(AddressColumn.street),
                    city: try row.get(AddressColumn.city), province: try row.get(AddressColumn.province),
                    postalCode: try row.get(AddressColumn.postalCode),
                    country: try row.get(AddressColumn.country), account: account.number,
                    createdAt: try row.get(AddressColumn.createdAt),
                    updatedAt: try row.get(AddressColumn.updatedAt))
            )
        }
        return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
    }

    private func details(
        of rows: [ContactRow]
    ) throws -> (fields: [Int: [Monica.ContactField]], notes: [Int: [Monica.Note]]) {
        let short = Dictionary(uniqueKeysWithValues: try rows.map { ($0.id, Monica.ShortContact(try show($0))) })
        let types = try fieldTypes.get()
        let fields = try db.all(
            """
            SELECT \(FieldColumn.list) FROM contact_fields WHERE contact_id IN (\(list: rows.map(\.id))) ORDER BY id
            """
        ) { row -> (Int, Monica.ContactField)? in
            guard let type = types[try row.get(FieldColumn.type)]?.type else { return nil }
            let contact: Int = try row.get(FieldColumn.contact)
            return (
                contact,
                Monica.ContactField(
                    id: try row.get(FieldColumn.id), uuid: try row.get(FieldColumn.uuid),
                    content: try row.get(FieldColumn.content), type: type,
                    account: account.number,
                    contact: short[contact], createdAt: try row.get(FieldColumn.createdAt),
                    updatedAt: try row.get(FieldColumn.updatedAt))
            )
        }
        var notes: [Int: [Monica.Note]] = [:]
        for row in rows {
            let newest: [Int] = try db.all(
                "SELECT id FROM notes WHERE contact_id = \(row.id) ORDER BY created_at DESC, id DESC LIMIT 3"
            ) { try $0.get(0) }
            notes[row.id] = try Monica.Note.load(newest, by: self)
        }
        return (Dictionary(grouping: fields.compactMap(\.self), by: \.0).mapValues { $0.map(\.1) }, notes)
    }

    // MARK: Batches

    /// Loads records by id in batches, and returns them in the order of the ids.
    func inBatches<Record>(
        _ ids: [Int], _ load: ([Int]) throws -> [Record], id: (Record) -> Int
    ) throws -> [Record] {
        var records: [Record] = []
        for start in stride(from: 0, to: ids.count, by: 128) {
            records += try load(Array(ids[start..<min(start + 128, ids.count)]))
        }
        let places = Dictionary(records.indices.map { (id(records[$0]), $0) }) { first, _ in first }
        return ids.compactMap { places[$0].map { records[$0] } }
    }
}

/// The row of a contact.
struct ContactRow {
    var id: Int
    var uuid: String
    var firstName: String
    var middleName: String?
    var lastName: String?
    var nickname: String?
    var description: String?
    var gender: Int?
    var isStarred: Bool
    var isPartial: Bool
    var isDead: Bool
    var birth: StoredDate?
    var death: StoredDate?
    var job: String?
    var company: String?
    var food: String?
    var metHow: String?
    var met: StoredDate?
    var metThrough: Int?
    var createdAt: Monica.Timestamp
    var updatedAt: Monica.Timestamp
    /// The revision of the newest vCard that created or changed the contact, in milliseconds since 1970.
    var revisedAt: Int64?
    /// Whether the contact was changed by other means since then.
    var isEdited: Bool
    /// The same as ``ContactCard/formattedName``.
    var formattedName: String?
    /// The chosen kind of picture; nil for the initials.
    var avatarSource: String?
    /// The photo that is the picture.
    var avatarPhoto: Int?

    /// The columns of a contact `c`.
    enum Column: String, Columns {
        case id = "c.id"
        case uuid = "c.uuid"
        case firstName = "c.first_name"
        case middleName = "c.middle_name"
        case lastName = "c.last_name"
        case nickname = "c.nickname"
        case description = "c.description"
        case gender = "c.gender_id"
        case isStarred = "c.is_starred"
        case isPartial = "c.is_partial"
        case isDead = "c.is_dead"
        case birthDay = "c.birth_day"
        case birthKind = "c.birth_kind"
        case deathDay = "c.death_day"
        case deathKind = "c.death_kind"
        case job = "c.job"
        case company = "c.company"
        case food = "c.food"
        case metHow = "c.met_how"
        case metDay = "c.met_day"
        case metKind = "c.met_kind"
        case metThrough = "c.met_through"
        case createdAt = "c.created_at"
        case updatedAt = "c.updated_at"
        case revisedAt = "c.revised_at"
        case isEdited = "c.is_edited"
        case formattedName = "c.formatted_name"
        case avatarSource = "c.avatar_source"
        case avatarPhoto = "c.avatar_photo_id"

        static let list = ColumnList(Self.self)
    }

    init(row: borrowing Row) throws {
        id = try row.get(Column.id)
        uuid = try row.get(Column.uuid)
        firstName = try row.get(Column.firstName)
        middleName = try row.get(Column.middleName)
        lastName = try row.get(Column.lastName)
        nickname = try row.get(Column.nickname)
        description = try row.get(Column.description)
        gender = try row.get(Column.gender)
        isStarred = try row.get(Column.isStarred)
        isPartial = try row.get(Column.isPartial)
        isDead = try row.get(Column.isDead)
        birth = try StoredDate(row: row, Column.birthDay, Column.birthKind)
        death = try StoredDate(row: row, Column.deathDay, Column.deathKind)
        job = try row.get(Column.job)
        company = try row.get(Column.company)
        food = try row.get(Column.food)
        metHow = try row.get(Column.metHow)
        met = try StoredDate(row: row, Column.metDay, Column.metKind)
        metThrough = try row.get(Column.metThrough)
        createdAt = try row.get(Column.createdAt)
        updatedAt = try row.get(Column.updatedAt)
        revisedAt = try row.get(Column.revisedAt)
        isEdited = try row.get(Column.isEdited)
        formattedName = try row.get(Column.formattedName)
        avatarSource = try row.get(Column.avatarSource)
        avatarPhoto = try row.get(Column.avatarPhoto)
    }
}

/// The row of a contact with the numbers of its records: an object, because a row has too many texts to be copied often.
private final class CountedRow {
    let row: ContactRow
    let notes: Int
    let tasks: Int
    let gifts: Int
    let activities: Int
    let calls: Int
    let reminders: Int
    let debts: Int
    /// The time of the newest call, in milliseconds since 1970.
    let newestCall: Int64?
    /// The day of the newest activity.
    let newestActivity: Day?
    let hasTags: Bool
    let hasAddresses: Bool
    let hasRelationships: Bool

    /// The records are counted for each contact of the page alone, in the statement that reads it: a statement for each kind
    /// of record would be a round trip on PostgreSQL, and a table of the ids on SQLite.
    static let columns: SQL = "\(ContactRow.Column.list), \(Count.list)"

    private enum Count: String, Columns {
        case notes = "(SELECT COUNT(*) FROM notes n WHERE n.contact_id = c.id)"
        case tasks = "(SELECT COUNT(*) FROM tasks t WHERE t.contact_id = c.id)"
        case gifts = "(SELECT COUNT(*) FROM gifts g WHERE g.contact_id = c.id)"
        case activities = "(SELECT COUNT(*) FROM activity_contacts ac WHERE ac.contact_id = c.id)"
        case calls = "(SELECT COUNT(*) FROM calls cl WHERE cl.contact_id = c.id)"
        case reminders = "(SELECT COUNT(*) FROM reminders r WHERE r.contact_id = c.id)"
        case debts = "(SELECT COUNT(*) FROM debts d WHERE d.contact_id = c.id)"
        case newestCall = "(SELECT MAX(cl.called_at) FROM calls cl WHERE cl.contact_id = c.id)"
        case newestActivity = """
            (SELECT MAX(a.happened_at) FROM activity_contacts ac JOIN activities a ON a.id = ac.activity_id
                WHERE ac.contact_id = c.id)
            """
        case tags = "(SELECT COUNT(*) FROM contact_tags ct WHERE ct.contact_id = c.id)"
        case addresses = "(SELECT COUNT(*) FROM addresses ad WHERE ad.contact_id = c.id)"
        case relationships = "(SELECT COUNT(*) FROM relationships rs WHERE rs.contact_id = c.id)"

        static let list = ColumnList(Self.self)
    }

    init(row: borrowing Row) throws {
        self.row = try ContactRow(row: row)
        let first = ContactRow.Column.list.count
        notes = try row.get(Count.notes, behind: first)
        tasks = try row.get(Count.tasks, behind: first)
        gifts = try row.get(Count.gifts, behind: first)
        activities = try row.get(Count.activities, behind: first)
        calls = try row.get(Count.calls, behind: first)
        reminders = try row.get(Count.reminders, behind: first)
        debts = try row.get(Count.debts, behind: first)
        newestCall = try row.get(Count.newestCall, behind: first)
        newestActivity = try row.get(Count.newestActivity, behind: first)
        hasTags = try row.get(Count.tags, behind: first, as: Int.self) > 0
        hasAddresses = try row.get(Count.addresses, behind: first, as: Int.self) > 0
        hasRelationships = try row.get(Count.relationships, behind: first, as: Int.self) > 0
    }
}

/// A date with the information which parts of it are known.
struct StoredDate: Hashable, Sendable, Codable {
    enum Kind: Int, Codable {
        case exact = 0
        case ageBased = 1
        case yearUnknown = 2
    }

    let day: Day
    let kind: Kind

    init(_ day: Day, _ kind: Kind = .exact) {
        self.day = day
        self.kind = kind
    }

    init?<Column: Columns>(row: borrowing Row, _ dayColumn: Column, _ kindColumn: Column) throws {
        guard let day = try row.get(dayColumn, as: Day?.self) else { return nil }
        self.day = day
        kind = Kind(rawValue: try row.get(kindColumn, as: Int.self)) ?? .exact
    }

    var shown: Monica.SpecialDate {
        .init(day, isAgeBased: kind == .ageBased, isYearUnknown: kind == .yearUnknown)
    }
}

private enum AddressColumn: String, Columns {
    case contact = "contact_id"
    case id, uuid, name, street, city, province
    case postalCode = "postal_code"
    case country
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}

private enum FieldColumn: String, Columns {
    case contact = "contact_id"
    case id, uuid, content
    case type = "type_id"
    case createdAt = "created_at"
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
