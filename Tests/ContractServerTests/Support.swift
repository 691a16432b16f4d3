import Contract
import ContractServer
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// An API for these tests. Its handlers answer with what they received.
enum Sample: ServiceAPI {
    static let name = "sample"
    static let errorMessages = ErrorMessages()
    static let sections: [Section] = []

    /// A failure that names the request, so that a test recognises this API's shape.
    struct Failure: WireFailure {
        let error: String
        let request: String
        var message: String { error }

        init(_ problem: Problem, requestID: String) {
            error = problem.message
            request = requestID
        }
    }

    enum Thing {}
    typealias ID = Identifier<Thing>

    struct Echo: Codable, Sendable {
        var text: String
        /// The scope, key and fingerprint of the request's idempotency key.
        var once: String?
    }

    struct GetThing: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/{id}")
        typealias Output = Echo
        var id: ID
    }

    struct DeleteThing: OpenEndpoint {
        typealias API = Sample
        static let route = Route.delete("/things/{id}", .noContent)
        typealias Output = Empty
        var id: ID
    }

    struct SearchThings: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/search")
        typealias Output = Echo
        var text: String
        enum CodingKeys: String, CodingKey { case text = "q" }
    }

    /// An operation whose path has the same parameter under another name.
    struct GetPart: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/things/{thing}/parts/{part}")
        typealias Output = Echo
        var thing: ID
        var part: ID
    }

    struct AddNote: AuthenticatedEndpoint {
        typealias API = Sample
        static let route = Route.post("/things/{id}/notes", .created, idempotencyKey: true)
        typealias Output = Echo
        var id: ID
        var text: String
    }

    /// An operation without idempotency keys.
    struct Say: OpenEndpoint {
        typealias API = Sample
        static let route = Route.post("/say")
        typealias Output = Echo
        var text: String
    }

    struct AddFile: OpenEndpoint {
        typealias API = Sample
        static let maximumSize: Int64 = 1000
        static let route = Route.post(
            "/things/{id}/files", .created,
            in: .multipart(
                UploadRules(field: "file", maximumSize: maximumSize, missing: "No file", tooLarge: "File too large")),
            idempotencyKey: true)
        typealias Output = Echo
        var id: ID
        var caption: String
        var file: Upload
    }

    /// An operation with up to three pictures and a text, in a form or in JSON.
    struct AddPictures: OpenEndpoint {
        typealias API = Sample
        static let route = Route.post(
            "/pictures", .created,
            in: .jsonOrMultipart(
                UploadRules(
                    field: "picture", maximumSize: 10, maximumCount: 3, missing: nil, tooLarge: "Picture too large")),
            idempotencyKey: true)
        typealias Output = Echo
        var text: String
        var pictures: [Upload]
        enum CodingKeys: String, CodingKey {
            case text
            case pictures = "picture"
        }
    }

    /// An operation that looks up its target before it validates the text.
    struct Rename: OpenEndpoint {
        typealias API = Sample
        static let route = Route.patch("/labels/{id}")
        static let fieldsComeLast = true
        typealias Output = Echo
        var id: ID
        var text: String
        func validatePath() throws(Problem) {
            guard id.isValid else { throw Problem(.badRequest, "Invalid id") }
        }
        func validate() throws(Problem) {
            guard !text.isEmpty else { throw Problem(.badRequest, "No text") }
        }
    }

    /// An operation that fails in one of several ways.
    struct Fail: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/fail")
        typealias Output = Empty
        var how: String
    }

    /// An operation that chooses its answer.
    struct Choose: OpenEndpoint {
        typealias API = Sample
        static let route = Route.get("/choose")
        typealias Output = Echo
        var how: String
    }

    // MARK: Failures

    struct Unforeseen: Error, CustomStringConvertible {
        var description: String { "secret detail of the database" }
    }

    /// An error that the router's options turn into a 503.
    struct Away: Error, CustomStringConvertible {
        var description: String { "connection to 10.0.0.5 lost" }
    }

    // MARK: The table

    static func table(
        _ log: LogBook = LogBook(), spool: any UploadSpool = CountingSpool(), secrets: [String] = ["secret"],
        memory: RequestMemory = RequestMemory(),
        isUnavailable: @escaping @Sendable (any Error) -> Bool = { $0 is Away }
    ) -> ContractServer.Router<Sample> {
        var routes = Routes<Sample, String>(
            spool: spool, secrets: { secrets.map { Array($0.utf8) } }, name: { "caller \($0)" },
            authenticate: authenticate)
        routes.open(use: { (request: GetThing, _) in Echo(text: "thing \(request.id)") })
        routes.open(use: { (_: DeleteThing, _) in Empty() })
        routes.open(use: { (request: SearchThings, info) in Echo(text: "search \(request.text) from \(info.address)") })
        routes.open(use: { (request: GetPart, _) in Echo(text: "part \(request.part) of \(request.thing)") })
        routes.on(answering: addNote)
        routes.open(use: { (request: Say, info) in Echo(text: request.text, once: info.idempotencyKey.map(text)) })
        routes.open(use: addFile)
        routes.open(use: addPictures)
        routes.open(use: { (request: Rename, _) in
            guard request.id != 404 else { throw Problem(.notFound, "No such label") }
            try request.validate()
            return Echo(text: request.text)
        })
        routes.open(use: fail)
        routes.open(answering: choose)
        routes.plain(.get, "/plain/{key*}") { _, captures in
            Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: captures.map(\.value).joined())))
        }
        let proxies = TrustedProxies([try! AddressRange("10.0.0.1")])
        let options = ContractServer.Router<Sample>.Options(logger: log.logger, trustedProxies: proxies, memory: memory)
        {
            error in
            isUnavailable(error) ? Problem(.serviceUnavailable, errorMessages.unavailable).retry(afterSeconds: 3) : nil
        }
        return ContractServer.Router(routes, options: options)
    }

    /// Returns the caller that the header names.
    private static func authenticate(_ info: RequestInfo) throws -> String {
        guard let name = info.headers[.authorization] else { throw Problem(.unauthorized, "Who are you?") }
        return name
    }

    private static func addNote(_ request: AddNote, from caller: String, _ info: RequestInfo) -> Answer<Echo> {
        Answer(.created, Echo(text: "\(caller): \(request.text)", once: info.idempotencyKey.map(text)))
    }

    private static func addFile(_ request: AddFile, _ info: RequestInfo) throws -> Echo {
        guard case .spooled(let content) = request.file.content else { throw Unforeseen() }
        let file = "\(request.file.filename) (\(request.file.contentType)), \(content.count)"
        return Echo(text: "\(file): \(request.caption)", once: info.idempotencyKey.map(text))
    }

    private static func addPictures(_ request: AddPictures, _ info: RequestInfo) -> Echo {
        let sizes = request.pictures.map { upload in
            if case .spooled(let content) = upload.content { "\(upload.filename) \(content.count)" } else { "beyond" }
        }
        return Echo(text: "\(request.text): \(sizes.joined(separator: ", "))", once: info.idempotencyKey.map(text))
    }

    private static func fail(_ request: Fail, _ info: RequestInfo) throws -> Empty {
        switch request.how {
        case "problem": throw Problem(.conflict, "Taken", headers: [.retryAfter: "7"])
        case "away": throw Away()
        default: throw Unforeseen()
        }
    }

    private static func choose(_ request: Choose, _ info: RequestInfo) -> Answer<Echo> {
        switch request.how {
        case "status": Answer(.accepted, Echo(text: "later"), headers: [.location: "/things/1"])
        case "long": Answer(.ok, Echo(text: longText))
        case "huge": Answer(.ok, Echo(text: String(repeating: "x", count: hugeSize)))
        case "cookie": Answer(.ok, Echo(text: longText), headers: [.setCookie: "session=1"])
        case "kept": Answer(.ok, Echo(text: "x"), headers: [.cacheControl: "max-age=5", .vary: "Origin"])
        case "encoded": Answer(.created, encoded: Array(#"{ "as": "it was" }"#.utf8))
        default: Answer(.noContent, encoded: [])
        }
    }

    static let hugeSize = 1_000_000
    static let longText = String(repeating: "Jane likes this. ", count: 200)

    private static func text(_ key: IdempotencyKey) -> String {
        "\(key.scope)|\(key.text)|" + key.fingerprint.map { String($0, radix: 16) }.joined()
    }
}

// MARK: Sending

/// An answer with its whole body.
struct Answered {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns a text member of a JSON answer.
    subscript(key: String) -> String? {
        guard case .string(let text) = (try? JSONDecoder().decode(JSONValue.self, from: Data(body)))?[key] else {
            return nil
        }
        return text
    }
}

extension ContractServer.Router {
    /// Sends a request whose body arrives in pieces, with a `Content-Length` only if the headers have one.
    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], peer: String? = "192.0.2.1",
        pieces: [ByteBuffer] = [], failing: (any Error)? = nil
    ) async throws -> Answered {
        var head = HTTPRequest(method: method, scheme: "http", authority: "test", path: path)
        head.headerFields = headers
        let (stream, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        for piece in pieces { continuation.yield(piece) }
        continuation.finish(throwing: failing)
        let request = Request(head: head, body: RequestBody(asyncSequence: stream))
        return try await respond(to: request, peer: peer).answered()
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String
    ) async throws -> Answered {
        try await send(method, path, headers: headers, pieces: [ByteBuffer(string: body)])
    }
}

