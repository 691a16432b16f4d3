import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testbed
import Testing

@testable import ContractClient
@testable import ContractServer

/// The server's parser reads the forms that the SDK writes.
@Suite(.timeLimit(.minutes(30))) struct MultipartBodyTests {
    private struct Part: Equatable {
        var name: String
        var filename: String?
        var contentType: String?
        var content: [UInt8] = []
    }

    private func parts(_ body: MultipartBody) throws -> [Part] {
        let bytes: [UInt8]
        switch body.body {
        case .none: bytes = []
        case .bytes(let content): bytes = content
        case .file(let url): bytes = [UInt8](try Data(contentsOf: url))
        }
        var parser = MultipartParser(boundary: try #require(MultipartParser.boundary(body.contentType)))
        parser.append(ByteBuffer(bytes: bytes))
        var parts: [Part] = []
        while let event = try parser.next() {
            switch event {
            case .begin(let part):
                parts.append(Part(name: part.name, filename: part.filename, contentType: part.contentType))
            case .data(let data): parts[parts.count - 1].content += data.readableBytesView
            case .end: break
            }
        }
        #expect(parser.isComplete)
        return parts
    }

    private func form(_ upload: Upload, fields: [(name: String, value: String)] = []) throws -> MultipartBody {
        try #require(try MultipartBody(.form(fields: fields, uploads: [("file", upload)])))
    }

    @Test func fieldsAndAFileFromMemory() throws {
        let upload = Upload(.bytes(Array("content\r\n--".utf8)), filename: "a b.txt", contentType: "text/plain")
        let body = try form(upload, fields: [("caption", "Grüße\r\n"), ("e m p t y", "")])
        guard case .bytes = body.body else { return #expect(Bool(false), "not in memory") }
        #expect(
            try parts(body) == [
                Part(name: "caption", content: Array("Grüße\r\n".utf8)),
                Part(name: "e m p t y"),
                Part(
                    name: "file", filename: "a b.txt", contentType: "text/plain",
                    content: Array("content\r\n--".utf8)),
            ])
    }

    @Test(arguments: [0, 1, 262_144, 262_145, 1_000_000])
    func aFileFromDisk(_ size: Int) async throws {
        try await withTemporaryFolder { folder in
            let source = URL(fileURLWithPath: folder + "/source")
            var random = SeededGenerator(seed: UInt64(size))
            let content = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            try Data(content).write(to: source)

            let body = try form(Upload(.file(source), filename: "f", contentType: "image/png"), fields: [("a", "b")])
            guard case .file(let url) = body.body else { return #expect(Bool(false), "not on disk") }
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let parts = try parts(body)
            #expect(parts.map(\.name) == ["a", "file"])
            #expect(parts[1].contentType == "image/png")
            #expect(parts[1].content == content)

            body.remove()
            #expect(!FileManager.default.fileExists(atPath: url.path))
            #expect(FileManager.default.fileExists(atPath: source.path))
        }
    }

    @Test func aFileThatIsNotThereIsAnError() throws {
        let absent = URL(fileURLWithPath: "/nowhere/at/all-\(UUID().uuidString)")
        #expect(throws: (any Error).self) { try form(Upload(.file(absent), filename: "f")) }
    }

    @Test(arguments: [
        ("a.txt", "a.txt"), ("naïve 漢字 🎉.txt", "naïve 漢字 🎉.txt"), ("a;b=c, d.txt", "a;b=c, d.txt"),
        ("C:\\dir\\a.txt", "C:\\dir\\a.txt"), ("", ""), ("100%.txt", "100%.txt"),
        // Characters that would end the quotes or the line are percent-encoded, as browsers do.
        ("say \"hi\".txt", "say \"hi\".txt"), ("a\r\nX-Evil: 1\r\n\r\nb", "a\r\nX-Evil: 1\r\n\r\nb"),
    ])
    func filenames(_ filename: String, _ received: String) throws {
        #expect(try parts(form(Upload(.bytes([1]), filename: filename))).map(\.filename) == [received])
    }

    @Test func aContentTypeCannotAddAHeader() throws {
        let upload = Upload(.bytes([1]), filename: "a", contentType: "text/plain\r\nX-Evil: 1\r\n\r\nearly\n")
        let parts = try parts(form(upload))
        #expect(parts.map(\.contentType) == ["text/plainX-Evil: 1early"])
        #expect(parts.map(\.content) == [[1]])
    }

    @Test func boundariesAreNeverTheSame() throws {
        let upload = Upload(.bytes([]), filename: "a")
        #expect(try form(upload).contentType != form(upload).contentType)
    }

    @Test func otherBodiesAreNotForms() throws {
        #expect(try MultipartBody(.none) == nil)
        #expect(try MultipartBody(.json([])) == nil)
    }

    // MARK: Through the client

    private func client(_ transport: ScriptedTransport) throws -> Client<Sample> {
        Client(
            baseURL: try #require(URL(string: "https://api.example.com")), transport: transport,
            retry: Waits().retry())
    }

    @Test func anUploadFromDiskIsRepeatedWholeAndCleanedUp() async throws {
        try await withTemporaryFolder { folder in
            let source = URL(fileURLWithPath: folder + "/source")
            try Data("content".utf8).write(to: source)
            // Each attempt finds the whole form on the disk.
            let read: @Sendable (TransportRequest) throws -> String = { request in
                guard case .file(let url) = request.body else { return "not on disk" }
                return String(decoding: try Data(contentsOf: url), as: UTF8.self)
            }
            let seen = NIOLockedValueBox<[String]>([])
            let transport = ScriptedTransport(
                { request in
                    let body = try read(request)
                    seen.withLockedValue { $0.append(body) }
                    throw URLError(.networkConnectionLost)
                },
                { request in
                    let body = try read(request)
                    seen.withLockedValue { $0.append(body) }
                    return try await answer(.created)(request)
                })
            try await client(transport).send(
                Sample.AddFile(caption: "c", file: Upload(.file(source), filename: "f")))
            let bodies = seen.withLockedValue { $0 }
            #expect(bodies.count == 2)
            #expect(bodies[0] == bodies[1])
            #expect(bodies[0].contains("content"))
            let headers = transport.requests.map(\.headers)
            #expect(headers[0][.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(headers[0] == headers[1])
            #expect(headers[0][.idempotencyKey] != nil)
            guard case .file(let url) = transport.requests[0].body else { return #expect(Bool(false), "not on disk") }
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }
}
