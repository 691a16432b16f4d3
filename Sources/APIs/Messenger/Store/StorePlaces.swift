import Contract
import Foundation
import GRDB
import MessengerAPI

/// Where a store keeps its files, below the folder that the app names.
struct StorePlaces: Sendable {
    let folder: URL

    private var cache: URL { folder.appendingPathComponent("cache.sqlite") }
    private var outbox: URL { folder.appendingPathComponent("outbox.sqlite") }
    /// Copies of the files of messages that are not sent yet, under their keys.
    private var outgoing: URL { folder.appendingPathComponent("outgoing") }
    /// Files of messages: a folder for each, with the file under its own name.
    private var files: URL { folder.appendingPathComponent("files") }

    /// Opens both files. A damaged one is replaced by an empty one, and so is another user's.
    func open(for user: Messenger.User.ID, _ database: Configuration) throws -> (ChatCache, MessageOutbox) {
        try make(folder)
        let cache: ChatCache
        do {
            cache = try ChatCache(at: self.cache, user: user.rawValue, database)
        } catch  where StoreFile.isDamage(error) {
            cache = try rebuildCache(for: user, database)
        }
        if !isOwned(by: user) {
            try? FileManager.default.removeItem(at: files)
            try? FileManager.default.removeItem(at: outgoing)
        }
        let outbox: MessageOutbox
        do {
            outbox = try MessageOutbox(at: self.outbox, user: user.rawValue, database)
        } catch  where StoreFile.isDamage(error) {
            try setOutboxAside()
            outbox = try MessageOutbox(at: self.outbox, user: user.rawValue, database)
        }
        try make(files)
        try make(outgoing)
        try Data(user.description.utf8).write(to: owner, options: .atomic)
        return (cache, outbox)
    }

    /// Replaces the cache by an empty one.
    func rebuildCache(for user: Messenger.User.ID, _ database: Configuration) throws -> ChatCache {
        try StoreFile.remove(cache)
        try? FileManager.default.removeItem(at: files)
        try make(files)
        return try ChatCache(at: cache, user: user.rawValue, database)
    }

    /// Keeps a damaged outbox under another name: some of its messages may be recovered by hand.
    private func setOutboxAside() throws {
        let damaged = URL(fileURLWithPath: outbox.path + ".damaged")
        try StoreFile.remove(damaged)
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: outbox.path + suffix) {
            try FileManager.default.moveItem(atPath: outbox.path + suffix, toPath: damaged.path + suffix)
        }
    }

    // MARK: The owner of the folders

    private var owner: URL { folder.appendingPathComponent("owner") }

    private func isOwned(by user: Messenger.User.ID) -> Bool {
        (try? Data(contentsOf: owner)) == Data(user.description.utf8)
    }

    private func make(_ folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes everything.
    func remove() { try? FileManager.default.removeItem(at: folder) }

    // MARK: Files

    /// Returns the place of the copy of a message's file.
    func copy(_ key: String) -> URL { outgoing.appendingPathComponent(key) }

    /// Removes the copies of messages that no longer exist.
    func removeStrays(_ kept: [String]) throws {
        let kept = Set(kept)
        for name in try FileManager.default.contentsOfDirectory(atPath: outgoing.path) where !kept.contains(name) {
            try? FileManager.default.removeItem(at: copy(name))
        }
    }

    func folder(of file: Messenger.File.ID) -> URL { files.appendingPathComponent(file.description) }

    func place(of file: Messenger.File.ID, named name: String) -> URL {
        folder(of: file).appendingPathComponent(name)
    }

    /// Returns a file's name in a form that is safe in a path.
    static func safe(_ name: String?) -> String { FileName.clean(name ?? "") }

    func remove(_ files: [Messenger.File.ID]) {
        for file in files { try? FileManager.default.removeItem(at: folder(of: file)) }
    }
}
