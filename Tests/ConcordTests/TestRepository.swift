import Foundation
import Testbed
import Testing

/// A repository that a test makes, to try the tools that compare it with its past.
struct TestRepository {
    private let folder: String

    init(_ folder: String) { self.folder = folder }

    /// Commits a file.
    func commit(_ text: String, to path: String) async throws {
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try await git(["init", "--quiet"])
        try await git(["add", "."])
        try await git(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"])
    }

    func git(_ arguments: [String]) async throws {
        let run = try await StockTools.run("/usr/bin/git", ["-C", folder] + arguments)
        try #require(run.status == 0, "\(run.output)")
    }

    /// Writes a changelog whose newest section names a breaking change.
    func excuse(_ name: String) throws {
        let changelog = "# Changelog\n\n## Unreleased\n\n### Breaking\n- `\(name)` has changed.\n\n## 1.0\n"
        try changelog.write(toFile: folder + "/CHANGELOG.md", atomically: true, encoding: .utf8)
    }

    /// Runs one of the package's tools on the repository.
    func run(_ tool: String) async throws -> (status: Int32, output: String) {
        try await StockTools.run(try #require(StockTools.python), [StockTools.package + "/Tools/" + tool, folder])
    }
}
