import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testbed
import Testing

@testable import ObjectStore

/// The client copes with failures, lost answers, and rules that rclone does not implement.
@Suite(.timeLimit(.minutes(30))) struct S3ClientTests {
    /// A server that answers in order and records the requests.
    final class Script: Sendable {
        enum Step: Sendable {
            case status(Int, headers: [String: String] = [:], body: String = "")
            case failure(any Error & Sendable)
        }
        private struct State {
            var steps: [Step]
            var requests: [HTTPClientRequest] = []
            var bodies: [String] = []
            var pauses: [Duration] = []
        }
        private let state: NIOLockedValueBox<State>

        init(_ steps: [Step]) { state = NIOLockedValueBox(State(steps: steps)) }

        var requests: [HTTPClientRequest] { state.withLockedValue(\.requests) }
        var bodies: [String] { state.withLockedValue(\.bodies) }
        var pauses: [Duration] { state.withLockedValue(\.pauses) }
        var methods: [String] { requests.map { "\($0.method)" } }
        var isDone: Bool { state.withLockedValue(\.steps.isEmpty) }

        func client(_ location: S3Location) -> S3Client {
            S3Client(
                location: location,
                signature: SignatureV4(credentials: S3Server.credentials, region: location.region),
                now: { 1_700_000_000 },
                sleep: { pause in self.state.withLockedValue { $0.pauses.append(pause) } },
                send: { request, _ in try await self.answer(request) }, patience: .minutes(5))
        }

        private func answer(_ request: HTTPClientRequest) async throws -> S3Response {
            var body = ByteBuffer()
            if let content = request.body { for try await chunk in content { body.writeImmutableBuffer(chunk) } }
            let text = String(buffer: body)
            let step = state.withLockedValue { state in
                state.requests.append(request)
                state.bodies.append(text)
                return state.steps.isEmpty ? .status(418) : state.steps.removeFirst()
            }
            switch step {
            case .failure(let error): throw error
            case .status(let status, let headers, let body):
                return S3Response(status: status, headers: headers, body: ByteBuffer(string: body))
            }
        }
    }

    private let folder: TemporaryFolder
    private let key: ObjectKey

    init() throws {
        folder = try TemporaryFolder()
        key = try #require(ObjectKey("a/b"))
    }

    private func store(_ script: Script, _ location: String = "s3://bucket/files") throws -> S3ObjectStore {
        try S3ObjectStore(client: script.client(S3Location(location)), spoolFolder: folder.path)
    }

    private static let absent = Script.Step.status(404)
    private static func failure(_ code: String, _ message: String = "m") -> String {
        "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>\(message)</Message>"
            + "<StringToSign>AWS4-HMAC-SHA256</StringToSign></Error>"
    }

    // MARK: Repeating

    @Test(
        arguments: [
            .status(500), .status(503, body: failure("SlowDown")), .status(502), .status(429),
            .status(400, body: failure("RequestTimeout")), .failure(HTTPClientError.remoteConnectionClosed),
            .failure(HTTPClientError.readTimeout), .failure(HTTPClientError.deadlineExceeded),
            .failure(IOError(errnoCode: ECONNREFUSED, reason: "connect")),
        ] as [Script.Step])
    func `transient errors are retried three times`(step: Script.Step) async throws {
        let script = Script([step, step, .status(204)])
        try await store(script).delete(key)
        #expect(script.methods == ["DELETE", "DELETE", "DELETE"])
        #expect(script.pauses.count == 2)
        for (pause, limit) in zip(script.pauses, [200, 400]) {
            #expect(.zero <= pause && pause <= .milliseconds(limit))
        }
        let hopeless = Script([step, step, step])
        let error = await #expect(throws: S3Error.self) { try await store(hopeless).delete(key) }
        #expect(error?.operation == "DeleteObject" && hopeless.isDone && hopeless.pauses.count == 2)
    }

    @Test(arguments: [400, 403, 405, 409, 301])
    func `permanent errors are not retried`(status: Int) async throws {
        let script = Script([.status(status, body: Self.failure("Other"))])
        let error = await #expect(throws: S3Error.self) { try await store(script).delete(key) }
        #expect(error == S3Error(operation: "DeleteObject", status: status, code: "Other", message: "m"))
        #expect(script.requests.count == 1 && script.pauses.isEmpty)
    }

    @Test func `a cancelled task does not report a failure of S3`() async throws {
        for error in [HTTPClientError.cancelled, CancellationError()] as [any Error & Sendable] {
            let script = Script([.failure(error)])
            await #expect(throws: CancellationError.self) { try await store(script).delete(key) }
            #expect(script.isDone && script.pauses.isEmpty)
        }
    }

    @Test func `readiness is asked for once`() async throws {
        let script = Script([.status(503)])
        await #expect(throws: S3Error.self) { try await store(script).check() }
        #expect(script.methods == ["HEAD"] && script.requests.first?.url.hasSuffix("amazonaws.com/") == true)
    }

    @Test func `an unreachable server is an error at once`() async throws {
        let location = try S3Location("s3://bucket?endpoint=http://127.0.0.1:1")
        let store = try S3ObjectStore(
            location: location, credentials: S3Server.credentials, spoolFolder: folder.path, now: S3Server.now)
        let error = await #expect(throws: S3Error.self) { try await store.check() }
        #expect(error?.operation == "HeadBucket" && error?.status == nil && error?.message.isEmpty == false)
        try await store.close()
    }

    @Test func `deleting a missing object succeeds, but not in a missing bucket`() async throws {
        try await store(Script([.status(404, body: Self.failure("NoSuchKey"))])).delete(key)
        await #expect(throws: S3Error.self) {
            try await store(Script([.status(404, body: Self.failure("NoSuchBucket"))])).delete(key)
        }
    }

    // MARK: Putting

    @Test func `a put is conditional, signed with its digest, and names its upload`() async throws {
        let script = Script([Self.absent, .status(200)])
        try await store(script).put("hello", at: key)
        let request = try #require(script.requests.last)
        #expect(script.methods == ["HEAD", "PUT"] && script.bodies.last == "hello")
        #expect(request.url == "https://bucket.s3.us-east-1.amazonaws.com/files/a/b")
        #expect(request.headers["If-None-Match"] == ["*"])
        #expect(request.headers["x-amz-content-sha256"] == [sha256("hello")])
        #expect(request.headers["Content-Type"] == ["application/octet-stream"])
        let authorization = request.headers.first(name: "Authorization") ?? ""
        let names = "content-type;host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-meta-upload"
        #expect(authorization.contains("SignedHeaders=\(names),"))
        #expect(folder.files(in: "").isEmpty)
    }

    @Test func `every attempt sends the whole file`() async throws {
        let script = Script([Self.absent, .failure(HTTPClientError.remoteConnectionClosed), .status(500), .status(200)])
        let content = String(repeating: "0123456789", count: 100_000)
        try await store(script).put(content, at: key)
        #expect(script.bodies.dropFirst().allSatisfy { $0 == content } && script.bodies.count == 4)
    }

    @Test func `an object is not replaced`() async throws {
        let found = Script([.status(200, headers: ["content-length": "3", "x-amz-meta-upload": "another"])])
        await #expect(throws: ObjectStoreError.exists(key)) { try await store(found).put("x", at: key) }
        #expect(found.methods == ["HEAD"])
        let raced = Script([
            Self.absent, .status(412, body: Self.failure("PreconditionFailed")),
            .status(200, headers: ["content-length": "3", "x-amz-meta-upload": "another"]),
        ])
        await #expect(throws: ObjectStoreError.exists(key)) { try await store(raced).put("x", at: key) }
        #expect(raced.methods == ["HEAD", "PUT", "HEAD"])
    }

    @Test func `an upload whose answer was lost is recognised`() async throws {
        let spooled = try await SpooledFile(folder: folder.path)
        let name = URL(fileURLWithPath: spooled.path).lastPathComponent
        let mine = Script.Step.status(200, headers: ["content-length": "0", "x-amz-meta-upload": name])
        let script = Script([
            Self.absent, .failure(HTTPClientError.readTimeout), .status(412), mine,
        ])
        try await store(script).put(spooled, at: key, contentType: "")
        #expect(script.isDone && folder.files(in: "").isEmpty)
        // The caller may retry, too.
        let file = try await SpooledFile(folder: folder.path)
        let lost = Script([Self.absent] + Array(repeating: .failure(HTTPClientError.readTimeout), count: 3))
        await #expect(throws: S3Error.self) { try await store(lost).put(file, at: key, contentType: "") }
        let upload = URL(fileURLWithPath: file.path).lastPathComponent
        let again = Script([.status(200, headers: ["content-length": "0", "x-amz-meta-upload": upload])])
        try await store(again).put(file, at: key, contentType: "")
        #expect(again.isDone && folder.files(in: "").isEmpty)
    }

    @Test func `a server without conditions is asked without them`() async throws {
        let script = Script([Self.absent, .status(501, body: Self.failure("NotImplemented")), .status(200)])
        try await store(script).put("x", at: key)
        #expect(script.requests.map { $0.headers.contains(name: "If-None-Match") } == [false, true, false])
    }

    @Test func `two conflicting conditional writes are retried`() async throws {
        let conflict = Script.Step.status(409, body: Self.failure("ConditionalRequestConflict"))
        let script = Script([Self.absent, conflict, .status(200)])
        try await store(script).put("x", at: key)
        #expect(script.isDone)
    }

    @Test func `a failed put leaves the file`() async throws {
        let script = Script([Self.absent, .status(403, body: Self.failure("AccessDenied"))])
        let file = try await SpooledFile(folder: folder.path)
        await #expect(throws: S3Error.self) { try await store(script).put(file, at: key, contentType: "") }
        #expect(folder.files(in: "").count == 1)
    }

    // MARK: Listing

    @Test func `a page of keys`() async throws {
        let body = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
              <Name>bucket</Name><Prefix>files%2F</Prefix><EncodingType>url</EncodingType>
              <IsTruncated>true</IsTruncated><NextContinuationToken>1a/+&amp;=</NextContinuationToken>
              <Contents><Key>files/old</Key><LastModified>2023-11-14T22:13:19.999Z</LastModified><Size>1</Size></Contents>
              <Contents><Key>files%2Fa%2Fold</Key><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>
              <Contents><Key>files/new</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified></Contents>
              <Contents><Key>files/%FF</Key><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>
              <Contents><Key>files/</Key><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>
              <Contents><Key>other/x</Key><LastModified>2009-10-12T17:50:30Z</LastModified></Contents>
            </ListBucketResult>
            """
        let script = Script([.status(200, body: body)])
        let page = try await store(script).keys(olderThan: 1_700_000_000, after: "c/d=")
        #expect(page == ObjectKeyPage(keys: ["old", "a/old"].compactMap(ObjectKey.init), next: "1a/+&="))
        #expect(
            script.requests.first?.url == "https://bucket.s3.us-east-1.amazonaws.com/"
                + "?continuation-token=c%2Fd%3D&encoding-type=url&list-type=2&max-keys=1000&prefix=files%2F")
    }

    @Test(arguments: [
        "", "<a>", "<html><body>Welcome</body></html>", "<ListBucketResult></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>files/a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>files/a</Key>"
            + "<LastModified>yesterday</LastModified></Contents></ListBucketResult>",
    ])
    func `a listing in doubt is an error`(body: String) async throws {
        let script = Script([.status(200, body: body)])
        let error = await #expect(throws: S3Error.self) {
            try await store(script).keys(olderThan: .max, after: nil)
        }
        #expect(error?.description == "S3 ListObjectsV2: 200: an answer that is not S3's")
    }

    // MARK: Texts

    @Test func `errors repeat the message of S3, and not the signature`() async throws {
        let refused = Script([.status(403, body: Self.failure("SignatureDoesNotMatch", "No &amp;\nmatch."))])
        let error = await #expect(throws: S3Error.self) { try await store(refused).delete(key) }
        #expect(error?.description == "S3 DeleteObject: 403 SignatureDoesNotMatch: No & match.")
        let moved = Script([.status(301, headers: ["x-amz-bucket-region": "eu-west-1"])])
        let elsewhere = await #expect(throws: S3Error.self) { try await store(moved).check() }
        #expect(elsewhere?.message.hasSuffix("(the bucket is in region eu-west-1)") == true)
        let silent = Script([.failure(HTTPClientError.invalidHeaderFieldValues(["secret"]))])
        let none = await #expect(throws: S3Error.self) { try await store(silent).check() }
        #expect(none?.status == nil && none?.description.contains("secret") == false)
    }

    @Test(arguments: [0, -1, 604_801, .max, .min] as [Int64])
    func `a URL that S3 would refuse is not made`(seconds: Int64) throws {
        let store = try store(Script([]))
        #expect(throws: S3Error.self) {
            try store.downloadURL(for: key, as: Download(filename: "a", contentType: ""), expiresIn: seconds)
        }
        #expect(throws: S3Error.self) { try store.uploadURL(for: key, expiresIn: seconds) }
    }

    @Test func `a download URL carries its type, its name and its time`() throws {
        let store = try store(Script([]))
        let url = try store.downloadURL(
            for: key, as: Download(filename: "ä\r\n.svg", contentType: "image/svg+xml"), expiresIn: 604_800)
        let address = "https://bucket.s3.us-east-1.amazonaws.com/files/a/b?"
        #expect(url.hasPrefix(address + "X-Amz-Algorithm=") && url.contains("&X-Amz-Expires=604800&"))
        #expect(url.contains("&response-content-type=application%2Foctet-stream&"))
        #expect(url.contains("=attachment%3B%20filename%3D%22_.svg%22%3B%20filename%2A%3DUTF-8%27%27%25C3%25A4.svg&"))
    }
}
