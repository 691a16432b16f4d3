import Backend
import Contract
import Database
import MonicaAPI

extension MonicaService {
    /// What became of the records of a file.
    public struct RecordReport: Sendable {
        /// A record, or a part of one, that a rule has refused.
        struct Refusal: Sendable {
            let path: String
            let reason: String
        }

        var imported: [ImportedRecord.Kind: Int] = [:]
        /// The records that were there already.
        var known: [ImportedRecord.Kind: Int] = [:]
        /// The things that have no place, with the number of records that had each.
        var leftOut: [String: Int] = [:]
        var refused: [Refusal] = []
        /// The number of photos and documents that wait for a server that stores them.
        var unstored = 0
    }

    /// Imports the records of an export. Each batch is a transaction, and is visible at once.
    ///
    /// A record whose UUID the account has, or whose content if its kind has no UUID, is there already and stays as it is. So
    /// an import that was interrupted is started again, and a second import of the same file changes nothing.
    ///
    /// - Parameters:
    ///   - account: The name of the account, which is created when there is none.
    ///   - storingFiles: False where this process has no store: photos and documents are counted then.
    ///   - next: Returns some more records, with the number of those that are read by then; nil at the end.
    /// - Throws: ``ImportRefused`` when another import into the account is in progress.
    public func importRecords(
        into account: String, storingFiles: Bool = true, progress: (_ done: Int) async throws -> Void = { _ in },
        next: () async throws -> (done: Int, records: [ImportedRecord])?
    ) async throws -> RecordReport {
        try await cleanUpImports()
        var run = try await RecordImport(self, into: account, storingFiles: storingFiles)
        let marker = run.marker
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.sendHeartbeats(of: marker.id, as: .ended) }
                defer { group.cancelAll() }
                while let some = try await next() {
                    var rest = some.records[...]
                    while !rest.isEmpty {
                        try Task.checkCancellation()
                        let batch = rest.prefix(run.batchSize)
                        try await run.add(Array(batch))
                        rest = rest.dropFirst(batch.count)
                    }
                    try await progress(some.done)
                }
            }
        } catch {
            // This runs in another task, because the current one may be cancelled.
            await Task { try? await database.write { db in try RecordImport.end(marker, in: db) } }.value
            throw error
        }
        try await database.write { db in try RecordImport.end(marker, in: db) }
        return run.report
    }
}

/// An import of records in progress. One task uses it.
struct RecordImport {
    let marker: Imports.Marker
    private let service: MonicaService
    private let storesFiles: Bool
    private(set) var report = MonicaService.RecordReport()
    private var known: KnownRecords
    /// The number of records in a transaction. It adapts to the time that a transaction takes, so that other writers
    /// never wait long.
    private(set) var batchSize = 20

    private static let longestTransaction = Duration.milliseconds(100)

    init(_ service: MonicaService, into account: String, storingFiles: Bool) async throws {
        self.service = service
        storesFiles = storingFiles
        let now = service.time.milliseconds()
        let marker = try await service.database.write { [makeID = service.makeID] db in
            try Imports.begin(into: account, as: .ended, at: now, makeID: makeID, in: db)
        }
        guard let marker else {
            throw MonicaService.ImportRefused(description: "Another import into '\(account)' is in progress.")
        }
        self.marker = marker
        known = try await service.database.read { try KnownRecords(of: marker.account, in: $0) }
    }

    static func end(_ marker: Imports.Marker, in db: Session) throws {
        try db.run("DELETE FROM imports WHERE id = \(marker.id)")
    }

    /// Adds some records in one transaction, once the contents of their files are stored.
    mutating func add(_ records: [ImportedRecord]) async throws {
        let stored = try await ImportedFiles(service, of: marker.account, in: records, storesFiles, isKnown: known.has)
        let clock = ContinuousClock()
        let start = clock.now
        let (marker, known, time, makeID) = (marker, known, service.time, service.makeID)
        let (files, quota) = (stored.contents, service.limits.storageQuota)
        let batch = try await service.database.write { [loader = service.loader(of: marker.account)] db in
            let now = time.milliseconds()
            try Imports.recordHeartbeat(marker.id, as: .ended, at: now, in: db)
            try Accounts.lock(marker.account, in: db)
            var batch = RecordBatch(known, files, loader(db), now, makeID, quota: quota)
            try batch.add(records)
            return batch.outcome
        }
        await service.removeObjects(stored.keys.subtracting(batch.keys).sorted())
        self.known.merge(batch.new)
        report.merge(batch.report)
        let ratio = Self.longestTransaction / max(clock.now - start, .milliseconds(1))
        batchSize = min(500, max(5, Int(Double(batchSize) * min(2, max(0.25, ratio)))))
    }
}

