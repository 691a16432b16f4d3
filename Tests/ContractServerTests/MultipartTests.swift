import Contract
import Foundation
import HTTPTypes
import NIOCore
import Testbed
import Testing

@testable import ContractServer

/// The result of parsing a body: parts with their whole content.
private struct Parsed: Equatable {
    struct Part: Equatable {
        var name: String
        var filename: String?
        var contentType: String?
        var content: [UInt8] = []
        var isWhole = false

        var text: String { String(decoding: content, as: UTF8.self) }
    }

    var parts: [Part] = []
    var isComplete = false

    /// Parses a body in pieces. The result is nil if the body is malformed.
    init?(_ pieces: [[UInt8]], boundary: String = "b0undary") {
        var parser = MultipartParser(boundary: boundary)
        do {
            for piece in pieces {
                parser.append(ByteBuffer(bytes: piece))
                while let event = try parser.next() {
                    switch event {
                    case .begin(let part):
                        parts.append(.init(name: part.name, filename: part.filename, contentType: part.contentType))
                    case .data(let data): parts[parts.count - 1].content += data.readableBytesView
                    case .end: parts[parts.count - 1].isWhole = true
                    }
                }
            }
        } catch {
            return nil
        }
        isComplete = parser.isComplete
    }

    init?(_ text: String, boundary: String = "b0undary") {
        self.init([Array(text.utf8)], boundary: boundary)
    }
}

/// Returns the text with line ends as on the wire.
private func wire(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: "\r\n") }

/// Returns a part named `file` with this content, followed by the end of the form.
private func body(_ content: String, disposition: String = #"form-data; name="file"; filename="a.txt""#) -> String {
    "--b0undary\r\nContent-Disposition: \(disposition)\r\n\r\n\(content)\r\n--b0undary--\r\n"
}

