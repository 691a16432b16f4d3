import ContractClient
import Foundation
import Testbed
import Testing

/// Token stores keep tokens between launches.
@Suite(.timeLimit(.minutes(30))) struct TokenStoreTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func aFileOnlyItsOwnerCanRead() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens.json"
            let store = FileTokenStore(URL(fileURLWithPath: path))
            #expect(try store.load() == nil)

            try store.save(tokens("a"))
            #expect(try store.load() == tokens("a"))
            #expect(try mode(path) == 0o600)
            // A new store with the same file stands for another launch of the app.
            #expect(try FileTokenStore(URL(fileURLWithPath: path)).load() == tokens("a"))

            try store.save(tokens("b", refresh: "c"))
            #expect(try store.load() == tokens("b", refresh: "c"))
            #expect(try mode(path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["tokens.json"])

            try store.save(nil)
            #expect(try store.load() == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            try store.save(nil)
        }
    }

    @Test func aFileOthersCouldReadIsReplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens.json"
            let made = FileManager.default.createFile(
                atPath: path, contents: Data("old".utf8), attributes: [.posixPermissions: 0o644])
            #expect(made)
            let store = FileTokenStore(URL(fileURLWithPath: path))
            #expect(throws: (any Error).self) { try store.load() }
            try store.save(tokens("a"))
            #expect(try mode(path) == 0o600)
            #expect(try store.load() == tokens("a"))
        }
    }

    @Test func aFolderThatIsNotThereIsAnError() async throws {
        try await withTemporaryFolder { folder in
            let store = FileTokenStore(URL(fileURLWithPath: folder + "/absent/tokens.json"))
            #expect(throws: (any Error).self) { try store.save(tokens("a")) }
        }
    }

    @Test func memory() async throws {
        let store = MemoryTokenStore(tokens("a"))
        #expect(await store.load() == tokens("a"))
        await store.save(nil)
        #expect(await store.load() == nil)
    }
}
