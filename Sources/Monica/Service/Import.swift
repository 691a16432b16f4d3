import Backend
import Contract
import Database
import MonicaAPI

extension MonicaService {
    /// What became of an import.
    public struct Imported: Sendable, Hashable {
        public var contacts = 0
        /// Cards whose UID the account has already.
        public var known = 0
        /// Cards without a UID that say exactly what one imported before said.
        public var repeated = 0
        /// Cards of groups, which are nobody.
        public var groups = 0
        /// Where the cards without any name begin in the file.
        public var nameless: [Int] = []
        /// Contacts of which a text was too long, and cut.
        public var cut = 0
        /// What contacts have no place for, such as `PHOTO` or `TEL (type)`, and how many cards had it.
        public var leftOut: [String: Int] = [:]
    }

    /// Why nothing was imported.
    public struct ImportRefused: Error, CustomStringConvertible {
        public let description: String
    }

    /// Makes contacts of a file of vCards, all of them or none: it is one transaction.
    ///
    /// Names, nicknames, gender, addresses of mail, phones, websites, postal addresses, the dates of birth and death,
    /// organization, title, categories (as tags) and notes are taken over; the first note as the description, unless it is
    /// long. What else a card says is counted in ``Imported/leftOut``. The same file again adds nothing: a card is known
    /// by its UID or, where it has none, by all that it says.
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
        let people = cards.filter { !$0.isGroup }.map { (line: $0.line, reading: CardReading($0, today: today)) }
        let groups = cards.count - people.count
        do {
            return try await database.write { [makeID] db in
                let account = try Accounts.findOrMake(account, email: "", at: now, makeID: makeID, in: db)
                try Accounts.queue(account, in: db)
                var importing = try Importing(account: account, now: now, makeID: makeID, db: db)
                importing.result.groups = groups
                for (index, person) in people.enumerated() {
                    try importing.add(person.reading, from: person.line)
                    progress(index + 1, people.count)
                }
                try importing.list()
                return importing.result
            }
        } catch let problem as Problem {
            throw ImportRefused(description: problem.message)
        }
    }
}

/// An import on its way. Lives within one transaction, which has the account's turn.
private struct Importing {
    let account: Int
    let now: Int64
    let makeID: () -> String
    let db: Session
    var result = MonicaService.Imported()
    /// Those that lists and searches do not have yet.
    private var unlisted: [Int] = []
    /// What the account's contacts are known by: read once, because a look for each card is most of an import.
    private var uuids: Set<String> = []
    private var cards: Set<[UInt8]> = []

    init(account: Int, now: Int64, makeID: @escaping () -> String, db: Session) throws {
        (self.account, self.now, self.makeID, self.db) = (account, now, makeID, db)
        let known = try db.all("SELECT uuid, card FROM contacts WHERE account_id = \(account)") { row in
            (uuid: try row.get(0, as: String.self), card: try row.get(1, as: [UInt8]?.self))
        }
        for (uuid, card) in known {
            uuids.insert(uuid)
            if let card { cards.insert(card) }
        }
    }

    mutating func list() throws {
        try Contacts.list(unlisted, of: account, in: db)
        unlisted = []
    }

    mutating func add(_ reading: CardReading, from line: Int) throws {
        guard let card = reading.contact else { return result.nameless.append(line) }
        if let uuid = card.uuid {
            guard uuids.insert(uuid).inserted else {
                result.known += 1
                return
            }
        } else if !cards.insert(reading.digest).inserted {
            if reading.hasID { result.known += 1 } else { result.repeated += 1 }
            return
        }
        try insert(card, digest: reading.digest)
        result.contacts += 1
        if reading.isCut { result.cut += 1 }
        for what in reading.leftOut { result.leftOut[what, default: 0] += 1 }
    }

    private mutating func insert(_ card: ContactCard, digest: [UInt8]) throws {
        var fields = ContactFields(firstName: card.firstName)
        fields.middleName = card.middleName
        fields.lastName = card.lastName
        fields.nickname = card.nickname
        fields.description = card.description
        fields.birth = card.birth
        fields.isDead = card.isDead
        fields.death = card.death
        fields.job = card.job
        fields.company = card.company
        fields.card = card.uuid == nil ? digest : nil
        if let gender = card.gender {
            fields.gender = try Accounts.genders(of: account, in: db).first { $0.type == gender }?.id
        }
        let id = try Contacts.insertUnlisted(fields, uuid: card.uuid ?? makeID(), of: account, at: now, in: db)
        for field in card.fields {
            try ContactDetails.add(
                field.kind, field.content, uuid: makeID(), to: id, of: account, at: now, in: db)
        }
        for address in card.addresses { try ContactDetails.add(address, uuid: makeID(), to: id, at: now, in: db) }
        for note in card.notes {
            // Nothing was written after now.
            _ = try Notes.insert(
                note.text, of: id, uuid: makeID(), account: account, at: min(now, note.createdAt ?? now), in: db)
        }
        _ = try Tags.add(card.tags, to: id, of: account, at: now, in: db)
        unlisted.append(id)
        if unlisted.count == 1000 { try list() }
    }
}
