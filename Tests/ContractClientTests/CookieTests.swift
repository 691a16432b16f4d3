import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

/// A client stores the cookies that answers set, and sends them with requests.
@Suite(.timeLimit(.minutes(30))) struct CookieTests {
    private static let url = URL(string: "https://dunbar.example/api/user")!

    /// A server that answers by a script, and records the cookies that it received.
    private actor Server: Transport {
        var answers: [HTTPFields]
        var received: [String?] = []
        /// Runs before the answer to each request.
        let hold: @Sendable (Int) async throws -> Void

        init(_ answers: [HTTPFields], hold: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
            self.answers = answers
            self.hold = hold
        }

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            received.append(request.headers[.cookie])
            let answer = answers.isEmpty ? [:] : answers.removeFirst()
            try await hold(received.count)
            return TransportResponse(status: .ok, headers: answer)
        }
    }

    private func sending(
        _ answers: String?..., store: any CookieStore = MemoryCookieStore(), url: URL = url,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> [String?] {
        let server = Server(
            answers.map { answer in
                var headers = HTTPFields()
                headers[.setCookie] = answer
                return headers
            })
        let transport = CookieTransport(server, jar: CookieJar(store: store, now: now))
        for _ in answers { _ = try await transport.send(.init(method: .get, url: url), progress: nil) }
        return await server.received
    }

    private static let long = "session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"

    @Test func aCookieIsKeptAndSent() async throws {
        let store = MemoryCookieStore()
        #expect(try await sending(Self.long, nil, nil, store: store) == [nil, "session=abc", "session=abc"])
        #expect(await store.load().map(\.value) == ["abc"])
        // A new store with the same file stands for another launch of the app.
        #expect(try await sending(nil, store: store) == ["session=abc"])
    }

    @Test func aCookieIsReplacedAndRemoved() async throws {
        let store = MemoryCookieStore()
        let received = try await sending(
            Self.long, "session=def; Path=/; Max-Age=60", "session=; Path=/; Max-Age=0", nil, store: store)
        #expect(received == [nil, "session=abc", "session=def", nil])
        #expect(await store.load() == [])
    }

    @Test func aCookieThatRanOutIsNotSent() async throws {
        let store = MemoryCookieStore([
            .init(name: "a", value: "1", expiresAt: Date(timeIntervalSinceNow: -1), isSecure: false),
            .init(name: "b", value: "2", expiresAt: nil, isSecure: false),
        ])
        #expect(try await sending(nil, store: store) == ["b=2"])
    }

    @Test func aSecureCookieIsSentOverHTTPSOnly() async throws {
        let store = MemoryCookieStore([.init(name: "a", value: "1", expiresAt: nil, isSecure: true)])
        let plain = try #require(URL(string: "http://dunbar.example/api/user"))
        #expect(try await sending(nil, store: store, url: plain) == [nil])
        #expect(try await sending(nil, store: store) == ["a=1"])
    }

    /// A renewal of a session that has been replaced meanwhile is ignored, and so is its end.
    @Test(arguments: ["session=old; Path=/; Max-Age=60", "session=; Path=/; Max-Age=0"])
    func aLateAnswerDoesNotBringAnOldSessionBack(_ late: String) async throws {
        let store = MemoryCookieStore([.init(name: "session", value: "old", expiresAt: nil, isSecure: false)])
        let jar = CookieJar(store: store)
        let (gate, open) = AsyncStream<Void>.makeStream()
        let slow = Server([[.setCookie: late]]) { _ in for await _ in gate { break } }
        let request = TransportRequest(method: .get, url: Self.url)
        let answer = Task { try await CookieTransport(slow, jar: jar).send(request, progress: nil) }
        while await slow.received.isEmpty { await Task.yield() }
        let quick = CookieTransport(Server([[.setCookie: "session=new; Path=/; Max-Age=60"]]), jar: jar)
        _ = try await quick.send(request, progress: nil)
        open.yield()
        _ = try await answer.value
        #expect(await store.load().map(\.value) == ["new"])
    }

    @Test func aFileKeepsTokens() async throws {
        try await withTemporaryFolder { folder in
            let url = URL(fileURLWithPath: folder + "/cookies.json")
            #expect(try FileCookieStore(url).load() == [])
            #expect(try await sending(Self.long, nil, store: FileCookieStore(url)) == [nil, "session=abc"])
            #expect(try await sending(nil, store: FileCookieStore(url)) == ["session=abc"])
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await sending("session=; Max-Age=0", store: FileCookieStore(url)) == ["session=abc"])
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }
}
