import Contract
import ContractCheck
import ContractServer
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Testing

// These laws hold what every operation with a body does with it before it looks at the fields.
extension Laws {
    /// Checks that a compressed body is refused with 415 in the API's shape, and that JSON with a key twice is refused as
    /// malformed JSON is, by every operation that takes a body.
    ///
    /// - Parameter send: Sends a request of a signed-in user.
    public func checkBodies(
        _ send: (HTTPRequest.Method, _ path: String, HTTPFields, _ body: String?) async throws -> RawAnswer
    ) async throws {
        for endpoint in API.endpoints {
            let route = endpoint.route
            if case .query = route.form { continue }
            guard let example = requests.first(where: { $0.signature == endpoint.signature }) else { continue }
            for coding in ["gzip", "br", "identity, gzip", "GZIP"] {
                let answer = try await send(route.method, example.path, [.contentEncoding: coding], "{}")
                #expect(answer.status == 415, "\(example.signature): \(coding)")
                let id = answer.headers[.requestID] ?? ""
                #expect(answer.text == refusal(415, API.errorMessages.unsupportedEncoding, id), "\(example.signature)")
                #expect(answer.headers[.acceptEncoding] == "identity")
            }
            let plain = try await send(route.method, example.path, [.contentEncoding: "Identity"], "[]")
            #expect(plain.status != 415, "\(example.signature)")
            if case .multipart = route.form { continue }
            for body in [#"{"x":1,"x":1}"#, #"{"x":{"y":[{"z":1,"\u007a":2}]}}"#] {
                let answer = try await send(route.method, example.path, [:], body)
                #expect(answer.status == 400, "\(example.signature): \(body)")
                #expect(answer.text.contains(API.errorMessages.malformedJSON), "\(example.signature): \(body)")
            }
        }
    }

    /// Checks that every operation that takes files receives them with clean names.
    public func checkFileNames() async throws {
        let long = String(repeating: "🎉", count: 70)
        let table: [(disposition: String, name: String)] = [
            (#"filename="../../a\b/c.txt""#, "c.txt"), (#"filename="gpj.\#u{202E}exe""#, "gpj.exe"),
            ("filename=\"a\u{2066}\u{2028}\u{7}\u{61C}b.txt\"", "ab.txt"),
            (#"filename="say "hi".txt""#, #"say "hi".txt"#),
            (#"filename="a%22b%0D%0A.txt""#, #"a"b.txt"#),
            (#"filename="=?utf-8?B?w6k=?="; filename*=utf-8''%C3%A9.txt"#, "é.txt"),
            ("filename*=iso-8859-1'en'na%EFve.txt", "naïve.txt"), (#"filename="\#u{200B}\#u{3164}""#, "file"),
            ("filename=\"\(long).jpeg\"", String(repeating: "🎉", count: 62) + ".jpeg"),
        ]
        var count = 0
        for endpoint in API.endpoints {
            guard let type = endpoint as? any AuthenticatedEndpoint.Type else { continue }
            switch endpoint.route.form {
            case .multipart, .jsonOrMultipart(.some): break
            default: continue
            }
            count += 1
            for (disposition, name) in table {
                let received = await Self.received(disposition, by: type)
                #expect(received == [name], "\(endpoint.signature): \(disposition)")
            }
        }
        #expect(count > 0, "no operation takes files")
    }

    private static func received<E: AuthenticatedEndpoint>(_ disposition: String, by _: E.Type) async -> [String] {
        let field =
            switch E.route.form {
            case .multipart(let rules), .jsonOrMultipart(.some(let rules)): rules.field
            default: ""
            }
        let form = "--b\r\nContent-Disposition: form-data; name=\"\(field)\"; \(disposition)\r\n\r\nx\r\n--b--\r\n"
        let names = NamesBox()
        var routes = Routes<E.API, Int>(
            spool: MemorySpool(), secrets: { [[0]] }, name: { "\($0)" }, authenticate: { _ in 1 })
        routes.on(use: { (request: E, _) -> E.Output in
            await names.note(request)
            throw Problem(.notImplemented, "received")
        })
        let router = Router(
            routes, options: .init(logger: Logger(label: "names", factory: { _ in SwiftLogNoOpLogHandler() })))
        let path = E.route.path.replacing(#/{\w+}/#, with: "1")
        let head = HTTPRequest(
            method: E.route.method, scheme: "http", authority: "localhost", path: E.API.basePath + path,
            headerFields: [.contentType: "multipart/form-data; boundary=b", .contentLength: "\(form.utf8.count)"])
        _ = await router.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: form))), peer: nil)
        return await names.names
    }
}

/// The names of the files that a handler received.
private actor NamesBox {
    private(set) var names: [String] = []

    func note(_ request: some Endpoint) {
        for child in Mirror(reflecting: request).children {
            if let upload = child.value as? Upload { names.append(upload.filename) }
            if let uploads = child.value as? [Upload] { names += uploads.map(\.filename) }
        }
    }
}

/// Keeps uploads in memory.
private struct MemorySpool: UploadSpool {
    struct File: SpooledUpload {
        let count: Int64
        let sha256: [UInt8] = []
    }

    final class Writer: UploadWriter {
        func append(_ chunk: ByteBuffer) async throws {}
        func finish() async throws -> any SpooledUpload { File(count: 1) }
        func discard() async {}
    }

    func begin() async throws -> any UploadWriter { Writer() }
}
