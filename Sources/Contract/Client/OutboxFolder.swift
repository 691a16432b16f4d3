import Contract
import Foundation

/// The files of one account's outbox: a folder for each item, with `request.json`, `attempt.json` and copies of its files.
///
/// A file is written under another name, brought to the disk and renamed, and then its folder is brought to the disk. An
/// item is a folder that gets its name when it is whole. So a process may die, and a device lose its power, between any two
/// steps.
struct OutboxFolder: Sendable {
    /// The folder of the account.
    let place: URL
    /// Called before each step on the disk. A test has it throw from some step on, as if the process had died there.
    let step: @Sendable () throws -> Void

    init(_ folder: URL, account: String, step: @escaping @Sendable () throws -> Void) {
        place = folder.appendingPathComponent(Self.name(of: account))
        self.step = step
    }

    /// Returns a name that tells accounts apart on file systems that ignore case, too.
    static func name(of account: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        let text = account.utf8.reduce(into: "user-") { text, byte in
            text += plain.contains(byte) ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16) + "_"
        }
        guard text.utf8.count > 150 else { return text }
        // A file's name has at most 255 bytes (FNV-1a, 64 bits).
        let digest = account.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return text.prefix(150) + "-" + String(digest, radix: 16)
    }

    // MARK: Items

    func folder(of item: String) -> URL { place.appendingPathComponent(item) }
    func exists(_ item: String) -> Bool { FileManager.default.fileExists(atPath: folder(of: item).path) }
    func file(_ index: Int, of item: String) -> URL { folder(of: item).appendingPathComponent("\(index)") }

    /// Returns the names of the items in their order, and removes what an interrupted process has left.
    func items() throws -> [String] {
        guard FileManager.default.fileExists(atPath: place.path) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        for name in names where name.hasPrefix("gone-") || (name.hasPrefix("new-") && isOld(name)) {
            try step()
            try? FileManager.default.removeItem(at: folder(of: name))
        }
        return names.filter { $0.first?.isNumber ?? false }.sorted()
    }

    /// Whether a draft was left behind: another process of the app may be writing a newer one.
    private func isOld(_ draft: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder(of: draft).path)
        return (attributes?[.modificationDate] as? Date).map { $0.timeIntervalSinceNow < -3600 } ?? true
    }

    func request(of item: String) throws -> Data {
        try Data(contentsOf: folder(of: item).appendingPathComponent(Self.request))
    }

    /// Returns what is stored of the attempts to send an item; nil before the first.
    func attempt(of item: String) throws -> Data? {
        let file = folder(of: item).appendingPathComponent(Self.attempt)
        return FileManager.default.fileExists(atPath: file.path) ? try Data(contentsOf: file) : nil
    }

    /// Adds an item with copies of its files. It is on the disk when this returns.
    func add(_ item: String, request: Data, files: [Upload]) throws {
        try makePlace()
        let draft = folder(of: "new-" + item)
        do {
            try step()
            try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
            for (index, upload) in files.enumerated() {
                try step()
                try copy(upload, to: draft.appendingPathComponent("\(index)"))
            }
            try write(request, to: draft.appendingPathComponent(Self.request))
            try step()
            try move(draft, to: folder(of: item))
            try step()
            try synchronize(place)
        } catch {
            // What has failed must not be sent after all.
            try step()
            try? FileManager.default.removeItem(at: draft)
            try? FileManager.default.removeItem(at: folder(of: item))
            throw error
        }
    }

    func store(_ attempt: Data, of item: String) throws {
        try write(attempt, to: folder(of: item).appendingPathComponent(Self.attempt))
    }

    /// Removes an item with its files.
    func remove(_ item: String) throws {
        let gone = folder(of: "gone-" + item)
        try step()
        try move(folder(of: item), to: gone)
        try step()
        try synchronize(place)
        try step()
        try? FileManager.default.removeItem(at: gone)
    }

    /// Moves an item that cannot be read out of the way, and returns its new place.
    func setAside(_ item: String) throws -> URL {
        let aside = place.appendingPathComponent("damaged")
        try step()
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        let location = aside.appendingPathComponent(item)
        try? FileManager.default.removeItem(at: location)
        try move(folder(of: item), to: location)
        return location
    }

    /// Removes everything of the account.
    func wipe() throws {
        guard FileManager.default.fileExists(atPath: place.path) else { return }
        try step()
        let gone = place.deletingLastPathComponent().appendingPathComponent("gone-" + UUID().uuidString)
        try move(place, to: gone)
        try FileManager.default.removeItem(at: gone)
    }

    // MARK: The disk

    private static let request = "request.json"
    private static let attempt = "attempt.json"

    private func makePlace() throws {
        guard !FileManager.default.fileExists(atPath: place.path) else { return }
        try step()
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #if canImport(UIKit) && !targetEnvironment(macCatalyst)
        // What waits can be sent while the device is locked, but not before it was unlocked once. New files inherit it.
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: place.path)
        #endif
        #if canImport(Darwin)
        // A backup that is restored on another device would send a second time what this one has sent.
        var (folder, values) = (place, URLResourceValues())
        values.isExcludedFromBackup = true
        try folder.setResourceValues(values)
        #endif
        try synchronize(place.deletingLastPathComponent())
    }

    private func copy(_ upload: Upload, to copy: URL) throws {
        switch upload.content {
        case .bytes(let bytes): try Data(bytes).write(to: copy)
        case .file(let url): try FileManager.default.copyItem(at: url, to: copy)
        case .spooled: throw CocoaError(.fileReadUnsupportedScheme)
        }
        try synchronize(copy)
    }

    private func write(_ data: Data, to file: URL) throws {
        let draft = file.appendingPathExtension("new")
        try step()
        try data.write(to: draft)
        try synchronize(draft)
        try step()
        try move(draft, to: file)
        try step()
        try synchronize(file.deletingLastPathComponent())
    }

    private func move(_ old: URL, to new: URL) throws {
        guard rename(old.path, new.path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }

    /// Brings a file, or the names in a folder, to the disk.
    private func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }
}
