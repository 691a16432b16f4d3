import Contract
import Foundation
import MonicaAPI

/// Reads an export of Monica 4, whose records name others by their UUIDs.
struct Monica4Export {
    private let file: ExportFile
    private let maximumFileSize: Int64
    /// The UUIDs of each activity's contacts.
    private var attendees: [String: [String]] = [:]
    /// The ids of the types of life events that accounts begin with.
    private var lifeEvents: [String: Int] = [:]
    /// The use of each photo and document.
    private var uses: [String: FileUse] = [:]

    /// Who shows a photo or a document. A file has one contact here.
    private struct FileUse {
        let contact: String
        var isAvatar = false
        var gifts: [String] = []
        /// Whether other contacts show it, too.
        var isShared = false
    }

    init(_ file: ExportFile, maximumFileSize: Int64) throws {
        self.file = file
        self.maximumFileSize = maximumFileSize
        try file.forEach("contact") { contact in
            guard let uuid = contact["uuid"]?.text?.lowercased() else { return }
            for activity in Self.values("activity", of: contact).compactMap(\.value.text) {
                attendees[activity.lowercased(), default: []].append(uuid)
            }
            addUses(by: contact, uuid)
        }
        try file.forEach("life_event_types") { type in
            if let uuid = type["uuid"]?.text, let word = type["properties"]?["translation_key"]?.text,
                let id = Monica.LifeEventKind(rawValue: word).typeID
            {
                lifeEvents[uuid.lowercased()] = id
            }
        }
    }

    private mutating func addUses(by contact: JSONValue, _ uuid: String) {
        for type in ["photo", "document"] {
            for file in Self.values(type, of: contact).compactMap(\.value.text) { addUse(of: file, by: uuid) }
        }
        if let photo = Self.avatarPhoto(of: contact) { addUse(of: photo, by: uuid) { $0.isAvatar = true } }
        for (gift, _) in Self.values("gift", of: contact) {
            let gifts = gift["uuid"]?.text.map { [$0.lowercased()] } ?? []
            for photo in (gift["properties"]?["photos"]?.values ?? []).compactMap(\.text) {
                addUse(of: photo, by: uuid) { $0.gifts += gifts }
            }
        }
    }

    private mutating func addUse(of file: String, by contact: String, _ change: (inout FileUse) -> Void = { _ in }) {
        var use = uses[file.lowercased()] ?? FileUse(contact: contact)
        if use.contact == contact { change(&use) } else { use.isShared = true }
        uses[file.lowercased()] = use
    }

    private static func avatarPhoto(of contact: JSONValue) -> String? {
        let avatar = contact["properties"]?["avatar"]
        return avatar?["avatar_source"]?.text == "photo" ? avatar?["avatar_photo"]?.text : nil
    }

    func steps() -> [ExportRecords.Step] {
        let readers: [(String, @Sendable (JSONValue, String) -> [ImportedRecord])] = [
            ("genders", { [Self.type(.gender, $0, $1, ["name", "type"])] }),
            ("activity_type_categories", { [Self.type(.activityTypeCategory, $0, $1, ["name", "translation_key"])] }),
            ("activity_types", { [Self.activityType($0, $1)] }),
            (
                "contact_field_types",
                { [Self.type(.contactFieldType, $0, $1, ["name", "fontawesome_icon", "protocol", "type", "delible"])] }
            ),
            ("contact", { [Self.contact($0, $1)] }), ("contact", { [self] in details($0, $1) }),
            ("photo", { [self] in [file(.photo, $0, $1)] }), ("document", { [self] in [file(.document, $0, $1)] }),
            ("relationship", { [Self.relationship($0, $1)] }), ("activity", { [self] in [activity($0, $1)] }),
            ("journal_entries", { [Self.entry($0, $1)] }),
            // The types that accounts begin with are known, and named by the events that have them.
            ("life_event_types", { _, _ in [] }), ("life_event_categories", { _, _ in [] }),
        ]
        let known = Set(readers.map(\.0))
        return readers.flatMap { name, read in file.lists(name).map { .init(list: $0, read: read) } }
            + file.lists(except: known).map { list in
                .init(list: list) { _, path in
                    var record = ImportedRecord(.other, path)
                    record.leftOut = [list.name]
                    return [record]
                }
            }
    }

    /// Returns the values of one type that a contact has, with their places.
    private static func values(_ type: String, of contact: JSONValue) -> [(value: JSONValue, path: String)] {
        var found: [(value: JSONValue, path: String)] = []
        for (index, list) in (contact["data"]?.values ?? []).enumerated() where list["type"]?.text == type {
            for (place, value) in (list["values"]?.values ?? []).enumerated() {
                found.append((value, ".data[\(index)].values[\(place)]"))
            }
        }
        return found
    }

