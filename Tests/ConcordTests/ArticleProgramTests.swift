import Foundation
import Testbed
import Testing

/// The articles of an SDK are read in order: a name in a sample stands for what a sample before it has made, or for what an app
/// has. So all samples, one after the other, are one program, which the compiler accepts.
///
/// What an app has is in `Tests/Articles`: files, texts, screens, and values that its user sees.
@Suite(.timeLimit(.minutes(30))) struct ArticleProgramTests {
    /// A program of one SDK's samples.
    struct Program: Sendable, CustomTestStringConvertible {
        let name: String
        /// The documents, in the order in which they are read.
        let files: [String]

        var testDescription: String { name }
    }

    struct Misplaced: Error, CustomStringConvertible {
        let description: String
    }

    private static let readme = Program(name: "README", files: ["README.md"])

    /// Returns the program of a catalogue: the landing page, then the articles as it lists them.
    private static func program(of catalogue: String) throws -> Program {
        let module = try #require(catalogue.split(separator: "/").last?.dropLast(".docc".count))
        let landing = "\(catalogue)/\(module).md"
        let text = try String(contentsOf: DocumentationTests.root.appendingPathComponent(landing), encoding: .utf8)
        let topics = text.firstRange(of: "## Topics").map { text[$0.upperBound...] } ?? ""
        var files = [landing]
        for match in (topics + text).matches(of: #/<doc:(\w+)>/#) {
            let file = "\(catalogue)/\(match.1).md"
            if !files.contains(file) { files.append(file) }
        }
        let all = try DocumentationTests.names(in: catalogue, ending: ".md")
        guard Set(files) == Set(all) else {
            throw Misplaced(description: "\(landing) lists \(files), and there are \(all)")
        }
        let name = module.hasSuffix("Client") ? module.dropLast("Client".count) : module
        return Program(name: String(name), files: files)
    }

    static func programs() throws -> [Program] {
        try DocumentationTests.catalogues.map(program) + [readme]
    }

    /// Returns the text of a program.
    ///
    /// - Parameter change: Changes a sample.
    private static func text(
        of program: Program, changing change: (String) -> String = { $0 }
    ) throws -> String {
        let given = DocumentationTests.root.appendingPathComponent("Tests/Articles/\(program.name).swift")
        let app = try String(contentsOf: given, encoding: .utf8)
        let blocks = try DocumentationTests.blocks(of: program.files)
        try #require(!blocks.isEmpty)
        var (declarations, statements) = ("", "")
        var depth = 0
        for block in blocks {
            // What the compiler finds is said of the article's own line.
            let sample = """
                #sourceLocation(file: "\(block.file)", line: \(block.line + 1 + block.skipped))
                \(change(block.text.joined(separator: "\n")))
                #sourceLocation()

                """
            if block.text.contains(where: { $0.contains(": View {") }) {
                declarations += "#if canImport(SwiftUI)\nimport SwiftUI\n\(sample)#endif\n"
            } else if block.text.first?.prefixMatch(of: Self.declaration) != nil {
                // A type or a test has a file of its own in an app.
                declarations += sample
            } else {
                // The next sample sees the names of this one, and may use them anew.
                statements += "do {\n\(sample)"
                depth += 1
            }
        }
        statements += String(repeating: "}\n", count: depth)
        let parts = app.split(separator: "    // articles\n", omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        return parts[0] + statements + parts[1] + declarations
    }

    /// The first line of a type or a test.
    private static var declaration: Regex<Substring> { #/(?:@MainActor|@Test|final class|struct|enum|extension)\b/# }

    #if os(Linux)
    /// Returns whether the compiler accepts a program, and what it says.
    private static func compile(_ text: String) async throws -> (status: Int32, output: String) {
        try await withTemporaryFolder { folder in
            let file = folder + "/Program.swift"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let package = StockTools.package
            let build = package + "/.build/debug"
            return try await StockTools.run(
                "/usr/bin/env",
                [
                    "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-suppress-warnings",
                    "-module-cache-path", build + "/ModuleCache", "-I", build + "/Modules",
                    "-I", package + "/.build/checkouts/GRDB.swift/Sources/GRDBSQLite", file,
                    // The Keychain's stand-in.
                    package + "/Tests/Support/Keychain.swift",
                ])
        }
    }

    @Test(arguments: try programs()) func theSamplesInOrderAreOneProgram(_ program: Program) async throws {
        let run = try await Self.compile(Self.text(of: program))
        #expect(run.status == 0, "\(run.output)")
    }

    /// A value in the place of its id is an error, in the line of the article that has it.
    @Test func aNameThatNoSampleHasMadeIsFound() async throws {
        let messages = try #require(try Self.programs().first { $0.name == "Messenger" })
        for (right, wrong, file) in [
            ("history(of: chat.id)", "history(of: chat)", "Messages.md"), ("(file, to:", "(files, to:", "Files.md"),
        ] {
            let run = try await Self.compile(
                Self.text(of: messages) { $0.replacingOccurrences(of: right, with: wrong) })
            #expect(run.status != 0)
            let lines = run.output.split(separator: "\n").filter { $0.contains(": error: ") && $0.contains(".md:") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(file) }, "\(run.output)")
        }
    }
    #endif
}