extension MonicaService.RecordReport {
    fileprivate mutating func merge(_ other: Self) {
        imported.merge(other.imported, uniquingKeysWith: +)
        known.merge(other.known, uniquingKeysWith: +)
        leftOut.merge(other.leftOut, uniquingKeysWith: +)
        refused += other.refused
        unstored += other.unstored
    }
}

/// The records that an account has.
private struct KnownRecords: Sendable {
    /// The ids of the contacts by their UUIDs.
    var contacts: [String: Int] = [:]
    /// The UUIDs of other records, or what else tells one from others, by their kinds.
    var uuids: [ImportedRecord.Kind: Set<String>] = [:]
    /// The ids of the account's types by the keys that a file has for them.
    var types: [String: Int] = [:]
    /// The relationships that were added as the reverse ones of others, and whose UUIDs the file may still tell.
    var reverse: Set<Int> = []

    init() {}

    init(of account: AccountID, in db: Session) throws {
        for (uuid, id) in try db.all(
            "SELECT uuid, id FROM contacts WHERE account_id = \(account)",
            { (try $0.get(0, as: String.self), try $0.get(1, as: Int.self)) })
        {
            contacts[uuid] = id
        }
        for (kind, table) in [
            (.activity, "activities"), (.note, "notes"), (.task, "tasks"), (.gift, "gifts"), (.call, "calls"),
            (.conversation, "conversations"), (.reminder, "reminders"), (.debt, "debts"), (.pet, "pets"),
            (.journalEntry, "journal"), (.relationship, "relationships"), (.photo, "photos"),
            (.document, "documents"),
        ] as [(ImportedRecord.Kind, SQL)] {
            uuids[kind] = Set(try db.all("SELECT uuid FROM \(table) WHERE account_id = \(account)") { try $0.get(0) })
        }
        for (kind, table) in [(.contactField, "contact_fields"), (.address, "addresses")]
            as [(ImportedRecord.Kind, SQL)]
        {
            uuids[kind] = Set(
                try db.all(
                    "SELECT t.uuid FROM \(table) t JOIN contacts c ON c.id = t.contact_id WHERE c.account_id = \(account)"
                ) { try $0.get(0) })
        }
        uuids[.lifeEvent] = Set(
            try db.all(
                "SELECT contact_id, type_id, happened_at, created_at FROM life_events WHERE account_id = \(account)"
            ) {
                Self.lifeEvent(
                    of: try $0.get(0), type: try $0.get(1), happenedAt: try $0.get(2), createdAt: try $0.get(3))
            })
    }

    /// Returns what tells a life event from others: it has no UUID.
    static func lifeEvent(of contact: Int, type: Int, happenedAt: Int64, createdAt: Int64) -> String {
        "\(contact) \(type) \(happenedAt / 1000) \(createdAt / 1000)"
    }

    func has(_ kind: ImportedRecord.Kind, _ uuid: String) -> Bool { uuids[kind]?.contains(uuid) == true }

    mutating func merge(_ new: Self) {
        contacts.merge(new.contacts) { $1 }
        for (kind, some) in new.uuids { uuids[kind, default: []].formUnion(some) }
        types.merge(new.types) { $1 }
        reverse.formUnion(new.reverse)
    }
}

/// The records of one transaction.
private struct RecordBatch {
    private let known: KnownRecords
    private let files: [String: ImportedFiles.Content]
    /// The outcome for the records, with the keys of the objects that have rows now.
    private(set) var outcome: (new: KnownRecords, report: MonicaService.RecordReport, keys: Set<String>) =
        (.init(), .init(), [])
    private let loader: RecordLoader
    private let now: Int64
    private let makeID: () -> String
    private let quota: Int64
    /// The size of the account's files in bytes; nil before it is asked for.
    private var storage: Int64?
    /// The contacts that come into lists at the end, and those that are in lists and whose fields have changed.
    private var listed: [Int] = []
    private var changed: Set<Int> = []

    private var db: Session { loader.db }

