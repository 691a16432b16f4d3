import ContractClient
import Foundation
import NIOConcurrencyHelpers
import Testing

/// Transfers outlive the process that began them, and their ends are told in whichever launch they come.
@Suite(.timeLimit(.minutes(30))) struct BackgroundTransferTests {
    /// A background session, which outlives the app's process and calls back into its journal.
    private final class System: BackgroundTasks {
        private let known = NIOLockedValueBox<[String: URL]>([:])

        var started: [String: URL] { known.withLockedValue { $0 } }

        func start(_ transfer: PendingTransfer, file: URL) { known.withLockedValue { $0[transfer.id] = file } }
        func running() async -> Set<String> { Set(started.keys) }
        func cancel(_ id: String) async { known.withLockedValue { _ = $0.removeValue(forKey: id) } }
        func end(_ id: String) { known.withLockedValue { _ = $0.removeValue(forKey: id) } }
    }

    private static let url = URL(string: "https://store.example.com/a")!

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func file(_ text: String) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test func anUploadEndsInALaterLaunch() async throws {
        try await withFolder { folder in
            let system = System()
            let original = try file("picture")
            let upload = PendingTransfer.upload(to: Self.url, label: Data("photo 5".utf8))
            do {
                let transfers = BackgroundTransfers(try TransferJournal(folder), system)
                try transfers.begin(upload, file: original)
            }
            try FileManager.default.removeItem(at: original)
            let copy = try #require(system.started[upload.id])
            #expect(try Data(contentsOf: copy) == Data("picture".utf8))

            // The app is launched again while the system uploads, and again after it has told the end.
            let journal = try TransferJournal(folder)
            let transfers = BackgroundTransfers(journal, system)
            await transfers.resume()
            #expect(transfers.pending == [upload])
            let changes = transfers.changes
            journal.progressed(upload.id, completed: 3, total: 7)
            system.end(upload.id)
            journal.ended(upload.id, .answered(status: 200))
            journal.ended(upload.id, .failed("a second end does not count"))
            var seen: [TransferChange] = []
            for await change in changes {
                seen.append(change)
                if case .finished = change { break }
            }
            #expect(
                seen == [
                    .progressed(upload.id, completed: 3, total: 7), .finished(upload.id, .answered(status: 200)),
                ])
            let last = BackgroundTransfers(try TransferJournal(folder), system)
            await last.resume()
            #expect(system.started.isEmpty)
            let finished = try #require(last.finished.first)
            #expect(finished.transfer == upload)
            #expect(finished.transfer.label == Data("photo 5".utf8))
            #expect(finished.result.isSuccess)
            #expect(try await last.result(of: upload.id) == .answered(status: 200))
            try await last.forget(upload.id)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func aDownloadKeepsItsFile() async throws {
        try await withFolder { folder in
            let system = System()
            let journal = try TransferJournal(folder)
            let transfers = BackgroundTransfers(journal, system)
            let download = PendingTransfer.download(from: Self.url)
            try transfers.begin(download)
            async let result = transfers.result(of: download.id)
            let received = try file("video")
            journal.received(download.id, at: received)
            journal.ended(download.id, .answered(status: 200))
            #expect(try await result == .answered(status: 200))
            #expect(!FileManager.default.fileExists(atPath: received.path))
            let again = BackgroundTransfers(try TransferJournal(folder), system)
            #expect(try Data(contentsOf: again.file(of: download.id)) == Data("video".utf8))
        }
    }

    @Test func aFileThatCannotBeKeptIsAFailure() async throws {
        try await withFolder { folder in
            let journal = try TransferJournal(folder)
            let transfers = BackgroundTransfers(journal, System())
            let download = PendingTransfer.download(from: Self.url)
            try transfers.begin(download)
            journal.received(download.id, at: folder.appendingPathComponent("nothing"))
            journal.ended(download.id, .answered(status: 200))
            guard case .failed? = transfers.finished.first?.result else {
                return #expect(Bool(false), "\(transfers.finished)")
            }
        }
    }

    @Test func whatTheSystemHasForgottenBeginsAgainUnlessItsURLHasExpired() async throws {
        try await withFolder { folder in
            let now = Date()
            let system = System()
            let journal = try TransferJournal(folder)
            let before = BackgroundTransfers(journal, system)
            let fresh = PendingTransfer.upload(to: Self.url, expiresAt: now + 60)
            let stale = PendingTransfer.upload(to: Self.url, expiresAt: now - 1)
            let original = try file("a")
            for transfer in [fresh, stale] { try before.begin(transfer, file: original) }
            // The user has ended the app, and the system its tasks.
            for transfer in [fresh, stale] { system.end(transfer.id) }
            let after = BackgroundTransfers(try TransferJournal(folder), system, now: { now })
            await after.resume()
            #expect(Set(system.started.keys) == [fresh.id])
            #expect(after.finished.map(\.result) == [.expired])
            #expect(after.pending == [fresh])
        }
    }

    @Test func anEndOfAForgottenTransferIsIgnored() async throws {
        try await withFolder { folder in
            let system = System()
            let journal = try TransferJournal(folder)
            let transfers = BackgroundTransfers(journal, system)
            let upload = PendingTransfer.upload(to: Self.url)
            try transfers.begin(upload, file: try file("a"))
            try await transfers.forget(upload.id)
            journal.ended(upload.id, .answered(status: 200))
            #expect(system.started.isEmpty && transfers.finished.isEmpty && transfers.pending.isEmpty)
        }
    }
}
