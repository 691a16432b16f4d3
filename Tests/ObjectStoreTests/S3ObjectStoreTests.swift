import AsyncHTTPClient
import Foundation
import NIOCore
import Testbed
import Testing

@testable import ObjectStore

/// These properties hold for S3 only, here with a server that checks signatures.
@Suite(
    .s3Server, .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct S3ObjectStoreTests {
    private let server: S3Server
    private let key: ObjectKey

    init() throws {
        server = try #require(S3Server.current)
        key = try #require(ObjectKey("photos/cat.jpg"))
    }

    private func answer(
        _ method: String, _ url: String, _ headers: [(String, String)] = [], body: String? = nil
    ) async throws -> (status: UInt, headers: [String: String], body: String) {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method)
        for header in headers { request.headers.add(name: header.0, value: header.1) }
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(10))
        let fields = Dictionary(answer.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        return (answer.status.code, fields, String(buffer: try await answer.body.collect(upTo: 1 << 20)))
    }

    /// Returns a client that needs no closing.
    private func client(at location: S3Location) -> S3Client {
        S3Client(
            location: location,
            signature: SignatureV4(credentials: S3Server.credentials, region: location.region), now: S3Server.now,
            sleep: { _ in }, send: { try await HTTPClient.shared.answer(to: $0, within: $1) }, patience: .minutes(2))
    }

    @Test func `a URL serves ranges`() async throws {
        try await server.withStore { store in
            try await store.put("0123456789", at: key)
            let download = Download(filename: "a", contentType: "text/html")
            let url = try store.downloadURL(for: key, as: download, expiresIn: 60)
            let part = try await answer("GET", url, [("Range", "bytes=2-4")])
            // rclone answers 200, where S3 answers 206.
            #expect(part.body == "234")
            #expect(part.headers["content-range"] == "bytes 2-4/10")
            #expect(part.headers["content-type"] == "application/octet-stream")
            #expect(try await answer("GET", url, [("Range", "bytes=10-")]).status == 416)
        }
    }

    @Test func `a URL is for one method`() async throws {
        try await server.withStore { store in
            try await store.put("x", at: key)
            let url = try store.downloadURL(for: key, as: Download(filename: "a", contentType: ""), expiresIn: 60)
            for method in ["PUT", "DELETE", "POST"] {
                #expect(try await answer(method, url, body: "y").status == 403, "\(method)")
            }
            #expect(try await answer("GET", url).body == "x")
        }
    }

    @Test func `a URL accepts an upload of the signed size and type`() async throws {
        try await server.withStore { store in
            let any = try store.uploadURL(for: key, expiresIn: 60)
            #expect(try await answer("PUT", any, body: "anything").status == 200)
            #expect(try await store.size(of: key) == 8)
            let url = try store.uploadURL(for: key, size: 3, contentType: "image/png", expiresIn: 60)
            let type = ("Content-Type", "image/png")
            #expect(try await answer("PUT", url, [type], body: "four").status == 403)
            #expect(try await answer("PUT", url, [("Content-Type", "text/html")], body: "two").status == 403)
            #expect(try await answer("PUT", url, body: "two").status >= 400)
            #expect(try await answer("GET", url).status == 403)
            #expect(try await store.size(of: key) == 8)
            #expect(try await answer("PUT", url, [type], body: "two").status == 200)
            #expect(try await store.size(of: key) == 3)
        }
    }

    @Test func `the listing has pages, and skips objects of others`() async throws {
        let location = try server.location()
        try await server.withStore(at: location) { store in
            let keys = (0..<10).compactMap { ObjectKey("list/\($0)") }
            for key in keys { try await store.put("x", at: key) }
            let client = client(at: location)
            let foreign = location.path(of: try #require(ObjectKey("list"))) + "/not ours & <%2F>+ä"
            let put = S3Call(operation: "PutObject", method: "PUT", path: foreign)
            #expect(try await client.perform(put).status == 200)
            let spool = try TemporaryFolder()
            let pages = try S3ObjectStore(client: client, spoolFolder: spool.path, pageSize: 3)
            var sizes: [Int] = []
            var found: [ObjectKey] = []
            var cursor: String?
            repeat {
                let page = try await pages.keys(olderThan: .max, after: cursor)
                sizes.append(page.keys.count)
                found += page.keys
                cursor = page.next
            } while cursor != nil
            #expect(found.sorted { $0.rawValue < $1.rawValue } == keys)
            #expect(sizes.count == 4 && sizes.allSatisfy { $0 <= 3 })
        }
    }

    @Test func `stores in one bucket do not see each other's objects`() async throws {
        let location = try server.location()
        try await server.withStore(at: location.folder("a")) { a in
            try await server.withStore(at: location.folder("ab")) { b in
                try await a.put("of a", at: key)
                #expect(try await b.size(of: key) == nil)
                #expect(try await b.allKeys().isEmpty)
                #expect(try await a.allKeys() == [key])
            }
        }
    }

    @Test func `wrong credentials and a wrong bucket are errors that say so`() async throws {
        let wrong = S3Credentials(accessKeyID: S3Server.credentials.accessKeyID, secretAccessKey: "not the secret")
        try await server.withStore(as: wrong) { store in
            let error = await #expect(throws: S3Error.self) { try await store.keys(olderThan: 0, after: nil) }
            #expect(error?.status == 403 && error?.code == "SignatureDoesNotMatch")
            #expect(error?.description.contains("secret") == false)
            let unready = await #expect(throws: S3Error.self) { try await store.check() }
            #expect(unready?.description == "S3 HeadBucket: 403: not allowed with these credentials")
        }
        let nowhere = try S3Location("s3://nowhere?endpoint=\(server.endpoint)&patience=60")
        try await server.withStore(at: nowhere) { store in
            let error = await #expect(throws: S3Error.self) { try await store.check() }
            #expect(error?.description == "S3 HeadBucket: 404: there is no such bucket")
            await #expect(throws: S3Error.self) { try await store.put("x", at: key) }
        }
    }
}
