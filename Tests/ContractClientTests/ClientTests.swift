import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@testable import ContractClient

/// The client encodes requests, sends them, and decodes answers.
@Suite(.timeLimit(.minutes(30))) struct ClientTests {
    private func client(
        _ transport: ScriptedTransport, base: String = "https://api.example.com", credentials: (any Credentials)? = nil
    ) throws -> Client<Sample> {
        Client(
            baseURL: try #require(URL(string: base)), transport: transport, credentials: credentials, retry: .never)
    }

    private func refusal(_ body: () async throws -> Void) async throws -> APIError {
        try #require(await #expect(throws: APIError.self) { try await body() })
    }

    // MARK: Encoding

    @Test(arguments: [
        "https://api.example.com", "https://api.example.com/", "https://api.example.com/api",
        "https://api.example.com/api/", "http://localhost:8080/a%20b",
    ])
    func pathsAreAppendedToTheBase(_ base: String) async throws {
        let transport = ScriptedTransport(answer(.ok))
        try await client(transport, base: base).send(Sample.GetThing(id: "a/b ?&é", note: "x=1&y+z"))
        let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
        #expect(
            transport.requests.map(\.url.absoluteString)
                == [trimmed + "/things/a%2Fb%20%3F%26%C3%A9?note=x%3D1%26y%2Bz"])
    }

    @Test func aBodyIsJSON() async throws {
        let transport = ScriptedTransport(answer(.ok), answer(.noContent, ""))
        let client = try client(transport)
        #expect(try await client.send(Sample.PutThing(id: 7, name: "n")) == Sample.Thing(name: "thing"))
        try await client.send(Sample.DeleteThing(id: 7))
        let (put, delete) = (transport.requests[0], transport.requests[1])
        #expect(put.method == .put)
        #expect(put.headers[.contentType] == "application/json")
        #expect(put.headers[.accept] == "application/json")
        guard case .bytes(let bytes) = put.body else { return #expect(Bool(false), "no body") }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"name":"n"}"#)
        #expect(delete.method == .delete)
        #expect(delete.headers[.contentType] == nil)
        guard case .none = delete.body else { return #expect(Bool(false), "a body") }
    }

    @Test func onlyOperationsWithACallerGetTheToken() async throws {
        let transport = ScriptedTransport(answer(.ok), answer(.ok))
        let session = TokenSession(
            store: MemoryTokenStore(tokens("a")), now: { start }, refresh: { _ in throw SignedOut() })
        let client = try client(transport, credentials: session)
        try await client.send(Sample.GetThing(id: "1"))
        try await client.send(Sample.PutThing(id: 1, name: "n"))
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer a", nil])
    }

    @Test func withoutASessionNothingIsSent() async throws {
        let transport = ScriptedTransport()
        let session = TokenSession(store: MemoryTokenStore(), refresh: { _ in throw SignedOut() })
        let client = try client(transport, credentials: session)
        await #expect(throws: SignedOut()) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.isEmpty)
    }

    @Test func invalidRequestsAreNotSent() async throws {
        let transport = ScriptedTransport()
        let client = try client(transport)
        let error = try await refusal { try await client.send(Sample.AddThing(name: "")) }
        #expect(error.status == .badRequest)
        #expect(error.message == "name required")
        #expect(error.requestID == nil)
        #expect(transport.requests.isEmpty)
    }

    // MARK: Idempotency keys

    @Test func aKeyIsSentWhereItIsHonoured() async throws {
        let transport = ScriptedTransport(answer(.created), answer(.created), answer(.created), answer(.ok))
        let client = try client(transport)
        try await client.send(Sample.AddThing(name: "a"))
        try await client.send(Sample.AddThing(name: "a"))
        _ = try await client.answer(Sample.AddThing(name: "a"), idempotencyKey: "my own")
        _ = try await client.answer(Sample.Act(name: "a"), idempotencyKey: "of no use")
        let keys = transport.requests.map { $0.headers[.idempotencyKey] }
        #expect(UUID(uuidString: try #require(keys[0])) != nil)
        #expect(UUID(uuidString: try #require(keys[1])) != nil)
        #expect(keys[0] != keys[1])
        #expect(keys[2...] == ["my own", nil])
    }

    // MARK: Decoding

    @Test func anAnswerHasItsStatusAndHeaders() async throws {
        let transport = ScriptedTransport(answer(.ok, headers: [.idempotentReplayed: "true"]))
        let answer = try await client(transport).answer(Sample.AddThing(name: "a"))
        #expect(answer.status == .ok)
        #expect(answer.headers[.idempotentReplayed] == "true")
        guard case .output(let thing) = answer.content else { return #expect(Bool(false), "no output") }
        #expect(thing.name == "thing")
    }

    @Test func aRefusalIsInTheAPIsWords() async throws {
        let transport = ScriptedTransport(
            answer(
                .tooManyRequests, #"{"error":"Slow down","more":[1]}"#,
                headers: [.requestID: "r1", .retryAfter: "42"]))
        let client = try client(transport)
        let error = try await refusal { try await client.send(Sample.PutThing(id: 1, name: "n")) }
        #expect(error.status == .tooManyRequests)
        #expect(error.message == "Slow down")
        #expect(error.isFromAPI)
        #expect(error.requestID == "r1")
        #expect(error.retryAfter == 42)
        #expect(String(decoding: error.body, as: UTF8.self) == #"{"error":"Slow down","more":[1]}"#)
        #expect(error.localizedDescription == "Slow down")
        #expect("\(error)" == "429 Slow down")
    }

    @Test(arguments: ["", "<html>Bad Gateway</html>", "{}", #"{"error":1}"#, "null"])
    func aRefusalOfAProxyIsRecognised(_ body: String) async throws {
        let client = try client(ScriptedTransport(answer(.badGateway, body, headers: [.retryAfter: "soon"])))
        let error = try await refusal { try await client.send(Sample.PutThing(id: 1, name: "n")) }
        #expect(error.status == .badGateway)
        #expect(!error.isFromAPI)
        #expect(
            "\(error)" == "502 Unexpected answer from https://api.example.com: did a proxy answer in its place?")
        #expect(error.message == error.localizedDescription)
        #expect(error.retryAfter == nil)
    }

    /// The address is the one that was configured, without what it may keep secret.
    @Test(arguments: [
        ("http://127.0.0.1:8082", "http://127.0.0.1:8082"), ("http://127.0.0.1:8082/", "http://127.0.0.1:8082"),
        ("https://example.com/a/api", "https://example.com/a/api"),
        ("https://me:secret@example.com:8443/api?token=secret#top", "https://example.com:8443/api"),
    ])
    func aRefusalOfAnotherServerNamesIt(_ base: String, _ named: String) async throws {
        for status in [HTTPResponse.Status.notFound, .badRequest, .methodNotAllowed] {
            let client = try client(ScriptedTransport(answer(status, #"{"message":"Not found"}"#)), base: base)
            let error = try await refusal { try await client.send(Sample.PutThing(id: 1, name: "n")) }
            #expect(!error.isFromAPI)
            #expect("\(error)" == "\(status.code) Unexpected answer from \(named): is it a Sample?")
        }
    }

    @Test(arguments: ["", "null", "[]", "{", #"{"nom":"x"}"#])
    func anAnswerThatIsNotThePromisedOneIsUnreadable(_ body: String) async throws {
        let client = try client(ScriptedTransport(answer(.ok, body)))
        let error = await #expect(throws: UnreadableAnswer.self) {
            try await client.send(Sample.PutThing(id: 1, name: "n"))
        }
        #expect(error?.status == .ok)
        #expect(error?.body == Array(body.utf8))
    }

    @Test func aRedirectIsAnAnswerWhereTheContractSaysSo() async throws {
        let transport = ScriptedTransport(answer(.found, "", headers: [.location: "https://elsewhere/x"]))
        let answer = try await client(transport).answer(Sample.Follow(id: 1))
        #expect(answer.status == .found)
        #expect(answer.headers[.location] == "https://elsewhere/x")
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [HTTPResponse.Status.found, .movedPermanently, .temporaryRedirect, .notModified, .continue])
    func aRedirectIsNotFollowed(_ status: HTTPResponse.Status) async throws {
        let transport = ScriptedTransport(answer(status, headers: [.location: "https://elsewhere/x"]))
        let client = try client(transport)
        let error = try await refusal { try await client.send(Sample.PutThing(id: 1, name: "n")) }
        #expect(error.status == status)
        #expect(transport.requests.count == 1)
    }

    // MARK: Rejected tokens

    /// Returns a session whose renewals are answered by these steps, and the number of renewals.
    private static func renewing(_ steps: ScriptedTransport.Step...) -> (TokenSession, NIOLockedValueBox<Int>) {
        let count = NIOLockedValueBox(0)
        let refresh: @Sendable (String) async throws -> TokenSession.Renewed = { _ in
            let turn = count.withLockedValue { count in
                count += 1
                return count - 1
            }
            let response = try await steps[turn](TransportRequest(method: .post, url: URL(fileURLWithPath: "/")))
            if response.status != .ok { throw APIError(response, api: Sample.self, from: URL(fileURLWithPath: "/")) }
            return .init(accessToken: turn == 0 ? "new" : "new \(turn)", expiresIn: 3600)
        }
        let store = MemoryTokenStore(tokens("old"))
        return (TokenSession(store: store, now: { start }, refresh: refresh), count)
    }

    /// The server has not acted yet, so even a POST without a key is sent again.
    @Test func aRejectedTokenIsRenewedOnceAndTheRequestRepeated() async throws {
        let transport = ScriptedTransport(answer(.unauthorized), answer(.ok))
        let (session, renewals) = Self.renewing(answer(.ok))
        try await client(transport, credentials: session).send(Sample.Act(name: "a"))
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(renewals.withLockedValue { $0 } == 1)
    }

    @Test func aNewTokenThatIsRejectedTooIsARefusal() async throws {
        let transport = ScriptedTransport(
            answer(.unauthorized), answer(.unauthorized, #"{"error":"Still no"}"#), answer(.ok))
        let (session, renewals) = Self.renewing(answer(.ok), answer(.ok))
        let client = try client(transport, credentials: session)
        let error = try await refusal { try await client.send(Sample.GetThing(id: "1")) }
        #expect(error.status == .unauthorized)
        #expect(error.message == "Still no")
        #expect(transport.requests.count == 2)
        // The next request does not use the rejected token again.
        try await client.send(Sample.GetThing(id: "1"))
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new", "Bearer new 1"])
        #expect(renewals.withLockedValue { $0 } == 2)
    }

    /// The session ends after the renewal and before the repeat.
    @Test func aSessionThatEndsMeanwhileIsSignedOut() async throws {
        let transport = ScriptedTransport(answer(.unauthorized), answer(.unauthorized))
        let (session, _) = Self.renewing(answer(.ok), Self.refused)
        let client = try client(transport, credentials: session)
        await #expect(throws: SignedOut()) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 2)
    }

    private static let refused = answer(.unauthorized, #"{"error":"Invalid or expired refresh token"}"#)

    @Test func theRepeatHasTheSameKey() async throws {
        let transport = ScriptedTransport(answer(.unauthorized), answer(.created))
        let (session, _) = Self.renewing(answer(.ok))
        try await client(transport, credentials: session).send(Sample.AddThing(name: "a"))
        let keys = transport.requests.map { $0.headers[.idempotencyKey] }
        #expect(keys[0] != nil)
        #expect(keys[0] == keys[1])
    }

    @Test func aRefusedRenewalIsSignedOut() async throws {
        let transport = ScriptedTransport(answer(.unauthorized))
        let (session, _) = Self.renewing(Self.refused)
        let client = try client(transport, credentials: session)
        await #expect(throws: SignedOut()) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 1)
    }

    @Test func aRenewalThatFailsInTheNetworkThrowsItsError() async throws {
        let transport = ScriptedTransport(answer(.unauthorized))
        let (session, _) = Self.renewing(offline)
        let client = try client(transport, credentials: session)
        await #expect(throws: URLError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(try await session.current != nil)
    }

    private func patient(
        _ transport: ScriptedTransport, _ session: TokenSession, _ waits: Waits = Waits()
    ) throws -> Client<Sample> {
        Client(
            baseURL: try #require(URL(string: "https://api.example.com")), transport: transport, credentials: session,
            retry: waits.retry())
    }

    /// A 401 must not reach the app because the network failed while the token was renewed, nor is the rejected token
    /// sent again. The server has not acted, so even a POST without a key is sent again.
    @Test func aRenewalThatFailedInTheNetworkIsRetried() async throws {
        let transport = ScriptedTransport(answer(.unauthorized), answer(.ok))
        let (session, renewals) = Self.renewing(offline, answer(.badGateway), answer(.ok))
        try await patient(transport, session).send(Sample.Act(name: "a"))
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new 2"])
        #expect(renewals.withLockedValue { $0 } == 3)
    }

    @Test func aRenewalsRetryAfterIsHonoured() async throws {
        let transport = ScriptedTransport(answer(.unauthorized), answer(.ok))
        let (session, _) = Self.renewing(answer(.tooManyRequests, "{}", headers: [.retryAfter: "7"]), answer(.ok))
        let waits = Waits()
        try await patient(transport, session, waits).send(Sample.GetThing(id: "1"))
        #expect(waits.all == [.seconds(7.5)])
    }

    /// Another request renewed the token while this one waited.
    @Test func aRepeatHasTheCurrentToken() async throws {
        let (session, _) = Self.renewing(answer(.ok))
        let transport = ScriptedTransport(
            { _ in
                _ = try await session.renew("old")
                throw URLError(.networkConnectionLost)
            }, answer(.ok))
        try await patient(transport, session).send(Sample.GetThing(id: "1"))
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test(arguments: [answer(.unauthorized), offline])
    func aRepeatIsNeverSentAsAnotherUser(_ trouble: @escaping ScriptedTransport.Step) async throws {
        let (session, _) = Self.renewing()
        let transport = ScriptedTransport { request in
            try await session.replace(tokens("theirs", user: "8"))
            return try await trouble(request)
        }
        let client = try patient(transport, session)
        await #expect(throws: SignedOut()) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 1)
    }
}
