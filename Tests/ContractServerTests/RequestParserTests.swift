import Foundation
import HTTPTypes
import NIOCore
import Testbed
import Testing

@testable import ContractServer

/// Requests are parsed as RFC 9112 defines them, and what could be understood in two ways is refused.
@Suite(.timeLimit(.minutes(Torture.minutes)))
struct RequestParserTests {
    private func parse(_ text: String) -> ParsedRequests { ParsedRequests(Array(text.utf8)) }

    /// Returns a text as it is shown in a failure.
    private func excerpt(_ text: some Sequence<UInt8>) -> String {
        let bytes = Array(text)
        let shown = String(decoding: bytes.prefix(400), as: UTF8.self).debugDescription
        return bytes.count > 400 ? "\(shown) … \(bytes.count) bytes" : shown
    }

    // MARK: Valid requests

    @Test func validRequestsAreUnderstood() {
        for (text, requests) in RequestTexts.valid {
            let parsed = parse(text)
            #expect(parsed.requests.map(\.summary) == requests, "\(excerpt(text.utf8))")
            #expect(parsed.refusal == nil && parsed.rest.isEmpty, "\(excerpt(text.utf8))")
            let isComplete = parsed.requests.allSatisfy(\.isComplete)
            #expect(parsed.isAmidRequest == !isComplete, "\(excerpt(text.utf8))")
        }
    }