    init(
        _ known: KnownRecords, _ files: [String: ImportedFiles.Content], _ loader: RecordLoader, _ now: Int64,
        _ makeID: @escaping () -> String, quota: Int64
    ) {
        self.known = known
        self.files = files
        self.quota = quota
        self.loader = loader
        self.now = now
        self.makeID = makeID
    }

    mutating func add(_ records: [ImportedRecord]) throws {
        for record in records { try judge(record) }
        try Contacts.addToLists(listed, of: loader.account, in: db)
        for contact in changed.sorted() { try ContactSearch.update(contact, of: loader.account, in: db) }
    }

    /// Adds a record, or reports the rule that refuses it.
    private mutating func judge(_ record: ImportedRecord) throws {
        do {
            if let refusal = record.refusal { throw Absence(what: refusal) }
            switch try add(record) {
            case true?:
                outcome.report.imported[record.kind, default: 0] += 1
                for what in record.leftOut { outcome.report.leftOut[what, default: 0] += 1 }
            case false?: outcome.report.known[record.kind, default: 0] += 1
            case nil: for what in record.leftOut { outcome.report.leftOut[what, default: 0] += 1 }
            }
        } catch let problem as Problem {
            refuse(record, problem.message)
        } catch let absence as Absence {
            refuse(record, absence.what)
        }
    }

    private mutating func refuse(_ record: ImportedRecord, _ reason: String) {
        outcome.report.refused.append(.init(path: record.path, reason: reason))
        for what in record.leftOut { outcome.report.leftOut[what, default: 0] += 1 }
    }

    /// The error of a record without what it needs.
    private struct Absence: Error {
        let what: String
    }

    /// Adds a record.
    ///
    /// - Returns: Whether it is new; nil for one that has no place at all.
    private mutating func add(_ record: ImportedRecord) throws -> Bool? {
        switch record.kind {
        case .other: nil
        case .gender: try addGender(record)
        case .activityTypeCategory: try addCategory(record)
        case .activityType: try addActivityType(record)
        case .contactFieldType: try addFieldType(record)
        case .tag: try addTag(record)
        case .contact: try addContact(record)
        case .introduction: try addIntroduction(record)
        case .relationship: try addRelationship(record)
        case .lifeEvent: try addLifeEvent(record)
        case .photo: try addFile(Monica.Photo.self, record)
        case .document: try addFile(Monica.Document.self, record)
        default: try addWithUUID(record)
        }
    }

    // MARK: Types

    private mutating func remember(_ kind: ImportedRecord.Kind, _ record: ImportedRecord, _ id: Int?) {
        if let key = record.key, let id { outcome.new.types["\(kind.rawValue) \(key)"] = id }
    }

    private func type(_ kind: ImportedRecord.Kind, _ key: String?) -> Int? {
        let name = "\(kind.rawValue) \(key ?? "")"
        return outcome.new.types[name] ?? known.types[name]
    }

    private func name(of record: ImportedRecord) -> String { Folding.fold(record.form["name"]?.text ?? "") }

    private mutating func addType<Item: AccountType>(
        _ type: Item.Type, _ record: ImportedRecord, _ found: Int?, form: [String: JSONValue]? = nil
    ) throws -> Bool {
        if let found {
            remember(record.kind, record, found)
            return false
        }
        let fields = try Item.Fields(.init(form ?? record.form), by: loader)
        try Item.requireRoom(of: loader.account, in: db)
        let id = try fields.insert(uuid: record.uuid ?? makeID(), by: loader, at: created(record))
        if let id { try setTimes(Item.table, id, record) }
        remember(record.kind, record, id)
        return true
    }

    private mutating func addGender(_ record: ImportedRecord) throws -> Bool {
        let (wanted, type) = (name(of: record), record.form["type"]?.text ?? "O")
        let all = try Genders.all(of: loader.account, in: db)
        let found = all.first { Folding.fold($0.name) == wanted && $0.type == type }
        return try addType(
            Monica.Gender.self, record, found?.id, form: record.form.merging(["type": .string(type)]) { $1 })
    }

    private mutating func addCategory(_ record: ImportedRecord) throws -> Bool {
        let (all, wanted) = (try ActivityTypes.categories(of: loader.account, in: db), name(of: record))
        let found = all.first { $0.uuid == record.uuid } ?? all.first { Folding.fold($0.name) == wanted }
        return try addType(Monica.ActivityTypeCategory.self, record, found?.id)
    }