extension Response {
    /// Reads the whole body.
    func answered() async throws -> Answered {
        let bytes = NIOLockedValueBox<[UInt8]>([])
        try await body.write(Writer(collected: bytes))
        return Answered(status: status, headers: headers, body: bytes.withLockedValue { $0 })
    }
}

private struct Writer: ResponseBodyWriter {
    let collected: NIOLockedValueBox<[UInt8]>

    mutating func write(_ buffer: ByteBuffer) async throws {
        collected.withLockedValue { $0 += buffer.readableBytesView }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

// MARK: Logging

/// A log handler's lines.
final class LogBook: Sendable {
    private let entries = NIOLockedValueBox<[String]>([])

    var lines: [String] { entries.withLockedValue { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(book: self) }
    }

    private struct Handler: LogHandler {
        let book: LogBook
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let line = "\(event.level) \(event.message) \(fields.joined(separator: " "))"
            book.entries.withLockedValue { $0.append(line) }
        }
    }
}

// MARK: Spooling

/// A spool in memory that counts the files that exist.
final class CountingSpool: UploadSpool {
    struct Full: Error {}

    private let alive = NIOLockedValueBox(0)
    private let contents = NIOLockedValueBox<[[UInt8]]>([])
    private let capacity: Int

    init(capacity: Int = .max) { self.capacity = capacity }

