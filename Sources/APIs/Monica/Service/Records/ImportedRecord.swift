import Contract
import Foundation
import MonicaAPI

/// A record of an export, with the fields that the API's form of its kind has.
public struct ImportedRecord: Codable, Sendable {
    /// The kinds of records, in the order in which they are reported.
    enum Kind: String, Codable, CaseIterable, Sendable {
        case contact
        case contactField = "contact field"
        case address
        case relationship
        case introduction
        case activity
        case note
        case task
        case gift
        case call
        case conversation
        case reminder
        case debt
        case pet
        case lifeEvent = "life event"
        case photo
        case document
        case journalEntry = "journal entry"
        case tag
        case gender
        case contactFieldType = "contact field type"
        case activityType = "activity type"
        case activityTypeCategory = "activity type category"
        /// A record that has no place at all.
        case other

        /// Returns the kind in words, such as `2 pets`.
        func counted(_ number: Int) -> String {
            let plural =
                switch self {
                case .address: "addresses"
                case .activity: "activities"
                case .journalEntry: "journal entries"
                case .activityTypeCategory: "activity type categories"
                default: rawValue + "s"
                }
            return "\(number) \(number == 1 ? rawValue : plural)"
        }
    }

    let kind: Kind
    /// The place of the record in the file, such as `contacts[3]`.
    let path: String
    var uuid: String?
    var createdAt: Int64?
    var updatedAt: Int64?
    var form: [String: JSONValue] = [:]
    /// The UUIDs of the contacts to whom it belongs, the owner first.
    var contacts: [String] = []
    /// The key by which the file's records name it, or the type that it has.
    var key: String?
    /// The key of the category of a type of activities.
    var parent: String?
    /// The records that are added with it.
    var parts: [ImportedRecord] = []
    /// The parts of it that have no place.
    var leftOut: [String] = []
    var birth: StoredDate?
    var death: StoredDate?
    var met: StoredDate?
    /// The content of a photo or a document.
    var file: ImportedFile?
    /// The reason why it cannot be imported, found when it was read.
    var refusal: String?

    init(_ kind: Kind, _ path: String, _ value: JSONValue? = nil) {
        self.kind = kind
        self.path = path
        uuid = value?["uuid"]?.text?.lowercased()
        createdAt = value?["created_at"]?.moment
        updatedAt = value?["updated_at"]?.moment
    }
}

/// The content of a photo or a document of an export, and what shows it.
struct ImportedFile: Codable, Sendable {
    let filename: String
    let content: Data
    /// Whether it is the picture of its contact.
    var isAvatar = false
    /// The UUIDs of the gifts that show it.
    var gifts: [String] = []
}

// MARK: - Values of a file

extension JSONValue {
    /// The text; nil for an empty one and for other values.
    var text: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        default: nil
        }
    }

    /// The text, or the digits of a number: a key.
    var key: String? {
        switch self {
        case .integer(let number): String(number)
        default: text
        }
    }

    var truth: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let number): number != 0
        case .string(let text): text == "1" || text == "true" || text == "yes"
        default: false
        }
    }

    /// The elements of a list, or the values of an object that stands for one.
    var values: [JSONValue] {
        switch self {
        case .list(let elements): elements
        case .object(let members):
            members.sorted { (Int($0.key) ?? 0) < (Int($1.key) ?? 0) }.map(\.value)
        default: []
        }
    }

    var isEmpty: Bool {
        switch self {
        case .null, .string(""), .bool(false), .integer(0): true
        case .list(let elements): elements.allSatisfy(\.isEmpty)
        case .object(let members): members.values.allSatisfy(\.isEmpty)
        default: false
        }
    }

    /// The day with which a date or a time begins.
    var day: Day? { text.flatMap { Day(String($0.prefix(10))) } }

    /// The moment of a time, in milliseconds since 1970.
    var moment: Int64? {
        guard let text else { return nil }
        let spaced = text.count == 19 && text.contains(" ") ? text.replacing(" ", with: "T") + "Z" : text
        return (Monica.Timestamp(spaced) ?? day?.start)?.milliseconds
    }

    /// The moment of a time as forms have it.
    var time: JSONValue { moment.map { .string(Monica.Timestamp(milliseconds: $0).description) } ?? self }

    /// A date with what is known of it.
    var storedDate: StoredDate? {
        guard let day = self["date"]?.day else { return nil }
        let kind: StoredDate.Kind =
            self["is_age_based"]?.truth == true
            ? .ageBased : self["is_year_unknown"]?.truth == true ? .yearUnknown : .exact
        return StoredDate(day, kind)
    }
}