    private mutating func addActivityType(_ record: ImportedRecord) throws -> Bool {
        let (all, wanted) = (try ActivityTypes.all(of: loader.account, in: db), name(of: record))
        var category = type(.activityTypeCategory, record.parent)
        // Exports of earlier versions have the categories in their types alone.
        if category == nil, let text = record.form["category"]?.text {
            var parent = ImportedRecord(.activityTypeCategory, record.path)
            parent.key = record.parent
            parent.form["name"] = .string(text)
            _ = try addCategory(parent)
            category = type(.activityTypeCategory, record.parent)
        }
        let found =
            all.first { $0.uuid == record.uuid }
            ?? all.first {
                Folding.fold($0.name) == wanted && (category == nil || $0.activityTypeCategory?.id == category)
            }
        let form: [String: JSONValue] = [
            "name": record.form["name"] ?? nil, "activity_type_category_id": .orNull(category),
        ]
        let isNew = try addType(Monica.ActivityType.self, record, found?.id, form: form)
        if isNew, let id = type(.activityType, record.key), let location = record.form["location_type"]?.text {
            try db.run("UPDATE activity_types SET location_type = \(location) WHERE id = \(id)")
        }
        return isNew
    }

    private mutating func addFieldType(_ record: ImportedRecord) throws -> Bool {
        let (all, wanted) = (try ContactDetails.types(of: loader.account, in: db).values, name(of: record))
        let kind = record.form["type"]?.text
        let isOwn = record.form["delible"]?.truth != false
        let found =
            all.first { $0.type.uuid == record.uuid }
            ?? all.first { !isOwn && !$0.type.delible && $0.type.type == kind }
            ?? all.first { Folding.fold($0.type.name) == wanted && $0.type.delible == isOwn }
            ?? all.first { Folding.fold($0.type.name) == wanted }
        return try addType(Monica.ContactFieldType.self, record, found?.type.id)
    }

    private mutating func addTag(_ record: ImportedRecord) throws -> Bool {
        let name = try Tags.name(.init(["name": record.form["name"] ?? nil]))
        guard try Tags.find(name, of: loader.account, in: db) == nil else { return false }
        try Tags.requireRoom(for: 1, of: loader.account, in: db)
        let id = try Tags.insert(name, of: loader.account, at: now, in: db)
        if let id { try setTimes("tags", id, record) }
        return true
    }

    // MARK: Contacts

    private func contact(_ uuid: String?) -> Int? { uuid.flatMap { outcome.new.contacts[$0] ?? known.contacts[$0] } }

    /// Returns the contact of a record.
    private func owner(of record: ImportedRecord) throws -> Int {
        guard let contact = contact(record.contacts.first) else { throw Absence(what: "its contact is not there") }
        return contact
    }

    private mutating func addContact(_ record: ImportedRecord) throws -> Bool {
        guard let uuid = record.uuid else { throw Absence(what: "it has no UUID") }
        let former = contact(uuid)
        let contact = try former ?? insertContact(record, uuid)
        outcome.new.contacts[uuid] = contact
        for part in record.parts {
            var part = part
            part.contacts = [uuid]
            let before = outcome.report.imported[.contactField]
            try judge(part)
            if former != nil, outcome.report.imported[.contactField] != before { changed.insert(contact) }
        }
        return former == nil
    }

