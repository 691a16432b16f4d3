import Crypto
import Foundation
import NIOCore
import ObjectStore
import Testing

@Suite(.timeLimit(.minutes(30))) struct SpooledFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func content(_ file: SpooledFile) -> Data? { FileManager.default.contents(atPath: file.path) }

    @Test func `pieces add up, in order, with count and digest`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        var expected: [UInt8] = []
        var generator = SeededGenerator(state: 3)
        for size in [0, 1, 10, 70_000, 0, 3] {
            let piece = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            var buffer = ByteBuffer(bytes: [9, 9] + piece)
            buffer.moveReaderIndex(forwardBy: 2)
            try await file.append(buffer)
            expected += piece
        }
        try await file.finish()
        #expect(file.count == Int64(expected.count))
        #expect(file.sha256 == Array(SHA256.hash(data: expected)))
        #expect(content(file) == Data(expected))
    }

    @Test func `the file is private and has a name of its own`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        let other = try await SpooledFile(folder: folder.path)
        #expect(file.path != other.path)
        #expect(file.path.hasPrefix(folder.path + "/") && file.path.hasSuffix(".part"))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(file.count == 0)
        #expect(file.sha256 == Array(SHA256.hash(data: [UInt8]())))
    }

    @Test func `finishing twice is finishing once, and then nothing can be appended`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        try await file.append(ByteBuffer(string: "abc"))
        try await file.finish()
        try await file.finish()
        await #expect(throws: SpooledFile.Closed.self) { try await file.append(ByteBuffer(string: "d")) }
        #expect(content(file) == Data("abc".utf8))
    }

    @Test func `discard removes, from any state`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        try await file.discard()
        try await file.discard()
        await #expect(throws: SpooledFile.Closed.self) { try await file.append(ByteBuffer(string: "d")) }
        await #expect(throws: SpooledFile.Closed.self) { try await file.finish() }
        let finished = try await SpooledFile(folder: folder.path)
        try await finished.finish()
        try await finished.discard()
        await #expect(throws: SpooledFile.Closed.self) { try await finished.finish() }
        #expect(folder.files(in: "").isEmpty)
    }

    @Test(.timeLimit(.minutes(30)))
    func `an abandoned file is removed with the last reference, and its descriptor is closed`() async throws {
        for round in 0..<300 {
            let file = try await SpooledFile(folder: folder.path)
            if round % 3 > 0 { try await file.append(ByteBuffer(string: "abc")) }
            if round % 3 > 1 { try await file.finish() }
        }
        // The thread that did the last work may release the file a little after it has answered.
        while !folder.files(in: "").isEmpty || !openFiles().isEmpty { await Task.yield() }
    }

    /// Returns the files in the folder that this process has open, removed ones included; none where the system does
    /// not say.
    private func openFiles() -> [String] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let targets = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        return targets.filter { $0.hasPrefix(folder.path) }
    }

    @Test func `a cancelled task can still discard`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await file.append(ByteBuffer(string: "abc"))
            try await file.discard()
        }
        try await task.value
        #expect(folder.files(in: "").isEmpty)
    }

    @Test func `a folder that is missing is an error`() async {
        await #expect(throws: FileSystemError.self) { try await SpooledFile(folder: folder.path + "/none") }
    }

    @Test func `concurrent appends keep count, digest and content in step`() async throws {
        let file = try await SpooledFile(folder: folder.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await file.append(ByteBuffer(string: "piece \(number);")) }
            }
            try await group.waitForAll()
        }
        try await file.finish()
        let content = try #require(self.content(file))
        #expect(file.count == Int64(content.count))
        #expect(file.sha256 == Array(SHA256.hash(data: content)))
    }

    @Test func `the sweep removes old temporary files and nothing else`() async throws {
        for (name, age) in [("old.part", 2000.0), ("new.part", 10), ("old.txt", 2000)] {
            let path = folder.path + "/" + name
            try Data().write(to: URL(fileURLWithPath: path))
            let date = Date(timeIntervalSince1970: 1_700_000_000 - age)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        try FileManager.default.createDirectory(atPath: folder.path + "/x.part", withIntermediateDirectories: false)
        try SpooledFile.removeAbandoned(in: folder.path, olderThan: 1_700_000_000 - 1000)
        #expect(Set(folder.files(in: "")) == ["new.part", "old.txt"])
    }
}
