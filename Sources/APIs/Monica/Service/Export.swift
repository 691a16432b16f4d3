import Backend
import Contract
import ContractServer
import Database
import MonicaAPI

extension MonicaService {
    /// The format of an export.
    public enum ExportFormat: String, Codable, Sendable, CaseIterable {
        /// All data, as ``Monica/Export``.
        case json
        /// The contacts that are not partial, as vCard 4.0.
        case vcard
    }

    /// Writes a piece of an export.
    public typealias Write = StreamedAnswer.Write

    /// Writes an account's data in pieces, so that at most a hundred records are in memory.
    ///
    /// Records that are created after the export has begun are left out. Records that are changed or deleted in the
    /// meantime are exported in their state when they are read.
    ///
    /// - Parameter name: The operator's name for the account.
    /// - Returns: False when there is no such account.
    public func export(
        _ format: ExportFormat, of name: String, audit: Audit, to write: Write
    ) async throws -> Bool {
        // The entry comes before the data, because what has been written is known even if the rest fails.
        let account = try await database.write { db in
            let account = try Accounts.find(name, in: db)
            if account != nil { try audit.record(name, in: db) }
            return account
        }
        guard let account else { return false }
        try await export(format, of: account, to: write)
        return true
    }

    func export(_ format: ExportFormat, of account: AccountID, to write: Write) async throws {
        // Links begin as those in the answer to the present request do.
        try await Exporter(
            database: database, baseURL: LinkOrigin.current(else: publicURL), files: files, time: time
        ).export(format, of: account, to: write)
    }
}

/// Writes the data of accounts in pieces.
struct Exporter: Sendable {
    typealias Write = MonicaService.Write

    let database: Database
    /// The beginning of the records' URLs, without `/api` and without a slash at its end.
    let baseURL: String
    let files: FileServer
    let time: TimeSource

    func export(_ format: MonicaService.ExportFormat, of account: AccountID, to write: Write) async throws {
        switch format {
        case .json: try await exportJSON(account, to: write)
        case .vcard: try await exportVCards(account, to: write)
        }
    }

