import CZlib
import Contract
import HTTPTypes
import NIOCore
import Testing

@testable import ContractServer

/// Answers have the right header fields, and are compressed if the client accepts that.
@Suite(.timeLimit(.minutes(30))) struct AnswerFieldTests {
    private let table = Sample.table()

    @Test(arguments: ["/things/7", "/choose?how=nothing", "/nowhere", "/say", "/fail?how=x", "/plain/x"])
    func everyAnswerIsNosniff(_ path: String) async throws {
        let answer = try await table.send(.get, path)
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test func jsonIsPrivateAndRevalidated() async throws {
        for path in ["/things/7", "/nowhere", "/choose?how=long"] {
            #expect(try await table.send(.get, path).headers[.cacheControl] == "private, no-cache")
        }
        #expect(try await table.send(.get, "/plain/x").headers[.cacheControl] == nil)
    }

    /// The answer to a request without a token may contain a token, so it must not be stored.
    @Test func answersThatMayContainTokensAreNotStored() async throws {
        #expect(try await table.send(.post, "/say", body: "{}").headers[.cacheControl] == "no-store")
        #expect(try await table.send(.post, "/say", body: "{").headers[.cacheControl] == "no-store")
        let cookie = try await table.send(.get, "/choose?how=cookie", headers: [.acceptEncoding: "gzip"])
        #expect(cookie.headers[.cacheControl] == "no-store")
        #expect(cookie.headers[.eTag] == nil)
        #expect(cookie.headers[.contentEncoding] == nil)
        let note = try await table.send(
            .post, "/things/1/notes", headers: [.authorization: "alice"], body: #"{"text":"hi"}"#)
        #expect(note.headers[.cacheControl] == "private, no-cache")
        #expect(note.headers[.eTag] == nil)
    }

    @Test func headersOfARouteAreKept() async throws {
        let answer = try await table.send(.get, "/choose?how=kept")
        #expect(answer.headers[.cacheControl] == "max-age=5")
        #expect(answer.headers[.vary] == "Origin")
    }

    @Test func a401NamesTheMissingCredential() async throws {
        let answer = try await table.send(.post, "/things/1/notes", body: "{}")
        #expect(answer.status == .unauthorized)
        #expect(answer.headers[.wwwAuthenticate] == "Bearer")
    }

    /// A browser must not ask for a password where a cookie is missing.
    @Test func anAPIWithCookiesSaysSo() async throws {
        let table = Textual.table()
        let answer = try await table.send(.get, "/refused")
        #expect(answer.status == .unauthorized)
        #expect(answer.headers[.wwwAuthenticate] == nil)
        #expect(answer.headers[.vary] == "Cookie")
        let long = try await table.send(.get, "/notes/\(String(repeating: "x", count: 2000))")
        #expect(long.headers[.vary] == "Cookie, Accept-Encoding")
    }

    // MARK: Revalidation

    @Test func theSameAnswerIs304() async throws {
        let first = try await table.send(.get, "/choose?how=long")
        let tag = try #require(first.headers[.eTag])
        #expect(tag.hasPrefix("W/\"") && tag.hasSuffix("\"") && tag.utf8.count == 36)
        for value in [tag, String(tag.dropFirst(2)), "\"other\", \(tag)", "*", " \(tag) ,\"x\""] {
            for method in [HTTPRequest.Method.get, .head] {
                let again = try await table.send(method, "/choose?how=long", headers: [.ifNoneMatch: value])
                #expect(again.status == .notModified, "\(value)")
                #expect(again.body.isEmpty)
                #expect(again.headers[.eTag] == tag)
                #expect(again.headers[.cacheControl] == "private, no-cache")
                #expect(again.headers[.vary] == "Accept-Encoding")
                #expect(again.headers[.contentType] == nil)
            }
        }
        for value in ["\"other\"", "W/\"\"", "", String(tag.dropLast(2))] {
            let again = try await table.send(.get, "/choose?how=long", headers: [.ifNoneMatch: value])
            #expect(again.status == .ok, "\(value)")
            #expect(again.text == first.text)
        }
    }

    @Test func anotherAnswerHasAnotherTag() async throws {
        let tags = try await [
            table.send(.get, "/things/7").headers[.eTag], table.send(.get, "/things/8").headers[.eTag],
        ]
        #expect(tags[0] != nil && tags[0] != tags[1])
        // The entity tag is the same for the compressed and the plain answer.
        let plain = try await table.send(.get, "/choose?how=long")
        let packed = try await table.send(.get, "/choose?how=long", headers: [.acceptEncoding: "gzip"])
        #expect(plain.headers[.eTag] == packed.headers[.eTag])
    }

    @Test func refusalsHaveNoTag() async throws {
        let answer = try await table.send(.get, "/nowhere", headers: [.ifNoneMatch: "*"])
        #expect(answer.status == .notFound)
        #expect(answer.headers[.eTag] == nil)
    }

    // MARK: Gzip

    @Test(arguments: ["gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.5", "*", "deflate, GZIP ; q=0.1", "x-gzip"])
    func aLongAnswerIsCompressed(_ accepted: String) async throws {
        let plain = try await table.send(.get, "/choose?how=long")
        #expect(plain.headers[.vary] == "Accept-Encoding")
        #expect(plain.headers[.contentEncoding] == nil)
        let packed = try await table.send(.get, "/choose?how=long", headers: [.acceptEncoding: accepted])
        #expect(packed.headers[.contentEncoding] == "gzip")
        #expect(packed.headers[.vary] == "Accept-Encoding")
        #expect(packed.headers[.contentLength] == "\(packed.body.count)")
        #expect(packed.body.count < plain.body.count / 5)
        #expect(try unpacked(packed.body) == plain.body)
        let head = try await table.send(.head, "/choose?how=long", headers: [.acceptEncoding: accepted])
        #expect(head.body.isEmpty)
        #expect(head.headers[.contentLength] == packed.headers[.contentLength])
    }

    @Test(arguments: ["", "identity", "br", "gzip;q=0", "gzip;q=0.0, *", "*;q=0", "gzipped"])
    func clientsWithoutGzipGetNone(_ accepted: String) async throws {
        let answer = try await table.send(.get, "/choose?how=long", headers: [.acceptEncoding: accepted])
        #expect(answer.headers[.contentEncoding] == nil)
        #expect(answer["text"] == Sample.longText)
    }

    @Test func aShortAnswerIsNotCompressed() async throws {
        let answer = try await table.send(.get, "/things/7", headers: [.acceptEncoding: "gzip"])
        #expect(answer.headers[.contentEncoding] == nil)
        #expect(answer.headers[.vary] == nil)
    }

    @Test func incompressibleAnswersStayPlain() {
        var generator = SystemRandomNumberGenerator()
        let noise = ByteBuffer(bytes: (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        #expect(Gzip.compress(noise) == nil)
        #expect(Gzip.compress(ByteBuffer()) == nil)
    }

    // MARK: Streamed answers

    private struct Export: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.get("/export")
        typealias Output = Empty
        var size: Int
    }

    /// Every streamed answer is compressed for clients that accept it, whatever its type, and no cache shares it.
    @Test(arguments: ["application/json", "text/vcard; charset=utf-8"], [0, 10, 1_000_000])
    func aStreamedAnswerIsCompressed(_ type: String, _ size: Int) async throws {
        var routes = Routes<Sample, String>(
            spool: CountingSpool(), secrets: { [[1]] }, name: { $0 }, authenticate: { _ in "alice" })
        routes.on(streaming: { (request: Export, _) in
            StreamedAnswer(headers: [.contentType: type]) { write in
                for _ in 0..<request.size { try await write(Array("a card\r\n".utf8)) }
            }
        })
        let table = Router(routes, options: .init(logger: LogBook().logger))
        let expected = Array(String(repeating: "a card\r\n", count: size).utf8)
        for accepted in ["gzip", "", "gzip;q=0"] {
            let isPacked = accepted == "gzip"
            let headers: HTTPFields = [.acceptEncoding: accepted, .ifNoneMatch: "*"]
            let answer = try await table.send(.get, "/export?size=\(size)", headers: headers)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentEncoding] == (isPacked ? "gzip" : nil))
            #expect(answer.headers[.contentType] == type)
            #expect(answer.headers[.vary] == "Accept-Encoding")
            #expect(answer.headers[.cacheControl] == "private, no-cache")
            // Neither is known before the body is written.
            #expect(answer.headers[.contentLength] == nil && answer.headers[.eTag] == nil)
            #expect(try (isPacked ? unpacked(answer.body, size: expected.count) : answer.body) == expected)
            if isPacked, size > 1000 { #expect(answer.body.count < expected.count / 50) }
            let head = try await table.send(.head, "/export?size=\(size)", headers: headers)
            #expect(head.status == .ok && head.body.isEmpty)
            for name in Set(answer.headers.map(\.name)).union(head.headers.map(\.name)) where name != .requestID {
                #expect(head.headers[name] == answer.headers[name])
            }
        }
    }

    // MARK: Documents

    /// A document is no operation, and the root is a path of its own.
    @Test func aDocumentIsRevalidatedAndCompressed() async throws {
        var routes = Routes<Sample, String>(
            spool: CountingSpool(), secrets: { [[1]] }, name: { $0 }, authenticate: { _ in "alice" })
        let page = String(repeating: "<p>page</p>", count: 500)
        let headers: HTTPFields = [.contentType: "text/html", .cacheControl: "no-cache"]
        for path in ["/", "/pages/page.html"] {
            routes.document(path, headers: headers) { ByteBuffer(string: page) }
        }
        let table = Router(routes, options: .init(logger: LogBook().logger))
        for path in ["/", "/?a=b", "/pages/page.html"] {
            let whole = try await table.send(.get, path)
            #expect(whole.status == .ok && whole.text == page)
            #expect(whole.headers[.cacheControl] == "no-cache" && whole.headers[.contentType] == "text/html")
            let tag = try #require(whole.headers[.eTag])
            #expect(try await table.send(.get, path, headers: [.ifNoneMatch: tag]).status == .notModified)
            let packed = try await table.send(.get, path, headers: [.acceptEncoding: "gzip"])
            #expect(try packed.headers[.contentEncoding] == "gzip" && unpacked(packed.body) == Array(page.utf8))
            let head = try await table.send(.head, path)
            #expect(head.status == .ok && head.body.isEmpty && head.headers[.contentLength] == "\(page.utf8.count)")
            #expect(try await table.send(.post, path).status == .methodNotAllowed)
        }
        for path in ["//", "/pages", "/pages/", "/pages/page.html/"] {
            #expect(try await table.send(.get, path).status == .notFound, "\(path)")
        }
    }

    private func unpacked(_ bytes: [UInt8], size: Int = 0) throws -> [UInt8] {
        var (stream, input) = (z_stream(), bytes)
        var output = [UInt8](repeating: 0, count: max(1 << 20, size))
        try #require(concord_inflate_begin(&stream) == Z_OK)
        defer { inflateEnd(&stream) }
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return inflate(&stream, Z_FINISH) == Z_STREAM_END ? output.count - Int(stream.avail_out) : 0
            }
        }
        return Array(output[..<count])
    }
}
