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
        try db.run(
            """
            INSERT INTO addresses (
                uuid, contact_id, name, street, city, province, postal_code, country, created_at, updated_at)
            VALUES (\(uuid), \(contact), \(address.name), \(address.street), \(address.city), \(address.province),
                \(address.postalCode), \(address.country), \(now), \(now))
            """)
    }

    static func types(
        of account: AccountID, in db: Session
    ) throws -> [Int: (kind: ContactFieldKind, type: Monica.ContactFieldType)] {
        let found = try db.all(
            "SELECT id, uuid, kind, created_at FROM contact_field_types WHERE account_id = \(account)"
        ) { row -> (Int, (ContactFieldKind, Monica.ContactFieldType))? in
            let id: Int = try row.get(0)
            guard let kind = ContactFieldKind(rawValue: try row.get(2)) else { return nil }
            return (id, (kind, kind.type(id: id, uuid: try row.get(1), of: account, createdAt: try row.get(3))))
        }
        return Dictionary(uniqueKeysWithValues: found.compactMap(\.self))
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
