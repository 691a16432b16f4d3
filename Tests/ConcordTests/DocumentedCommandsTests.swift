import ArgumentParser
import ContractCheck
import Foundation
import Testbed
import Testing

@testable import concord

/// The commands in the documents work as written: those of the first day are run, and all others are parsed.
@Suite(.timeLimit(.minutes(30))) struct DocumentedCommandsTests {
    /// A block of shell commands in a document.
    struct Block: Sendable, CustomTestStringConvertible {
        let file: String
        let line: Int
        var lines: [String] = []
        var testDescription: String { "\(file):\(line)" }
    }

    private static let pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]

    /// Returns the blocks of shell commands of a document.
    private static func blocks(of file: String) throws -> [Block] {
        let text = try String(contentsOf: DocumentationTests.root.appendingPathComponent(file), encoding: .utf8)
        var blocks: [Block] = []
        var current: Block?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if current == nil, line == "```sh" {
                current = Block(file: file, line: index + 2)
            } else if let block = current, line == "```" {
                blocks.append(block)
                current = nil
            } else {
                current?.lines.append(String(line))
            }
        }
        #expect(current == nil, "\(file) has a block without an end")
        return blocks
    }

    // MARK: The first day

    /// Commands, and the output that the page shows below them.
    private struct Step {
        let line: Int
        var commands: [String] = []
        var expected: [String] = []
    }

    private static func steps(in blocks: [Block]) -> [Step] {
        blocks.flatMap { block in
            var steps: [Step] = []
            for (offset, line) in block.lines.enumerated() where !line.isEmpty {
                if line.hasPrefix("# "), !steps.isEmpty {
                    steps[steps.count - 1].expected.append(String(line.dropFirst(2)))
                } else if let last = steps.last, last.expected.isEmpty {
                    steps[steps.count - 1].commands.append(line)
                } else {
                    steps.append(Step(line: block.line + offset, commands: [line]))
                }
            }
            return steps
        }
    }

    /// Returns whether an output is what a page shows, where `…` stands for any text.
    private static func isShown(_ output: String, as expected: String) throws -> Bool {
        let pattern = expected.components(separatedBy: "…").map(NSRegularExpression.escapedPattern)
            .joined(separator: ".*")
        let expression = try NSRegularExpression(pattern: "^\(pattern)$", options: .dotMatchesLineSeparators)
        return expression.firstMatch(in: output, range: NSRange(output.startIndex..., in: output)) != nil
    }

    @Test func theFirstDayIsAsThePageShows() async throws {
        try await withTemporaryFolder { folder in
            let names = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
            var blocks = try Self.blocks(of: "docs/first-day.md")
            var ports: [String] = []
            for (name, documented) in zip(names, [8080, 8081, 8082, 8083, 5000]) {
                let port = try await reservePort()
                ports += ["--port", "\(name)=\(port)"]
                for index in blocks.indices {
                    blocks[index].lines = blocks[index].lines.map {
                        $0.replacingOccurrences(of: "127.0.0.1:\(documented)", with: "127.0.0.1:\(port)")
                    }
                }
            }
            for name in ["photo", "me", "front", "a", "b"] {
                let picture = Data(SampleImage.jpeg(width: 64, height: 48))
                try picture.write(to: URL(fileURLWithPath: "\(folder)/\(name).jpg"))
            }
            let server = try ConcordProcess(["serve", "--data", folder + "/data"] + ports)
            try await server.waitUntilReady()
            try await Self.run(Self.steps(in: blocks), in: folder)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    /// Runs the steps one after another in one shell, as a reader does, and compares what they print.
    private static func run(_ steps: [Step], in folder: String) async throws {
        // A refused request must not pass as an answer.
        var script = """
            set -eu
            cd '\(folder)'
            curl() { command curl -sS --fail-with-body --max-time 120 "$@"; }
            concord() { '\(ConcordProcess.executable("concord").path)' "$@"; }

            """
        for (index, step) in steps.enumerated() {
            script += "{\n\(step.commands.joined(separator: "\n"))\n} > output-\(index)\n"
        }
        try script.write(toFile: folder + "/script", atomically: true, encoding: .utf8)
        let result = try await runShell("exec bash '\(folder)/script'")
        #expect(result.status == 0, "\(String(decoding: result.output, as: UTF8.self))")
        for (index, step) in steps.enumerated() {
            let file = "\(folder)/output-\(index)"
            let output = try? String(contentsOfFile: file, encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            guard let output else {
                Issue.record("docs/first-day.md:\(step.line) was not reached")
                return
            }
            guard !step.expected.isEmpty else { continue }
            let expected = step.expected.joined(separator: "\n")
            let isShown = try Self.isShown(output, as: expected)
            #expect(isShown, "docs/first-day.md:\(step.line): expected \(expected), found \(output)")
        }
    }

    // MARK: All other commands

    /// Returns the arguments of each call of `concord` in a block: comments, pipes and redirections left out.
    private static func calls(in block: Block) -> [[String]] {
        var calls: [[String]] = []
        let joined = block.lines.joined(separator: "\n").replacingOccurrences(of: "\\\n", with: " ")
        for line in joined.split(separator: "\n") {
            var words: [String] = []
            var word: String?
            var quote: Character?
            func end() {
                if let word { words.append(word) }
                word = nil
            }
            for character in line {
                if let open = quote {
                    if character == open { quote = nil } else { word = (word ?? "") + String(character) }
                } else if character == "\"" || character == "'" {
                    quote = character
                    word = word ?? ""
                } else if character == " " {
                    end()
                } else if character == "(", word?.hasSuffix("$") == true {
                    word = nil
                } else if "|>;)".contains(character) || character == "#" && word == nil {
                    break
                } else {
                    word = (word ?? "") + String(character)
                }
            }
            end()
            let start = words.firstIndex { $0 == "concord" || $0.hasSuffix("/concord") }
            // A word before the program may be `sudo`; `install concord` is no call.
            if let start, words[..<start].allSatisfy({ ["sudo", "exec", "lldb", "--"].contains($0) }) {
                calls.append(Array(words[(start + 1)...]))
            }
        }
        return calls
    }

    @Test func everyCommandIsUnderstood() async throws {
        let docs = try FileManager.default.contentsOfDirectory(
            atPath: DocumentationTests.root.appendingPathComponent("docs").path)
        let files = Self.pages + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        let blocks = try files.flatMap(Self.blocks)
        var count = 0
        for block in blocks {
            for call in Self.calls(in: block) where call != ["--version"] && !call.contains("--help") {
                count += 1
                // The tasks of other tests have their turn.
                await Task.yield()
                do {
                    _ = try Concord.parseAsRoot(call)
                } catch {
                    Issue.record(
                        "\(block.testDescription): concord \(call.joined(separator: " ")): \(Concord.message(for: error))"
                    )
                }
            }
        }
        #expect(count > 20)
    }
}
