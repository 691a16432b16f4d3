import Contract
import Database
import MonicaAPI

/// An import in progress. One task uses it.
struct ImportRun {
    let marker: Imports.Marker
    private let service: MonicaService
    private let isOverwriting: Bool
    private var result = MonicaService.ImportResult()
    /// The number of contacts that are added to lists at the end.
    private var added = 0
    /// The cards that change existing contacts.
    private var updates: [Int: MonicaService.ImportResult.Remark] = [:]
    /// The known contacts of the account. They are read once, because a query for each card would be most of the
    /// import's time.
    private var uuids: [String: Known] = [:]
    private var digests: [[UInt8]: Known] = [:]
    /// The number of cards in a transaction. It adapts to the time that a transaction takes, so that other writers
    /// never wait long.
    private(set) var batchSize = 20

    private static let longestTransaction = Duration.milliseconds(100)

    private enum Known {
        /// This import creates the contact.
        case new
        case existing(contact: Int, revisedAt: Int64?, updatedAt: Int64, isEdited: Bool)
    }

    /// Starts an import.
    ///
    /// - Throws: ``MonicaService/ImportRefused`` when another import into the account is in progress.
    init(_ service: MonicaService, into account: String, overwriting: Bool) async throws {
        self.service = service
        isOverwriting = overwriting
        let now = service.time.milliseconds()
        let marker = try await service.database.write { [makeID = service.makeID] db in
            try Imports.begin(into: account, at: now, makeID: makeID, in: db)
        }
        guard let marker else {
            throw MonicaService.ImportRefused(description: "Another import into '\(account)' is in progress.")
        }
        self.marker = marker
        let known = try await service.database.read { db in
            try db.all(
                """
                SELECT uuid, card, id, revised_at, updated_at, is_edited FROM contacts
                WHERE account_id = \(marker.account)
                """
            ) { row in
                (
                    uuid: try row.get(0, as: String.self), digest: try row.get(1, as: [UInt8]?.self),
                    known: Known.existing(
                        contact: try row.get(2), revisedAt: try row.get(3), updatedAt: try row.get(4),
                        isEdited: try row.get(5))
                )
            }
        }
        for contact in known {
            uuids[contact.uuid] = contact.known
            if let digest = contact.digest { digests[digest] = contact.known }
        }
    }

    /// Adds some cards in one transaction.
    mutating func add(_ cards: [CardReading]) async throws {
        var inserts: [(reading: CardReading, card: ContactCard)] = []
        var changes: [(contact: Int, reading: CardReading)] = []
        for reading in cards {
            guard let card = reading.contact else {
                result.nameless.append(reading.line)
                continue
            }
            switch remember(card.uuid, reading.digest) {
            case nil:
                inserts.append((reading, card))
                remark(on: reading, card)
            case .new: result.doubled.append(.init(line: reading.line, name: card.completeName))
            case .existing(let contact, let revisedAt, let updatedAt, let isEdited) where reading.hasID:
                guard reading.isNewer(than: revisedAt, updatedAt: updatedAt) else {
                    result.known += 1
                    continue
                }
                let remark = MonicaService.ImportResult.Remark(line: reading.line, name: card.completeName)
                if updates[contact] != nil {
                    result.doubled.append(remark)
                } else if isEdited, !isOverwriting {
                    result.edited.append(remark)
                } else {
                    updates[contact] = remark
                    changes.append((contact, reading))
                    self.remark(on: reading, card)
                }
            case .existing: result.repeated += 1
            }
        }
        guard !inserts.isEmpty || !changes.isEmpty else { return }
        let clock = ContinuousClock()
        let start = clock.now
        try await write(inserts, changes)
        result.contacts += inserts.count
        added += inserts.count
        adapt(to: clock.now - start)
    }

    /// Returns the contact with an id, and remembers that this import now has one with that id.
    private mutating func remember(_ uuid: String?, _ digest: [UInt8]) -> Known? {
        if let uuid {
            defer { if uuids[uuid] == nil { uuids[uuid] = .new } }
            return uuids[uuid]
        }
        defer { if digests[digest] == nil { digests[digest] = .new } }
        return digests[digest]
    }

    private mutating func remark(on reading: CardReading, _ card: ContactCard) {
        for what in reading.leftOut { result.leftOut[what, default: 0] += 1 }
        guard !reading.cuts.isEmpty else { return }
        let words = reading.cuts.joined(separator: ", ")
        result.cut.append(.init(line: reading.line, name: card.completeName, words: words))
    }

    private mutating func adapt(to duration: Duration) {
        let ratio = Self.longestTransaction / max(duration, .milliseconds(1))
        batchSize = min(500, max(5, Int(Double(batchSize) * min(2, max(0.25, ratio)))))
    }

    private func write(
        _ inserts: [(reading: CardReading, card: ContactCard)], _ changes: [(contact: Int, reading: CardReading)]
    ) async throws {
        let (marker, isOverwriting, time, makeID) = (marker, isOverwriting, service.time, service.makeID)
        try await service.database.write { db in
            let now = time.milliseconds()
            try Imports.recordHeartbeat(marker.id, at: now, in: db)
            try Accounts.lock(marker.account, in: db)
            let genders = try Genders.all(of: marker.account, in: db)
            let unlisted = try inserts.map { reading, card in
                var fields = ContactForm(card, genders: genders)
                fields.card = card.uuid == nil ? reading.digest : nil
                fields.revisedAt = reading.revisedAt
                fields.importID = marker.id
                let id = try Contacts.insertUnlisted(
                    fields, uuid: card.uuid ?? makeID(), of: marker.account, at: now, in: db)
                try CardUpdates.addDetails(
                    of: card, to: id, of: marker.account, importing: marker.id, at: now, makeID: makeID, in: db)
                return id
            }
            try ContactSearch.add(unlisted, of: marker.account, in: db)
            for (contact, reading) in changes {
                try CardUpdates.store(reading, for: contact, of: marker, overwriting: isOverwriting, in: db)
            }
        }
    }

    /// Makes the added contacts visible, and changes the existing ones.
    mutating func end() async throws -> MonicaService.ImportResult {
        let (marker, added, hasUpdates, time) = (marker, added, !updates.isEmpty, service.time)
        try await service.database.write { db in
            try Imports.end(marker, count: added, hasUpdates: hasUpdates, at: time.milliseconds(), in: db)
        }
        if hasUpdates {
            let outcome = try await service.applyUpdates(of: marker)
            result.updated = outcome.updated
            result.edited += outcome.edited.compactMap { updates[$0] }
            result.edited.sort { $0.line < $1.line }
        }
        return result
    }
}