    /// Makes a record of some properties. The others that have a value have no place.
    private static func record(
        _ kind: ImportedRecord.Kind, _ value: JSONValue, _ path: String, _ names: [String], read: Set<String> = []
    ) -> ImportedRecord {
        var record = ImportedRecord(kind, path, value)
        let properties = value["properties"]?.members ?? [:]
        for name in names { record.form[name] = properties[name] }
        record.leftOut = properties.filter { !names.contains($0.key) && !read.contains($0.key) && !$0.value.isEmpty }
            .map { "\(kind.rawValue): \($0.key)" }
        return record
    }

    private static func date(_ value: JSONValue?) -> JSONValue? { value?.day.map { .string($0.description) } }

    // MARK: Types

    private static func type(
        _ kind: ImportedRecord.Kind, _ value: JSONValue, _ path: String, _ names: [String]
    ) -> ImportedRecord {
        var record = record(kind, value, path, names, read: ["translation_key", "category", "delible"])
        record.key = record.uuid
        // A type that every account begins with has a word instead of a name.
        if record.form["name"]?.text == nil, let word = value["properties"]?["translation_key"]?.text {
            record.form["name"] = .string(word.replacing("_", with: " "))
        }
        return record
    }

    private static func activityType(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = type(.activityType, value, path, ["name", "location_type"])
        record.parent = value["properties"]?["category"]?.text?.lowercased()
        return record
    }

    // MARK: Contacts

    private static func contact(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = record(
            .contact, value, path,
            [
                "first_name", "middle_name", "last_name", "nickname", "description", "is_starred", "is_partial", "job",
                "company", "food_preferences", "tags",
            ],
            read: [
                "is_dead", "is_active", "gender", "birthdate", "deceased_date", "first_met_date", "first_met_through",
                "avatar",
            ])
        let properties = value["properties"]
        record.form["is_deceased"] = properties?["is_dead"]
        record.key = properties?["gender"]?.text?.lowercased()
        record.birth = properties?["birthdate"]?.storedDate
        record.death = properties?["deceased_date"]?.storedDate
        record.met = properties?["first_met_date"]?.storedDate
        if properties?["is_active"] == false { record.leftOut.append("contact: is_active") }
        record.form["avatar_source"] = properties?["avatar"]?["avatar_source"]
        if properties?["avatar"]?["avatar_external_url"]?.text != nil {
            record.leftOut.append("contact: avatar_external_url")
        }
        for (field, place) in values("contact_field", of: value) {
            var part = Self.record(.contactField, field, path + place, ["data"], read: ["type"])
            part.key = field["properties"]?["type"]?.text?.lowercased()
            record.parts.append(part)
        }
        for (address, place) in values("address", of: value) {
            record.parts.append(
                Self.record(
                    .address, address, path + place, ["name", "street", "city", "province", "postal_code", "country"]))
        }
        return record
    }

    /// Returns what belongs to a contact, once all contacts are there.
    private func details(_ value: JSONValue, _ path: String) -> [ImportedRecord] {
        guard let uuid = value["uuid"]?.text?.lowercased() else { return [] }
        var records: [ImportedRecord] = []
        if let through = value["properties"]?["first_met_through"]?.text {
            var record = ImportedRecord(.introduction, path)
            record.contacts = [uuid, through.lowercased()]
            records.append(record)
        }
        for list in value["data"]?.values ?? [] {
            guard let type = list["type"]?.text, !Self.read.contains(type) else { continue }
            for (detail, place) in Self.values(type, of: value) {
                var record = detailRecord(type, detail, path + place)
                record.contacts.insert(uuid, at: 0)
                records.append(record)
            }
        }
        return records
    }

    /// The lists of a contact that are read elsewhere.
    private static let read: Set = ["contact_field", "address", "activity", "photo", "document"]