    private mutating func insertContact(_ record: ImportedRecord, _ uuid: String) throws -> Int {
        var form = record.form
        form["is_birthdate_known"] = false
        form["is_deceased_date_known"] = false
        form["is_deceased"] = .bool(form["is_deceased"]?.truth ?? false)
        for flag in ["is_starred", "is_partial"] { form[flag] = .bool(form[flag]?.truth ?? false) }
        form["gender_id"] = nil
        leaveOutInvalid(&form, of: record)
        var fields = try ContactForm(.init(form), genders: [:], current: nil, at: now)
        fields.gender = type(.gender, record.key)
        fields.birth = record.birth
        fields.death = fields.isDead ? record.death : nil
        var input = FormReader(.init(form))
        (fields.job, fields.company) = (input.text("job"), input.text("company"))
        let food = input.text("food_preferences", upTo: Monica.textLength)
        let how = input.text("general_information", upTo: Monica.textLength)
        let complete = input.text("complete_name", upTo: 1000)
        try input.check()
        if let complete, complete != Monica.Names.complete(fields.firstName, fields.middleName, fields.lastName) {
            fields.formattedName = complete
        }
        // The photo that a contact shows comes later.
        let source = form["avatar_source"]?.text.flatMap {
            Monica.AvatarChoice.wordsOfOthers.contains($0) ? $0 : nil
        }
        let id = try Contacts.insertUnlisted(fields, uuid: uuid, of: loader.account, at: created(record), in: db)
        try db.run(
            """
            UPDATE contacts SET food = \(food), met_how = \(how), met_day = \(record.met?.day),
                met_kind = \(record.met?.kind.rawValue), updated_at = \(changedAt(record)),
                avatar_source = \(source)
            WHERE id = \(id)
            """)
        for (index, tag) in (form["tags"]?.values ?? []).enumerated() {
            do {
                let name = try Tags.name(.init(["name": tag]))
                _ = try Tags.add([name], to: id, of: loader.account, at: now, in: db)
            } catch let problem as Problem {
                refuse(ImportedRecord(.tag, "\(record.path).tags[\(index)]"), problem.message)
            }
        }
        if !fields.isPartial { listed.append(id) }
        return id
    }

    /// Leaves out texts that a rule refuses, and without which a contact can be.
    private mutating func leaveOutInvalid(_ form: inout [String: JSONValue], of record: ImportedRecord) {
        let lines = ["middle_name", "last_name", "nickname", "description", "job", "company"]
        for (name, limit) in lines.map({ ($0, Monica.lineLength) })
            + [
                ("food_preferences", Monica.textLength), ("general_information", Monica.textLength),
                ("complete_name", 1000),
            ]
        {
            var input = FormReader(.init([name: form[name] ?? nil]))
            _ = input.text(name, upTo: limit)
            do { try input.check() } catch {
                form[name] = nil
                refuse(ImportedRecord(.other, "\(record.path).\(name)"), error.message)
            }
        }
    }

    /// The contact keeps an introducer that it has, or that its owner took away.
    private mutating func addIntroduction(_ record: ImportedRecord) throws -> Bool {
        let contact = try owner(of: record)
        guard let introducer = self.contact(record.contacts.last) else {
            throw Absence(what: "the contact through whom the two met is not there")
        }
        return try db.run(
            """
            UPDATE contacts SET met_through = \(introducer)
            WHERE id = \(contact) AND id <> \(introducer) AND met_through IS NULL AND is_edited = 0
            """) == 1
    }

    /// A file may have both sides of a relationship, or one of them.
    private mutating func addRelationship(_ record: ImportedRecord) throws -> Bool {
        let contact = try owner(of: record)
        guard record.contacts.count == 2, let other = self.contact(record.contacts[1]) else {
            throw Absence(what: "the other contact is not there")
        }
        guard contact != other else { throw Absence(what: "a contact has no relationship to itself") }
        guard let type = record.form["type"]?.text.flatMap({ RelationshipTypes.find($0) }) else {
            throw Absence(what: "there is no type of relationships '\(record.form["type"]?.text ?? "")'")
        }
        if let uuid = record.uuid, isKnown(.relationship, uuid) { return false }
        let relationship = RelatedContacts(contact: contact, other: other, type: type)
        let uuid = record.uuid ?? makeID()
        let found: Int? = try db.value("SELECT id FROM relationships WHERE \(relationship.condition)")
        if let found {
            guard known.reverse.contains(found) || outcome.new.reverse.contains(found) else { return false }
            try db.run("UPDATE relationships SET uuid = \(uuid) WHERE id = \(found)")
            try setTimes("relationships", found, record)
        } else {
            for contact in [contact, other] { try RelatedContacts.requireRoom(of: contact, in: db) }
            let id = try relationship.insert(uuid: uuid, of: loader.account, at: now, in: db)
            let reverse = try relationship.reversed.insert(uuid: makeID(), of: loader.account, at: now, in: db)
            for id in [id, reverse] { try setTimes("relationships", id, record) }
            outcome.new.reverse.insert(reverse)
        }
        outcome.new.uuids[.relationship, default: []].insert(uuid)
        return true
    }

    // MARK: What belongs to contacts

    private func isKnown(_ kind: ImportedRecord.Kind, _ uuid: String) -> Bool {
        known.has(kind, uuid) || outcome.new.has(kind, uuid)
    }

