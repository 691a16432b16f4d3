import Backend
import Contract
import Database
import MonicaAPI

extension MonicaService {
    /// The result of an import.
    public struct ImportResult: Sendable, Hashable {
        /// A card with a remark about it.
        public struct Remark: Sendable, Hashable {
            /// The line at which the card begins in the file.
            public var line: Int
            /// The contact's name.
            public var name: String
            /// The rest of the remark; empty when the list's title says everything.
            public var words = ""
        }

        public var contacts = 0
        /// The number of contacts that a newer card has changed.
        public var updated = 0
        /// The newer cards of contacts that were changed by other means since. They were skipped.
        public var edited: [Remark] = []
        /// The number of cards whose UID the account has already, and that are no newer.
        public var known = 0
        /// The number of cards without a UID whose content was imported before.
        public var repeated = 0
        /// The cards of contacts that another card of the same import stands for: with the same UID or, without one,
        /// with the same content. They were skipped.
        public var doubled: [Remark] = []
        /// The number of cards of groups.
        public var groups = 0
        /// The lines at which the cards without any name begin.
        public var nameless: [Int] = []
        /// The contacts with a text that was too long and was truncated.
        public var cut: [Remark] = []
        /// The properties that contacts cannot store, such as `PHOTO` or `TEL (type)`, with the number of cards that
        /// had them.
        public var leftOut: [String: Int] = [:]
    }

    /// The error of an import that has changed nothing.
    public struct ImportRefused: Error, CustomStringConvertible {
        public let description: String
    }

    /// Imports a file of vCards as contacts, all of them or none (``importCards(into:overwriting:progress:next:)``).
    ///
    /// - Throws: ``ImportRefused`` with the line that is not part of a vCard.
    public func importVCards(
        _ bytes: [UInt8], into account: String, overwriting: Bool = false, skippingUnreadable: Bool = false,
        progress: (_ done: Int, _ total: Int) async throws -> Void = { _, _ in }
    ) async throws -> ImportResult {
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

    /// Imports cards as contacts, all of them or none. No query sees any of them before all are imported.
    ///
    /// The import takes names, nicknames, gender, e-mail addresses, phone numbers, websites, postal addresses, the
    /// dates of birth and death, organization, title, categories (as tags) and notes. The first note becomes the
    /// description, unless it is long. All other properties are counted in ``ImportResult/leftOut``. Importing the same
    /// cards again adds nothing: a card is recognized by its UID or, without one, by its whole content. A known UID
    /// with a newer REV changes the contact, unless the contact was changed by other means since.
    ///
    /// - Parameters:
    ///   - account: The name of the account, which is created when there is none.
    ///   - overwriting: Whether newer cards also change contacts that were changed by other means.
    ///   - progress: Receives the number of cards that are imported.
    ///   - next: Returns some more cards; nil at the end.
    /// - Throws: ``ImportRefused``.
    public func importCards(
        into account: String, overwriting: Bool = false, progress: (_ done: Int) async throws -> Void = { _ in },
        next: () async throws -> [CardReading]?
    ) async throws -> ImportResult {
        // The rest of an import that has stopped would be in the way.
        try await cleanUpImports()
        var run = try await ImportRun(self, into: account, overwriting: overwriting)
        do {
            return try await withThrowingTaskGroup(of: Void.self) { group in
                let id = run.marker.id
                group.addTask { await self.sendHeartbeats(of: id) }
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
            // This runs in another task, because the current one may be cancelled. Cards that it does not remove are
            // removed within a minute.
            await Task {
                try? await database.write { db in try Imports.abandon(id, in: db) }
                if !isCancelled { try? await cleanUpImports() }
            }.value
            if let problem = error as? Problem { throw ImportRefused(description: problem.message) }
            throw error
        }
    }

    /// Keeps an import alive while it waits for cards.
    func sendHeartbeats(of id: Int, as state: Imports.State = .gathering) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(5))
            try? await database.write { [time] db in
                try Imports.recordHeartbeat(id, as: state, at: time.milliseconds(), in: db)
            }
        }
    }

    /// Removes what stopped imports have left behind, and finishes those that had ended.
    func cleanUpImports() async throws {
        let now = time.milliseconds()
        let isShared = database.isShared
        for marker in try await database.read({ try Imports.stalled(at: now, isShared: isShared, in: $0) }) {
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

    /// Applies the changes of an import to existing contacts, a batch at a time, and then deletes the import.
    ///
    /// - Returns: The number of changed contacts, and the contacts that were changed by other means since.
    func applyUpdates(of marker: Imports.Marker) async throws -> (updated: Int, edited: [Int]) {
        var (updated, edited) = (0, [Int]())
        while true {
            let outcomes = try await database.write { [time, makeID, loader = loader(of: marker.account)] db in
                let now = time.milliseconds()
                try Accounts.lock(marker.account, in: db)
                let outcomes = try CardUpdates.apply(
                    20, of: marker, by: loader(db), at: now, makeID: makeID)
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
