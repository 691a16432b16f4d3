import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import ContractCheck

/// A real shell runs the commands, with a `curl` that only records its arguments.
@Suite(.timeLimit(.minutes(30))) struct ShellTests {
    private static let texts = [
        "plain", "", " ", "it's", "'", "''", "\"$HOME\" `ls` \\ !x", "$TOKEN_1", "é\u{1F600}", "a\nb\n", "-H",
        "*?[a]{b,c}",
        "@file", "%s %% \\n", "#", "~", "a=b;c|d&e>f",
    ]

    @Test func quotedWordsKeepTheirText() async throws {
        let words = Self.texts.map { Shell.word($0) }.joined(separator: " ")
        #expect(try await shell("printf '%s\\0' \(words)") == Self.texts.map { $0 + "\0" }.joined())
    }

    @Test func valuesAreReplacedByTheirVariables() async throws {
        let variables = [Shell.Variable(name: "A", value: "secret"), Shell.Variable(name: "B", value: "secret-er")]
        let word = Shell.word("it's secret-er than secret", variables)
        #expect(!word.contains("secret"))
        #expect(try await shell("A=1 B='2 3'; printf %s \(word)") == "it's 2 3 than 1")
    }

    struct Body: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ name: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
        init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

        static let all = [
            Body("short", #"{"a":"it's"}"#), Body("empty", ""), Body("like a file", "@/etc/passwd"),
            Body("lines", "a\r\nb\n"), Body("binary", [0, 1, 2, 255, 37, 39, 92, 10]),
            Body("no UTF-8", Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)),
            Body("padded", #"{"x":"\#(String(repeating: "a", count: 1_048_570))"}"#),
            Body("padded with \\", #"{"x":"\#(String(repeating: "\\", count: 5_000))'"}"#),
            Body("padded with wide ones", #"{"x":"\#(String(repeating: "\u{1F600}", count: 16_385))é'"}"#),
            Body("zeros", [UInt8](repeating: 0, count: 100_000)), Body("breaks", String(repeating: "\n", count: 5_000)),
            Body("long lines", String(repeating: "0123456789\n", count: 9_000)),
            Body("combining", String(repeating: "e\u{301}", count: 8_193)),
        ]
    }

    @Test(arguments: Body.all) func aRequestIsSentAsItWas(_ body: Body) async throws {
        let body = body.bytes
        let request = TransportRequest(
            method: .post, url: URL(string: "http://test/chats/1?q=a%20b&c=it's")!,
            headers: [
                .authorization: "Bearer it's", .init("Idempotency-Key")!: "", .init("X-Odd")!: "a\t\"$x\" é",
                .contentType: "a/b",
            ], body: .bytes(body))
        let (arguments, sent) = try await curled(Shell.curl(request, options: "-sSi"))
        #expect(
            Array(arguments.prefix(12)) == [
                "-sSi", "-X", "POST", "http://test/chats/1?q=a%20b&c=it's", "-H", "Authorization: Bearer it's", "-H",
                "Idempotency-Key;", "-H", "X-Odd: a\t\"$x\" é", "-H", "Content-Type: a/b",
            ])
        try #require(arguments.count == 14)
        if arguments[12] == "--data-raw" {
            #expect((Array(arguments[13].utf8) == body) == true)
        } else {
            #expect(Array(arguments[12...]) == ["--data-binary", "@-"])
            #expect((sent == body) == true)
        }
    }

    @Test func aLongBodyMakesAShortCommand() {
        let body = Array("{\"x\":\"\(String(repeating: "a", count: 1_048_570))\"}".utf8)
        let request = TransportRequest(method: .post, url: URL(string: "http://test/")!, body: .bytes(body))
        #expect(Shell.curl(request, options: "-i").utf8.count < 300)
    }

    @Test func methodsAndOddURLsSurvive() async throws {
        func arguments(_ method: HTTPRequest.Method, _ url: String) async throws -> [String] {
            let request = TransportRequest(method: method, url: try #require(URL(string: url)))
            return try await curled(Shell.curl(request, options: "-i")).arguments
        }
        #expect(try await arguments(.get, "http://test/a") == ["-i", "http://test/a"])
        #expect(try await arguments(.head, "http://test/a") == ["-i", "--head", "http://test/a"])
        #expect(try await arguments(.patch, "http://test/a") == ["-i", "-X", "PATCH", "http://test/a"])
        #expect(try await arguments(.get, "http://test/../b") == ["-i", "--path-as-is", "http://test/../b"])
        #expect(try await arguments(.get, "http://[::1]:80/b") == ["-i", "--globoff", "http://[::1]:80/b"])
    }

    private func shell(_ command: String) async throws -> String {
        String(decoding: try await run(command), as: UTF8.self)
    }

    /// Returns what a command gives curl: the arguments, and standard input.
    private func curled(_ command: String) async throws -> (arguments: [String], input: [UInt8]) {
        let end = "END-OF-ARGUMENTS"
        let curl = "curl() { printf '%s\\0' \"$@\" \(end); for last; do :; done; [ \"$last\" != @- ] || cat; }"
        let output = try await run("\(curl)\n\(command)")
        let marker = try #require(output.firstRange(of: Array((end + "\0").utf8)))
        let arguments = output[..<marker.lowerBound].split(separator: 0, omittingEmptySubsequences: false).dropLast()
        return (arguments.map { String(decoding: $0, as: UTF8.self) }, Array(output[marker.upperBound...]))
    }

    private func run(_ command: String) async throws -> [UInt8] {
        let (status, output) = try await runShell(command)
        #expect(status == 0)
        return output
    }
}
