import Contract
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import Testbed
import Testing

/// `concord serve --objects s3://…` takes uploads through Messenger, and downloads come from the bucket directly.
@Suite(
    .s3Server, .enabled(if: StockTools.rclone != nil, "`make test` installs rclone and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct ObjectsTests {
    private let transport = URLSessionTransport.patient
    private let credentials = [
        "AWS_ACCESS_KEY_ID": S3Server.accessKeyID, "AWS_SECRET_ACCESS_KEY": S3Server.secretAccessKey,
    ]

    /// Runs a test on a server that keeps its files in an S3 bucket.
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
        let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
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

    @Test func aDownloadRedirectsToASignedURLOfTheBucket() async throws {
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
                // Requests without files still work, and readiness names the missing part only.
                let ready = try await answer(.get, url.absoluteString + "/ready")
                #expect(ready.status == .ok)
                #expect(String(decoding: ready.body, as: UTF8.self).contains(#""files":"unavailable""#))
            }
            // A row left behind would have used up the quota.
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
