import ArgumentParser
import Backend
import Database
import Foundation
import Identity
import Logging
import ObjectStore
import ServiceLifecycle

/// What an operator says once, where database, files and keys do not fit together.
struct BelongingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take the files that an API is started with as its database's own, although they are marked as another's. "
                + "For one start; repeatable.",
            valueName: "name"))
    var adoptStore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Take the keys that an API is started with as those of all its nodes from now on. For one start; repeatable.",
            valueName: "name"))
    var adoptKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let an API's sweeps take more than 100 files and a tenth of them at once. Repeatable.",
            valueName: "name"))
    var allowSweep: [String] = []

    func validate() throws {
        for name in adoptStore + adoptKeys + allowSweep where !Serve.names.contains(name) {
            throw ValidationError("There is no API '\(name)'. Known: \(Serve.names.joined(separator: ", "))")
        }
    }
}

extension Composition {
    /// Returns what makes sure, before anything is served, that an API's database, files and keys belong together. It
    /// returns false while the files cannot be asked, and throws what the operator must decide.
    ///
    /// - Parameters:
    ///   - accounts: The table of accounts: whether the database is in use.
    ///   - references: How rows name files; nil for an API without files.
    func pairing(
        _ name: String, _ database: Database, accounts: String, keys: [SharedKeys.Key],
        objects: (any ObjectStore)? = nil, references: ObjectReferences? = nil
    ) throws -> @Sendable () async throws -> Bool {
        var keys = keys
        if objects is LocalObjectStore {
            keys.append(
                shared(
                    "signed-urls", "CONCORD_URL_KEY",
                    try self.keys.key("signed-urls", variable: "CONCORD_URL_KEY"),
                    loss: "links to files that were handed out are refused"))
        }
        var logger = logger
        logger[metadataKey: "api"] = "\(name)"
        let shared = SharedKeys(api: name, keys: keys)
        let guarded = objects as? GuardedObjectStore
        var stores: StorePairing?
        if let objects, let references {
            stores = StorePairing(
                api: name, database: database, store: guarded?.store ?? objects, references: references,
                databasePlace: self.database == "sqlite"
                    ? "the database \(folder)/\(name).sqlite"
                    : "the PostgreSQL database of \(name)",
                storePlace: guarded == nil
                    ? "the folder \(folder)/files/\(name)" : "the bucket \(self.objects.prefix { $0 != "?" })/\(name)",
                isLocal: guarded == nil)
        }
        let (adoptsKeys, adoptsStore) = (belonging.adoptKeys.contains(name), belonging.adoptStore.contains(name))
        return { [stores, logger] in
            for warning in try await shared.settle(in: database, usedBy: accounts, adopts: adoptsKeys) {
                logger.warning("\(warning)")
            }
            guard let stores else { return true }
            guard let guarded else {
                try await Self.settle(stores, adopts: adoptsStore, logger)
                return true
            }
            do {
                try await within(seconds: 10) { try await Self.settle(stores, adopts: adoptsStore, logger) }
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
    }

    /// Returns a key as the database knows it: by its fingerprint.
    func shared(_ name: String, _ variable: String, _ key: [UInt8], loss: String) -> SharedKeys.Key {
        SharedKeys.Key(
            name: name, variable: variable, fingerprint: SecretKeys.fingerprint(of: key, name: name),
            isNew: keys.wasMade(name), loss: loss)
    }

    private static func settle(_ stores: StorePairing, adopts: Bool, _ logger: Logger) async throws {
        switch try await stores.settle(adopts: adopts) {
        case .known:
            if adopts { logger.warning("--adopt-store is not needed any more: leave it out of the next start") }
        case .paired: logger.info("database and files belong together from now on")
        case .pairedWithoutFiles:
            logger.warning("the database names files, and there are none: are they where they should be?")
        case .adopted: logger.notice("these files belong to this database from now on")
        }
    }
}

/// Runs something for so long at most; throws `CancellationError` when that is over.
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

/// Asks buckets that were away at the start until they answer. One that belongs to another database ends the process.
struct Pairer: Service {
    let waiting: [Hosted]

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var waiting = waiting
            while !waiting.isEmpty {
                do { try await Task.sleep(for: .seconds(5)) } catch { return }
                var still: [Hosted] = []
                for api in waiting where try await !api.pair() { still.append(api) }
                waiting = still
            }
        }
        // A service that ends would end the others.
        try await gracefulShutdown()
    }
}

/// Forgets what has expired, every hour. The first time is an hour after the start: whatever was wrong with that, there
/// is time to see it before anything is removed.
struct Sweeper: Service {
    let hosted: [Hosted]
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                do { try await Task.sleep(for: .seconds(3600)) } catch { return }
                for api in hosted {
                    var logger = logger
                    logger[metadataKey: "api"] = "\(api.name)"
                    do {
                        if let report = try await Waiting.asLongAsItTakes({ try await api.sweep() }) {
                            Self.log(report, of: api.name, logger)
                        }
                    } catch is CancellationError {
                        return
                    } catch {
                        logger.warning("sweep failed", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
    }

    private static func log(_ report: SweepReport, of api: String, _ logger: Logger) {
        let counts: Logger.Metadata = [
            "looked": "\(report.looked)", "unreferenced": "\(report.unreferenced)", "taken": "\(report.taken)",
            "removed": "\(report.removed)",
        ]
        if report.isRefused {
            logger.error(
                """
                sweep refused: the database names too few of the files. Is it the right one, and not an old copy? If so, \
                start with --allow-sweep \(api)
                """, metadata: counts)
        } else if report.taken + report.removed > 0 {
            logger.notice("files that no row names were moved to the trash", metadata: counts)
        }
    }
}
