import ContractClient
import Foundation
import MessengerAPI
import MessengerClient

/// The files of messages on this device, up to a number of bytes: those that were not used for the longest time go first.
extension StoreEngine {
    /// Returns the place of a file, and downloads it if it is not on this device.
    package func file(_ id: Messenger.File.ID) async throws -> URL {
        if let place = try place(of: id) { return place }
        if let running = downloads[id] { return try await running.value }
        let download = Task { try await fetch(id) }
        downloads[id] = download
        defer {
            downloads[id] = nil
            downloaded[id] = nil
            signal.add(.files)
        }
        return try await download.value
    }

    /// Returns the place of a file on this device; nil when it is not there.
    package func place(of id: Messenger.File.ID) throws -> URL? {
        guard let file = try cache.file(id, usedAt: now) else { return nil }
        let place = places.place(of: id, named: file.name)
        if FileManager.default.fileExists(atPath: place.path) { return place }
        // The system may have made room.
        try cache.forget(id)
        return nil
    }

    private func fetch(_ id: Messenger.File.ID) async throws -> URL {
        if isStopped { throw CancellationError() }
        let folder = places.folder(of: id)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let part = folder.appendingPathComponent("download")
        let found = try await client.download(id, to: part) { [weak self] received, total in
            Task { await self?.downloaded(id, TransferProgress(completed: received, total: total)) }
        }
        if isStopped { throw CancellationError() }
        let file = ChatCache.StoredFile(id: id, name: StorePlaces.safe(found.filename), size: found.size)
        let place = places.place(of: id, named: file.name)
        if place != part {
            try? FileManager.default.removeItem(at: place)
            try FileManager.default.moveItem(at: part, to: place)
        }
        try add(file, type: found.contentType)
        return place
    }

    private func downloaded(_ id: Messenger.File.ID, _ progress: TransferProgress) {
        guard downloads[id] != nil else { return }
        downloaded[id] = progress
        signal.add(.files)
    }

    private func add(_ file: ChatCache.StoredFile, type: String?) throws {
        try cache.add(file, type: type, usedAt: now)
        places.remove(try cache.forgetFiles(beyond: settings.fileLimit, except: file.id))
    }

    /// Keeps a file that was sent from this device, which is moved from `copy`.
    func adopt(_ copy: URL, as file: Messenger.File) {
        let name = StorePlaces.safe(file.filename)
        let place = places.place(of: file.id, named: name)
        do {
            try FileManager.default.createDirectory(
                at: places.folder(of: file.id), withIntermediateDirectories: true)
            // The copy stays until the message is sent: the server may ask for it again.
            if !FileManager.default.fileExists(atPath: place.path) {
                try FileManager.default.linkItem(at: copy, to: place)
            }
            let size = try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? NSNumber
            try add(.init(id: file.id, name: name, size: size?.int64Value ?? 0), type: file.mimeType)
        } catch {
            // It is downloaded when it is needed.
            handle(error)
        }
    }

    /// Removes files that nothing refers to any more.
    func forget(_ files: [Messenger.File.ID]) {
        attempt { for file in files { try cache.forget(file) } }
        places.remove(files)
    }
}