    private mutating func addWithUUID(_ record: ImportedRecord) throws -> Bool {
        guard let uuid = record.uuid else { throw Absence(what: "it has no UUID") }
        guard !isKnown(record.kind, uuid) else { return false }
        var form = record.form
        switch record.kind {
        case .contactField:
            form["contact_field_type_id"] = .orNull(type(.contactFieldType, record.key))
            try addDetail(Monica.ContactField.self, record, form, hasLimit: true)
        case .address: try addDetail(Monica.Address.self, record, form, hasLimit: true)
        case .call: try addDetail(Monica.Call.self, record, form)
        case .reminder: try addDetail(Monica.Reminder.self, record, form)
        case .debt: try addDetail(Monica.Debt.self, record, form)
        case .pet: try addDetail(Monica.Pet.self, record, form)
        case .conversation:
            form["contact_field_type_id"] = .orNull(type(.contactFieldType, record.key))
            if let id = try addDetail(Monica.Conversation.self, record, form) { try addMessages(to: id, record) }
        case .note: try addNote(record, form)
        case .task: try addTask(record, form)
        case .gift: try addGift(record, form)
        case .activity: try addActivity(record, form)
        default:
            let id = try JournalFields(.init(form)).insert(uuid: uuid, by: loader, at: created(record))
            if let id { try setTimes("journal", id, record) }
        }
        outcome.new.uuids[record.kind, default: []].insert(uuid)
        return true
    }

    @discardableResult
    private func addDetail<Item: ContactDetail>(
        _: Item.Type, _ record: ImportedRecord, _ form: [String: JSONValue], hasLimit: Bool = false
    ) throws -> Int? {
        let contact = try owner(of: record)
        let fields = try Item.Fields(.init(form.merging(["contact_id": .orNull(contact)]) { $1 }), by: loader)
        if hasLimit { try Item.requireRoom(of: contact, in: db) }
        let id = try fields.insert(uuid: record.uuid ?? makeID(), by: loader, at: now)
        if let id { try setTimes(Item.table, id, record) }
        return id
    }

    private mutating func addMessages(to conversation: Int, _ record: ImportedRecord) throws {
        var others = (number: 0, length: 0)
        for (index, message) in (record.form["messages"]?.values ?? []).enumerated() {
            do {
                let fields = try MessageFields(.init(message.members))
                others = (others.number + 1, others.length + fields.content.length)
                try MessageFields.requireRoom(for: others.number, length: others.length)
                let createdAt = min(now, message["created_at"]?.moment ?? now)
                try fields.insert(
                    into: conversation, at: createdAt, changedAt: min(now, message["updated_at"]?.moment ?? createdAt),
                    in: db)
            } catch let problem as Problem {
                refuse(ImportedRecord(.other, "\(record.path).messages[\(index)]"), problem.message)
            }
        }
    }

    private func addNote(_ record: ImportedRecord, _ form: [String: JSONValue]) throws {
        var form = form
        form["contact_id"] = .orNull(try owner(of: record))
        let favoritedAt = form["favorited_at"]?.moment
        form["is_favorited"] = .bool(favoritedAt != nil || form["is_favorited"]?.truth == true)
        let fields = try NoteFields(.init(form))
        let id = try Notes.insert(
            fields.body, of: fields.contact, favorited: fields.isFavorited == true, uuid: record.uuid ?? makeID(),
            account: loader.account, at: now, in: db)
        if let favoritedAt { try db.run("UPDATE notes SET favorited_at = \(min(now, favoritedAt)) WHERE id = \(id)") }
        try setTimes("notes", id, record)
    }

    private func addTask(_ record: ImportedRecord, _ form: [String: JSONValue]) throws {
        var form = form
        form["contact_id"] = record.contacts.isEmpty ? .null : .orNull(try owner(of: record))
        form["completed"] = .bool(form["completed"]?.truth ?? false)
        let completedAt = form["completed_at"]?.moment.map { min(now, $0) }
        let fields = try TaskFields(.init(form), isNew: false)
        let id = try fields.insert(
            uuid: record.uuid ?? makeID(), completedAt: completedAt ?? changedAt(record), by: loader, at: now)
        if let id { try setTimes("tasks", id, record) }
    }

