import Database
import Foundation
import ObjectStore

/// Pairs an API's database with its object store: both carry one id, and a start in which the ids differ is refused.
/// Otherwise a database that is new, empty or another one would make every stored file look unused.
public struct StorePairing: Sendable {
    /// The outcome of a pairing.
    public enum Outcome: Sendable, Equatable {
        /// They belonged together already.
        case known
        /// They had no id, or one of them had lost it, and what the rows name is there.
        case paired
        /// As ``paired``, but the rows name files and the store has none.
        case pairedWithoutFiles
        /// The operator has said that they belong together.
        case adopted
    }

    private static let fact = "object store"
    /// How many of the store's objects are compared with the rows at most, to find one that a row names.
    private static let samples = 20_000

    private let api: String
    private let database: Database
    private let store: any ObjectStore
    private let references: ObjectReferences
    private let databasePlace: String
    private let storePlace: String
    private let isLocal: Bool

    /// - Parameters:
    ///   - databasePlace: Where the database is, in words for messages; without a password.
    ///   - storePlace: Where the store is, in words for messages.
    ///   - isLocal: Whether the store is a folder, which no other machine has.
    public init(
        api: String, database: Database, store: any ObjectStore, references: ObjectReferences,
        databasePlace: String, storePlace: String, isLocal: Bool
    ) {
        self.api = api
        self.database = database
        self.store = store
        self.references = references
        self.databasePlace = databasePlace
        self.storePlace = storePlace
        self.isLocal = isLocal
    }

    /// Makes sure that database and store belong together, before anything is written to the store.
    ///
    /// - Parameter adopts: Whether the operator has said that they do, whatever their ids are.
    /// - Throws: ``StoreMismatch``, or what the database or the store throws.
    public func settle(adopts: Bool = false) async throws -> Outcome {
        let kept = try await database.read { try $0.fact(Self.fact) }
        let found = try await store.identity()
        if let kept, kept == found { return .known }
        if adopts { return try await adopt(found ?? kept) }
        switch (kept, found) {
        case (let kept?, let found?): throw differ(kept, found)
        case (nil, let found?): return try await settle(database: found)
        case (let kept?, nil): return try await settle(store: kept)
        case (nil, nil): return try await settleBoth()
        }
    }

    /// Settles a store with an id and a database without one: it is new, or was made before there were ids.
    private func settle(database found: String) async throws -> Outcome {
        // Another server may be using a bucket; a folder is this process's own.
        guard isLocal, try await isEmptyOrNamed() else {
            throw StoreMismatch(
                """
                \(capitalized(storePlace)) belongs to another database: \(databasePlace) is new, or another one. \
                Nothing was changed. Put the database of these files in its place (a backup, or the right --data and \
                --database), or choose the right --objects. \(adoption)
                """)
        }
        try await keep(found)
        return .paired
    }

    /// Settles a database with an id and a store without one: it is another store, or was copied without its id.
    private func settle(store kept: String) async throws -> Outcome {
        // On a database that nodes share, a folder without an id is another node's.
        let isOfAnotherNode = isLocal && database.isShared
        guard !isOfAnotherNode, try await isEmptyPairOrNamed() else {
            throw StoreMismatch(
                """
                \(capitalized(databasePlace)) belongs to other files than those in \(storePlace). Nothing was changed. \
                Choose the right --data or --objects, or bring the files back. \(sharing)\(adoption)
                """)
        }
        try await mark(kept)
        return .paired
    }

    /// Settles a database and a store without ids: both are new, or were made before there were ids.
    private func settleBoth() async throws -> Outcome {
        let isEmpty = try await isStoreEmpty()
        guard try await isEmptyOrNamed() else {
            throw StoreMismatch(
                """
                \(capitalized(databasePlace)) names none of the files in \(storePlace): it is new, empty, or another one. \
                Nothing was changed. Put the database of these files in its place (a backup, or the right --data and \
                --database), or choose the right --objects. \(adoption)
                """)
        }
        let hasRows = try await !references.some(1).isEmpty
        let id = Self.newID()
        if isLocal {
            // The folder first: of several nodes with a folder each, the database then chooses one.
            _ = try await store.identify(as: id)
            try await keep(store.identity() ?? id)
        } else {
            // The database first: several nodes that start at once bring one id to the bucket.
            try await mark(database.write { try $0.settleFact(Self.fact, id) })
        }
        return isEmpty && hasRows ? .pairedWithoutFiles : .paired
    }

    private func adopt(_ id: String?) async throws -> Outcome {
        let id = id ?? Self.newID()
        if try await store.identity() == nil { try await mark(id) }
        try await database.write { try $0.setFact(Self.fact, to: id) }
        return .adopted
    }

    private func keep(_ found: String) async throws {
        let kept = try await database.write { try $0.settleFact(Self.fact, found) }
        guard kept == found else { throw differ(kept, found) }
    }

    private func mark(_ kept: String) async throws {
        _ = try await store.identify(as: kept)
        let found = try await store.identity()
        guard found == kept else { throw differ(kept, found ?? "none") }
    }

    // MARK: What is there

    private func isStoreEmpty() async throws -> Bool {
        var cursor: String?
        repeat {
            let page = try await store.keys(olderThan: .max, after: cursor)
            if !page.keys.isEmpty { return false }
            cursor = page.next
        } while cursor != nil
        return true
    }

    /// Returns whether nothing can be lost: the store is empty, or the rows name its files.
    private func isEmptyOrNamed() async throws -> Bool {
        if try await isStoreEmpty() { return true }
        return try await namesSome()
    }

    /// Returns whether both are empty, or the rows name the store's files.
    private func isEmptyPairOrNamed() async throws -> Bool {
        let hasRows = try await !references.some(1).isEmpty
        if hasRows { return try await namesSome() }
        return try await isStoreEmpty()
    }

    /// Returns whether a row names something that the store has.
    private func namesSome() async throws -> Bool {
        for key in try await references.some(20).compactMap(ObjectKey.init) {
            if try await store.size(of: key) != nil { return true }
        }
        var (cursor, count): (String?, Int) = (nil, 0)
        repeat {
            let page = try await store.keys(olderThan: .max, after: cursor)
            if try await references.unknown(among: page.keys).count < page.keys.count { return true }
            count += page.keys.count
            cursor = page.next
        } while cursor != nil && count < Self.samples
        return false
    }

    // MARK: Words

    private func differ(_ kept: String, _ found: String) -> StoreMismatch {
        StoreMismatch(
            """
            \(capitalized(databasePlace)) and the files in \(storePlace) do not belong together: the database is of \
            store \(kept.prefix(8)), the files are store \(found.prefix(8)). Nothing was changed. Choose the --data, \
            --database and --objects that belong together. \(sharing)\(adoption)
            """)
    }

    /// Advice for several nodes that have a folder each.
    private var sharing: String {
        guard isLocal, database.isShared else { return "" }
        return "Several nodes on one database need files that all of them reach: --objects s3://… . "
    }

    private var adoption: String {
        """
        If the two do belong together, start once with --adopt-store \(api): files that no row names are then moved to \
        the trash, a hundred or a tenth at most at a time.
        """
    }

    private func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private static func newID() -> String { UUID().uuidString.lowercased() }
}

/// The error for a database and an object store that must not be used together, in words for the operator.
public struct StoreMismatch: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}
