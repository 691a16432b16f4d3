import Foundation
import MessengerClient
import Testbed
import Testing

/// The server is started with wrong databases in random order, and sometimes killed. No file is ever lost. The test
/// takes seconds; `make torture` takes minutes.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct StartDrillTests {
    private enum Database: String, CaseIterable {
        case own, missing, empty, anothers, unreadable, folder
    }

    private let server = StartedServer()

    @Test func wrongStartsRemoveNothing() async throws {
        try await withTemporaryFolder { root async throws in
            var random = SeededGenerator(seed: 14)
            let folder = root + "/data"
            let ids = try await server.fill(folder, files: 120)
            _ = try await server.fill(root + "/other", files: 1)
            let before = server.objects(folder)
            #expect(before.count == ids.count)
            let (kept, database) = (root + "/kept.sqlite", folder + "/messenger.sqlite")
            try FileManager.default.moveItem(atPath: database, toPath: kept)

            var starts: [String: Int] = [:]
            for _ in 0..<Drill.rounds * 5 {
                let choice = try #require(Database.allCases.randomElement(using: &random))
                starts[choice.rawValue, default: 0] += 1
                try place(choice, at: database, root: root, kept: kept)
                // A sweep would remove old files.
                try server.age(folder)
                if choice == .own {
                    let process = try await ConcordProcess.serving(data: folder, port: try await reservePort())
                    if Bool.random(using: &random) {
                        process.signal(SIGKILL)
                        #expect(await process.status() == 128 + SIGKILL)
                    } else {
                        try await server.stop(process)
                    }
                    for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: database + end) {
                        try? FileManager.default.removeItem(atPath: kept + end)
                        try FileManager.default.moveItem(atPath: database + end, toPath: kept + end)
                    }
                } else {
                    let words = try await server.refused(folder)
                    #expect(words.contains("messenger"), "\(choice): \(words)")
                }
                #expect(server.objects(folder) == before, "\(choice)")
            }
            try place(.own, at: database, root: root, kept: kept)
            try await server.serves(ids, folder)
            let lost = before.subtracting(server.objects(folder)).count
            #expect(lost == 0)
            print("drill: wrong starts take nothing: \(starts) starts, \(before.count) files, \(lost) lost")
        }
    }

    /// Places a database, or another file, where the server looks for its own database.
    private func place(_ choice: Database, at database: String, root: String, kept: String) throws {
        let manager = FileManager.default
        for end in ["", "-wal", "-shm"] { try? manager.removeItem(atPath: database + end) }
        switch choice {
        case .own:
            for end in ["", "-wal", "-shm"] where manager.fileExists(atPath: kept + end) {
                try manager.copyItem(atPath: kept + end, toPath: database + end)
            }
        case .missing: break
        case .empty: #expect(manager.createFile(atPath: database, contents: nil))
        case .anothers: try manager.copyItem(atPath: root + "/other/messenger.sqlite", toPath: database)
        case .unreadable:
            #expect(manager.createFile(atPath: database, contents: Data(repeating: 0xA5, count: 100_000)))
        case .folder: try manager.createDirectory(atPath: database, withIntermediateDirectories: false)
        }
    }
}
