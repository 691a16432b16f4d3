import Contract
import Database
import Foundation
import MonicaAPI

/// Changes existing contacts according to vCards, and stores the details of a card that are not in the contact's own
/// row.
enum CardUpdates {
    enum Outcome: Sendable {
        case updated
        /// The contact was edited by other means since the last card.
        case edited
        /// The contact was deleted.
        case gone
    }

    /// Stores a card until its import ends.
    static func store(
        _ reading: CardReading, for contact: Int, of marker: Imports.Marker, overwriting: Bool, in db: Session
    ) throws {
        let card = String(decoding: try JSONEncoder().encode(reading), as: UTF8.self)
        try db.run(
            """
            INSERT INTO import_updates (import_id, contact_id, overwrites, card)
            VALUES (\(marker.id), \(contact), \(overwriting), \(card))
            ON CONFLICT (import_id, contact_id) DO NOTHING
            """)
    }

    /// Applies some of the stored changes of an import that has ended.
    static func apply(
        _ limit: Int, of marker: Imports.Marker, by loader: RecordLoader, at now: Int64, makeID: () -> String
    ) throws -> [(contact: Int, outcome: Outcome)] {
        let kept = try loader.db.all(
            """
            SELECT contact_id, overwrites, card FROM import_updates WHERE import_id = \(marker.id)
            ORDER BY contact_id LIMIT \(limit)
            """
        ) {
            (
                contact: try $0.get(0, as: Int.self), overwrites: try $0.get(1, as: Bool.self),
                card: try $0.get(2, as: String.self)
            )
        }
        return try kept.map { update in
            try loader.db.run(
                "DELETE FROM import_updates WHERE import_id = \(marker.id) AND contact_id = \(update.contact)")
            guard let row = try loader.contactRows([update.contact]).first else { return (update.contact, .gone) }
            if row.isEdited, !update.overwrites { return (update.contact, .edited) }
            guard let reading = try? JSONDecoder().decode(CardReading.self, from: Data(update.card.utf8)),
                let card = reading.contact
            else { return (update.contact, .gone) }
            try change(row, to: card, revisedAt: reading.revisedAt, by: loader, at: now, makeID: makeID)
            return (update.contact, .updated)
        }
    }

    /// Changes everything that a card can contain to the card's values. Existing notes are kept, and new ones are
    /// added.
    private static func change(
        _ row: ContactRow, to card: ContactCard, revisedAt: Int64?, by loader: RecordLoader, at now: Int64,
        makeID: () -> String
    ) throws {
        let (db, id) = (loader.db, row.id)
        let fields = ContactForm(card, genders: try Genders.all(of: loader.account, in: db))
        try Contacts.rewrite(id, by: loader, at: now) { row in
            let (isPartial, isStarred, gender) = (row.isPartial, row.isStarred, row.gender)
            fields.apply(to: &row)
            (row.isPartial, row.isStarred, row.gender) = (isPartial, isStarred, fields.gender ?? gender)
            row.formattedName = fields.formattedName
            (row.job, row.company) = (fields.job, fields.company)
            (row.revisedAt, row.isEdited) = (revisedAt, false)
        }
        // A card that knows no social networks keeps the fields of the owner's own types.
        let types = try ContactDetails.types(of: loader.account, in: db)
        let own = card.profiles?.isEmpty == false ? [] : types.filter { $0.value.kind == nil }.map(\.key)
        try db.run("DELETE FROM contact_fields WHERE contact_id = \(id) AND type_id NOT IN (\(list: own + [0]))")
        try db.run("DELETE FROM addresses WHERE contact_id = \(id)")
        try db.run("DELETE FROM contact_tags WHERE contact_id = \(id)")
        var card = card
        let old = Set((try Notes.all(of: [id], in: db)[id] ?? []).map(\.text))
        card.notes.removeAll { old.contains($0.text) }
        try addDetails(
            of: card, to: id, of: loader.account, importing: nil, at: now, makeID: makeID, in: db)
        // E-mail addresses and phone numbers are searched, too.
        try ContactSearch.update(id, of: loader.account, in: db)
    }

    /// Adds the details of a card that have tables of their own. The caller has locked the account.
    ///
    /// - Parameter importing: The import to which the contact belongs while it is hidden.
    static func addDetails(
        of card: ContactCard, to id: Int, of account: AccountID, importing: Int?, at now: Int64, makeID: () -> String,
        in db: Session
    ) throws {
        for field in card.fields {
            try ContactDetails.add(field.kind, field.content, uuid: makeID(), to: id, of: account, at: now, in: db)
        }
        try ifThereIsRoom(importing: importing) {
            try ContactDetails.add(
                card.profiles ?? [], to: id, of: account, importing: importing, at: now, makeID: makeID, in: db)
        }
        for address in card.addresses { try ContactDetails.add(address, uuid: makeID(), to: id, at: now, in: db) }
        for note in card.notes {
            // A note cannot be newer than now.
            _ = try Notes.insert(
                note.text, of: id, uuid: makeID(), account: account, at: min(now, note.createdAt ?? now), in: db)
        }
        try ifThereIsRoom(importing: importing) {
            _ = try Tags.add(card.tags, to: id, of: account, importing: importing, at: now, in: db)
        }
    }

    /// Adds what an account can have a number of. An import with more is refused, unless it has ended already.
    private static func ifThereIsRoom(importing: Int?, _ add: () throws -> Void) throws {
        do { try add() } catch let problem as Problem { if importing != nil { throw problem } }
    }
}

extension ContactForm {
    /// Takes the fields of a contact's own row from a card.
    init(_ card: ContactCard, genders: [Monica.Gender]) {
        self.init(firstName: card.firstName)
        middleName = card.middleName
        lastName = card.lastName
        formattedName = card.formattedName
        nickname = card.nickname
        description = card.description
        birth = card.birth
        isDead = card.isDead
        death = card.death
        job = card.job
        company = card.company
        gender = card.gender.flatMap { type in genders.first { $0.type == type }?.id }
    }
}