/// A multipart body is parsed correctly wherever it is split on the network.
@Suite(.timeLimit(.minutes(30))) struct MultipartParserTests {
    private static let sample = wire(
        """
        preamble, to be ignored
        --b0undary
        Content-Disposition: form-data; name="caption"

        two
        lines
        --b0undary \t
        content-disposition: FORM-DATA;name=file;filename="é \\"q\\" \\\\ C:\\dir.txt"
        X-Other: --b0undary
        Content-Type: text/plain; charset=utf-8


        --b0undar
        -b0undary --b0undary

        --b0undary
        Content-Disposition: form-data; name="empty"; filename=""


        --b0undary--
        epilogue
        --b0undary
        """)

    private static let expected = [
        Parsed.Part(name: "caption", content: Array("two\r\nlines".utf8), isWhole: true),
        Parsed.Part(
            name: "file", filename: #"é "q" \ C:\dir.txt"#, contentType: "text/plain; charset=utf-8",
            content: Array("\r\n--b0undar\r\n-b0undary --b0undary\r\n".utf8), isWhole: true),
        Parsed.Part(name: "empty", filename: "", content: [], isWhole: true),
    ]

    @Test func aBodyInOnePiece() throws {
        let parsed = try #require(Parsed(Self.sample))
        #expect(parsed.parts == Self.expected)
        #expect(parsed.isComplete)
    }

    @Test func aBodyCutAnywhere() throws {
        let bytes = Array(Self.sample.utf8)
        for cut in 0...bytes.count {
            let parsed = Parsed([Array(bytes[..<cut]), Array(bytes[cut...])])
            #expect(parsed?.parts == Self.expected, "cut at \(cut)")
            #expect(parsed?.isComplete == true, "cut at \(cut)")
        }
    }

    @Test func aBodyByteByByte() throws {
        let parsed = try #require(Parsed(Self.sample.utf8.map { [$0] }))
        #expect(parsed.parts == Self.expected)
        #expect(parsed.isComplete)
    }

    @Test func aBodyInRandomPieces() throws {
        var random = SeededGenerator(seed: 6)
        let bytes = Array(Self.sample.utf8)
        for _ in 0..<300 {
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(.random(in: 0...40, using: &random))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(Parsed(pieces)?.parts == Self.expected, "\(pieces.map(\.count))")
        }
    }

    @Test(arguments: [
        "", "\r\n", "\r", "\n", "-", "--", "--b0undary", "--b0undary--", "\r\n--b0undar", "\n--b0undary",
        "\r--b0undary",
        "\r\n\r\n-b0undary", "\r\n--B0UNDARY", "\r\n-\r\n--b0undar\r\n--", "\r\r\n\r\n--b\r\n",
        "\r\n--b0undar\r\n--b0undar",
        "\0\r\n\0", String(repeating: "\r\n--b0undar", count: 500), String(repeating: "\r", count: 1000),
    ])
    func contentThatLooksLikeADelimiter(_ content: String) {
        for parsed in [Parsed(body(content)), Parsed(body(content).utf8.map { [$0] })] {
            #expect(parsed?.parts.map(\.text) == [content])
            #expect(parsed?.isComplete == true)
        }
    }

    @Test func contentOfAnyBytes() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let content = (0..<Int.random(in: 0...5000, using: &random)).map { _ in
                [0x0D, 0x0A, 0x2D, 0x00, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
            }
            let head = Array("--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\n".utf8)
            let pieces = [head, content, Array("\r\n--b0undary--".utf8)]
            let parsed = try #require(Parsed(pieces))
            #expect(parsed.parts.map(\.content) == [content])
            #expect(parsed.isComplete)
        }
    }

    /// The parser keeps back no more than a delimiter's length.
    @Test func contentIsPassedOnAsItArrives() throws {
        var parser = MultipartParser(boundary: "b0undary")
        parser.append(ByteBuffer(string: "--b0undary\r\nContent-Disposition: form-data; name=file\r\n\r\n"))
        guard case .begin = try parser.next() else { return #expect(Bool(false), "no part") }
        var handedOn = 0
        for _ in 0..<100 {
            parser.append(ByteBuffer(repeating: 0x0D, count: 1000))
            while case .data(let data) = try parser.next() { handedOn += data.readableBytes }
        }
        #expect(handedOn > 100_000 - "\r\n--b0undary".utf8.count)
        #expect(handedOn < 100_000)
    }

    @Test(arguments: [
        "", "--", "--b0undary", "--b0undary-", "--b0undary\r\n", "no delimiter at all", "--other\r\n\r\n--other--",
        "x--b0undary--", "--b0undary\r\nContent-Disposition: form-data; name=a",
        "--b0undary\r\nContent-Disposition: form-data; name=a\r\n\r\ncontent",
        "--b0undary\r\nContent-Disposition: form-data; name=a\r\n\r\ncontent\r\n--b0undary",
        "--b0undary\r\nContent-Disposition: form-data; name=a\r\n\r\ncontent\n--b0undary--",
    ])
    func aBodyWithoutItsEndIsNotComplete(_ text: String) {
        #expect(Parsed(text)?.isComplete == false)
    }

    @Test(arguments: [
        // After a delimiter, only white space and the end of the line may follow.
        "--b0undaryX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b0undary--",
        "--b0undary-\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b0undary--",
        // These parts have no name.
        "--b0undary\r\n\r\ncontent\r\n--b0undary--",
        "--b0undary\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--b0undary--",
        "--b0undary\r\nContent-Disposition: form-data\r\n\r\ncontent\r\n--b0undary--",
        "--b0undary\r\nContent-Disposition: form-data; filename=a\r\n\r\ncontent\r\n--b0undary--",
        "--b0undary\r\nContent-Disposition: attachment; name=a\r\n\r\ncontent\r\n--b0undary--",
    ])
    func malformedFormsAreRefused(_ text: String) {
        #expect(Parsed(text) == nil)
    }

    @Test func headersAreBounded() {
        func text(_ size: Int) -> String {
            "--b0undary\r\nContent-Disposition: form-data; name=a\r\nX: " + String(repeating: "x", count: size)
        }
        let limit = MultipartParser.maximumHeaders
        #expect(Parsed(text(limit / 2) + "\r\n\r\n\r\n--b0undary--")?.isComplete == true)
        #expect(Parsed([Array(text(limit).utf8)]) == nil)
        #expect(Parsed(text(limit).utf8.map { [$0] }) == nil)
        #expect(Parsed("--b0undary" + String(repeating: " ", count: limit + 1)) == nil)
    }

    @Test(arguments: [
        (#"form-data; name="file""#, "file", nil),
        (#"form-data; name=file"#, "file", nil),
        (#"form-data;name="file";filename="a.txt""#, "file", "a.txt"),
        (#"form-data; filename=a.txt; name=file"#, "file", "a.txt"),
        (#"Form-Data; NAME="file"; FileName="a.txt""#, "file", "a.txt"),
        (#"form-data; name="file"; filename="""#, "file", ""),
        (#"form-data; name="file"; filename="a;b=c.txt""#, "file", "a;b=c.txt"),
        (#"form-data; name="a; filename=b""#, "a; filename=b", nil),
        (#"form-data; name="file"; filename="say \"hi\".txt""#, "file", #"say "hi".txt"#),
        (#"form-data; name="file"; filename="back\\slash""#, "file", #"back\slash"#),
        (#"form-data; name="file"; filename="C:\temp\new.txt""#, "file", #"C:\temp\new.txt"#),
        (#"form-data; name="file"; filename="naïve 漢字 🎉.txt""#, "file", "naïve 漢字 🎉.txt"),
        (#"form-data; name="file"; filename="never closed"#, "file", "never closed"),
        (#"form-data; name="file"; filename="a.txt" ; x=y"#, "file", "a.txt"),
        (#"form-data; name="file"; filename=  spaced.txt  ; x"#, "file", "spaced.txt"),
        // Browsers write these escapes for characters that would end the quotes or the line, and escape nothing else.
        (#"form-data; name="file"; filename="a%22b%0D%0A.txt""#, "file", "a\"b\r\n.txt"),
        (#"form-data; name="file"; filename="100%25 %2F %0d.txt""#, "file", "100%25 %2F %0d.txt"),
        // A quote that no client escaped ends the name only before the next parameter and at the end of the line.
        (#"form-data; name="file"; filename="say "hi".txt""#, "file", #"say "hi".txt"#),
        (#"form-data; filename="5" nails" ; name="file""#, "file", #"5" nails"#),
        (#"form-data; name="file"; filename="a"b"#, "file", #"a"b"#),
        // The extended form comes first, wherever it stands, if it can be read.
        (#"form-data; name="file"; filename="=?utf-8?B?w6k=?="; filename*=utf-8''%C3%A9.txt"#, "file", "é.txt"),
        (#"form-data; filename*=UTF-8'en'a%20%22b%22.txt; name=file; filename=x"#, "file", #"a "b".txt"#),
        (#"form-data; name=file; filename*="utf-8''%E6%BC%A2.txt""#, "file", "漢.txt"),
        (#"form-data; name=file; filename*=iso-8859-1''na%EFve.txt"#, "file", "naïve.txt"),
        (#"form-data; name=file; filename*=utf-8''%FF.txt; filename=x"#, "file", "x"),
        (#"form-data; name=file; filename*=utf-8''%4; filename=x"#, "file", "x"),
        (#"form-data; name=file; filename*=koi8-r''%C1; filename=x"#, "file", "x"),
        (#"form-data; name=file; filename*=a.txt; filename=x"#, "file", "x"),
        (#"form-data; name=file; filename*=utf-8''100%2525.txt"#, "file", "100%25.txt"),
        (#"form-data; name="file"; filename="=?utf-8?B?w6k=?=""#, "file", "=?utf-8?B?w6k=?="),
        (#"form-data; name="file"; filename="a"; filename="b""#, "file", "a"),
    ])
    func dispositions(_ disposition: String, _ name: String, _ filename: String?) {
        let part = Parsed(body("x", disposition: disposition))?.parts.first
        #expect(part?.name == name)
        #expect(part?.filename == filename)
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=abc", "abc"),
        ("multipart/form-data;boundary=\"a b'()+_,-./:=?\"", "a b'()+_,-./:=?"),
        ("Multipart/Form-Data; charset=utf-8; BOUNDARY=abc", "abc"),
        ("multipart/form-data; boundary=" + String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
        ("multipart/form-data; boundary=" + String(repeating: "x", count: 71), nil),
        ("multipart/form-data; boundary=", nil),
        ("multipart/form-data; boundary=\"\"", nil),
        ("multipart/form-data", nil),
        ("multipart/mixed; boundary=abc", nil),
        ("application/json; boundary=abc", nil),
        ("", nil),
        (nil, nil),
    ])
    func boundaries(_ contentType: String?, _ boundary: String?) {
        #expect(MultipartParser.boundary(contentType) == boundary)
    }
}
