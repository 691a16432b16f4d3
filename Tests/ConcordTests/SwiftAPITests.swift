import Foundation
import Testbed
import Testing

/// The SDKs' public Swift API is committed, and what breaks an app is found.
@Suite(.timeLimit(.minutes(30)), .enabled(if: StockTools.python != nil, "`make test` installs Python"))
struct SwiftAPITests {
    private static let before = """
        Notes  struct Notes
        Notes  : Sendable
        Notes.Kind  enum Kind
        Notes.Kind.private  case `private`
        Notes.count  var count: Int { get }
        Notes.find(_:)  func find(_ id: Int) -> String
        Notes.find(_:)  func find(_ text: String) -> String
        Store  protocol Store
        Store.load()  func load() async -> String (required)

        """

    /// A change of the API, and what is said of it; nothing for one that breaks no app.
    struct Change: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let symbol: String
        let finding: String?
        var testDescription: String { finding.map { "\(symbol) \($0)" } ?? "allowed: \(new)" }

        init(_ old: String, _ new: String, _ symbol: String = "", _ finding: String? = nil) {
            (self.old, self.new, self.symbol, self.finding) = (old, new, symbol, finding)
        }
    }

    static let changes = [
        Change("Notes.count  var count: Int { get }\n", "", "Notes.count", "is gone"),
        Change("count: Int {", "count: Int64 {", "Notes.count", "is no longer `var count: Int { get }`"),
        Change("Notes.count", "Notes.total", "Notes.count", "is gone"),
        Change("Notes  : Sendable\n", "", "Notes", "does not conform to Sendable"),
        Change(
            "Notes.find(_:)  func find(_ id: Int) -> String\n", "", "Notes.find(_:)",
            "is no longer `func find(_ id: Int) -> String`"),
        Change(
            "Notes.count", "Notes.Kind.open  case open\nNotes.count", "Notes.Kind.open",
            "is a new case of Notes.Kind"),
        Change(
            "Store.load", "Store.clear()  func clear() async (required)\nStore.load", "Store.clear()",
            "is required of what conforms to Store"),
        Change("Notes.count", "Notes.Page  struct Page\nNotes.count"),
        Change("Notes.count", "Notes.Order  enum Order\nNotes.Order.newest  case newest\nNotes.count"),
        Change("Store.load", "Store.clear()  func clear() async\nStore.load"),
        Change("Notes  : Sendable", "Notes  : Equatable\nNotes  : Sendable"),
    ]

    @Test(arguments: changes) func aChangeIsJudged(_ change: Change) async throws {
        try await withTemporaryFolder { folder in
            let (repository, path) = (TestRepository(folder), folder + "/docs/swift-api/NotesClient.txt")
            try await repository.commit(Self.before, to: path)
            let after = Self.before.replacing(change.old, with: change.new, maxReplacements: 1)
            #expect(after != Self.before)
            try after.write(toFile: path, atomically: true, encoding: .utf8)
            let found = try await repository.run("check-swift-api")
            guard let finding = change.finding else { return #expect(found.status == 0, "\(found.output)") }
            #expect(found.status == 1)
            #expect(found.output.contains(": \(change.symbol) \(finding)\n"), "\(found.output)")
            // The changelog says so, of this symbol and of another one.
            for (name, status) in [(change.symbol, 0), (change.symbol + "x", 1)] {
                try repository.excuse(name)
                #expect(try await repository.run("check-swift-api").status == status)
            }
        }
    }

    @Test func whatIsGoneIsNamedOnce() async throws {
        try await withTemporaryFolder { folder in
            let (repository, path) = (TestRepository(folder), folder + "/docs/swift-api/NotesClient.txt")
            try await repository.commit(Self.before, to: path)
            try FileManager.default.removeItem(atPath: path)
            let found = try await repository.run("check-swift-api")
            #expect(found.status == 1)
            let lines = found.output.split(separator: "\n").filter { $0.hasPrefix("docs/") }
            #expect(lines.map { String($0) }.map { $0.split(separator: " ")[1] } == ["Notes", "Store"])
        }
    }

    #if os(Linux)
    /// Fails with what to do when a public symbol has changed and the files have not.
    @Test func theCommittedAPIIsTheModules() async throws {
        try await withTemporaryFolder { folder in
            let tool = StockTools.package + "/Tools/swift-api"
            let run = try await StockTools.run(try #require(StockTools.python), [tool, folder])
            try #require(run.status == 0, "\(run.output)")
            let committed = StockTools.package + "/docs/swift-api"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(try FileManager.default.contentsOfDirectory(atPath: committed).sorted() == names)
            for name in names {
                let (now, then) = (
                    try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
                    try String(contentsOfFile: "\(committed)/\(name)", encoding: .utf8)
                )
                let difference = now.split(separator: "\n").difference(from: then.split(separator: "\n"))
                #expect(difference.isEmpty, "\(name) differs: run `make describe`. \(difference)")
            }
        }
    }
    #endif
}
