import Contract
import Foundation
import MonicaAPI

/// The records of a file, in the order in which they can be imported: what others name comes first.
public struct ExportRecords: Sendable {
    /// A list, and how its records are read.
    struct Step: Sendable {
        let list: ExportFile.List
        let read: @Sendable (JSONValue, _ path: String) -> [ImportedRecord]
    }

    private let file: ExportFile
    private let steps: [Step]
    private var step = 0
    private var index = 0

    private static let size = 100
    /// The number of bytes of files after which no more records are added.
    private static let sizeOfFiles = 1 << 20

    /// - Parameter maximumFileSize: The greatest size of a photo or a document in bytes.
    public init(_ file: ExportFile, maximumFileSize: Int64 = Monica.maximumFileSize) throws {
        self.file = file
        steps =
            switch file.origin {
            case .concord: try ConcordExport(file).steps()
            case .monica4: try Monica4Export(file, maximumFileSize: maximumFileSize).steps()
            }
    }

    /// The number of records that the file's lists have, those that are read twice twice.
    public var count: Int { steps.reduce(0) { $0 + $1.list.ranges.count } }

    /// Returns some more records, with the number of those that are read by now; nil at the end.
    public mutating func next() throws -> (done: Int, records: [ImportedRecord])? {
        var records: [ImportedRecord] = []
        var sizeOfFiles = 0
        while step < steps.count, records.count < Self.size, sizeOfFiles < Self.sizeOfFiles {
            let current = steps[step]
            guard index < current.list.ranges.count else {
                (step, index) = (step + 1, 0)
                continue
            }
            let some = current.read(
                try file.record(index, of: current.list), "\(current.list.path)[\(index)]")
            records += some
            sizeOfFiles += some.reduce(0) { $0 + ($1.file?.content.count ?? 0) }
            index += 1
        }
        guard !records.isEmpty || step < steps.count else { return nil }
        return (steps[..<step].reduce(index) { $0 + $1.list.ranges.count }, records)
    }
}

/// Reads an export of this server.
private struct ConcordExport {
    let file: ExportFile
    /// The UUIDs of the contacts by their ids.
    private var contacts: [String: String] = [:]

    init(_ file: ExportFile) throws {
        self.file = file
        try file.forEach("contacts") { contact in
            if let id = contact["id"]?.key, let uuid = contact["uuid"]?.text { contacts[id] = uuid.lowercased() }
        }
    }