    private func exportJSON(_ account: AccountID, to write: Write) async throws {
        let now = time.milliseconds()
        let (head, ends) = try await database.read { db in
            guard let user = try Accounts.user(account, in: db) else { throw Monica.Problems.unauthenticated }
            let export = Monica.Export(
                exportedAt: .init(milliseconds: now), user: user, genders: try Genders.all(of: account, in: db),
                activityTypes: try ActivityTypes.all(of: account, in: db),
                activityTypeCategories: try ActivityTypes.categories(of: account, in: db),
                contactFieldTypes: try ContactDetails.sortedTypes(of: account, in: db),
                tags: try Tags.all(of: account, in: db),
                contacts: [], relationships: [], activities: [], notes: [], tasks: [], gifts: [], calls: [],
                conversations: [], reminders: [], debts: [], pets: [], lifeEvents: [], photos: [], documents: [],
                journal: [])
            return (try JSONBody.encode(export), try Self.ends(of: account, in: db))
        }
        // The lists of records come last and are empty. They are replaced by the lists that are written below.
        let lists = ExportedList.all.map { #","\#($0.name)":[]"# }.joined() + "}"
        try await write(Array(head.readableBytesView.dropLast(lists.utf8.count)))
        for list in ExportedList.all { try await writeList(list, of: account, to: ends[list.name] ?? 0, write) }
        try await write(Array("}".utf8))
    }

    /// Writes one list: `,"notes":[…]`.
    private func writeList(_ list: ExportedList, of account: AccountID, to end: Int, _ write: Write) async throws {
        try await write(Array(#","\#(list.name)":["#.utf8))
        var separator = ""
        try await batches(SQL(trusted: list.name), of: account, to: end, list.load) { items in
            for item in items {
                try await write(Array(separator.utf8) + item)
                separator = ","
            }
        }
        try await write(Array("]".utf8))
    }

    private func exportVCards(_ account: AccountID, to write: Write) async throws {
        let ends = try await database.read { try Self.ends(of: account, in: $0) }
        try await batches("contacts", of: account, to: ends["contacts"] ?? 0) { ids, loader in
            let contacts = try loader.contacts(ids, with: .contactFields)
            let kinds = try loader.fieldTypes.get().compactMapValues(\.kind)
            let notes = try Notes.all(of: ids, in: loader.db)
            var writer = VCardWriter()
            for (contact, row) in zip(contacts, try loader.contactRows(ids)) where !row.isPartial {
                ContactCard(contact, row, kinds: kinds, notes: notes[row.id] ?? []).write(to: &writer)
            }
            return Array(writer.text.utf8)
        } each: {
            try await write($0)
        }
    }

    /// Reads an account's records in the order of their creation, a batch at a time in a transaction of its own. So a
    /// client that reads an export slowly does not keep a database connection.
    private func batches<Batch: Sendable>(
        _ table: SQL, of account: AccountID, to end: Int,
        _ load: @escaping @Sendable ([Int], RecordLoader) throws -> Batch,
        each: (Batch) async throws -> Void
    ) async throws {
        var last = 0
        while true {
            let (ids, batch) = try await database.read { [last, baseURL, links = files.links] db in
                let ids: [Int] = try db.all(
                    """
                    SELECT id FROM \(table) WHERE account_id = \(account) AND id > \(last) AND id <= \(end)
                    ORDER BY id LIMIT 100
                    """
                ) { try $0.get(0) }
                let loader = RecordLoader(
                    account: account, baseURL: baseURL + Monica.basePath, links: links, db: db)
                return (ids, try load(ids, loader))
            }
            guard let newest = ids.last else { return }
            last = newest
            try await each(batch)
        }
    }

    /// Returns the ids of the newest records of an account, by the lists' names.
    private static func ends(of account: AccountID, in db: Session) throws -> [String: Int] {
        var ends: [String: Int] = [:]
        for list in ExportedList.all {
            let table = SQL(trusted: list.name)
            ends[list.name] = try db.value(
                "SELECT id FROM \(table) WHERE account_id = \(account) ORDER BY id DESC LIMIT 1")
        }
        return ends
    }
}

/// A list of records in an export, which has the name of their table.
private struct ExportedList: Sendable {
    /// All lists, in the order of ``Monica/Export``'s last members.
    static let all = [
        ExportedList("contacts") { try $1.contacts($0, with: .contactFields).map { Monica.ExportedContact($0) } },
        ExportedList("relationships", Monica.Relationship.load), ExportedList("activities", Monica.Activity.load),
        ExportedList("notes", Monica.Note.load), ExportedList("tasks", Monica.Task.load),
        ExportedList("gifts", Monica.Gift.load), ExportedList("calls", Monica.Call.load),
        ExportedList("conversations", Monica.Conversation.load), ExportedList("reminders", Monica.Reminder.load),
        ExportedList("debts", Monica.Debt.load), ExportedList("pets", Monica.Pet.load),
        ExportedList("life_events", Monica.LifeEvent.load), ExportedList("photos", Monica.Photo.load),
        ExportedList("documents", Monica.Document.load), ExportedList("journal", Monica.JournalEntry.load),
    ]

    let name: String
    /// Returns the records with some ids as JSON.
    let load: @Sendable ([Int], RecordLoader) throws -> [[UInt8]]

    init<Item: Encodable & SendableMetatype>(
        _ name: String, _ load: @escaping @Sendable ([Int], RecordLoader) throws -> [Item]
    ) {
        self.name = name
        self.load = { ids, loader in
            try load(ids, loader).map { Array(try JSONBody.encode($0).readableBytesView) }
        }
    }
}

extension ContactCard {
    /// Makes a card of a contact.
    ///
    /// - Parameters:
    ///   - contact: The contact with its contact fields.
    ///   - kinds: The kinds of the contact fields' types.
    fileprivate init(
        _ contact: Monica.Contact, _ row: ContactRow, kinds: [Int: ContactFieldKind], notes: [ContactCard.Note]
    ) {
        self.init()
        let all = contact.contactFields ?? []
        func kind(of field: Monica.ContactField) -> ContactFieldKind? {
            let kind = kinds[field.contactFieldType.id]
            return kind == .website && !ContactDetails.isPlain(field.content) ? nil : kind
        }
        func fields(_ wanted: ContactFieldKind) -> [String] { all.filter { kind(of: $0) == wanted }.map(\.content) }
        uuid = row.uuid
        firstName = row.firstName
        middleName = row.middleName
        lastName = row.lastName
        formattedName = row.formattedName
        nickname = row.nickname
        gender = contact.genderType
        emails = fields(.email)
        phones = fields(.phone)
        websites = fields(.website)
        profiles = all.filter { kind(of: $0) == nil }
            .map { Profile(service: $0.contactFieldType.name, content: $0.content) }
        addresses = contact.addresses.map {
            PostalAddress(
                name: $0.name, street: $0.street, city: $0.city, province: $0.province, postalCode: $0.postalCode,
                country: $0.country?.name)
        }
        birth = row.birth
        isDead = row.isDead
        death = row.death
        company = row.company
        job = row.job
        description = row.description
        self.notes = notes
        tags = contact.tags.map(\.name)
        revised = row.updatedAt.milliseconds
    }
}
