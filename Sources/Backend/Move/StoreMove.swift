import Foundation
import ObjectStore

/// Copies an API's files from one object store to another, and compares both.
struct StoreMove: Sendable {
    /// The files that are copied at the same time.
    private static let together = 4

    let source: any ObjectStore
    let target: any ObjectStore
    /// The target in words for the operator.
    let targetPlace: String
    let show: @Sendable (_ done: Int, _ total: Int) -> Void

    /// Copies the files that the target does not have yet, and gives it the source's id. The source stays as it is.
    ///
    /// - Returns: The number of files, and that of the files that were copied.
    /// - Throws: ``BackupError`` when the target has other files.
    func run() async throws -> (files: Int, copied: Int) {
        let id = try await source.identity()
        let found = try await target.identity()
        guard found == nil || found == id else { throw notEmpty }
        let keys = try await Self.keys(of: source)
        // An interrupted move has left some of the same files. Anything else belongs to another server.
        let known = Set(keys)
        for key in try await Self.keys(of: target) {
            guard known.contains(key), try await source.size(of: key) == target.size(of: key) else { throw notEmpty }
        }
        var copied = 0
        try await withThrowingTaskGroup(of: Bool.self) { group in
            var (next, done) = (0, 0)
            func begin() {
                guard next < keys.count else { return }
                let key = keys[next]
                next += 1
                group.addTask { try await copy(key) }
            }
            for _ in 0..<Self.together { begin() }
            while let isNew = try await group.next() {
                copied += isNew ? 1 : 0
                done += 1
                show(done, keys.count)
                begin()
            }
        }
        guard try await Set(Self.keys(of: target)) == known else {
            throw BackupError(
                "The files in \(targetPlace) are not those of the source: move again while no server runs")
        }
        if let id { _ = try await target.identify(as: id) }
        return (keys.count, copied)
    }

    private var notEmpty: BackupError {
        BackupError("\(targetPlace) has files of another server already, and nothing is written into it")
    }

    private static func keys(of store: any ObjectStore) async throws -> [ObjectKey] {
        var (keys, cursor): ([ObjectKey], String?) = ([], nil)
        repeat {
            let page = try await store.keys(olderThan: .max, after: cursor)
            keys += page.keys
            cursor = page.next
        } while cursor != nil
        return keys
    }

    /// Copies a file unless the target has it, and compares the digests of both.
    ///
    /// - Returns: Whether it was copied.
    private func copy(_ key: ObjectKey) async throws -> Bool {
        guard let object = try await source.openKept(key) else { throw BackupError("\(key) has gone from the source") }
        let isNew = try await target.size(of: key) == nil
        let before: (size: Int64, sha256: String)
        if isNew {
            let file = try await target.spool()
            try await object.content.send { try await file.append($0) }
            before = (file.count, file.sha256.hexadecimal)
            try await target.put(file, at: key, contentType: "application/octet-stream")
        } else {
            before = try await Received.digest(object.content)
        }
        guard let copy = try await target.openKept(key), try await Received.digest(copy.content) == before else {
            throw BackupError(
                "\(key) in \(targetPlace) is not the same as in the source: remove it there, and move again")
        }
        return isNew
    }
}
