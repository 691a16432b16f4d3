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
    ///   - guarded: The store to unlock once it is known to belong to the database; nil for a folder, which needs no lock.
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

    /// Compares the keys and pairs the files with the database.
    ///
    /// - Returns: False while the bucket does not answer; the check must then be repeated.
    /// - Throws: What the operator must decide, in words.
    func run() async throws -> Bool {
        for warning in try await keys.settle(in: database, usedBy: accountsTable, adopts: adoptsKeys) {
            logger.warning("\(warning)")
        }
        guard let stores else { return true }
        guard let guarded else {
            try await settle(stores)
            return true
        }
        do {
            try await within(seconds: 10) { try await settle(stores) }
            guarded.unlock()
            return true
        } catch let error as S3Error {
            logger.warning(
                "the bucket cannot be asked whether it belongs to the database: no file is taken until it can",
                metadata: ["error": "\(error)"])
            return false
        } catch is CancellationError {
            logger.warning(
                "the bucket does not say whether it belongs to the database: no file is taken until it does")
            return false
        }
    }

    private func settle(_ stores: StorePairing) async throws {
        switch try await stores.settle(adopts: adoptsStore) {
        case .known:
            if adoptsStore { logger.warning("--adopt-store is not needed any more: leave it out of the next start") }
        case .paired: logger.info("database and files belong together from now on")
        case .pairedWithoutFiles:
            logger.warning("the database names files, and there are none: are they where they should be?")
        case .adopted: logger.notice("these files belong to this database from now on")
        }
    }
}

/// Runs something for a limited time; throws `CancellationError` when that is over.
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
