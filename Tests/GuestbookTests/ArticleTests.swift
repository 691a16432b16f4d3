import Foundation
import Testing

/// The article "Your own contract" shows the package as it is: every block of Swift is a part of one of its files, and every
/// line of its files stands in a block.
@Suite(.timeLimit(.minutes(30))) struct ArticleTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Examples/Guestbook").standardizedFileURL

    private static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func blocks() throws -> [[String]] {
        var (blocks, current): ([[String]], [String]?) = ([], nil)
        for line in try lines(of: folder.appendingPathComponent("Guestbook.docc/YourOwnContract.md")) {
            if line == "```swift" {
                current = []
            } else if line == "```", let block = current {
                blocks.append(block)
                current = nil
            } else {
                current?.append(line)
            }
        }
        return blocks
    }

    /// The files, without the white space at the beginning and end of lines.
    private static func files() throws -> [String: [String]] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var files: [String: [String]] = [:]
        for name in names where name.hasSuffix(".swift") {
            files[name] = try lines(of: folder.appendingPathComponent(name))
        }
        return files
    }

    /// The lines of a file at which a block begins that stands there, with the same indentation on each of its lines.
    private static func places(of block: [String], in file: [String]) -> [Int] {
        guard block.count <= file.count else { return [] }
        return (0...file.count - block.count).filter { start in
            let part = Array(file[start..<start + block.count])
            let indentation = indentation(of: part) - indentation(of: block)
            guard indentation >= 0 else { return false }
            return zip(part, block).allSatisfy { line, shown in
                line.isEmpty ? shown.isEmpty : line == String(repeating: " ", count: indentation) + shown
            }
        }
    }

    /// The number of spaces before the first line that is not empty.
    private static func indentation(of lines: [String]) -> Int {
        lines.first { !$0.isEmpty }?.prefix { $0 == " " }.count ?? 0
    }

    @Test func everyBlockIsAPartOfAFile() throws {
        let (blocks, files) = (try Self.blocks(), try Self.files())
        #expect(blocks.count >= 10)
        for block in blocks {
            let isThere = files.values.contains { !Self.places(of: block, in: $0).isEmpty }
            #expect(isThere, "in no file:\n\(block.joined(separator: "\n"))")
        }
    }

    @Test func everyLineStandsInABlock() throws {
        let blocks = try Self.blocks()
        for (name, file) in try Self.files() {
            var shown = Set<Int>()
            for block in blocks {
                for place in Self.places(of: block, in: file) { shown.formUnion(place..<place + block.count) }
            }
            let missing = file.indices.filter { !shown.contains($0) && !file[$0].isEmpty }
            #expect(missing.isEmpty, "\(name): \(missing.map { file[$0] }.joined(separator: "\n"))")
        }
    }

    @Test func itHasFourHundredLinesAtMost() throws {
        let count = try Self.files().values.reduce(0) { $0 + $1.count - 1 }
        #expect(count > 0 && count <= 400)
    }
}
