import Database
import Logging
import ObjectStore

/// Makes sure, before an API is served, that its database, its files and its keys belong together.
struct StartCheck: Sendable {
    private let database: Database
    private let accountsTable: String
    private let keys: SharedKeys
    private let stores: StorePairing?
    private let guarded: GuardedObjectStore?
    private let adoptsKeys: Bool
    private let adoptsStore: Bool
    private let logger: Logger

    /// - Parameters:
    ///   - stores: Pairs the database with the files; nil for an API without files.
    ///   - guarded: The store to unlock once it is known to belong to the database; nil for a folder, which needs no
    ///     lock.
    init(
        _ api: some HostedAPI, _ database: Database, _ keys: SharedKeys, stores: StorePairing?,
        guarded: GuardedObjectStore?, exceptions: StartExceptions, logger: Logger
    ) {
        self.database = database
        self.accountsTable = api.accountsTable
        self.keys = keys
        self.stores = stores
        self.guarded = guarded
        self.adoptsKeys = exceptions.adoptKeys.contains(api.name)
        self.adoptsStore = exceptions.adoptStore.contains(api.name)
        self.logger = logger
    }

    /// Compares the keys, and pairs the files with the database.
    ///
    /// - Returns: False while the bucket does not answer. The check must then be repeated.
    /// - Throws: An error whose description says what the operator must decide.
    func run() async throws -> Bool {
        for warning in try await keys.reconcile(in: database, usedBy: accountsTable, adopts: adoptsKeys) {
            logger.warning("\(warning)")
        }
        guard let stores else { return true }
        guard let guarded else {
            try await reconcile(stores)
            return true
        }
        do {
            try await within(seconds: 10) { try await reconcile(stores) }
            guarded.unlock()
            return true
        } catch  where Task.isCancelled {
            // The server stops.
            return false
        } catch let error as S3Error {
            logger.warning(
                "the bucket cannot be asked whether it belongs to the database: no file is accepted until then",
                metadata: ["error": "\(error)"])
            return false
        } catch is CancellationError {
            logger.warning(
                "the bucket does not answer whether it belongs to the database: no file is accepted until then")
            return false
        }
    }

    private func reconcile(_ stores: StorePairing) async throws {
        switch try await stores.reconcile(adopts: adoptsStore) {
        case .known:
            if adoptsStore { logger.warning("--adopt-store is no longer needed: leave it out at the next start") }
        case .paired: logger.info("the database and the files have been paired")
        case .pairedWithoutFiles:
            logger.warning("the database refers to files, but the object store is empty: is it the right one?")
        case .adopted: logger.notice("the files have been adopted by this database")
        }
    }
}

/// Runs a closure for a limited time, and throws `CancellationError` after that.
private func within(seconds: Int64, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(seconds))
            throw CancellationError()
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}
