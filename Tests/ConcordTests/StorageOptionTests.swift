import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import MessengerClient
import Testbed
import Testing

/// `concord serve` limits stored files.
@Suite(.timeLimit(.minutes(30))) struct StorageOptionTests {
    private func withServer(
        _ settings: [String], _ body: (_ client: MessengerClient, _ raw: RawClient) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let process = try await ConcordProcess.serving(data: folder, port: port, more: settings)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let client = MessengerClient(baseURL: url, transport: .patient, retry: .never)
            try await client.send(
                Messenger.Register(username: "alice", email: "alice@example.com", password: "secret123"))
            try await client.signIn(username: "alice", password: "secret123")
            try await body(client, RawClient(baseURL: url, transport: .patient))
            process.signal(SIGTERM)
            #expect(await process.status() == 0)
        }
    }

    private func upload(_ size: Int, to client: MessengerClient) async throws {
        _ = try await client.upload(Upload(.bytes(Array(repeating: 65, count: size)), filename: "a.txt"))
    }

    /// No disk has this much free space, so all of it is reserved for accounts and texts.
    @Test func belowTheReserveUploadsAreRefusedAndTextsAreNot() async throws {
        try await withServer(["--disk-reserve", "9999T"]) { client, raw in
            let refusal = await #expect(throws: APIError.self) { try await upload(1, to: client) }
            #expect(refusal?.status.code == 507)
            #expect(refusal?.message == "Insufficient storage")
            let other = try await raw.send(
                .post, "/auth/register", headers: [.contentType: "application/json"],
                body: #"{"username":"bob","email":"bob@example.com","password":"secret123"}"#)
            #expect(other.status == 201)
            let bob = try #require(try other.json()["id"]?.integer)
            let chat = try await client.send(Messenger.CreateChat.direct(with: .init(bob)))
            _ = try await client.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
            let ready = try await raw.send(.get, "/ready")
            #expect(ready.status == 200)
            #expect(try ready.json()["notes"] == ["Insufficient storage"])
            #expect(try await raw.send(.get, "/health").json() == ["status": "ok"])
        }
        try await withServer(["--disk-reserve", "0"]) { client, raw in
            try await upload(1, to: client)
            #expect(try await raw.send(.get, "/ready").json() == ["status": "ok"])
        }
    }

    @Test(arguments: [
        ["--storage-quota", "messenger=2K"], ["--storage-quota", "2048"],
        ["--storage-quota", "gtsd=5M", "--storage-quota", "messenger=2k"],
        ["--storage-quota", "5M", "--storage-quota", "messenger=2k"],
    ])
    func quotasAreSeparateForEachAPI(_ settings: [String]) async throws {
        try await withServer(settings) { client, _ in
            try await upload(2048, to: client)
            let refusal = await #expect(throws: APIError.self) { try await upload(1, to: client) }
            #expect(refusal?.status == .contentTooLarge)
            #expect(refusal?.message == "Storage quota exceeded")
        }
    }

    @Test func uploadsAreCountedByTheHour() async throws {
        try await withServer(["--upload-limit", "messenger=2"]) { client, _ in
            for _ in 0..<2 { try await upload(1, to: client) }
            let refusal = await #expect(throws: APIError.self) { try await upload(1, to: client) }
            #expect(refusal?.status == .tooManyRequests)
            #expect((refusal?.retryAfter ?? 0) > 0)
        }
    }

    @Test(arguments: [
        (["--storage-quota", "deuce-diary=5G"], "is not NAME=VALUE with one of: messenger, monica, gtsd, dunbar"),
        (["--storage-quota", "2048", "--storage-quota", "gtsd=1X"], "1X is not a size"),
        (["--storage-quota", "messenger=much"], "much is not a size such as 500M or 10G"),
        (["--storage-quota", "messenger=99999999999G"], "is not a size"),
        (["--storage-quota", "messenger=-1"], "-1 is not a size"),
        (["--upload-limit", "dunbar=0"], "0 is not a number of uploads"),
        (["--disk-reserve", "5%"], "--disk-reserve must be a size such as 2G, not '5%'"),
    ])
    func invalidBoundsAreRefusedWithAnExplanation(_ settings: [String], _ words: String) async throws {
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(["serve", "messenger", "--data", folder] + settings)
            #expect(await process.status() == 64)
            let errors = await process.standardError()
            #expect(errors.contains(words), "\(errors)")
        }
    }
}
