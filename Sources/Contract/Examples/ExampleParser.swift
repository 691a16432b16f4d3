import Foundation

/// A mistake in the text of a section's examples.
public struct ExampleSyntaxError: Error, CustomStringConvertible {
    /// The line of the text, from 1.
    public let line: Int
    public let expected: String

    public var description: String { "line \(line): expected \(expected)" }
}

/// Reads the examples of a section.
///
/// The text has a heading for each operation, `POST /chats/{id}/messages`, behind it the words `open` (no caller is
/// needed), `key` (an `Idempotency-Key` is honoured), `limited` (answers have the state of a rate limit) and `addition`
/// (to the published contract), `+name` for each field of the request that is such an addition, and after a colon a sentence. Below it, `>` begins a request, `<` an answer, and `!` is a
/// refusal with its status and message:
///
/// ```
/// POST /chats/{id}/messages key: Sends a message.
/// > /chats/5/messages { "content": "Hello!" }
/// < 201 { "id": #99, "content": "Hello!", + "file_id": null | #42 }
/// ! 403 Not a member of this chat
/// ```
///
/// A request has its target where it differs from the heading, the word `form` for a form, and a body. An answer has its
/// status, `including word` for requests with that word in `include`, and a body, or the media type of a body that is
/// not JSON. Below the heading `SOCKET /ws` stand frames, those that are additions with `+` before their object; the path
/// may have parameters that a client may add. A line that begins with `//` is a comment.
struct ExampleParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    // MARK: Sections

    mutating func parse() throws(ExampleSyntaxError) -> (operations: [OperationExample], frames: [FrameExample]) {
        var operations: [OperationExample] = []
        var frames: [FrameExample] = []
        skipSpace()
        while index < bytes.count {
            let (head, summary) = Self.split(line(), at: ": ")
            let words = head.split(separator: " ").map(String.init)
            guard words.count >= 2, words[1].hasPrefix("/") else { throw error("METHOD /path") }
            if words[0] == "SOCKET" {
                frames += try parseFrames(of: words[1])
            } else {
                operations.append(try parseOperation(words, summary))
            }
            skipSpace()
        }
        return (operations, frames)
    }

    private mutating func parseOperation(
        _ words: [String], _ summary: String
    ) throws(ExampleSyntaxError) -> OperationExample {
        let (additions, others) = (
            words.dropFirst(2).filter { $0.hasPrefix("+") }, words.dropFirst(2).filter { !$0.hasPrefix("+") }
        )
        let marks = try others.map { word throws(ExampleSyntaxError) in
            guard let mark = OperationExample.Mark(rawValue: word) else { throw error("a mark behind the path") }
            return mark
        }
        var requests: [OperationExample.Request] = []
        var answers: [OperationExample.Answer] = []
        var refusals: [OperationExample.Refusal] = []
        skipSpace()
        while true {
            if take(">") {
                requests.append(try parseRequest(words[1]))
            } else if take("<") {
                answers.append(try parseAnswer())
            } else if take("!") {
                refusals.append(try parseRefusal())
            } else {
                break
            }
            skipSpace()
        }
        if requests.isEmpty { requests = [.init(target: words[1], isForm: false, body: nil)] }
        guard !answers.isEmpty else { throw error("< and a status") }
        return OperationExample(
            methods: words[0].split(separator: "|").map(String.init), path: words[1], marks: Set(marks),
            addedFields: Set(additions.map { String($0.dropFirst()) }), summary: summary, requests: requests,
            answers: answers, refusals: refusals)
    }

    private mutating func parseRefusal() throws(ExampleSyntaxError) -> OperationExample.Refusal {
        skipBlanks()
        let (status, message) = Self.split(line(), at: " ")
        guard let status = Int(status), !message.isEmpty else { throw error("a status and a message") }
        return .init(status: status, message: message)
    }

    /// Returns what stands before and behind the first occurrence of a separator.
    private static func split(_ line: String, at separator: String) -> (head: String, tail: String) {
        guard let range = line.range(of: separator) else { return (line, "") }
        return (String(line[..<range.lowerBound]), String(line[range.upperBound...]))
    }

    private mutating func parseRequest(_ path: String) throws(ExampleSyntaxError) -> OperationExample.Request {
        skipBlanks()
        let target = peek == UInt8(ascii: "/") ? word() : path
        skipSpace()
        let isForm = takeWord("form")
        skipSpace()
        return .init(target: target, isForm: isForm, body: startsBody ? try parseValue() : nil)
    }

    private mutating func parseAnswer() throws(ExampleSyntaxError) -> OperationExample.Answer {
        skipBlanks()
        guard let status = Int(word()) else { throw error("a status") }
        skipBlanks()
        var inclusion: String?
        if takeWord("including") {
            skipBlanks()
            inclusion = word()
        }
        skipBlanks()
        if let byte = peek, UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte, !startsWord("any") {
            return .init(status: status, inclusion: inclusion, mediaType: word(), body: nil)
        }
        skipSpace()
        let body = startsBody ? try parseValue() : nil
        return .init(
            status: status, inclusion: inclusion, mediaType: body == nil ? nil : "application/json", body: body)
    }

    private mutating func parseFrames(of path: String) throws(ExampleSyntaxError) -> [FrameExample] {
        var frames: [FrameExample] = []
        skipSpace()
        while let byte = peek, byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<") {
            index += 1
            skipSpace()
            let isAddition = take("+")
            skipSpace()
            let value = try parseValue()
            guard let type = value["type"]?.string else { throw error("a frame with a type") }
            let sender: FrameExample.Sender = byte == UInt8(ascii: ">") ? .client : .server
            frames.append(.init(path: path, sender: sender, type: type, value: value, isAddition: isAddition))
            skipSpace()
        }
        return frames
    }

    // MARK: Values

    mutating func parseValue() throws(ExampleSyntaxError) -> ExampleValue {
        var values = [try parseTerm()]
        skipSpace()
        while take("|") {
            skipSpace()
            values.append(try parseTerm())
            skipSpace()
        }
        return values.count == 1 ? values[0] : ExampleValue(.oneOf(values))
    }

    private mutating func parseTerm() throws(ExampleSyntaxError) -> ExampleValue {
        if take("=") { return ExampleValue(.exactly(try parseNext())) }
        if takeWord("any") { return ExampleValue(.any(try parseNext())) }
        if takeWord("text") { return ExampleValue(.anyText(try parseNext())) }
        if takeWord("number") {
            let value = try parseNext()
            guard let number = Double(value.spelling) else { throw error("a number") }
            return ExampleValue(.number(number), value.spelling)
        }
        if take("#") {
            let value = try parseNext()
            guard case .integer(let id) = value.kind else { throw error("an id") }
            return ExampleValue(.id(id), value.spelling)
        }
        if takeWord("null") { return ExampleValue(.null) }
        if takeWord("true") { return ExampleValue(.bool(true)) }
        if takeWord("false") { return ExampleValue(.bool(false)) }
        switch peek {
        case UInt8(ascii: "\""): return try parseText()
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseList()
        default: return try parseNumber()
        }
    }

    private mutating func parseNext() throws(ExampleSyntaxError) -> ExampleValue {
        skipSpace()
        return try parseTerm()
    }

    private mutating func parseObject() throws(ExampleSyntaxError) -> ExampleValue {
        index += 1
        var members: [ExampleValue.Member] = []
        skipSpace()
        while !take("}") {
            if !members.isEmpty {
                guard take(",") else { throw error(", or }") }
                skipSpace()
            }
            let isAddition = take("+")
            let presence: ExampleValue.Member.Presence = take("?") ? .sometimes : isAddition ? .addition : .always
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name") }
            guard case .text(let name) = try parseText().kind else { throw error("a member's name") }
            skipSpace()
            guard take(":") else { throw error(":") }
            skipSpace()
            members.append(.init(name: name, value: try parseValue(), presence: presence, isAddition: isAddition))
            skipSpace()
        }
        return ExampleValue(.object(members))
    }

    private mutating func parseList() throws(ExampleSyntaxError) -> ExampleValue {
        index += 1
        var elements: [ExampleValue] = []
        skipSpace()
        while !take("]") {
            if !elements.isEmpty {
                guard take(",") else { throw error(", or ]") }
                skipSpace()
            }
            elements.append(try parseValue())
            skipSpace()
        }
        return ExampleValue(.list(elements))
    }

    private mutating func parseText() throws(ExampleSyntaxError) -> ExampleValue {
        let start = index
        index += 1
        while let byte = peek, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
        index += 1
        guard index <= bytes.count,
            let text = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<index]))
        else { throw error("a text") }
        return ExampleValue(.text(text), String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func parseNumber() throws(ExampleSyntaxError) -> ExampleValue {
        let start = index
        while let byte = peek, "+-.eE0123456789".utf8.contains(byte) { index += 1 }
        let spelling = String(decoding: bytes[start..<index], as: UTF8.self)
        if let integer = Int64(spelling) { return ExampleValue(.integer(integer), spelling) }
        guard let number = Double(spelling) else { throw error("a value") }
        return ExampleValue(.number(number), spelling)
    }

    // MARK: Tokens

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var startsBody: Bool {
        peek == UInt8(ascii: "{") || peek == UInt8(ascii: "[") || startsWord("any") || startsWord("null")
    }

    private func startsWord(_ word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        guard index + word.utf8.count < bytes.count else { return true }
        return !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[index + word.utf8.count])
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard startsWord(word) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// The rest of the line.
    private mutating func line() -> String {
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\n") { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// The text up to the next white space.
    private mutating func word() -> String {
        let start = index
        while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: " ") { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipBlanks() { while peek == UInt8(ascii: " ") { index += 1 } }

    /// Skips white space, ends of lines and comments.
    private mutating func skipSpace() {
        while let byte = peek {
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
                index += 1
            } else if bytes[index...].starts(with: "//".utf8) {
                _ = line()
            } else {
                return
            }
        }
    }

    private func error(_ expected: String) -> ExampleSyntaxError {
        let line = bytes[..<min(index, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
        return ExampleSyntaxError(line: line, expected: expected)
    }
}

extension ExampleValue {
    /// Reads one value.
    ///
    /// - Throws: ``ExampleSyntaxError``.
    public init(parsing text: String) throws(ExampleSyntaxError) {
        var parser = ExampleParser(text)
        self = try parser.parseAlone()
    }
}

extension ExampleParser {
    fileprivate mutating func parseAlone() throws(ExampleSyntaxError) -> ExampleValue {
        skipSpace()
        let value = try parseValue()
        skipSpace()
        guard index == bytes.count else { throw error("the end") }
        return value
    }
}