    func steps() -> [ExportRecords.Step] {
        let readers: [(String, @Sendable (JSONValue, String) -> [ImportedRecord])] = [
            ("genders", { [Self.gender($0, $1)] }), ("activity_type_categories", { [Self.category($0, $1)] }),
            ("activity_types", { [Self.activityType($0, $1)] }), ("contact_field_types", { [Self.fieldType($0, $1)] }),
            ("tags", { [Self.tag($0, $1)] }), ("contacts", { [Self.contact($0, $1)] }),
            ("contacts", { [contacts] in Self.introduction($0, $1, contacts) }),
            ("relationships", { [self] in [relationship($0, $1)] }), ("activities", { [self] in [activity($0, $1)] }),
            ("notes", { [self] in [of(.note, $0, $1, ["body", "is_favorited", "favorited_at"])] }),
            (
                "tasks",
                { [self] in [of(.task, $0, $1, ["title", "description", "completed", "completed_at"])] }
            ),
            ("gifts", { [self] in [gift($0, $1)] }),
            ("calls", { [self] in [of(.call, $0, $1, ["called_at", "content", "contact_called"])] }),
            ("conversations", { [self] in [conversation($0, $1)] }),
            (
                "reminders",
                { [self] in
                    [reminder($0, $1)]
                }
            ),
            ("debts", { [self] in [of(.debt, $0, $1, ["in_debt", "status", "amount", "reason"])] }),
            ("pets", { [self] in [pet($0, $1)] }), ("life_events", { [self] in [lifeEvent($0, $1)] }),
            ("journal", { [Self.entry($0, $1)] }),
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

    // MARK: Types

    private static func keyed(_ kind: ImportedRecord.Kind, _ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = ImportedRecord(kind, path, value)
        record.key = value["id"]?.key
        record.form["name"] = value["name"]
        return record
    }

    private static func gender(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = keyed(.gender, value, path)
        record.form["type"] = value["type"]
        return record
    }

    private static func category(_ value: JSONValue, _ path: String) -> ImportedRecord {
        keyed(.activityTypeCategory, value, path)
    }

    private static func activityType(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = keyed(.activityType, value, path)
        record.form["location_type"] = value["location_type"]
        let category = value["activity_type_category"]
        record.parent = category?["id"]?.key
        record.form["category"] = category?["name"]
        return record
    }

    private static func fieldType(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = keyed(.contactFieldType, value, path)
        for name in ["fontawesome_icon", "protocol", "type", "delible"] { record.form[name] = value[name] }
        return record
    }

    private static func tag(_ value: JSONValue, _ path: String) -> ImportedRecord { keyed(.tag, value, path) }

    // MARK: Contacts

    private static func contact(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = ImportedRecord(.contact, path, value)
        for name in [
            "first_name", "middle_name", "last_name", "nickname", "description", "is_starred", "is_partial",
        ] {
            record.form[name] = value[name]
        }
        record.form["is_deceased"] = value["is_dead"]
        record.form["avatar_source"] = value["information"]?["avatar"]?["source"]
        record.key = value["gender_id"]?.key
        let information = value["information"]
        let (career, met) = (information?["career"], information?["how_you_met"])
        record.form["job"] = career?["job"]
        record.form["company"] = career?["company"]
        record.form["food_preferences"] = information?["food_preferences"]
        record.form["general_information"] = met?["general_information"]
        record.birth = information?["dates"]?["birthdate"]?.storedDate
        record.death = information?["dates"]?["deceased_date"]?.storedDate
        record.met = met?["first_met_date"]?.storedDate
        record.form["tags"] = .list((value["tags"]?.values ?? []).compactMap { $0["name"] })
        // A name whose parts stand in another order.
        record.form["complete_name"] = value["complete_name"]
        for (index, field) in (value["contactFields"]?.values ?? []).enumerated() {
            var part = ImportedRecord(.contactField, "\(path).contactFields[\(index)]", field)
            part.form["data"] = field["content"]
            part.key = field["contact_field_type"]?["id"]?.key
            record.parts.append(part)
        }
        for (index, address) in (value["addresses"]?.values ?? []).enumerated() {
            var part = ImportedRecord(.address, "\(path).addresses[\(index)]", address)
            for name in ["name", "street", "city", "province", "postal_code"] { part.form[name] = address[name] }
            part.form["country"] = address["country"]?["name"] ?? address["country"]
            record.parts.append(part)
        }
        return record
    }

    private static func introduction(
        _ value: JSONValue, _ path: String, _ contacts: [String: String]
    ) -> [ImportedRecord] {
        let introducer = value["information"]?["how_you_met"]?["first_met_through_contact"]
        guard let through = introducer?["uuid"]?.text ?? introducer?["id"]?.key.flatMap({ contacts[$0] }),
            let uuid = value["uuid"]?.text
        else { return [] }
        var record = ImportedRecord(.introduction, path)
        record.contacts = [uuid.lowercased(), through.lowercased()]
        return [record]
    }

    private func uuid(_ contact: JSONValue?) -> String {
        contact?["uuid"]?.text?.lowercased() ?? contact?["id"]?.key.flatMap { contacts[$0] } ?? ""
    }

    /// Returns the contacts of a record, which other versions name by an id alone.
    private func owner(_ value: JSONValue) -> [String] {
        if let contact = value["contact"], contact != .null { return [uuid(contact)] }
        return value["contact_id"]?.key.map { [contacts[$0] ?? ""] } ?? []
    }

    // MARK: Records

    private func of(
        _ kind: ImportedRecord.Kind, _ value: JSONValue, _ path: String, _ names: [String]
    ) -> ImportedRecord {
        var record = ImportedRecord(kind, path, value)
        record.contacts = owner(value)
        for name in names { record.form[name] = value[name] }
        return record
    }

    private func relationship(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = ImportedRecord(.relationship, path, value)
        record.contacts = [uuid(value["contact_is"]), uuid(value["of_contact"])]
        record.form["type"] = value["relationship_type"]?["name"]
        return record
    }

    private func activity(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = ImportedRecord(.activity, path, value)
        record.contacts = (value["contacts"]?.values ?? []).map(uuid)
        for name in ["summary", "description"] { record.form[name] = value[name] }
        record.form["happened_at"] = value["happened_at"]?.day.map { .string($0.description) }
        record.key = value["activity_type"]?["id"]?.key
        return record
    }

    private func gift(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = of(.gift, value, path, ["name", "comment", "url", "amount", "status"])
        record.form["date"] = value["date"]?.day.map { .string($0.description) }
        if let recipient = value["recipient"], recipient != .null { record.contacts.append(uuid(recipient)) }
        return record
    }

    private func conversation(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = of(.conversation, value, path, ["happened_at", "messages"])
        record.key = value["contact_field_type"]?["id"]?.key
        return record
    }

    private func reminder(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = of(
            .reminder, value, path, ["title", "description", "frequency_type", "frequency_number"])
        record.form["initial_date"] = value["initial_date"]?.day.map { .string($0.description) }
        return record
    }

    private func pet(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = of(.pet, value, path, ["name"])
        record.form["pet_category_id"] = value["pet_category"]?["id"]
        return record
    }

    private func lifeEvent(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = of(
            .lifeEvent, value, path,
            ["happened_at", "name", "note", "happened_at_month_unknown", "happened_at_day_unknown"])
        record.form["life_event_type_id"] = value["life_event_type"]?["id"]
        return record
    }

    private static func entry(_ value: JSONValue, _ path: String) -> ImportedRecord {
        var record = ImportedRecord(.journalEntry, path, value)
        for name in ["title", "post"] { record.form[name] = value[name] }
        record.form["date"] = value["date"]?.day.map { .string($0.description) }
        return record
    }
}
