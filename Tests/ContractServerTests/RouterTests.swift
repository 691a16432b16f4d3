import Contract
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ContractServer

/// The router turns every request into an answer, also when something fails in between.
@Suite(.timeLimit(.minutes(30))) struct RouterTests {
    private let log = LogBook()
    private let table: Router<Sample>

    init() { table = Sample.table(log) }

    // MARK: Paths

    @Test(arguments: [
        ("/things/7", "thing 7"),
        ("/things/007", "thing 7"),
        ("/things/search?q=a+b%21&q=c", "search a b! from 192.0.2.1"),
        ("/things/search?", "search  from 192.0.2.1"),
        ("/things/1/parts/2", "part 2 of 1"),
        ("/things/9223372036854775807", "thing 9223372036854775807"),
        // A number that is too large becomes an id that does not exist.
        ("/things/92233720368547758070", "thing 9223372036854775807"),
        // Unnecessary percent-encoding is decoded.
        ("/things/%31%32", "thing 12"),
        ("/%74hings/7", "thing 7"),
        ("/things/%73earch?q=x", "search x from 192.0.2.1"),
        ("/things/1/parts/%32", "part 2 of 1"),
    ])
    func finds(_ path: String, _ text: String) async throws {
        let answer = try await table.send(.get, path)
        #expect(answer.status == .ok)
        #expect(answer["text"] == text)
        #expect(answer.headers[.contentType] == "application/json")
    }

    @Test(arguments: [
        "/", "", "//", "*", "things/7", "/thing", "/things", "/things/", "/things/7/", "//things/7", "/things//7",
        "/Things/7", "/things/abc", "/things/-7", "/things/+7", "/things/7.0", "/things/7a", "/things/0x7",
        "/things/ 7",
        "/things/%", "/things/%3", "/things/%zz", "/things/1%2F2", "/things/%00", "/things/%E2%91%A0", "/things/%D9%A7",
        "/things/7/parts", "/things/7/parts/x", "/things/search/parts/1", "/things/7/other", "/..", "/things/../say",
        "/things/7%3Fq=1", "http://test/things/7",
    ])
    func unknownPathsAre404InTheAPIsShape(_ path: String) async throws {
        for method in [HTTPRequest.Method.get, .post, .put, .delete] {
            let answer = try await table.send(method, path, body: "{")
            #expect(answer.status == .notFound)
            #expect(answer["error"] == "Not found")
            #expect(answer["request"] == answer.headers[.requestID])
            #expect(answer.headers[.contentType] == "application/json")
        }
    }

    @Test(arguments: [
        ("POST", "/things/7", "DELETE, GET"),
        ("PUT", "/things/7", "DELETE, GET"),
        ("DELETE", "/things/search", "GET"),
        ("GET", "/say", "POST"),
        ("HEAD", "/say", "POST"),
        ("OPTIONS", "/things/1/notes", "POST"),
        ("BREW", "/fail", "GET"),
        ("POST", "/plain/x", "GET"),
    ])
    func otherMethodsAre405(_ method: String, _ path: String, _ allowed: String) async throws {
        let answer = try await table.send(try #require(HTTPRequest.Method(method)), path, body: "{")
        #expect(answer.status == .methodNotAllowed)
        #expect(method == "HEAD" ? answer.body.isEmpty : answer["error"] == "Method not allowed")
        let allow = try #require(answer.headers[.allow])
        #expect(allow.split(separator: ", ").sorted().joined(separator: ", ") == allowed)
    }

    @Test(arguments: [
        ("/plain/a/b", "a/b"), ("/plain/a%2Fb?x=y", "a/b"), ("/plain/a%2Eb%252e", "a.b%2e"), ("/plain/", ""),
        ("/plain//a", "/a"),
    ])
    func theRestOfAPathIsOneCapture(_ path: String, _ rest: String) async throws {
        let answer = try await table.send(.get, path)
        #expect(answer.status == .ok)
        #expect(answer.text == rest)
    }

    @Test func randomIDsAreUUIDsOfVersion4() {
        let ids = (0..<2000).map { _ in RandomUUID.make() }
        #expect(Set(ids).count == ids.count)
        let form = #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
        #expect(ids.allSatisfy { $0.wholeMatch(of: form) != nil })
        // Each random digit takes every value.
        for index in 0..<36 where ![8, 13, 14, 18, 19, 23].contains(index) {
            #expect(Set(ids.map { Array($0)[index] }).count == 16)
        }
    }

    @Test(arguments: [
        ("/notes/7", "7"), ("/notes/user_1", "user_1"), ("/notes/%C3%A9%20x", "é x"), ("/notes/a%2Fb", "a/b"),
        ("/notes/mine", "literal"), ("/notes/%00", "Text must not contain NUL characters"),
        ("/notes/", "Not found"), ("/notes/a/b", "Not found"),
        // One slash at the end is ignored.
        ("/notes/7/", "7"), ("/notes/mine/", "literal"), ("/notes/7//", "Not found"), ("/", "Not found"),
        ("/notes/7/?a=b", "7"),
    ])
    func anAPIWhoseIDsAreTextTakesAnyStep(_ path: String, _ text: String) async throws {
        let answer = try await Textual.table().send(.get, path)
        #expect((answer["text"] ?? answer["message"]) == text)
    }

    @Test func signaturesAreTheRoutes() {
        #expect(
            Set(table.signatures) == [
                "GET /things/{id}", "DELETE /things/{id}", "GET /things/search", "GET /things/{thing}/parts/{part}",
                "POST /things/{id}/notes", "POST /say", "POST /things/{id}/files", "GET /fail", "GET /choose",
                "GET /plain/{key*}", "POST /pictures", "PATCH /labels/{id}",
            ])
    }

    // MARK: Answers

    @Test func aHandlerMayChooseItsAnswer() async throws {
        let status = try await table.send(.get, "/choose?how=status")
        #expect(status.status == .accepted)
        #expect(status.headers[.location] == "/things/1")
        #expect(status.text == #"{"text":"later"}"#)

        let encoded = try await table.send(.get, "/choose?how=encoded")
        #expect(encoded.status == .created)
        #expect(encoded.headers[.contentType] == "application/json")
        #expect(encoded.text == #"{ "as": "it was" }"#)

        let nothing = try await table.send(.get, "/choose?how=nothing")
        #expect(nothing.status == .noContent)
        #expect(nothing.headers[.contentType] == nil)
        #expect(nothing.body.isEmpty)
    }

    @Test func anEmptyOutputHasNoBody() async throws {
        let answer = try await table.send(.delete, "/things/7")
        #expect(answer.status == .noContent)
        #expect(answer.headers[.contentType] == nil)
        #expect(answer.body.isEmpty)
    }

    // MARK: Request ids

    @Test(arguments: ["a", "0f3c-77", String(repeating: "x", count: 128), "!~\"\\{}"])
    func aValidRequestIDIsEchoed(_ id: String) async throws {
        let answer = try await table.send(.get, "/things/7", headers: [.requestID: id])
        #expect(answer.headers[.requestID] == id)
        let failure = try await table.send(.get, "/nowhere", headers: [.requestID: id])
        #expect(failure.headers[.requestID] == id)
        #expect(failure["request"] == id)
    }

    @Test(arguments: [nil, "", " ", "two words", "tab\there", "é", String(repeating: "x", count: 129)])
    func anotherRequestIDIsReplaced(_ id: String?) async throws {
        var headers = HTTPFields()
        headers[.requestID] = id
        let answers = [
            try await table.send(.get, "/things/7", headers: headers),
            try await table.send(.get, "/nowhere", headers: headers),
        ]
        let ids = answers.map { $0.headers[.requestID] ?? "" }
        #expect(ids.allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.lowercased() })
        #expect(Set(ids).count == 2)
    }

    @Test func twoRequestIDsAreIgnored() async throws {
        var headers = HTTPFields()
        headers.append(.init(name: .requestID, value: "one"))
        headers.append(.init(name: .requestID, value: "two"))
        let answer = try await table.send(.get, "/things/7", headers: headers)
        #expect(UUID(uuidString: answer.headers[.requestID] ?? "") != nil)
    }

    // MARK: Bodies

    private static let limit = 1_048_576

    private func say(_ size: Int) -> [UInt8] {
        let frame = #"{"text":""}"#
        return Array(#"{"text":""#.utf8) + Array(repeating: UInt8(ascii: "x"), count: size - frame.utf8.count)
            + Array(#""}"#.utf8)
    }

    @Test func aBodyMayBeAMebibyte() async throws {
        let answer = try await table.send(.post, "/say", pieces: [ByteBuffer(bytes: say(Self.limit))])
        #expect(answer.status == .ok)
        #expect(answer.body.count == Self.limit)
    }

    @Test func aLargerBodyIs413ByItsDeclaredLength() async throws {
        // The request is refused before its body is read: the body never arrives.
        let answer = try await table.send(
            .post, "/say", headers: [.contentLength: "\(Self.limit + 1)"], failing: CancellationError())
        #expect(answer.status == .contentTooLarge)
        #expect(answer["error"] == "Request body too large")
        #expect(answer.headers[.connection] == "close")
    }

    @Test func aLargerBodyIs413WhileItArrives() async throws {
        let piece = ByteBuffer(repeating: UInt8(ascii: " "), count: Self.limit / 4)
        // The body fails after the fifth piece, which is never reached.
        let answer = try await table.send(
            .post, "/say", pieces: Array(repeating: piece, count: 5), failing: CancellationError())
        #expect(answer.status == .contentTooLarge)
        #expect(answer["error"] == "Request body too large")
        #expect(answer.headers[.connection] == "close")
    }

    @Test func aBodyMayArriveInAnyPieces() async throws {
        let bytes = Array(#"{"text":"Grüße"}"#.utf8)
        let answer = try await table.send(.post, "/say", pieces: bytes.map { ByteBuffer(bytes: [$0]) })
        #expect(answer["text"] == "Grüße")
    }

    @Test func malformedBodiesAre400() async throws {
        for body in ["{", "[]", "{\"text\":1,}"] {
            let answer = try await table.send(.post, "/say", body: body)
            #expect(answer.status == .badRequest)
            #expect(answer["error"] == "Invalid JSON")
        }
        let answer = try await table.send(.post, "/say", body: #"{"text":"\u0000"}"#)
        #expect(answer.status == .badRequest)
        #expect(answer["error"] == "Text must not contain NUL characters")
    }

    /// A phone that loses its network is logged as one line of level info with status 499.
    @Test(
        arguments: [
            ChannelError.inputClosed, CancellationError(), BodyCutShort(),
            IOError(errnoCode: ECONNRESET, reason: "read"),
        ] as [any Error])
    func anInterruptedBodyIsNoFailure(_ error: any Error) async throws {
        _ = try await table.send(.post, "/say", pieces: [ByteBuffer(string: "{")], failing: error)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix("info request ") == true)
        #expect(log.lines.first?.contains("status=499") == true)
    }

    /// The end of the connection looks like the end of the body, but comes too early.
    @Test func aBodyShorterThanItsLengthIsCutShort() async throws {
        _ = try await table.send(.post, "/say", headers: [.contentLength: "20"], body: #"{"text":"whole"}"#)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("status=499") == true)
    }

    @Test func aQueryIsNoPartOfABody() async throws {
        let answer = try await table.send(.post, "/say?text=query", body: "{}")
        #expect(answer["text"] == "")
    }

    // MARK: Callers

    @Test func credentialsAreCheckedBeforeSizeAndBody() async throws {
        for headers in [HTTPFields(), [.contentLength: "99999999"], [.idempotencyKey: ""]] {
            let answer = try await table.send(.post, "/things/1/notes", headers: headers, body: "{")
            #expect(answer.status == .unauthorized)
            #expect(answer["error"] == "Who are you?")
        }
        let large = try await table.send(
            .post, "/things/1/notes", headers: [.contentLength: "99999999", .authorization: "alice"], body: "{")
        #expect(large.status == .contentTooLarge)
    }

    @Test func theHandlerGetsTheCaller() async throws {
        let answer = try await table.send(
            .post, "/things/1/notes", headers: [.authorization: "alice"], body: #"{"text":"hi"}"#)
        #expect(answer.status == .created)
        #expect(answer.text == #"{"text":"alice: hi"}"#)
    }

    @Test func theAddressIsThePeersOrOneOfATrustedProxy() async throws {
        let headers: HTTPFields = [.forwardedFor: "203.0.113.9"]
        let direct = try await table.send(.get, "/things/search?q=x", headers: headers, peer: "192.0.2.1")
        #expect(direct["text"] == "search x from 192.0.2.1")
        let proxied = try await table.send(.get, "/things/search?q=x", headers: headers, peer: "10.0.0.1")
        #expect(proxied["text"] == "search x from 203.0.113.9")
    }

    // MARK: Idempotency keys

    private func note(_ key: String, _ body: String, by caller: String = "alice", on id: Int = 1) async throws
        -> String?
    {
        let answer = try await table.send(
            .post, "/things/\(id)/notes", headers: [.authorization: caller, .idempotencyKey: key], body: body)
        #expect(answer.status == .created)
        return answer["once"]
    }

    @Test func aKeyIsScopedByCallerAndPathAndKnowsItsBody() async throws {
        let first = try await note("k", #"{"text":"a"}"#)
        #expect(first?.hasPrefix("caller alice POST /things/1/notes|k|") == true)
        #expect(try await note("k", #"{"text":"a"}"#) == first)
        for other in [
            try await note("k", #"{"text":"b"}"#), try await note("l", #"{"text":"a"}"#),
            try await note("k", #"{"text":"a"}"#, by: "bob"), try await note("k", #"{"text":"a"}"#, on: 2),
        ] {
            #expect(other != nil)
            #expect(other != first)
        }
    }

    /// Another encoder writes the same request in other bytes.
    @Test func aKeyKnowsTheFieldsAndNotTheBytes() async throws {
        let first = try await note("k", #"{"text":"é"}"#)
        for body in [#" { "text" : "é" } "#, #"{"text":"\u00e9"}"#, #"{"id":9,"more":[{}],"text":"é"}"#] {
            #expect(try await note("k", body) == first)
        }
    }

    /// An unkeyed hash of the request would make guessing passwords fast.
    @Test func aFingerprintIsKeyed() async throws {
        let headers: HTTPFields = [.authorization: "alice", .idempotencyKey: "k"]
        let (path, body) = ("/things/1/notes", #"{"text":"a"}"#)
        let other = try await Sample.table(secrets: ["other"]).send(.post, path, headers: headers, body: body)
        #expect(other["once"] != nil)
        #expect(try await note("k", body) != other["once"])
    }

    @Test(arguments: ["!", "~", String(repeating: "k", count: 255), "with space"])
    func printableASCIIIsAKey(_ key: String) async throws {
        #expect(try await note(key, "{}") != nil)
    }

    @Test(arguments: ["", String(repeating: "k", count: 256), "é", "a\tb", "\u{7F}"])
    func anythingElseIsRefused(_ key: String) async throws {
        let answer = try await table.send(
            .post, "/things/1/notes", headers: [.authorization: "alice", .idempotencyKey: key], body: "{}")
        #expect(answer.status == .badRequest)
        #expect(answer["error"] == "Invalid Idempotency-Key")
    }

    @Test func operationsThatHonourNoneIgnoreTheKey() async throws {
        let answer = try await table.send(.post, "/say", headers: [.idempotencyKey: "é"], body: #"{"text":"a"}"#)
        #expect(answer.text == #"{"text":"a"}"#)
    }

    // MARK: Failures

    @Test func aProblemIsRenderedWithItsHeaders() async throws {
        let answer = try await table.send(.get, "/fail?how=problem", headers: [.requestID: "r1"])
        #expect(answer.status == .conflict)
        #expect(answer.text == #"{"error":"Taken","request":"r1"}"#)
        #expect(answer.headers[.retryAfter] == "7")
        #expect(answer.headers[.contentType] == "application/json")
    }

    @Test func unexpectedErrorsAreLoggedButNotShown() async throws {
        let answer = try await table.send(.get, "/fail?how=unforeseen", headers: [.requestID: "r2"])
        #expect(answer.status == .internalServerError)
        #expect(answer.text == #"{"error":"Internal error","request":"r2"}"#)
        #expect(log.lines.contains("error request failed error=secret detail of the database request=r2"))
    }

    @Test func absentServicesAre503WithRetryAfter() async throws {
        let answer = try await table.send(.get, "/fail?how=away", headers: [.requestID: "r3"])
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.text == #"{"error":"Service temporarily unavailable","request":"r3"}"#)
        #expect(answer.headers[.retryAfter] == "3")
        #expect(log.lines.contains("warning refused error=connection to 10.0.0.5 lost request=r3 status=503"))
    }

    @Test func everyRequestIsLoggedByItsRoute() async throws {
        _ = try await table.send(.get, "/things/987654321?token=hush", headers: [.requestID: "r4"])
        _ = try await table.send(.get, "/nowhere/hush", headers: [.requestID: "r5"])
        #expect(log.lines.count == 2)
        #expect(log.lines[0].hasPrefix("info request address=192.0.2.1 method=GET microseconds="))
        #expect(log.lines[0].hasSuffix(" request=r4 route=/things/{id} status=200"))
        #expect(log.lines[1].hasSuffix(" request=r5 route=unknown status=404"))
        #expect(!log.lines.joined().contains("hush"))
        #expect(!log.lines.joined().contains("987654321"))
    }
}
