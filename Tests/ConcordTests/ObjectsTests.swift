import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import Testbed
import Testing

/// `concord serve --objects s3://…`: uploads through Messenger, downloads from the bucket itself.
@Suite(.s3Server, .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"))
struct ObjectsTests {
    private let transport = URLSessionTransport()
    private let credentials = [
        "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
    ]

    /// Runs a test on a server that keeps its files in an S3.
    private func withServer(
        data: String, objects: String, more: [String] = [], _ body: (URL) async throws -> Void
    ) async throws {
        let port = try await reservePort()
        let process = try await ConcordProcess.serving(
            data: data, port: port, more: ["--objects", objects] + more, environment: credentials)
        try await body(URL(string: "http://127.0.0.1:\(port)")!)
        process.signal(SIGTERM)
        #expect(await process.status() == 0)
    }

    private func signedIn(to url: URL, registering: Bool = true) async throws -> MessengerClient {
        let client = MessengerClient(baseURL: url, retry: .never)
        if registering {
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
        }
        try await client.signIn(username: "alice", password: "secret123")
        return client
    }

    private func answer(_ method: HTTPRequest.Method, _ url: String) async throws -> TransportResponse {
        var request = TransportRequest(method: method, url: try #require(URL(string: url)))
        if method == .put || method == .post { request.body = .bytes([1]) }
        return try await transport.send(request, progress: nil)
    }

    @Test func aDownloadLeadsToTheBucketWithAURLThatIsGoodAsItIsAndNoOther() async throws {
        let server = try #require(S3Server.current)
        try await withTemporaryFolder { folder in
            try await withServer(data: folder, objects: server.place()) { url in
                let client = try await signedIn(to: url)
                let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let file = try await client.upload(
                    Upload(.bytes(bytes), filename: "été & co.png", contentType: "image/png"))
                let redirect = try await client.answer(Messenger.DownloadFile(id: file.id))
                #expect(redirect.status == .found)
                #expect(redirect.headers[.cacheControl] == "no-store")
                let location = try #require(redirect.headers[.location])
                #expect(location.hasPrefix("\(server.endpoint)/bucket/"))

                let download = try await answer(.get, location)
                #expect(download.status == .ok)
                #expect(download.body == bytes)
                #expect(download.headers[.contentType] == "image/png")
                #expect(try await client.download(file.id) == bytes)

                for tampered in try Tampered.all(of: location, key: file.objectKey) {
                    let answer = try await answer(tampered.method, tampered.url)
                    #expect(
                        answer.status == .forbidden || answer.status == .badRequest,
                        "\(tampered): \(answer.status) \(String(decoding: answer.body.prefix(300), as: UTF8.self))")
                }
                #expect(try await answer(.get, location).body == bytes)
            }
        }
    }

    @Test func withoutTheStoreAnUploadIsRefusedAndLeavesNoRow() async throws {
        let server = try #require(S3Server.current)
        try await withTemporaryFolder { folder in
            let quota = ["--storage-quota", "5"]
            let upload = Upload(.bytes([1, 2, 3, 4, 5]), filename: "a.txt")
            let nowhere = "s3://bucket?endpoint=http://127.0.0.1:\(try await reservePort())"
            try await withServer(data: folder, objects: nowhere, more: quota) { url in
                let client = try await signedIn(to: url)
                let refusal = await #expect(throws: APIError.self) { _ = try await client.upload(upload) }
                #expect(refusal?.status == .serviceUnavailable)
                #expect(refusal?.message == "Object storage upload failed")
                #expect((refusal?.retryAfter ?? 0) > 0)
                let ready = try await answer(.get, url.absoluteString + "/ready")
                #expect(ready.status == .serviceUnavailable)
            }
            // A row would have taken the room.
            try await withServer(data: folder, objects: server.place(), more: quota) { url in
                let client = try await signedIn(to: url, registering: false)
                let file = try await client.upload(upload)
                #expect(try await client.download(file.id) == [1, 2, 3, 4, 5])
                let ready = try await answer(.get, url.absoluteString + "/ready")
                #expect(ready.status == .ok)
            }
        }
    }
}

/// A request for a signed URL with one thing changed.
private struct Tampered: CustomStringConvertible {
    var method = HTTPRequest.Method.get
    let url: String
    var description: String { "\(method) \(url)" }

    /// Each component changed, left out, or joined by another.
    static func all(of location: String, key: String) throws -> [Tampered] {
        let parts = location.split(separator: "?").map(String.init)
        try #require(parts.count == 2 && parts[0].hasSuffix("/" + key))
        let items = parts[1].split(separator: "&").map(String.init)
        let names = items.map { $0.prefix { $0 != "=" } }
        #expect(
            Set(names).isSuperset(of: [
                "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders",
                "X-Amz-Signature", "response-content-type", "response-content-disposition",
            ]))

        var all = [HTTPRequest.Method.head, .put, .post, .delete].map { Tampered(method: $0, url: location) }
        all += [
            Tampered(url: parts[0].dropLast(key.count) + "x" + parts[0].suffix(key.count).dropFirst() + "?" + parts[1]),
            Tampered(url: parts[0]),
            Tampered(url: location + "&x=1"),
            Tampered(url: location + "&response-cache-control=no-cache"),
            Tampered(url: location.replacing("us-east-1", with: "eu-west-1")),
        ]
        for (index, item) in items.enumerated() {
            let value = item.dropFirst(names[index].count + 1)
            for replacement in [
                [], [changed(value, at: value.startIndex)], [changed(value, at: lastLetter(of: value))],
            ] {
                var query = items
                query.replaceSubrange(index...index, with: replacement.map { "\(names[index])=\($0)" })
                all.append(Tampered(url: parts[0] + "?" + query.joined(separator: "&")))
            }
        }
        return all
    }

    private static func lastLetter(of value: Substring) -> Substring.Index {
        value.lastIndex { $0.isNumber || $0.isLowercase } ?? value.startIndex
    }

    /// One character is another, of the same kind.
    private static func changed(_ value: Substring, at index: Substring.Index) -> String {
        let successors: [Character: Character] = ["9": "0", "f": "a", "z": "a", "Z": "A"]
        let next = value[index].asciiValue.map { Character(Unicode.Scalar($0 + 1)) } ?? "x"
        return value[..<index] + String(successors[value[index]] ?? next) + value[value.index(after: index)...]
    }
}
