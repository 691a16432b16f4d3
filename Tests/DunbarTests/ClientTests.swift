import Contract
import DunbarClient
import DunbarMocks
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The SDK wakes the server up, retries requests, describes errors, and keeps the session.
@Suite(.timeLimit(.minutes(30))) struct DunbarClientTests {
    /// A server with a script of answers for each path, which records the requests.
    private final class Server: Transport {
        enum Outcome: Sendable {
            case answer(Int, String = "{}", HTTPFields = [:])
            case failure(URLError.Code)
            /// No answer until the request is cancelled.
            case silence
        }

        private struct State {
            var outcomes: [String: [Outcome]] = [:]
            var requests: [TransportRequest] = []
        }

        private let state = NIOLockedValueBox(State())

        /// Creates a server with outcomes by the path under the base. The last outcome of a path is repeated.
        init(_ outcomes: [String: [Outcome]]) { state.withLockedValue { $0.outcomes = outcomes } }

        var lines: [String] {
            state.withLockedValue { $0.requests.map { "\($0.method) \($0.url.path.dropFirst("/api".count))" } }
        }
        var requests: [TransportRequest] { state.withLockedValue(\.requests) }

        func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
            let path = String(request.url.path.dropFirst("/api".count))
            let outcome = state.withLockedValue { state -> Outcome in
                state.requests.append(request)
                guard var list = state.outcomes[path], let first = list.first else { return .answer(200) }
                if list.count > 1 { list.removeFirst() }
                state.outcomes[path] = list
                return first
            }
            switch outcome {
            case .answer(let status, let body, var headers):
                headers[.contentType] = "application/json"
                return TransportResponse(status: .init(code: status), headers: headers, body: Array(body.utf8))
            case .failure(let code): throw URLError(code)
            case .silence:
                try await Task.sleep(for: .seconds(600))
                throw URLError(.timedOut)
            }
        }
    }

    private final class Waits: Sendable {
        let taken = NIOLockedValueBox<[Duration]>([])
        var list: [Duration] { taken.withLockedValue { $0 } }
    }

    private static let user =
        #"{"user":{"id":1,"username":"jdoe","email":"j@x","bio":null,"photo":null,"isAdmin":false,"createdAt":"2025-01-01T00:00:00Z","isPrivate":true,"displayName":"J"},"isFollowing":false,"isPending":false}"#

    private func client(
        _ server: Server, waits: Waits = Waits(), store: any CookieStore = MemoryCookieStore(),
        patience: Duration = .seconds(20), isConnected: Bool = true
    ) throws -> DunbarClient {
        var retry = Retry.dunbar
        retry.sleep = { wait in
            waits.taken.withLockedValue { $0.append(wait) }
            // The time-out for waking the server is not a wait between attempts.
            if wait == patience { try await Task.sleep(for: .milliseconds(patience == .zero ? 0 : 20)) }
        }
        return DunbarClient(
            baseURL: try #require(URL(string: "https://dunbar.example/api")), store: store, transport: server,
            retry: retry, patience: patience, isConnected: { isConnected })
    }

    private func failure(_ body: () async throws -> Void) async -> APIError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? APIError
        }
    }

    // MARK: Waking up

    @Test func theServerIsWokenBeforeTheFirstRequestAndNotAgain() async throws {
        let server = Server(["/feed": [.answer(200, "[]")]])
        let client = try client(server)
        for _ in 0..<2 { #expect(try await client.send(Dunbar.GetFeed()) == []) }
        #expect(server.lines == ["GET /storage/health", "GET /feed", "GET /feed"])
    }

    @Test func manyCallsAtOnceWakeTheServerOnce() async throws {
        let server = Server(["/feed": [.answer(200, "[]")]])
        let client = try client(server)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try? await client.send(Dunbar.GetFeed()) } }
        }
        #expect(server.lines.filter { $0 == "GET /storage/health" }.count == 1)
        #expect(server.lines.first == "GET /storage/health")
    }

    @Test func afterItCouldNotBeReachedItIsWokenAgain() async throws {
        let server = Server(["/feed": [.answer(200, "[]"), .failure(.networkConnectionLost), .answer(200, "[]")]])
        let client = try client(server)
        for _ in 0..<2 { #expect(try await client.send(Dunbar.GetFeed()) == []) }
        #expect(
            server.lines == ["GET /storage/health", "GET /feed", "GET /feed", "GET /storage/health", "GET /feed"])
    }

    @Test(arguments: [.answer(503), .failure(.cannotConnectToHost), .silence] as [Server.Outcome])
    private func aServerThatDoesNotWakeUpIsUnavailable(_ outcome: Server.Outcome) async throws {
        let server = Server(["/storage/health": [outcome]])
        let client = try client(server)
        let error = await failure { try await client.signIn(username: "a", password: "b") }
        guard case .serverUnavailable? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(error?.isRetryable == true)
        // A sign-in must not be sent to a server that may not answer.
        #expect(server.lines == ["GET /storage/health"])
        #expect(try await client.wakeUp() == false)
    }

    @Test func aServerWithoutHealthIsAskedNevertheless() async throws {
        let server = Server([
            "/storage/health": [.answer(404, #"{"error":"Not found"}"#)],
            "/feed": [.answer(404, #"{"error":"Not found"}"#)],
        ])
        let client = try client(server)
        #expect(try await client.wakeUp() == false)
        let error = await failure { try await client.send(Dunbar.GetFeed()) }
        #expect(error?.message == "Unexpected answer from https://dunbar.example/api: is it a Dunbar?")
    }

    @Test func aCallThatIsCancelledWhileTheServerWakesUpEndsAtOnce() async throws {
        let silent = SilentTransport()
        let client = DunbarClient(
            baseURL: try #require(URL(string: "https://dunbar.example/api")), transport: silent,
            patience: .seconds(86_400), isConnected: { true })
        let (request, waking) = (Task { try await client.send(Dunbar.GetFeed()) }, Task { try await client.wakeUp() })
        await silent.asked()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        waking.cancel()
        await #expect(throws: CancellationError.self) { try await waking.value }
        #expect(silent.requests == 1)
    }

    @Test func aCancelledRequestDoesNotPutTheServerToSleep() async throws {
        let server = Server(["/feed": [.answer(200, "[]"), .silence, .answer(200, "[]")]])
        let client = try client(server)
        #expect(try await client.send(Dunbar.GetFeed()) == [])
        let request = Task { try await client.send(Dunbar.GetFeed()) }
        while server.lines.count < 3 { await Task.yield() }
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(try await client.send(Dunbar.GetFeed()) == [])
        #expect(server.lines == ["GET /storage/health", "GET /feed", "GET /feed", "GET /feed"])
    }

    @Test func aServerThatWakesUpLateIsWaitedFor() async throws {
        let server = Server(["/storage/health": [.answer(503), .answer(200)], "/feed": [.answer(200, "[]")]])
        let waits = Waits()
        #expect(try await client(server, waits: waits).send(Dunbar.GetFeed()) == [])
        #expect(server.lines == ["GET /storage/health", "GET /storage/health", "GET /feed"])
        #expect(waits.list.contains(.seconds(2)))
    }

    @Test func withoutANetworkNothingIsSent() async throws {
        let server = Server([:])
        let error = await failure { try await client(server, isConnected: false).send(Dunbar.GetFeed()) }
        guard case .networkUnavailable? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(server.lines == [])
        #expect(NetworkMonitor.shared.isConnected)
    }

    // MARK: Repeats

    private static let schedule: [Duration] = [.seconds(2), .seconds(3), .milliseconds(4500)]

    @Test(arguments: [408, 429, 500, 501, 502, 503, 504, 599])
    func transientErrorsAreRetriedThreeTimes(_ status: Int) async throws {
        let server = Server(["/feed": [.answer(status, #"{"message":"Later"}"#)]])
        let waits = Waits()
        let error = await failure { try await client(server, waits: waits).send(Dunbar.GetFeed()) }
        #expect(error?.status == status)
        #expect(error?.message == "Later")
        #expect(waits.list.filter { $0 != .seconds(20) } == Self.schedule)
        #expect(server.lines.filter { $0 == "GET /feed" }.count == 4)
    }

    @Test func theServerMayGiveATime() async throws {
        let server = Server([
            "/feed": [.answer(429, "{}", [.retryAfter: "7"]), .answer(503, "{}", [.retryAfter: "61"])]
        ])
        let waits = Waits()
        let error = await failure { try await client(server, waits: waits).send(Dunbar.GetFeed()) }
        #expect(error?.status == 503)
        #expect(waits.list.filter { $0 != .seconds(20) } == [.seconds(7)])
    }

    @Test(arguments: [400, 401, 403, 404, 409, 422])
    func refusedRequestsAreNotRepeated(_ status: Int) async throws {
        let server = Server(["/posts/1": [.answer(status)]])
        _ = await failure { try await client(server).send(Dunbar.DeletePost(id: 1)) }
        #expect(server.lines.filter { $0 == "DELETE /posts/1" }.count == 1)
    }

    /// A creation is repeated under one key. A POST without a key is never repeated.
    @Test func aPOSTIsRepeatedOnlyUnderAKey() async throws {
        let server = Server(["/posts": [.answer(500)], "/users/2/follow": [.answer(500)], "/users/2": [.answer(500)]])
        let client = try client(server)
        _ = await failure { try await client.post("Hello") }
        _ = await failure { try await client.follow(2) }
        _ = await failure { try await client.send(Dunbar.UpdateUser(id: 2, bio: "x")) }
        let posts = server.requests.filter { $0.url.path == "/api/posts" }
        #expect(posts.count == 4)
        #expect(Set(posts.map { $0.headers[.idempotencyKey] }).count == 1)
        #expect(posts[0].headers[.idempotencyKey]?.isEmpty == false)
        #expect(server.lines.filter { $0 == "POST /users/2/follow" }.count == 1)
        #expect(server.lines.filter { $0 == "PATCH /users/2" }.count == 4)
    }

    // MARK: Failures

    @Test func theCasesOfTheContract() async throws {
        let server = Server([
            "/users/1": [.answer(404, #"{"message":"User not found"}"#)], "/users/2": [.answer(404, "<html>")],
            "/users/3": [.answer(200, "")], "/users/4": [.answer(200, "[]")],
            "/users/5": [.failure(.badServerResponse)],
            "/users/6": [.failure(.timedOut)], "/users/7": [.failure(.notConnectedToInternet)],
        ])
        let client = try client(server)
        var found: [String] = []
        for id in 1...7 {
            let error = await failure { try await client.send(Dunbar.GetUser(id: .init(Int64(id)))) }
            switch error {
            case .serverError(let status, let message): found.append("\(status) \(message ?? "-")")
            case .noData: found.append("no data")
            case .responseDecodingFailed: found.append("unreadable")
            case .unknownError: found.append("unknown")
            case .requestFailed(let error): found.append("\((error as? URLError)?.code.rawValue ?? 0)")
            case .networkUnavailable: found.append("no network")
            default: found.append("\(error as Any)")
            }
        }
        #expect(
            found == [
                "404 User not found", "404 Unexpected answer from https://dunbar.example/api: is it a Dunbar?",
                "no data",
                "unreadable", "unknown", "-1001", "no network",
            ])
        let refused = await failure { try await client.send(Dunbar.GetUser(id: 0)) }
        #expect(refused?.localizedDescription == "Server error (400): Invalid user ID")
    }

    @Test func retryableErrorsAreKnown() {
        struct Other: Error {}
        let cases: [(APIError, Bool, String)] = [
            (.invalidURL, false, "Invalid URL"), (.serverError(500, nil), true, "Server error (500)"),
            (.serverError(599, "x"), true, "Server error (599): x"),
            (.serverError(429, nil), false, "Server error (429)"),
            (.unauthorized, false, "You need to log in to continue"),
            (.noData, false, "The server returned an empty response"),
            (.networkUnavailable, true, "No internet connection available"),
            (
                .serverUnavailable, true,
                "The server is currently unavailable. It may be waking up, please try again."
            ), (.unknownError, false, "An unknown error occurred"), (.requestFailed(Other()), false, ""),
            (.responseDecodingFailed(Other()), false, ""),
        ]
        for (error, isRetryable, text) in cases {
            #expect(error.isRetryable == isRetryable, "\(error)")
            if !text.isEmpty { #expect(error.localizedDescription == text) }
        }
    }

    /// Servers of the contract alone may answer with text or nothing where no content is defined.
    @Test(arguments: ["", "{}", "OK", "Followed", #"{"success":true}"#, #"{"message":"Unfollowed"}"#])
    func anAnswerThatSaysNothingIsASuccess(_ body: String) async throws {
        let server = Server(["/users/2/unfollow": [.answer(200, body)], "/posts/1": [.answer(200, body)]])
        let client = try client(server)
        try await client.send(Dunbar.Unfollow(user: 2))
        try await client.send(Dunbar.DeletePost(id: 1))
    }

    // MARK: The session

    private static let cookie = StoredCookie(name: "dunbar.session", value: "old", expiresAt: nil, isSecure: true)

    @Test func aWrongPasswordEndsNoSession() async throws {
        let server = Server(["/login": [.answer(401, #"{"message":"Invalid username or password"}"#)]])
        let store = MemoryCookieStore([Self.cookie])
        let error = await failure { try await client(server, store: store).signIn(username: "a", password: "b") }
        #expect(error?.status == 401)
        #expect(error?.message == "Invalid username or password")
        #expect(server.lines == ["GET /storage/health", "POST /login"])
        #expect(await store.load() == [Self.cookie])
    }

    @Test func aRefusalEndsTheSessionOnlyWhenTheServerSaysSo() async throws {
        let refusal = Server.Outcome.answer(401, #"{"message":"Unauthorized"}"#)
        for (user, isOver) in [
            (Server.Outcome.answer(200, Self.user), false), (.answer(400), false), (refusal, true),
        ] {
            let server = Server(["/feed": [refusal], "/user": [user]])
            let store = MemoryCookieStore([Self.cookie])
            let error = await failure { try await client(server, store: store).send(Dunbar.GetFeed()) }
            if case .unauthorized? = error { #expect(isOver) } else { #expect(!isOver && error?.status == 401) }
            #expect(await store.load().isEmpty == isOver)
            #expect(server.lines == ["GET /storage/health", "GET /feed", "GET /user"])
        }
    }

    @Test func signingOutForgetsTheSessionEvenWithoutANetwork() async throws {
        let store = MemoryCookieStore([Self.cookie])
        let server = Server(["/logout": [.failure(.notConnectedToInternet)]])
        #expect(await failure { try await client(server, store: store).signOut() } != nil)
        #expect(await store.load() == [])
        #expect(server.requests.last?.headers[.cookie] == "dunbar.session=old")
    }

    @Test func deletingTheAccountForgetsTheSessionOnceItIsDone() async throws {
        let store = MemoryCookieStore([Self.cookie])
        let server = Server([
            "/account/delete": [.answer(400, #"{"message":"Invalid password"}"#), .answer(200, "")]
        ])
        let client = try client(server, store: store)
        #expect(await failure { try await client.deleteAccount(password: "x") }?.message == "Invalid password")
        #expect(await store.load() == [Self.cookie])
        try await client.deleteAccount(password: "y")
        #expect(await store.load() == [])
        #expect(server.lines == ["GET /storage/health", "POST /account/delete", "POST /account/delete"])
    }

    @Test func aFormNeverSaysItIsJSON() async throws {
        let server = Server(["/posts": [.answer(400)]])
        let client = try client(server)
        let picture = Upload(.bytes([1, 2]), filename: "a.jpg", contentType: "image/jpeg")
        _ = await failure { try await client.post("Hello", media: [picture, picture]) }
        _ = await failure { try await client.post("Hello") }
        let types = server.requests.filter { $0.method == .post }.map { $0.headers[.contentType] ?? "" }
        #expect(types.count == 2)
        #expect(types[0].hasPrefix("multipart/form-data; boundary="))
        #expect(types[1] == "application/json")
    }
}
