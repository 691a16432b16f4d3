import Foundation
import Testing

/// Every block of Swift in the documentation is a sample that was compiled and run without a change, and every sample
/// appears in the documentation.
@Suite(.timeLimit(.minutes(30))) struct DocumentationTests {
    /// A piece of Swift, without the indentation of its surroundings.
    struct Piece: Sendable, CustomTestStringConvertible {
        let file: String
        let line: Int
        var text: [String]
        /// The number of lines at the beginning that the text does not have: imports.
        var skipped = 0
        /// The modules that the text asks a reader to import, or that the sample's file imports.
        var imports: Set<String> = []

        var testDescription: String { "\(file):\(line)" }
    }

    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        .standardizedFileURL

    /// The APIs that have an SDK.
    static let apis = ["Messenger", "DeuceDiary", "Dunbar", "Monica", "GTSD"]

    /// Their catalogues, and that of Messenger's store.
    static let catalogues =
        apis.map { "Sources/APIs/\($0)/Client/\($0)Client.docc" }
        + ["Sources/APIs/Messenger/Store/MessengerStore.docc"]
    /// The code whose comments have samples.
    private static let sources =
        apis.flatMap { ["Sources/APIs/\($0)/Client", "Sources/APIs/\($0)/Mocks"] } + ["Sources/APIs/Messenger/Store"]
    /// The tests that run the samples.
    private static let tests = (apis + ["MessengerStore"]).map { "Tests/\($0)Tests/Documentation" }

    /// Returns the blocks of all documents.
    static func blocks() throws -> [Piece] {
        let articles = try blocks(of: ["README.md"] + catalogues.flatMap { try names(in: $0, ending: ".md") })
        let comments = try sources.flatMap { try lines(in: $0, ending: ".swift") }.map { file, lines in
            // Documentation comments contain Markdown.
            let markdown = lines.map { line -> String in
                let comment = line.drop { $0 == " " }
                return comment.hasPrefix("///") ? String(comment.dropFirst(comment.hasPrefix("/// ") ? 4 : 3)) : ""
            }
            return (file: file, lines: markdown)
        }
        return try articles + comments.flatMap { try blocks(in: $1, of: $0) }
    }

    /// Returns the blocks of documents.
    static func blocks(of files: [String]) throws -> [Piece] {
        try lines(of: files).flatMap { try blocks(in: $1, of: $0) }
    }

    static func samples() throws -> [Piece] {
        try tests.flatMap { try lines(in: $0, ending: "Samples.swift") }.flatMap {
            file, lines in
            let imports = Set(lines.filter { $0.hasPrefix("import ") })
            return try pieces(in: lines, of: file, from: "// sample", to: "// end").map { piece in
                var piece = piece
                piece.imports = imports
                return piece
            }
        }
    }

    @Test func everyBlockIsASample() throws {
        let samples = try Self.samples()
        let blocks = try Self.blocks()
        #expect(blocks.count > 20)
        for block in blocks {
            let same = samples.filter { $0.text == block.text }
            #expect(!same.isEmpty, "\(block.testDescription) is no sample:\n\(block.text.joined(separator: "\n"))")
            #expect(same.allSatisfy { $0.imports.isSuperset(of: block.imports) }, "\(block.testDescription)")
        }
    }

    /// The Swift Package Index shows the documentation of all products that an app links, with what they export.
    @Test func theIndexHasTheDocumentationOfEveryProductForApps() throws {
        let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        var targets: Set<String> = ["ContractMocks"]
        let products = manifest.matches(of: #/\.library\(name: "(.*?)", targets: \[(.*?)\]\)/#)
        for match in products where !match.1.hasSuffix("Service") {
            let names = match.2.matches(of: #/"(.*?)"/#).map { String($0.1) }
            for api in Self.apis { targets.formUnion(names.map { $0.replacing("\\(name)", with: api) }) }
        }
        #expect(targets.isSuperset(of: ["MessengerClient", "DunbarMocks", "MonicaAPI", "MessengerStore", "Contract"]))
        let index = try String(contentsOf: Self.root.appendingPathComponent(".spi.yml"), encoding: .utf8)
        let listed = index.matches(of: #/(?m)^ +- (\w+)$/#).map { String($0.1) }
        #expect(Set(listed) == targets)
        #expect(listed.count == Set(listed).count)
    }

    @Test func everySampleIsSeen() throws {
        let blocks = try Self.blocks()
        for sample in try Self.samples() {
            #expect(blocks.contains { $0.text == sample.text }, "\(sample.testDescription) is in no document")
        }
    }

    // MARK: Reading

    private static func lines(of files: [String]) throws -> [(file: String, lines: [String])] {
        try files.map { file in
            let text = try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
            return (file, text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    private static func lines(in folder: String, ending: String) throws -> [(file: String, lines: [String])] {
        try lines(of: try names(in: folder, ending: ending))
    }

    /// Returns the files of a folder, in the order of their names.
    static func names(in folder: String, ending: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    /// Returns the blocks without the imports at their beginning, which a sample has at the beginning of its file.
    private static func blocks(in lines: [String], of file: String) throws -> [Piece] {
        try pieces(in: lines, of: file, from: "```swift", to: "```").map { piece in
            var block = piece
            let imports = piece.text.prefix { $0.hasPrefix("import ") }
            block.imports = Set(imports)
            block.text = Array(piece.text.dropFirst(imports.count).drop { $0.isEmpty })
            block.skipped = piece.text.count - block.text.count
            return block
        }
    }

    private static func pieces(
        in lines: [String], of file: String, from start: String, to end: String
    ) throws -> [Piece] {
        var pieces: [Piece] = []
        var current: Piece?
        var indentation = 0
        for (index, line) in lines.enumerated() {
            let content = line.drop { $0 == " " }
            if current == nil, content == start {
                current = Piece(file: file, line: index + 1, text: [])
                indentation = line.count - content.count
            } else if let piece = current, content == end {
                pieces.append(piece)
                current = nil
            } else {
                current?.text.append(String(line.dropFirst(indentation)))
            }
        }
        if let current { throw Unreadable(description: "\(current.testDescription) has no end") }
        return pieces
    }
}
