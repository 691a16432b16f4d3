import Database
import Foundation
import ObjectStore

/// Pairs an API's database with its object store: both carry the same id, and a start with different ids is refused.
/// Otherwise every stored file would look unused to a database that is new, empty or another one.
public struct StorePairing: Sendable {
    /// The outcome of a pairing.
    public enum Outcome: Sendable, Equatable {
        /// They belonged together already.
        case known
        /// Neither had an id, or one of them had lost it, and the store has files that the rows name.
        case paired
        /// Like ``paired``, but the rows name files and the store has none.
        case pairedWithoutFiles
        /// The operator has confirmed that they belong together.
        case adopted
    }

    private static let fact = "object store"
    /// The most objects of the store that are compared with the rows to find one that a row names.
    private static let samples = 20_000

    private let api: String
    private let database: Database
    private let store: any ObjectStore
    private let references: ObjectReferences
    private let databasePlace: String
    private let storePlace: String
    private let isLocal: Bool

    /// - Parameters:
    ///   - databasePlace: The location of the database, for messages; without a password.
    ///   - storePlace: The location of the store, for messages.
    ///   - isLocal: Whether the store is a folder, which no other machine can reach.
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
    /// - Parameter adopts: Whether the operator has confirmed that they do, whatever their ids are.
    /// - Throws: ``StoreMismatch``, or the errors of the database and the store.
    public func reconcile(adopts: Bool = false) async throws -> Outcome {
        let kept = try await database.read { try $0.fact(Self.fact) }
        let found = try await store.identity()
        if let kept, kept == found { return .known }
        if adopts { return try await adopt(found ?? kept) }
        switch (kept, found) {
        case (let kept?, let found?): throw differ(kept, found)
        case (nil, let found?): return try await adoptID(ofStore: found)
        case (let kept?, nil): return try await adoptID(ofDatabase: kept)
        case (nil, nil): return try await pairNew()
        }
    }

    /// Gives the store's id to a database without one: the database is new, or older than ids.
    private func adoptID(ofStore found: String) async throws -> Outcome {
        // Another server may be using a bucket, whereas a folder belongs to this process.
        guard isLocal, try await isEmptyOrNamed() else {
            throw StoreMismatch(
                """
                \(capitalized(storePlace)) belongs to another database: \(databasePlace) is new or a different one. \
                Nothing was changed. Put the database of these files in its place (a backup, or the right --data and \
                --database), or choose the right --objects. \(adoption)
                """)
        }
        try await keep(found)
        return .paired
    }

    /// Gives the database's id to a store without one: it is another store, or was copied without its id.
    private func adoptID(ofDatabase kept: String) async throws -> Outcome {
        // When nodes share the database, a folder without an id belongs to another node.
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

    /// Gives a new id to a database and a store without ids: both are new, or older than ids.
    private func pairNew() async throws -> Outcome {
        let isEmpty = try await isStoreEmpty()
        guard try await isEmptyOrNamed() else {
            throw StoreMismatch(
                """
                \(capitalized(databasePlace)) names none of the files in \(storePlace): it is new, empty, or a \
                different one. Nothing was changed. Put the database of these files in its place (a backup, or the \
                right --data and --database), or choose the right --objects. \(adoption)
                """)
        }
        let hasRows = try await !references.some(1).isEmpty
        let id = Self.newID()
        if isLocal {
            // The folder comes first: if several nodes have a folder each, the database then chooses one.
            _ = try await store.identify(as: id)
            try await keep(store.identity() ?? id)
        } else {
            // The database comes first: several nodes that start at once then bring the same id to the bucket.
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

    // // MARK: Contents

    private func isStoreEmpty() async throws -> Bool {
        var cursor: String?
        repeat {
            let page = try await store.keys(olderThan: .max, after: cursor)
            if !page.keys.isEmpty { return false }
            cursor = page.next
        } while cursor != nil
        return true
    }

    /// Returns whether no file can be lost: the store is empty, or the rows name its files.
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

    /// Returns whether a row names an object that the store has.
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

    // // MARK: Messages

    private func differ(_ kept: String, _ found: String) -> StoreMismatch {
        StoreMismatch(
            """
            \(capitalized(databasePlace)) and the files in \(storePlace) do not belong together: the database belongs \
            to store \(kept.prefix(8)), the files are store \(found.prefix(8)). Nothing was changed. Choose the \
            --data, --database and --objects that belong together. \(sharing)\(adoption)
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

/// The error for a database and an object store that must not be used together. Its description is for the operator.
public struct StoreMismatch: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}