    /// The number of files that were neither discarded nor released.
    var remaining: Int { alive.withLockedValue { $0 } }
    /// The content of every finished file.
    var finished: [[UInt8]] { contents.withLockedValue { $0 } }

    func begin() async throws -> any UploadWriter { File(spool: self) }

    private final class File: UploadWriter, SpooledUpload {
        private struct State {
            var bytes: [UInt8] = []
            var isDiscarded = false
        }

        private let spool: CountingSpool
        private let state = NIOLockedValueBox(State())

        init(spool: CountingSpool) {
            self.spool = spool
            spool.alive.withLockedValue { $0 += 1 }
        }

        deinit { release() }

        private func release() {
            let isFirst = state.withLockedValue { state in
                defer { state.isDiscarded = true }
                return !state.isDiscarded
            }
            if isFirst { spool.alive.withLockedValue { $0 -= 1 } }
        }

        var count: Int64 { Int64(state.withLockedValue { $0.bytes.count }) }
        /// The bytes themselves, which serve as a digest here.
        var sha256: [UInt8] { state.withLockedValue { $0.bytes } }

        func append(_ chunk: ByteBuffer) async throws {
            let size = state.withLockedValue { state in
                state.bytes += chunk.readableBytesView
                return state.bytes.count
            }
            if size > spool.capacity { throw Full() }
        }

        func finish() async throws -> any SpooledUpload {
            let bytes = state.withLockedValue { $0.bytes }
            spool.contents.withLockedValue { $0.append(bytes) }
            return self
        }

        func discard() async { release() }
    }
}