    /// The fields of a connection's last request are kept, and those of the next are the same as on its own.
    @Test func aRequestIsReadInTheSameWayBehindAnother() {
        let first = RequestTexts.valid.map(\.0).filter { text in
            let parsed = parse(text)
            return !parsed.isAmidRequest && parsed.rest.isEmpty
        }
        let fields = [
            "", "Content-Length: 0\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n", "Host: b\r\n", "X\r\n",
        ]
        let sameFields = fields.flatMap { fields in
            ["GET /a HTTP/1.1", "POST /b HTTP/1.1", "GET /c HTTP/1.0"].map { "\($0)\r\nHost: a\r\n\(fields)\r\n" }
        }
        for one in first + sameFields {
            let alone = parse(one)
            guard alone.refusal == nil else { continue }
            for two in first + sameFields {
                let (next, both) = (parse(two), parse(one + two))
                #expect(
                    both.requests.map(\.summary) == (alone.requests + next.requests).map(\.summary),
                    "\(excerpt((one + two).utf8))")
                #expect(both.refusal == next.refusal, "\(excerpt((one + two).utf8))")
            }
        }
    }

    @Test func aRequestMayBeIncomplete() {
        for text in RequestTexts.incomplete {
            let parsed = parse(text)
            #expect(parsed.refusal == nil && parsed.isAmidRequest, "\(excerpt(text.utf8))")
            #expect(parsed.requests.allSatisfy { !$0.isComplete }, "\(excerpt(text.utf8))")
        }
    }

    /// A value may have any bytes beyond ASCII (obs-text, RFC 9110 §5.5). Those that are not UTF-8 are replaced.
    @Test func aValueNeedNotBeUTF8() {
        let head = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8)
        let parsed = ParsedRequests(head + [0x80, 0xA0, 0xFF] + Array("\r\n\r\n".utf8))
        #expect(parsed.requests.map(\.fields) == [[["x", "\u{FFFD}\u{FFFD}\u{FFFD}"]]])
    }

    @Test func theFramingOfABodyIsKnown() throws {
        for (fields, body) in [
            ("X: y", RequestHead.Body.none), ("Content-Length: 0", .length(0)), ("Content-Length: 12", .length(12)),
            ("Transfer-Encoding: chunked", .chunked),
        ] {
            var parser = RequestParser()
            parser.append(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n"))
            guard case .head(let head) = try parser.next() else {
                Issue.record("There is no head with \(fields).")
                continue
            }
            #expect(head.body == body)
        }
    }

    /// The pieces of a body are passed on as they arrive, and what belongs to another protocol is not parsed.
    @Test func aBodyIsPassedOnInPieces() throws {
        var parser = RequestParser()
        var events: [String] = []
        for piece in ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh", "el", "lo\u{1}\u{2}"] {
            parser.append(ByteBuffer(string: piece))
            while events.last != "end", let event = try parser.next() {
                switch event {
                case .head: events.append("head")
                case .body(let bytes): events.append(String(buffer: bytes))
                case .end: events.append("end")
                }
            }
        }
        #expect(events == ["head", "h", "el", "lo", "end"])
        #expect(parser.hasBytes && parser.takeBytes() == ByteBuffer(bytes: [1, 2]))
        #expect(!parser.hasBytes && !parser.isAmidRequest)
        let next = try parser.next()
        #expect(next == nil)
    }

    // MARK: Refusals

    @Test func whatCouldBeUnderstoodInTwoWaysIsRefused() {
        for text in RequestTexts.malformed {
            let parsed = parse(text)
            #expect(parsed.refusal == .malformed, "\(excerpt(text.utf8)): \(parsed)")
            #expect(parsed.refusedID == nil, "\(excerpt(text.utf8))")
        }
        for (text, refusal) in RequestTexts.refused {
            #expect(parse(text).refusal == refusal, "\(excerpt(text.utf8))")
        }
    }

    /// Requests before a malformed one are still handled, and nothing after it is.
    @Test func requestsBeforeAMalformedOneAreHandled() {
        let valid = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let parsed = parse("\(valid)\(valid)GET / HTTP/1.1\nHost: a\r\n\r\n\(valid)")
        #expect(parsed.requests.map(\.summary) == ["GET / @a", "GET / @a"])
        #expect(parsed.refusal == .malformed)
    }

    @Test func aHeadHasLimits() {
        for (within, _) in RequestTexts.limits {
            let parsed = parse(within)
            #expect(
                parsed.refusal == nil && !parsed.requests.isEmpty || parsed.isAmidRequest, "\(excerpt(within.utf8))")
        }
        let parsed = parse(RequestTexts.longestChunkLine)
        #expect(parsed.requests.map(\.body) == [Array("hello".utf8)] && parsed.requests[0].isComplete)
    }

    /// A refusal has the client's own id when the head could be read, else a new one or none.
    @Test func aRefusalHasTheRequestsID() {
        func id(_ text: String) -> String? {
            var parser = RequestParser()
            parser.append(ByteBuffer(string: text))
            do throws(RequestParser.Violation) {
                while try parser.next() != nil {}
                return "accepted"
            } catch {
                return error.requestID
            }
        }
        #expect(id("GET / HTTP/1.1\r\nX-Request-Id: own\r\n\r\n") == "own")
        #expect(id("GET / HTTP/1.0\r\nUpgrade: x\r\nX-REQUEST-ID: own\r\n\r\n") == "own")
        for wrong in ["", "X-Request-Id: a b\r\n", "X-Request-Id: \(String(repeating: "x", count: 129))\r\n"] {
            #expect(id("GET / HTTP/1.1\r\n\(wrong)\r\n").flatMap { UUID(uuidString: $0) } != nil)
        }
        #expect(id("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: own\r\nX : y\r\n\r\n") == nil)
    }

    // MARK: Laws

    /// Whether bytes arrive at once or one by one, the same requests are found, and the same is refused.
    @Test func piecesMakeNoDifference() async {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let texts =
            RequestTexts.valid.map(\.text) + RequestTexts.incomplete + RequestTexts.malformed
            + RequestTexts.refused.map(\.text) + RequestTexts.limits.map(\.within) + [RequestTexts.longestChunkLine]
        for text in texts {
            // The tasks of other tests have their turn.
            await Task.yield()
            let bytes = Array(text.utf8)
            for _ in 0..<(bytes.count < 1000 ? 5 : 1) {
                let difference = differenceInPieces(bytes, &generator)
                #expect(difference == nil, "seed \(seed): \(excerpt(bytes))")
                let part = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
                let partialDifference = bytes.count < 1000 ? differenceInPieces(part, &generator) : nil
                #expect(partialDifference == nil, "seed \(seed): \(excerpt(part))")
            }
            let difference = differenceFromNIO(bytes)
            #expect(difference == nil, "\(excerpt(bytes))")
        }
    }

    /// A request that is accepted means the same for llhttp, which many other servers and proxies use.
    @Test func whatIsAcceptedMeansTheSameForNIO() async {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = RequestGenerator(seed: seed)
        var accepted = 0
        let count = Torture.isOn ? 2_000_000 : 20_000
        for number in 0..<count {
            await Task.yield()
            let bytes = generator.next()
            let difference =
                differenceFromNIO(bytes) ?? differenceFromNIO(bytes + Array("\r\n\r\n".utf8))
                ?? (number.isMultiple(of: 4) ? differenceInPieces(bytes, &generator.random) : nil)
            #expect(difference == nil, "seed \(seed): \(excerpt(bytes))")
            if ParsedRequests(bytes).requests.contains(where: \.isComplete) { accepted += 1 }
        }
        // The comparison says little when most requests are refused.
        #expect(accepted > count / 5)
    }
}
