import Foundation
import Identity
import Testing

@Suite(.timeLimit(.minutes(30))) struct SecretKeyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func keys(_ environment: [String: String] = [:]) -> SecretKeys {
        SecretKeys(folder: folder.path + "/data", environment: environment)
    }

    @Test func `a key is made once, for its owner only`() throws {
        let key = try keys().key("messenger-tokens", variable: "KEY")
        #expect(key.count == 32)
        #expect(try folder.mode(of: "data/keys") == 0o700)
        #expect(try folder.mode(of: "data/keys/messenger-tokens") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data/keys") == ["messenger-tokens"])
        #expect(try keys().key("messenger-tokens", variable: "KEY") == key)
        #expect(try keys().key("messenger-urls", variable: "KEY") != key)
    }

    @Test func `the file's text works as the variable's value`() throws {
        let key = try keys().key("a", variable: "KEY")
        let text = try String(contentsOfFile: folder.path + "/data/keys/a", encoding: .utf8)
        #expect(try keys(["KEY": text]).key("b", variable: "KEY") == key)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data/keys/b"))
    }

    @Test(.timeLimit(.minutes(30))) func `all that start at once get one key`() async throws {
        for round in 0..<20 {
            let found = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<16 {
                    group.addTask { try keys().key("k\(round)", variable: "KEY") }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(found.count == 1)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data/keys")
        #expect(names.count == 20, "no drafts are left")
    }

    private static let bytes = (0..<33).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ 250) }

    @Test(arguments: [
        Data(bytes).base64EncodedString(), Base64URL.encode(bytes),
        Base64URL.encode(bytes) + "\n", "  " + Data(bytes).base64EncodedString() + " \n",
    ])
    func `the variable takes both alphabets`(text: String) throws {
        #expect(try keys(["KEY": text]).key("a", variable: "KEY") == Self.bytes)
    }

    @Test(arguments: [
        "", " ", "short", "not base64!", String(repeating: "é", count: 40), Base64URL.encode(bytes.prefix(31)),
        "secret\0" + Base64URL.encode(bytes),
    ])
    func `a variable that is no key is an error that names it and hides its value`(text: String) throws {
        let error = try #require(throws: SecretKeyError.self) {
            try keys(["MY_KEY": text]).key("a", variable: "MY_KEY")
        }
        #expect(error == .unusableVariable("MY_KEY", .randomBytes))
        #expect(error.description.hasPrefix("MY_KEY must be base64"))
        #expect(text.count < 5 || !error.description.contains(text))
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644, 0o666, 0o620, 0o602, 0o610])
    func `a file open to others is refused, with the remedy`(mode: Int) throws {
        _ = try keys().key("a", variable: "KEY")
        let path = folder.path + "/data/keys/a"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let error = try #require(throws: SecretKeyError.self) { try keys().key("a", variable: "KEY") }
        #expect(error == .exposedFile(path: path, mode: UInt32(mode)))
        #expect(error.description.contains("chmod 600 '\(path)'"))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        #expect(try keys().key("a", variable: "KEY").count == 32)
    }

    @Test(arguments: ["", "\n", "AAAA", "rubbish", String(repeating: "A", count: 2000), "\u{0}\u{0}"])
    func `a damaged file is an error and stays as it is`(content: String) throws {
        _ = try keys().key("a", variable: "KEY")
        let path = folder.path + "/data/keys/a"
        try content.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: SecretKeyError.damagedFile(path: path, .randomBytes)) { try keys().key("a", variable: "KEY") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }

    @Test func `a folder in the place of the file is an error`() throws {
        let path = folder.path + "/data/keys/a"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(throws: SecretKeyError.damagedFile(path: path, .randomBytes)) { try keys().key("a", variable: "KEY") }
    }

    @Test func `a data folder that cannot be is an error`() throws {
        try "".write(toFile: folder.path + "/data", atomically: false, encoding: .utf8)
        let error = try #require(throws: SecretKeyError.self) { try keys().key("a", variable: "KEY") }
        guard case .inaccessible = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: ["", ".", "..", "../a", "a/b", "A", "a.b", "é", String(repeating: "a", count: 65)])
    func `names that are no file names are refused`(name: String) {
        #expect(throws: SecretKeyError.unsuitableName(name)) { try keys().key(name, variable: "KEY") }
    }

    @Test func newAndEqualKeysAreRecognised() throws {
        let folder = NSTemporaryDirectory() + "concord-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = SecretKeys(folder: folder, environment: [:])
        let key = try first.key("tokens", variable: "NONE")
        #expect(first.wasMade("tokens") && !first.wasMade("others"))
        let second = SecretKeys(folder: folder, environment: [:])
        #expect(try second.key("tokens", variable: "NONE") == key)
        #expect(!second.wasMade("tokens"))

        let print = SecretKeys.fingerprint(of: key, name: "tokens")
        #expect(print.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(print == SecretKeys.fingerprint(of: key, name: "tokens"))
        #expect(print != SecretKeys.fingerprint(of: key, name: "others"))
        #expect(print != SecretKeys.fingerprint(of: key.reversed(), name: "tokens"))
    }
}
