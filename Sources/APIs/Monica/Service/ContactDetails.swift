import Backend
import Contract
import Database
import MonicaAPI

/// A way to reach a contact.
enum ContactFieldKind: String, CaseIterable, Sendable {
    case email, phone, website

    /// Returns the field type as an account has it.
    func type(id: Int, uuid: String, of account: AccountID, createdAt: Monica.Timestamp) -> Monica.ContactFieldType {
        switch self {
        case .email:
            .init(
                id: id, uuid: uuid, name: "Email", icon: "fa fa-envelope-open-o", protocol: "mailto:", delible: false,
                type: "email", account: account.number, createdAt: createdAt)
        case .phone:
            .init(
                id: id, uuid: uuid, name: "Phone", icon: "fa fa-volume-control-phone", protocol: "tel:", delible: false,
                type: "phone", account: account.number, createdAt: createdAt)
        case .website:
            .init(
                id: id, uuid: uuid, name: "Website", icon: "fa fa-globe", protocol: nil, delible: false,
                type: "website", account: account.number, createdAt: createdAt)
        }
    }
}

/// Stores the contact fields and addresses of contacts.
enum ContactDetails {
    /// Adds a contact field. The caller has locked the account.
    static func add(
        _ kind: ContactFieldKind, _ content: String, uuid: String, to contact: Int, of account: AccountID,
        at now: Int64,
        in db: Session
    ) throws {
        try db.run(
            """
            INSERT INTO contact_fields (uuid, contact_id, type_id, content, created_at, updated_at)
            VALUES (\(uuid), \(contact),
                (SELECT id FROM contact_field_types WHERE account_id = \(account) AND kind = \(kind.rawValue)),
                \(content), \(now), \(now))
            """)
    }

    static func add(_ address: PostalAddress, uuid: String, to contact: Int, at now: Int64, in db: Session) throws {
        try db.run(insertion(of: address, uuid: uuid, to: contact, at: now))
    }

    static func insertion(of address: PostalAddress, uuid: String, to contact: Int, at now: Int64) -> SQL {
        """
        INSERT INTO addresses (
            uuid, contact_id, account_id, name, street, city, province, postal_code, country, created_at, updated_at)
        VALUES (\(uuid), \(contact), (SELECT account_id FROM contacts WHERE id = \(contact)), \(address.name),
            \(address.street), \(address.city), \(address.province), \(address.postalCode), \(address.country),
            \(now), \(now))
        """
    }

    /// Gives each address its account. A node of a version that did not know the column leaves it empty.
    static func completeAddresses(in db: Session) throws {
        try db.run(
            """
            UPDATE addresses SET account_id = (SELECT c.account_id FROM contacts c WHERE c.id = addresses.contact_id)
            WHERE account_id IS NULL
            """)
    }

    /// A type of contact fields, and how vCards have it; nil for one that is none of their kinds.
    typealias FieldType = (kind: ContactFieldKind?, type: Monica.ContactFieldType)

    /// Returns an account's types of contact fields by their ids.
    ///
    /// - Parameter importing: The import that asks, which sees its own hidden types.
    static func types(
        of account: AccountID, importing: Int? = nil, in db: Session
    ) throws -> [Int: FieldType] {
        let visible = importing == nil ? try Imports.visible("import_id", of: account, in: db) : ""
        let found = try db.all(
            """
            SELECT \(FieldTypeColumn.list) FROM contact_field_types
            WHERE account_id = \(account) \(visible)
            """
        ) { try fieldType(row: $0, of: account) }
        return Dictionary(uniqueKeysWithValues: found.compactMap { $0.map { ($0.type.id, $0) } })
    }

    private static func fieldType(row: borrowing Row, of account: AccountID) throws -> FieldType? {
        let id: Int = try row.get(FieldTypeColumn.id)
        let uuid: String = try row.get(FieldTypeColumn.uuid)
        let kind = ContactFieldKind(rawValue: try row.get(FieldTypeColumn.kind))
        let createdAt: Monica.Timestamp = try row.get(FieldTypeColumn.createdAt)
        guard let name = try row.get(FieldTypeColumn.name, as: String?.self) else {
            return kind.map { ($0, $0.type(id: id, uuid: uuid, of: account, createdAt: createdAt)) }
        }
        let word = try kind?.rawValue ?? row.get(FieldTypeColumn.type, as: String?.self)
        let type = Monica.ContactFieldType(
            id: id, uuid: uuid, name: name, icon: try row.get(FieldTypeColumn.icon),
            protocol: try row.get(FieldTypeColumn.scheme), delible: kind == nil, type: word, account: account.number,
            createdAt: createdAt, updatedAt: try row.get(FieldTypeColumn.updatedAt))
        return (kind ?? word.flatMap { ContactFieldKind(rawValue: $0) }, type)
    }

    static func sortedTypes(of account: AccountID, in db: Session) throws -> [Monica.ContactFieldType] {
        try types(of: account, in: db).values.map(\.type).sorted { $0.id < $1.id }
    }

    /// Adds what a card says of social networks, with types that are missing. The caller has locked the account.
    static func add(
        _ profiles: [ContactCard.Profile], to contact: Int, of account: AccountID, importing: Int?, at now: Int64,
        makeID: () -> String, in db: Session
    ) throws {
        for profile in profiles {
            let name = Folding.fold(profile.service)
            let known = try types(of: account, importing: importing, in: db).values.map(\.type)
                .filter { $0.delible && Folding.fold($0.name) == name }.map(\.id).min()
            if known == nil { try Monica.ContactFieldType.requireRoom(of: account, in: db) }
            let type =
                try known
                ?? FieldTypeFields(name: profile.service)
                .insert(uuid: makeID(), into: account, importing: importing, at: now, in: db)
            try db.run(
                """
                INSERT INTO contact_fields (uuid, contact_id, type_id, content, created_at, updated_at)
                VALUES (\(makeID()), \(contact), \(type), \(profile.content), \(now), \(now))
                """)
        }
    }

    /// Returns whether a text needs no escapes in a card, as the address of a website.
    static func isPlain(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 == "\\" || $0.properties.isWhitespace || $0.value < 0x20 }
    }
}

/// A postal address of a contact.
struct PostalAddress: Sendable, Hashable, Codable {
    var name: String?
    var street: String?
    var city: String?
    var province: String?
    var postalCode: String?
    var country: String?

    var isEmpty: Bool { [street, city, province, postalCode, country].allSatisfy { $0 == nil } }
}

private enum FieldTypeColumn: String, Columns {
    case id, uuid, kind
    case createdAt = "created_at"
    case name, icon
    case scheme = "protocol"
    case type
    case updatedAt = "updated_at"

    static let list = ColumnList(Self.self)
}