    private func detailRecord(_ type: String, _ value: JSONValue, _ path: String) -> ImportedRecord {
        let properties = value["properties"]
        switch type {
        case "note":
            return Self.record(.note, value, path, ["body", "is_favorited", "favorited_at"], read: ["is_favorite"])
        case "task": return Self.record(.task, value, path, ["title", "description", "completed", "completed_at"])
        case "gift":
            var record = Self.record(
                .gift, value, path, ["name", "comment", "url", "amount", "status"],
                read: ["date", "recipient", "photos"])
            record.form["date"] = Self.date(properties?["date"])
            if let recipient = properties?["recipient"]?.text { record.contacts.append(recipient.lowercased()) }
            return record
        case "call":
            var record = Self.record(.call, value, path, ["called_at", "content", "contact_called"])
            record.form["called_at"] = properties?["called_at"]?.time
            return record
        case "conversation":
            var record = Self.record(
                .conversation, value, path, ["happened_at"], read: ["contact_field_type", "messages"])
            record.form["happened_at"] = properties?["happened_at"]?.time
            record.key = properties?["contact_field_type"]?.text?.lowercased()
            record.form["messages"] = .list((properties?["messages"]?.values ?? []).map(Self.message))
            return record
        case "reminder":
            var record = Self.record(
                .reminder, value, path, ["title", "description", "frequency_type", "frequency_number"],
                read: ["initial_date", "delible"])
            record.form["initial_date"] = Self.date(properties?["initial_date"])
            if record.form["frequency_number"] ?? nil == .null { record.form["frequency_number"] = 1 }
            return record
        case "debt":
            var record = Self.record(.debt, value, path, ["amount", "status"], read: ["in_debt"])
            record.form["in_debt"] = properties?["in_debt"]?.truth == true ? "yes" : "no"
            return record
        case "pet":
            var record = Self.record(.pet, value, path, ["name"], read: ["category"])
            let word = properties?["category"]?.text
            let category = Monica.PetCategory.known.first { $0.name == word }
            record.form["pet_category_id"] = category.map { .integer(Int64($0.id)) }
            if category == nil, let word { record.leftOut.append("pet: the category '\(word)'") }
            return record
        case "life_event":
            var record = Self.record(.lifeEvent, value, path, ["name", "note"], read: ["happened_at", "type"])
            record.form["happened_at"] = properties?["happened_at"]?.time
            record.form["happened_at_month_unknown"] = false
            record.form["happened_at_day_unknown"] = false
            record.form["life_event_type_id"] = properties?["type"]?.text.flatMap { lifeEvents[$0.lowercased()] }
                .map { .integer(Int64($0)) }
            return record
        default:
            var record = ImportedRecord(.other, path)
            record.leftOut = [type]
            return record
        }
    }

    private static func message(_ value: JSONValue) -> JSONValue {
        let properties = value["properties"]
        return [
            "content": properties?["content"] ?? nil, "written_at": properties?["written_at"]?.time ?? nil,
            "written_by_me": properties?["written_by_me"] ?? nil, "created_at": value["created_at"] ?? nil,
            "updated_at": value["updated_at"] ?? nil,
        ]
    }

    // MARK: Files

    /// The error of a file that cannot be imported.
    private struct Unusable: Error {
        let reason: String
    }

    private func file(_ kind: ImportedRecord.Kind, _ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = Self.record(
            kind, value, path, [],
            read: ["original_filename", "filesize", "type", "mime_type", "number_of_downloads", "dataUrl"])
        let use = record.uuid.flatMap { uses[$0] }
        record.contacts = use.map { [$0.contact] } ?? []
        if use?.isShared == true { record.leftOut.append("\(kind.rawValue): its other contacts") }
        do throws(Unusable) {
            guard let use else { throw Unusable(reason: "no contact shows it") }
            record.file = ImportedFile(
                filename: value["properties"]?["original_filename"]?.text ?? "", content: try content(of: value),
                isAvatar: use.isAvatar, gifts: use.gifts)
        } catch { record.refusal = error.reason }
        return record
    }

    private func content(of value: JSONValue) throws(Unusable) -> Data {
        let isTooLarge = Unusable(reason: "it is larger than \(maximumFileSize) bytes")
        guard let text = value["properties"]?["dataUrl"]?.text else {
            throw Unusable(reason: "the export has no content of it")
        }
        // Four characters of Base64 stand for three bytes; the beginning of the URL has some more.
        guard text.utf8.count / 4 * 3 <= maximumFileSize + 1024 else { throw isTooLarge }
        guard let content = DataURL.bytes(of: text) else { throw Unusable(reason: "its content cannot be read") }
        guard content.count <= maximumFileSize else { throw isTooLarge }
        return content
    }

    // MARK: The account's records

    private static func relationship(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = record(.relationship, value, path, ["type"], read: ["contact_is", "of_contact"])
        record.contacts = ["contact_is", "of_contact"].map {
            value["properties"]?[$0]?.text?.lowercased() ?? ""
        }
        return record
    }

    private func activity(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = Self.record(.activity, value, path, ["summary", "description"], read: ["happened_at", "type"])
        record.form["happened_at"] = Self.date(value["properties"]?["happened_at"])
        record.key = value["properties"]?["type"]?.text?.lowercased()
        record.contacts = record.uuid.flatMap { attendees[$0] } ?? []
        return record
    }

    private static func entry(_ value: JSONValue, _ path: String) -> ImportedRecord {
        guard value["properties"]?["type"]?.text != "day" else {
            var record = ImportedRecord(.other, path)
            record.leftOut = ["journal entry: the rating of a day"]
            return record
        }
        var record = record(.journalEntry, value, path, ["title", "post"], read: ["type", "date"])
        record.form["date"] = date(value["properties"]?["date"])
        return record
    }
}
