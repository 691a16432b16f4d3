import Foundation

/// Removes old backups, and the files that no backup has any more.
struct BackupPruning: Sendable {
    let place: any BackupPlace

    /// Keeps the newest backups, and removes the others. The place must be reserved.
    func keep(_ count: Int) async throws {
        let names = BackupNames.inOrder(try await place.names(), at: Date())
        let old = names.dropLast(max(1, count))
        guard !old.isEmpty else { return }
        // A manifest that cannot be read ends this before anything is removed, because its files are not known.
        var needed: Set<String> = []
        for name in names.suffix(max(1, count)) {
            for api in try await place.manifest(of: name).apis { needed.formUnion(api.files.map(\.sha256)) }
        }
        for name in old { try await place.remove(name) }
        for digest in try await place.digests() where !needed.contains(digest) {
            try await place.removeObject(digest)
        }
    }
}
