import Backend
import Contract
import ContractCheck
import ContractClient
import ContractExamples
import ContractServer
import Database
import Foundation
import GuestbookCheck
import GuestbookClient
import GuestbookExamples
import GuestbookMocks
import GuestbookService
import HTTPTypes
import Testbed
import Testing

typealias GuestbookNode = TestNode<HostedGuestbook>

extension TestNode {
    fileprivate var server: ContractCheck.Server { .init(baseURL: baseURL, transport: transport, sockets: sockets) }
}

/// Runs a test on a guestbook with an empty database.
private func withGuestbook(on stack: Stack, _ body: (GuestbookNode) async throws -> Void) async throws {
    try await withNodes(of: HostedGuestbook(), on: stack) { try await body($0[0]) }
}

/// `Examples/Guestbook`: an API on Concord's products alone.
@Suite(.timeLimit(.minutes(30))) struct GuestbookTests {
    private func client(of host: GuestbookNode) -> GuestbookClient {
        GuestbookClient(
            baseURL: host.baseURL, transport: host.transport, sockets: host.sockets, retry: .never)
    }

    private func signUp(_ name: String, at host: GuestbookNode) async throws -> GuestbookClient {
        let client = client(of: host)
        try await client.send(Guestbook.SignUp(name: name, password: "open sesame"))
        try await client.signIn(name: name, password: "open sesame")
        return client
    }

    // MARK: The contract

    @Test(arguments: Stack.all)
    func theServerKeepsTheContract(_ stack: Stack) async throws {
        try await withGuestbook(on: stack) { host in
            let report = try await Checker(GuestbookScenarios.checklist).run(on: host.server)
            #expect(report.failed + report.skipped == 0 && report.ended == nil, "\(report.text)")
            #expect(report.passed == 14)
            #expect(report.leftBehind == ["accounts": 13])
        }
    }

    @Test func theCheckSeesEveryOperation() {
        let clauses = Set(GuestbookScenarios.checklist.items.map(\.clause))
        #expect(clauses == Set(Guestbook.endpoints.map { $0.signature } + ["/live", "Every request"]))
    }

    @Test func theExamplesAreOfTheTypes() {
        #expect(GuestbookExamples.all.operations.map(\.signature) == Guestbook.endpoints.map { $0.signature })
        for (example, endpoint) in zip(GuestbookExamples.all.operations, Guestbook.endpoints) {
            #expect(example.takesKey == endpoint.route.acceptsIdempotencyKey)
            #expect(example.isOpen == (endpoint is any OpenEndpoint.Type))
            #expect(example.answers.map(\.status) == [endpoint.route.status.code])
        }
    }

    @Test func whatIsMalformedIsRefusedInTheContractsWords() async throws {
        try await withGuestbook(on: Stack(.sqlite, .live)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let anna = try await signUp("anna", at: host)
            let token = try #require(try await anna.session.current?.accessToken)
            let users = try await raw.send(.post, "/users", body: #"{"name":"An na","password":"open sesame"}"#)
            try users.refused(400, "Name", as: ["error": "Name must be 3-32 of a-z, 0-9 and _"])
            let short = try await raw.send(.post, "/users", body: #"{"name":"bert","password":"short"}"#)
            try short.refused(400, "Password", as: ["error": "Password must be 8-128 characters"])
            for body in [#"{}"#, #"{"text":""}"#, #"{"text":7}"#] {
                let entry = try await raw.send(.post, "/entries", token: token, body: body)
                try entry.refused(400, "Text", as: ["error": "Text must be 1-500 characters"])
            }
            let stranger = try await raw.send(.post, "/entries", body: #"{"text":"Hello"}"#)
            try stranger.refused(401, "no token", as: ["error": "Invalid or expired token"])
            for query in ["limit=0", "limit=101", "limit=many"] {
                let list = try await raw.send(.get, "/entries?\(query)")
                try list.refused(400, "limit", as: ["error": "limit must be 1-100"])
            }
        }
    }

    @Test(arguments: Stack.all)
    func aUserWritesThirtyEntriesInAMinuteAtMost(_ stack: Stack) async throws {
        try await withGuestbook(on: stack) { host in
            let anna = try await signUp("anna", at: host)
            for index in 0..<30 { try await anna.send(Guestbook.WriteEntry(text: "\(index)")) }
            let refusal = try await expectRefusal(429, "Too many requests, please try again later") {
                try await anna.send(Guestbook.WriteEntry(text: "one more"))
            }
            #expect(refusal.headers[.retryAfter] == "60")
            host.clock.advance(by: .seconds(60))
            try await anna.send(Guestbook.WriteEntry(text: "one more"))
        }
    }

    @Test func noUserHasMoreThanAThousandEntries() async throws {
        try await withGuestbook(on: Stack(.sqlite, .inProcess)) { host in
            let anna = try await signUp("anna", at: host)
            let first = try await anna.send(Guestbook.WriteEntry(text: "first"))
            try await host.database.write { db in
                for _ in 1..<1000 {
                    try db.run("INSERT INTO entries (author, text, created_at) VALUES (\(first.author.id), 'more', 0)")
                }
            }
            try await expectRefusal(409, "You have 1000 entries: delete one first") {
                try await anna.send(Guestbook.WriteEntry(text: "one more"))
            }
            try await anna.send(Guestbook.DeleteEntry(id: first.id))
            try await anna.send(Guestbook.WriteEntry(text: "one more"))
        }
    }

    // MARK: What every session API has

    /// Databases that have taken the step are compared with it: `SessionAccounts.tables` never changes.
    @Test func theTablesOfAccountsNeverChange() {
        #expect(
            HostedGuestbook().schema.migrations.map(\.digest)
                == ["a977e137d4d99b44b005d9282e6d409f8d9b77b42a60bad0bcd6bbe80ebe2304"])
    }

    @Test func aServiceThatLeavesOperationsOutDoesNotStart() async throws {
        let error = await #expect(throws: MissingHandlers.self) {
            try await withNodes(of: IncompleteGuestbook(), on: Stack(.sqlite, .inProcess)) { _ in }
        }
        #expect(
            error?.description == "The routes of guestbook have no handler for POST /sessions, POST /users,"
                + " POST /entries, GET /entries, DELETE /entries/{id}")
    }

    @Test(arguments: Stack.all)
    func aDeletedAccountLeavesNothingBehind(_ stack: Stack) async throws {
        try await withGuestbook(on: stack) { host in
            let anna = try await signUp("anna", at: host)
            let accounts = host.service.accounts
            func delete(_ password: String) async throws {
                let info = RequestInfo(id: "test", address: ClientAddress("127.0.0.1"), headers: [:])
                try await accounts.confirm(password, of: 1, info) { _, db in
                    try accounts.forget(1, logins: ["anna"], in: db)
                    try db.run("DELETE FROM users WHERE id = 1")
                }
            }
            let wrong = await #expect(throws: Problem.self) { try await delete("close sesame") }
            #expect(wrong?.status == .forbidden && wrong?.message == "Wrong password")
            try await anna.send(Guestbook.WriteEntry(text: "still here"))
            try await host.database.write { _ = try $0.run("DELETE FROM entries") }
            try await delete("open sesame")
            await #expect(throws: SignedOut.self) { try await anna.send(Guestbook.WriteEntry(text: "gone")) }
            try await expectRefusal(401, "Wrong name or password") {
                try await anna.signIn(name: "anna", password: "open sesame")
            }
            let left = try await host.database.read { db in
                try ["users", "sessions", "refresh_tokens", "familiar_addresses"].filter {
                    try db.exists("SELECT 1 FROM \(SQL(trusted: $0))")
                }
            }
            #expect(left == [])
        }
    }

    // MARK: The socket

    @Test func anEntryIsHeardOnEveryNode() async throws {
        guard Stack.postgreSQL != nil else { return }
        try await withNodes(2, of: HostedGuestbook(), on: Stack(.postgreSQL, .live)) { nodes in
            let (first, second) = (nodes[0], nodes[1])
            let (anna, bert) = (try await signUp("anna", at: first), try await signUp("bert", at: second))
            let token = try #require(try await bert.session.current?.accessToken)
            let url = second.baseURL.appendingPathComponent("live")
            let socket = RawSocket(
                try await second.sockets.open(
                    url, headers: [.authorization: "Bearer \(token)"], maximumMessageSize: 65_536))
            try await socket.waitUntilHandled()
            let entry = try await anna.send(Guestbook.WriteEntry(text: "Hello"))
            try await socket.expect([
                "type": "added",
                "element": [
                    "id": entry.id.json, "author": ["id": entry.author.id.json, "name": "anna"], "text": "Hello",
                    "createdAt": .string("\(entry.createdAt)"),
                ],
            ])
            await socket.close()
        }
    }

    @Test(arguments: Stack.all)
    func nothingIsHeardTwiceOrMissed(_ stack: Stack) async throws {
        try await withGuestbook(on: stack) { host in
            let (anna, bert) = (try await signUp("anna", at: host), try await signUp("bert", at: host))
            try await anna.send(Guestbook.WriteEntry(text: "before"))
            let network = BadNetwork(host.server)
            let listener = GuestbookClient(
                baseURL: host.baseURL, store: MemoryTokenStore(try await bert.session.current),
                transport: network, sockets: network)
            var entries = listener.live(
                at: "live", after: listener.entries(), pacing: .init(base: .milliseconds(1), cap: .milliseconds(1))
            ).makeAsyncIterator()
            // The feed begins with the first look at the list.
            await network.answered(1)
            try await anna.send(Guestbook.WriteEntry(text: "one"))
            #expect(try await entries.next()?.text == "one")
            // Whatever is written while there is no socket is read by the next one.
            await network.breakSockets()
            for text in ["two", "three"] { try await anna.send(Guestbook.WriteEntry(text: text)) }
            #expect(try await entries.next()?.text == "two")
            #expect(try await entries.next()?.text == "three")
            await network.answered(2)
            try await anna.send(Guestbook.WriteEntry(text: "four"))
            #expect(try await entries.next()?.text == "four")
        }
    }

    @Test func aSocketEndsWithItsSession() async throws {
        try await withGuestbook(on: Stack(.sqlite, .live)) { host in
            let (anna, bert) = (try await signUp("anna", at: host), try await signUp("bert", at: host))
            let token = try #require(try await bert.session.current?.accessToken)
            let url = host.baseURL.appendingPathComponent("live")
            func open(_ headers: HTTPFields) async throws -> RawSocket {
                RawSocket(try await host.sockets.open(url, headers: headers, maximumMessageSize: 65_536))
            }
            await #expect(throws: SocketRefused.self) { _ = try await open([:]) }
            let socket = try await open([.authorization: "Bearer \(token)"])
            try await socket.waitUntilHandled()
            try await host.database.write { db in
                try db.run("DELETE FROM sessions WHERE user_id = (SELECT id FROM users WHERE name = 'bert')")
            }
            // A session is looked up once a second at most.
            host.clock.advance(by: .seconds(2))
            try await anna.send(Guestbook.WriteEntry(text: "Bert must not hear this"))
            try await socket.expectClose(4001)
        }
    }

    // MARK: The mock

    @Test func theMockAnswersEveryOperation() async throws {
        let guestbook = GuestbookMock().client()
        #expect(try await guestbook.send(Guestbook.SignUp(name: "anna", password: "open sesame")).name == "anna")
        #expect(try await guestbook.signIn(name: "anna", password: "open sesame") == 1)
        #expect(try await guestbook.send(SessionRenewal<Guestbook>(refreshToken: "any")).expiresIn == 3600)
        let entry = try await guestbook.send(Guestbook.WriteEntry(text: "Lovely!"))
        #expect(entry.id == 7 && entry.author.name == "anna" && entry.text == "Lovely!")
        #expect(try await guestbook.send(Guestbook.ListEntries()) == [entry])
        try await guestbook.send(Guestbook.DeleteEntry(id: 7))
        let stranger = GuestbookMock().client(signedIn: false)
        await #expect(throws: SignedOut.self) { try await stranger.send(Guestbook.WriteEntry(text: "Hello")) }
        await #expect(throws: APIError.self) { try await guestbook.send(Guestbook.WriteEntry(text: "")) }
    }

    @Test func theMocksSocketSaysWhatATestPushes() async throws {
        let mock = GuestbookMock()
        let guestbook = mock.client()
        let known = try await guestbook.send(Guestbook.ListEntries())[0]
        let new = Guestbook.Entry(id: 8, author: known.author, text: "Hello", createdAt: known.createdAt)
        let pushing = Task {
            while true {
                try mock.push(Added(new))
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        defer { pushing.cancel() }
        for try await entry in guestbook.live() {
            #expect(entry == new)
            return
        }
        Issue.record("the socket has ended")
    }
}

/// A guestbook whose service has the handlers of sessions alone.
private struct IncompleteGuestbook: HostedAPI {
    struct Service: SessionService {
        let accounts: SessionAccounts<Users>
        func routes() -> Routes<Guestbook, GuestbookService.Caller> { accounts.routes(of: Guestbook.self) }
    }

    var title: String { HostedGuestbook().title }
    var port: Int { HostedGuestbook().port }
    var keys: [HostedKey] { HostedGuestbook().keys }
    var schema: Schema { HostedGuestbook().schema }

    func makeService(on platform: Platform) throws -> Service {
        Service(accounts: try HostedGuestbook().makeService(on: platform).accounts)
    }
}

/// A network whose sockets break when a test asks for it.
private actor BadNetwork: Transport, SocketTransport {
    private let server: ContractCheck.Server
    private var sockets: [any Socket] = []
    private var count = 0
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ server: ContractCheck.Server) { self.server = server }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await server.transport.send(request, progress: progress)
        count += 1
        for waiter in waiting where waiter.count <= count { waiter.continuation.resume() }
        waiting.removeAll { $0.count <= count }
        return response
    }

    /// Returns once so many requests have been answered.
    func answered(_ number: Int) async {
        if count >= number { return }
        await withCheckedContinuation { waiting.append((number, $0)) }
    }

    func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let socket = try await server.sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        sockets.append(socket)
        return socket
    }

    func breakSockets() async {
        for socket in sockets { await socket.close(code: 1000, reason: "") }
        sockets = []
    }
}
