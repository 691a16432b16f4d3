import Foundation
import NIOConcurrencyHelpers
import ObjectStore

/// Copies the files of an API that a backup place does not have yet.
struct BackupFiles: Sendable {
    /// The files that are copied at the same time.
    private static let together = 4

    let store: any ObjectStore
    let place: any BackupPlace
    let show: @Sendable (_ done: Int, _ total: Int) async -> Void
    /// The files of the backup before, by their keys.
    private let known: [String: BackupManifest.StoredFile]

    init(
        store: any ObjectStore, place: any BackupPlace, known: [BackupManifest.StoredFile],
        show: @escaping @Sendable (_ done: Int, _ total: Int) async -> Void
    ) {
        self.store = store
        self.place = place
        self.known = Dictionary(known.map { ($0.key, $0) }) { first, _ in first }
        self.show = show
    }

    private enum Outcome: Sendable {
        case copied(BackupManifest.StoredFile)
        case kept(BackupManifest.StoredFile)
        case missing(String)
    }

    /// Copies files.
    ///
    /// - Parameters:
    ///   - needed: The keys of files that must be there.
    ///   - optional: The keys of files that may not have been uploaded yet.
    func copy(
        _ needed: [String], optional: [String]
    ) async throws -> (files: [BackupManifest.StoredFile], missing: [String], copied: Int) {
        let needed = Set(needed)
        let keys = needed.sorted() + Set(optional).subtracting(needed).sorted()
        var (files, missing, copied): ([BackupManifest.StoredFile], [String], Int) = ([], [], 0)
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            var (next, done) = (0, 0)
            while next < min(Self.together, keys.count) {
                let key = keys[next]
                group.addTask { try await copy(key) }
                next += 1
            }
            while let outcome = try await group.next() {
                switch outcome {
                case .copied(let file):
                    files.append(file)
                    copied += 1
                case .kept(let file): files.append(file)
                case .missing(let key): if needed.contains(key) { missing.append(key) }
                }
                done += 1
                if done % 16 == 0 || done == keys.count { await show(done, keys.count) }
                guard next < keys.count else { continue }
                let key = keys[next]
                group.addTask { try await copy(key) }
                next += 1
            }
        }
        return (files.sorted { $0.key < $1.key }, missing.sorted(), copied)
    }

    private func copy(_ text: String) async throws -> Outcome {
        guard let key = ObjectKey(text) else { return .missing(text) }
        // An object never changes, so one that the backup before has need not be read.
        if let before = known[text], let attributes = try await store.attributes(of: key),
            attributes.size == before.size, attributes.modified == before.modified,
            try await place.size(of: type(of: place).object(before.sha256)) == before.size
        {
            return .kept(before)
        }
        guard let object = try await store.openKept(key) else { return .missing(text) }
        let file = try await Received.spooled(object.content, in: place)
        let stored = BackupManifest.StoredFile(
            key: text, size: file.count, sha256: file.sha256.hexadecimal, modified: object.attributes.modified)
        let path = type(of: place).object(stored.sha256)
        if try await place.size(of: path) == stored.size {
            try await file.discard()
            return .kept(stored)
        }
        try await place.put(file, at: path)
        return .copied(stored)
    }
}
