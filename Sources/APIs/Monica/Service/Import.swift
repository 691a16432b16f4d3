import Backend
import Contract
import Database
import MonicaAPI

extension MonicaService {
    /// What became of an import.
    public struct Imported: Sendable, Hashable {
        /// A card, and what is to be said of it.
        public struct Remark: Sendable, Hashable {
            /// Where the card begins in the file.
            public var line: Int
            /// The contact's name.
            public var name: String
            /// Empty where the list says it all.
            public var words = ""
        }

        public var contacts = 0
        /// Contacts that a newer card has changed.
        public var updated = 0
        /// Newer cards of contacts that were changed by other means since: they were passed over.
        public var edited: [Remark] = []
        /// Cards whose UID the account has already, and that are no newer.
        public var known = 0
        /// Cards without a UID that say exactly what one imported before said.
        public var repeated = 0
        /// Cards of groups, which are no people.
        public var groups = 0
        /// Where the cards without any name begin in the file.
        public var nameless: [Int] = []
        /// Contacts of which a text was too long, and cut.
        public var cut: [Remark] = []
        /// What contacts have no place for, such as `PHOTO` or `TEL (type)`, and how many cards had it.
        public var leftOut: [String: Int] = [:]
    }

    /// Why nothing was imported.
    public struct ImportRefused: Error, CustomStringConvertible {
        public let description: String
    }

    /// Makes contacts of a file of vCards, all of them or none (``importCards(into:overwriting:progress:next:)``).
    ///
    /// - Throws: ``ImportRefused`` with the line of what is no vCard.
    public func importVCards(
        _ bytes: [UInt8], into account: String, overwriting: Bool = false, skippingUnreadable: Bool = false,
        progress: (_ done: Int, _ total: Int) async throws -> Void = { _, _ in }
    ) async throws -> Imported {
        let today = Monica.Timestamp(milliseconds: time.milliseconds()).day
        let file = try CardFile(bytes, skippingUnreadable: skippingUnreadable, today: today)
        var rest = file.cards[...]
        var result = try await importCards(
            into: account, overwriting: overwriting, progress: { try await progress($0, file.cards.count) },
            next: {
                let cards = Array(rest.prefix(100))
                rest = rest.dropFirst(cards.count)
                return cards.isEmpty ? nil : cards
            })
        result.groups = file.findings.groups
        return result
    }

    /// Makes contacts of cards, all of them or none: nothing of them can be seen before the last is there.
    ///
    /// Names, nicknames, gender, addresses of mail, phones, websites, postal addresses, the dates of birth and death,
    /// organization, title, categories (as tags) and notes are taken over; the first note as the description, unless it is
    /// long. What else a card says is counted in ``Imported/leftOut``. The same cards again add nothing: a card is known
    /// by its UID or, where it has none, by all that it says. A known UID with a newer REV changes the contact, unless that
    /// was changed by other means since.
    ///
    /// - Parameters:
    ///   - account: Made when there is none of that name.
    ///   - overwriting: Whether newer cards change contacts that were changed by other means, too.
    ///   - progress: How many cards are done.
    ///   - next: Some more cards; nil at the end.
    /// - Throws: ``ImportRefused``.
    public func importCards(
        into account: String, overwriting: Bool = false, progress: (_ done: Int) async throws -> Void = { _ in },
        next: () async throws -> [CardReading]?
    ) async throws -> Imported {
        // What an import that died has left behind would be in the way.
        try await cleanUpImports()
        var run = try await ImportRun(self, into: account, overwriting: overwriting)
        do {
            return try await withThrowingTaskGroup(of: Void.self) { group in
                let id = run.marker.id
                group.addTask { await beat(id) }
                defer { group.cancelAll() }
                var done = 0
                while var cards = try await next()?[...] {
                    while !cards.isEmpty {
                        try Task.checkCancellation()
                        let batch = cards.prefix(run.batchSize)
                        try await run.add(Array(batch))
                        cards = cards.dropFirst(batch.count)
                        done += batch.count
                        try await progress(done)
                    }
                }
                try Task.checkCancellation()
                return try await run.end()
            }
        } catch {
            let (id, isCancelled) = (run.marker.id, Task.isCancelled)
            // Another task, since this one may be cancelled. What it does not remove is removed within a minute.
            await Task {
                try? await database.write { db in try Imports.abandon(id, in: db) }
                if !isCancelled { try? await cleanUpImports() }
            }.value
            if let problem = error as? Problem { throw ImportRefused(description: problem.message) }
            throw error
        }
    }

    /// Keeps an import alive while it waits for cards.
    private func beat(_ id: Int) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(5))
            try? await database.write { [time] db in try Imports.beat(id, at: time.milliseconds(), in: db) }
        }
    }

    /// Removes what imports that died have left behind, and finishes those that had ended, every ten seconds until the task
    /// is cancelled.
    public func listen(_ started: @escaping @Sendable () -> Void) async {
        started()
        while !Task.isCancelled {
            do {
                try await cleanUpImports()
            } catch {
                if !Task.isCancelled {
                    logger.warning("imports cannot be cleaned up", metadata: ["error": "\(error)"])
                }
            }
            try? await Task.sleep(for: .seconds(10))
        }
    }

    func cleanUpImports() async throws {
        let now = time.milliseconds()
        let isShared = database.isShared
        for marker in try await database.read({ try Imports.dead(at: now, isShared: isShared, in: $0) }) {
            guard try await database.write({ try Imports.claim(marker, at: now, in: $0) }) else { continue }
            if marker.state == .ended {
                _ = try await applyUpdates(of: marker)
            } else {
                while try await database.write({ [time] in
                    try Imports.remove(marker, at: time.milliseconds(), in: $0)
                }) {}
            }
        }
    }

    /// Changes the contacts that an import is to change, some at a time, and then forgets the import.
    ///
    /// - Returns: Those that are changed, and those that were changed by other means since.
    func applyUpdates(of marker: Imports.Marker) async throws -> (updated: Int, edited: [Int]) {
        var (updated, edited) = (0, [Int]())
        while true {
            let outcomes = try await database.write { [time, makeID] db in
                let now = time.milliseconds()
                try Accounts.lock(marker.account, in: db)
                let outcomes = try CardUpdates.apply(
                    20, of: marker, by: reader(marker.account, db), at: now, makeID: makeID)
                if outcomes.isEmpty {
                    try db.run("DELETE FROM imports WHERE id = \(marker.id)")
                } else {
                    try db.run("UPDATE imports SET alive_at = \(now) WHERE id = \(marker.id)")
                }
                return outcomes
            }
            if outcomes.isEmpty { return (updated, edited) }
            updated += outcomes.count { $0.outcome == .updated }
            edited += outcomes.filter { $0.outcome == .edited }.map(\.contact)
        }
    }
}
