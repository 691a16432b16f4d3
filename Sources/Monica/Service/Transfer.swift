import Backend
import Contract
import Database
import Foundation
import MonicaAPI

extension MonicaService {
    /// What became of an import.
    public struct Imported: Sendable, Hashable {
        public var contacts = 0
        /// Cards whose UID the account has already.
        public var known = 0
        /// Where the cards without any name begin in the file.
        public var nameless: [Int] = []
        /// Contacts of which a text was longer than 255 characters, and cut.
        public var cut = 0
    }

    /// Why nothing was imported.
    public struct ImportRefused: Error, CustomStringConvertible {
        public let description: String
    }

    /// Makes contacts of a file of vCards, all of them or none: it is one transaction.
    ///
    /// Names, nickname, addresses of mail, the dates of birth and death, organization, title, categories (as tags) and
    /// notes are taken over; the first note as the description, unless it is long. A card whose UID the account has is
    /// passed over; one without a UID is another contact each time.
    ///
    /// - Parameters:
    ///   - account: Made when there is none of that name.
    ///   - progress: How many of how many are done. Starts again when the transaction does.
    /// - Throws: ``ImportRefused`` with the line of what is no vCard.
    public func importVCards(
        _ bytes: [UInt8], into account: String,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Imported {
        let cards: [VCard]
        do {
            cards = try VCardReader.read(bytes)
        } catch let error as VCardReader.Malformed {
            throw ImportRefused(description: "\(error)")
        }
        let now = time.milliseconds()
        let today = Monica.Timestamp(milliseconds: now).day
        let contacts = cards.map { (line: $0.line, card: ContactCard($0, today: today)) }
        do {
            return try await database.write { [makeID] db in
                let account = try Accounts.findOrMake(account, email: "", at: now, makeID: makeID, in: db)
                try Accounts.queue(account, in: db)
                var result = Imported()
                for (index, contact) in contacts.enumerated() {
                    if let card = contact.card {
                        try Transfer.add(card, to: account, at: now, makeID: makeID, counting: &result, in: db)
                    } else {
                        result.nameless.append(contact.line)
                    }
                    progress(index + 1, contacts.count)
                }
                return result
            }
        } catch let problem as Problem {
            throw ImportRefused(description: problem.message)
        }
    }

    /// Everything of an account.
    ///
    /// - Parameter name: As the operator calls it; nil when there is none.
    public func exportJSON(of name: String) async throws -> Monica.Export? {
        guard let account = try await database.read({ try Accounts.find(name, in: $0) }) else { return nil }
        return try await export(account)
    }

    /// Every contact that is not partial, as vCard 4.0.
    public func exportVCards(of name: String) async throws -> String? {
        guard let account = try await database.read({ try Accounts.find(name, in: $0) }) else { return nil }
        return try await vCards(of: account)
    }

    func export(_ account: Int) async throws -> Monica.Export {
        let now = time.milliseconds()
        return try await database.read { db in
            let reader = reader(account, db)
            guard let user = try Accounts.user(account, in: db) else { throw Monica.Refusal.unauthenticated }
            let ids = try Transfer.ids(of: "contacts", account, in: db)
            let rows = try reader.contactRows(ids)
            let contacts = try Transfer.contacts(ids, by: reader)
            return Monica.Export(
                exportedAt: .init(milliseconds: now), user: user, genders: try Accounts.genders(of: account, in: db),
                activityTypes: try Accounts.activityTypes(of: account, in: db),
                tags: try Tags.all(of: account, in: db),
                contacts: zip(contacts, rows).map { .init($0, middleName: $1.middleName) },
                activities: try Monica.Activity.load(try Transfer.ids(of: "activities", account, in: db), by: reader),
                notes: try Monica.Note.load(try Transfer.ids(of: "notes", account, in: db), by: reader),
                tasks: try Monica.Task.load(try Transfer.ids(of: "tasks", account, in: db), by: reader),
                gifts: try Monica.Gift.load(try Transfer.ids(of: "gifts", account, in: db), by: reader))
        }
    }

    func vCards(of account: Int) async throws -> String {
        try await database.read { db in
            let reader = reader(account, db)
            let ids: [Int] = try db.all(
                "SELECT t.id FROM contacts t WHERE t.account_id = \(account) AND t.is_partial = 0 ORDER BY t.id"
            ) { try $0.get(0) }
            var writer = VCardWriter()
            for start in stride(from: 0, to: ids.count, by: Transfer.batch) {
                let part = Array(ids[start..<min(start + Transfer.batch, ids.count)])
                let contacts = try reader.contacts(part, with: .contactFields)
                for (contact, row) in zip(contacts, try reader.contactRows(part)) {
                    ContactCard(contact, row).write(to: &writer)
                }
            }
            return writer.text
        }
    }
}

private enum Transfer {
    static let batch = 100

    static func ids(of table: SQL, _ account: Int, in db: Session) throws -> [Int] {
        try db.all("SELECT id FROM \(table) WHERE account_id = \(account) ORDER BY id") { try $0.get(0) }
    }

    static func contacts(_ ids: [Int], by reader: Reader) throws -> [Monica.Contact] {
        try stride(from: 0, to: ids.count, by: batch).flatMap { start in
            try reader.contacts(Array(ids[start..<min(start + batch, ids.count)]), with: .contactFields)
        }
    }

    static func add(
        _ card: ContactCard, to account: Int, at now: Int64, makeID: () -> String,
        counting result: inout MonicaService.Imported, in db: Session
    ) throws {
        if let uuid = card.uuid,
            try db.exists("SELECT 1 FROM contacts WHERE account_id = \(account) AND uuid = \(uuid)")
        {
            result.known += 1
            return
        }
        var fields = ContactFields(firstName: card.firstName)
        fields.middleName = card.middleName
        fields.lastName = card.lastName
        fields.nickname = card.nickname
        fields.birth = card.birth
        fields.isDead = card.isDead
        fields.death = card.death
        fields.job = card.job
        fields.company = card.company
        var notes = card.notes[...]
        if let first = notes.first, first.length <= 255 {
            fields.description = first
            notes = notes.dropFirst()
        }
        let id = try Contacts.insert(fields, uuid: card.uuid ?? makeID(), of: account, at: now, in: db)
        for email in card.emails { try Contacts.addEmail(email, uuid: makeID(), to: id, at: now, in: db) }
        for note in notes {
            let body = String(String.UnicodeScalarView(note.unicodeScalars.prefix(100_000)))
            _ = try Notes.insert(body, of: id, uuid: makeID(), account: account, at: now, in: db)
        }
        _ = try Tags.add(card.tags, to: id, of: account, at: now, in: db)
        result.contacts += 1
        if card.isCut { result.cut += 1 }
    }
}

extension ContactCard {
    /// - Parameter contact: With its fields.
    fileprivate init(_ contact: Monica.Contact, _ row: ContactRow) {
        self.init()
        uuid = row.uuid
        firstName = row.firstName
        middleName = row.middleName
        lastName = row.lastName
        nickname = row.nickname
        emails = (contact.contactFields ?? []).map(\.content)
        birth = row.birth
        isDead = row.isDead
        death = row.death
        company = row.company
        job = row.job
        notes = row.description.map { [$0] } ?? []
        tags = contact.tags.map(\.name)
        revised = row.updatedAt.milliseconds
    }
}