    private func addGift(_ record: ImportedRecord, _ form: [String: JSONValue]) throws {
        var form = form
        form["contact_id"] = .orNull(try owner(of: record))
        if record.contacts.count > 1 {
            guard let recipient = contact(record.contacts[1]) else { throw Absence(what: "its recipient is not there") }
            form["recipient_id"] = .orNull(recipient)
        }
        let id = try GiftFields(.init(form)).insert(uuid: record.uuid ?? makeID(), by: loader, at: now)
        if let id { try setTimes("gifts", id, record) }
    }

    private func addActivity(_ record: ImportedRecord, _ form: [String: JSONValue]) throws {
        var form = form
        let contacts = record.contacts.compactMap { contact($0) }
        guard contacts.count == record.contacts.count else { throw Absence(what: "one of its contacts is not there") }
        form["contacts"] = .list(contacts.map { .orNull($0) })
        form["activity_type_id"] = .orNull(type(.activityType, record.key))
        let id = try ActivityFields(.init(form), types: loader.activityTypes.get())
            .insert(uuid: record.uuid ?? makeID(), by: loader, at: now)
        if let id { try setTimes("activities", id, record) }
    }

    private mutating func addLifeEvent(_ record: ImportedRecord) throws -> Bool {
        let contact = try owner(of: record)
        guard case .integer(let type)? = record.form["life_event_type_id"] else {
            throw Absence(what: "there is no such type of life events")
        }
        let key = KnownRecords.lifeEvent(
            of: contact, type: Int(type), happenedAt: record.form["happened_at"]?.moment ?? 0,
            createdAt: created(record))
        guard !isKnown(.lifeEvent, key) else { return false }
        var form = record.form
        form["has_reminder"] = false
        try addDetail(Monica.LifeEvent.self, record, form)
        outcome.new.uuids[.lifeEvent, default: []].insert(key)
        return true
    }

    // MARK: Files

    /// - Returns: Nil for a file that waits for a server that stores it.
    private mutating func addFile<Item: StoredFile>(_: Item.Type, _ record: ImportedRecord) throws -> Bool? {
        guard let uuid = record.uuid else { throw Absence(what: "it has no UUID") }
        guard !isKnown(record.kind, uuid) else { return false }
        let contact = try owner(of: record)
        let object: StoredContent
        switch files[record.path] {
        case .stored(let stored): object = stored
        case .refused(let reason): throw Absence(what: reason)
        case nil:
            outcome.report.unstored += 1
            return nil
        }
        let used = try storage ?? Files.storage(of: loader.account, in: db)
        try Files.requireRoom(for: object.size, beside: used, quota: quota)
        let id = try object.insert(
            into: Item.table, uuid: uuid, of: contact, loader.account, at: created(record), in: db)
        storage = used + object.size
        outcome.keys.insert(object.key.rawValue)
        outcome.new.uuids[record.kind, default: []].insert(uuid)
        if let id, let file = record.file, record.kind == .photo { try show(file, id, contact) }
        return true
    }

    /// Shows a new photo as its contact's picture and with its gifts. The contact keeps a picture that it has.
    private func show(_ file: ImportedFile, _ photo: Int, _ contact: Int) throws {
        if file.isAvatar {
            try db.run(
                """
                UPDATE contacts SET avatar_source = 'photo', avatar_photo_id = \(photo)
                WHERE id = \(contact) AND avatar_source IS NULL
                """)
        }
        for gift in file.gifts {
            try db.run(
                """
                INSERT INTO gift_photos (gift_id, photo_id)
                SELECT g.id, \(photo) FROM gifts g WHERE g.uuid = \(gift) AND g.contact_id = \(contact)
                    AND (SELECT COUNT(*) FROM gift_photos p WHERE p.gift_id = g.id) < \(Monica.Photo.maximumOfGift)
                """)
        }
    }

    // MARK: Times

    /// The time at which a record was made; it is not later than now.
    private func created(_ record: ImportedRecord) -> Int64 { min(now, record.createdAt ?? now) }
    private func changedAt(_ record: ImportedRecord) -> Int64 { min(now, record.updatedAt ?? created(record)) }

    private func setTimes(_ table: SQL, _ id: Int, _ record: ImportedRecord) throws {
        try db.run(
            "UPDATE \(table) SET created_at = \(created(record)), updated_at = \(changedAt(record)) WHERE id = \(id)")
    }
}
