import Foundation

/// The transfers on the disk: a folder for each, with the transfer, its file, and its result once it has ended.
///
/// Callbacks of a background session write here before they return, for the process may end right after. Paths are kept by
/// name alone: the folder of an app moves with its updates.
package final class TransferJournal: Sendable {
    private struct State {
        var transfers: [PendingTransfer.ID: PendingTransfer] = [:]
        var results: [PendingTransfer.ID: TransferResult] = [:]
        /// The errors of downloaded files that could not be moved.
        var losses: [PendingTransfer.ID: String] = [:]
        var observers: [Int: AsyncStream<TransferChange>.Continuation] = [:]
    }

    private let folder: URL
    private let state: Locked<State>

    /// Reads the folder. What cannot be read in it is left alone.
    package init(_ folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var state = State()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let place = folder.appendingPathComponent(name)
            guard let data = try? Data(contentsOf: place.appendingPathComponent("transfer.json")),
                let transfer = try? JSONDecoder().decode(PendingTransfer.self, from: data), transfer.id == name
            else { continue }
            state.transfers[name] = transfer
            if let data = try? Data(contentsOf: place.appendingPathComponent("result.json")) {
                state.results[name] = try? JSONDecoder().decode(TransferResult.self, from: data)
            }
        }
        self.state = Locked(state)
    }

    private func place(_ id: PendingTransfer.ID) -> URL { folder.appendingPathComponent(id) }

    /// The place of a transfer's file: what is uploaded, or what has been downloaded.
    package func file(of id: PendingTransfer.ID) -> URL { place(id).appendingPathComponent("file") }

    // MARK: Reading

    package var pending: [PendingTransfer] {
        state.use { state in
            state.transfers.values.filter { state.results[$0.id] == nil }.sorted { $0.id < $1.id }
        }
    }

    package var finished: [(transfer: PendingTransfer, result: TransferResult)] {
        state.use { state in
            state.results.compactMap { id, result in state.transfers[id].map { ($0, result) } }
                .sorted { $0.0.id < $1.0.id }
        }
    }

    package var changes: AsyncStream<TransferChange> {
        let (stream, observer) = AsyncStream<TransferChange>.makeStream()
        let id = state.use { state in
            let id = (state.observers.keys.max() ?? 0) + 1
            state.observers[id] = observer
            return id
        }
        observer.onTermination = { [weak self] _ in self?.state.use { _ = $0.observers.removeValue(forKey: id) } }
        return stream
    }

    // MARK: Writing

    /// Adds a transfer, with a copy of the file that is to be uploaded. Both are on the disk when this returns.
    package func add(_ transfer: PendingTransfer, file: URL?) throws {
        let draft = folder.appendingPathComponent("new-" + transfer.id)
        do {
            try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
            if let file { try FileManager.default.copyItem(at: file, to: draft.appendingPathComponent("file")) }
            try JSONEncoder().encode(transfer).write(to: draft.appendingPathComponent("transfer.json"))
            try FileManager.default.moveItem(at: draft, to: place(transfer.id))
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
        state.use { $0.transfers[transfer.id] = transfer }
    }

    package func forget(_ id: PendingTransfer.ID) throws {
        state.use { state in
            state.transfers[id] = nil
            state.results[id] = nil
            state.losses[id] = nil
        }
        if FileManager.default.fileExists(atPath: place(id).path) {
            try FileManager.default.removeItem(at: place(id))
        }
    }

    // MARK: What the platform reports

    /// Called as bytes are transferred.
    package func progressed(_ id: PendingTransfer.ID, completed: Int64, total: Int64) {
        announce(.progressed(id, completed: completed, total: total))
    }

    /// Takes over a downloaded file, which the platform removes as soon as its callback returns.
    package func received(_ id: PendingTransfer.ID, at location: URL) {
        guard state.use({ $0.transfers[id] }) != nil else { return }
        do {
            try? FileManager.default.removeItem(at: file(of: id))
            try FileManager.default.moveItem(at: location, to: file(of: id))
        } catch {
            state.use { $0.losses[id] = "\(error)" }
        }
    }

    /// Called when a transfer has ended. Only the first end counts.
    package func ended(_ id: PendingTransfer.ID, _ result: TransferResult) {
        let (kept, isNew) = state.use { state -> (TransferResult, Bool) in
            guard state.transfers[id] != nil, state.results[id] == nil else { return (result, false) }
            let kept = state.losses[id].map(TransferResult.failed) ?? result
            state.results[id] = kept
            return (kept, true)
        }
        guard isNew else { return }
        // If this fails, the transfer is made again in the next launch.
        try? JSONEncoder().encode(kept).write(to: place(id).appendingPathComponent("result.json"), options: .atomic)
        announce(.finished(id, kept))
    }

    private func announce(_ change: TransferChange) {
        for observer in state.use({ Array($0.observers.values) }) { observer.yield(change) }
    }
}
