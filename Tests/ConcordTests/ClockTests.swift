import Backend
import Contract
import ContractCheck
import ContractClient
import ContractServer
import Database
import DeuceDiaryTestHost
import DunbarTestHost
import Foundation
import GTSDTestHost
import HTTPTypes
import MessengerTestHost
import MonicaService
import MonicaTestHost
import Testbed
import Testing

/// A server whose clock was wrong for a while, and is set right: what was stored meanwhile is not believed, whether the
/// server ran on or was started again. Sign-ins work, limits end within their own windows, and nothing waits for the wrong
/// time.
@Suite(.timeLimit(.minutes(30))) struct ClockTests {
    /// How the clock was wrong, and what happened when it was set right.
    struct Case: Sendable, CustomTestStringConvertible {
        let error: Duration
        let restarts: Bool

        var testDescription: String { "\(error > .zero ? "ahead" : "behind")\(restarts ? ", restarted" : "")" }

        static let all = [true, false].flatMap { isAhead in
            [true, false].map { Case(error: .seconds(isAhead ? 31_536_000 : -31_536_000), restarts: $0) }
        }
    }

    /// A client at an address that every limit counts.
    private struct Client {
        let baseURL: URL
        var transport: any Transport

        init(_ host: some TestHost) { (baseURL, transport) = (host.baseURL, host.transport) }

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, token: String? = nil,
            cookie: String? = nil
        ) async throws -> RawAnswer {
            var headers: HTTPFields = [:]
            headers[.cookie] = cookie
            return try await RawClient(baseURL: baseURL, transport: transport).send(
                method, path, token: token, headers: headers, body: body)
        }
    }

    private static let peer = "203.0.113.9"

    /// Repeats a request until a limit refuses it, and checks when the limit says that it ends.
    private func exhaust(
        within window: Int, atMost count: Int, _ what: String, _ request: () async throws -> RawAnswer
    ) async throws {
        for _ in 0..<count {
            let answer = try await request()
            guard answer.status == 429 else { continue }
            let wait = try #require(answer.headers[.retryAfter].flatMap { Int($0) }, "\(what)")
            #expect(1...window ~= wait, "\(what): Retry-After \(wait)")
            return
        }
        Issue.record("\(what) was not limited after \(count) requests")
    }

    private func expect(_ answer: RawAnswer, _ status: Int, _ what: String) {
        #expect(answer.status == status, "\(what): \(answer.status) \(answer.text)")
    }

    /// Checks that no time lies further ahead of the clock than the time for which such rows are made, after a sweep.
    private func expectNoTimeAhead(_ node: TestNode<some HostedAPI>) async throws {
        for time in type(of: node.service).storedTimes {
            let newest = try await node.database.read { try time.newest(in: $0) } ?? 0
            let ahead = newest - node.clock.source.milliseconds()
            #expect(ahead <= time.window + StoredTimes.tolerance, "\(time)")
        }
    }

    @Test(arguments: Stack.Engine.available, Case.all)
    func messenger(_ engine: Stack.Engine, _ wrong: Case) async throws {
        let clock = TestClock()
        try await withMessenger(on: Stack(engine, .inProcess), peer: Self.peer, clock: clock) { host in
            var client = Client(host)
            func signIn(_ name: String, _ password: String = "secret123") async throws -> RawAnswer {
                try await client.send(.post, "/auth/login", #"{"username":"\#(name)","password":"\#(password)"}"#)
            }
            var names = 0
            func signUp() async throws -> RawAnswer {
                names += 1
                return try await client.send(
                    .post, "/auth/register",
                    #"{"username":"user\#(names)","email":"user\#(names)@example.com","password":"secret123"}"#)
            }
            expect(try await signUp(), 201, "anna")
            expect(try await signUp(), 201, "bob")

            clock.advance(by: wrong.error)
            let session = try await signIn("user2")
            expect(session, 200, "bob signs in")
            try await exhaust(within: 60, atMost: 11, "wrong passwords") { try await signIn("user1", "wrong") }
            try await exhaust(within: 60, atMost: 21, "sign-ups") { try await signUp() }
            try await host.service.sweep()
            clock.advance(by: .zero - wrong.error)
            if wrong.restarts { client.transport = try host.restart() }

            expect(try await signIn("user1"), 200, "anna signs in")
            expect(try await signUp(), 201, "another user")
            if wrong.error > .zero {
                let tokens = try session.json()
                let renewed = try await client.send(
                    .post, "/auth/refresh", #"{"refresh_token":"\#(tokens["refresh_token"]?.string ?? "")"}"#)
                expect(renewed, 200, "bob's session goes on")
                // An access token that is valid for longer than an hour is not believed: the SDK renews it.
                expect(try await client.send(.get, "/me", token: tokens["access_token"]?.string), 401, "the old token")
                expect(
                    try await client.send(.get, "/me", token: try renewed.json()["access_token"]?.string), 200,
                    "the new token")
            }
            try await exhaust(within: 60, atMost: 11, "wrong passwords") { try await signIn("user1", "wrong") }
            clock.advance(by: .seconds(61))
            expect(try await signIn("user1"), 200, "anna signs in a minute later")
            try await host.service.sweep()
            try await expectNoTimeAhead(host)
        }
    }

    @Test(arguments: Stack.Engine.available, Case.all)
    func gtsd(_ engine: Stack.Engine, _ wrong: Case) async throws {
        let clock = TestClock()
        try await withGTSD(on: Stack(engine, .inProcess), peer: Self.peer, clock: clock) { host in
            var client = Client(host)
            func signIn(_ password: String = "Secret-123") async throws -> RawAnswer {
                try await client.send(.post, "/auth/login", #"{"email":"a@example.com","password":"\#(password)"}"#)
            }
            func list(_ token: String?) async throws -> RawAnswer {
                try await client.send(.get, "/v1/tasks/today", token: token)
            }
            func check(_ token: String?) async throws -> RawAnswer {
                try await client.send(.post, "/v1/streaks/check-compliance", "{}", token: token)
            }
            func presign(_ token: String?) async throws -> RawAnswer {
                try await client.send(
                    .post, "/v1/progress/photo/presign",
                    #"{"fileName":"a.jpg","contentType":"image/jpeg","fileSize":10}"#, token: token)
            }
            expect(
                try await client.send(
                    .post, "/auth/signup", #"{"email":"a@example.com","password":"Secret-123","name":"Anna"}"#), 201,
                "anna")

            clock.advance(by: wrong.error)
            let session = try await signIn().json()["data"]
            let token = session?["accessToken"]?.string
            try await exhaust(within: 60, atMost: 21, "checks") { try await check(token) }
            try await exhaust(within: 60, atMost: 21, "presigns") { try await presign(token) }
            try await exhaust(within: 60, atMost: 11, "wrong passwords") { try await signIn("wrong") }
            let first = session?["refreshToken"]?.string ?? ""
            func renew(_ token: String) async throws -> RawAnswer {
                try await client.send(.post, "/auth/refresh", #"{"refreshToken":"\#(token)"}"#)
            }
            let second = try await renew(first).json()["data"]?["refreshToken"]?.string ?? ""
            try await host.service.sweep()
            clock.advance(by: .zero - wrong.error)
            if wrong.restarts { client.transport = try host.restart() }

            let renewed = try await signIn()
            expect(renewed, 200, "anna signs in")
            let now = try renewed.json()["data"]?["accessToken"]?.string
            expect(try await list(now), 200, "a list")
            expect(try await check(now), 200, "a check")
            expect(try await presign(now), 200, "a presign")
            if wrong.error > .zero {
                expect(try await list(token), 401, "the old token")
                expect(try await renew(second), 200, "the session goes on")
                // A refresh token that was used in another year is not within its grace.
                expect(try await renew(first), 401, "a used token")
            }
            try await exhaust(within: 60, atMost: 21, "checks") { try await check(now) }
            try await exhaust(within: 60, atMost: 21, "presigns") { try await presign(now) }
            clock.advance(by: .seconds(61))
            expect(try await check(now), 200, "a check a minute later")
            expect(try await presign(now), 200, "a presign a minute later")
            try await host.service.sweep()
            try await expectNoTimeAhead(host)
        }
    }

    @Test(arguments: Stack.Engine.available, Case.all)
    func deuceDiary(_ engine: Stack.Engine, _ wrong: Case) async throws {
        let clock = TestClock()
        try await withDeuceDiary(on: Stack(engine, .inProcess), requestsPerMinute: 5, clock: clock) { host in
            var client = Client(host)
            func groups() async throws -> RawAnswer {
                try await client.send(.get, "/api/groups", token: try host.issuer.issue("anna"))
            }
            func invite(_ user: String) async throws -> String {
                let token = try host.issuer.issue(user)
                let made = try await client.send(.post, "/api/groups", #"{"name":"x"}"#, token: token)
                let id = try made.json()["id"]?.string ?? ""
                let invite = try await client.send(.post, "/api/groups/\(id)/invite", token: token)
                return try #require(try invite.json()["id"]?.string)
            }
            func delete(_ user: String) async throws -> RawAnswer {
                try await client.send(.delete, "/api/auth/user", token: try host.issuer.issue(user))
            }
            expect(try await groups(), 200, "the groups")

            clock.advance(by: wrong.error)
            try await exhaust(within: 60, atMost: 6, "requests") { try await groups() }
            let link = try await invite("bob")
            _ = try await client.send(.get, "/api/groups", token: try host.issuer.issue("carol"))
            expect(try await delete("carol"), 200, "carol's account ends")
            try await host.service.sweep()
            clock.advance(by: .zero - wrong.error)
            if wrong.restarts { client.transport = try host.restart() }

            expect(try await groups(), 200, "the groups")
            try await exhaust(within: 60, atMost: 6, "requests") { try await groups() }
            clock.advance(by: .seconds(61))
            expect(try await groups(), 200, "the groups a minute later")
            try await host.service.sweep()
            try await expectNoTimeAhead(host)
            if wrong.error > .zero {
                // The invitation counts from now, and so does the end of carol's account.
                clock.advance(by: .seconds(61))
                let carol = try host.issuer.issue("carol")
                expect(try await client.send(.post, "/api/join/\(link)", token: carol), 200, "carol is back")
                clock.advance(by: .seconds(8 * 86_400))
                let late = try await client.send(.post, "/api/join/\(link)", token: try host.issuer.issue("dave"))
                expect(late, 400, "an invitation of last week")
            }
        }
    }

    @Test(arguments: Stack.Engine.available, Case.all)
    func monica(_ engine: Stack.Engine, _ wrong: Case) async throws {
        let clock = TestClock()
        var limits = MonicaService.Limits.outOfTheWay
        (limits.contactRequests, limits.wrongTokens) = (5, 5)
        try await withMonica(on: Stack(engine, .inProcess), clock: clock, limits: limits) { host in
            var client = Client(host)
            let token = try await host.token()
            func contacts(_ token: String) async throws -> RawAnswer {
                try await client.send(.get, "/contacts", token: token)
            }
            clock.advance(by: wrong.error)
            try await exhaust(within: 60, atMost: 6, "requests") { try await contacts(token) }
            try await exhaust(within: 60, atMost: 6, "wrong tokens") { try await contacts("wrong") }
            try await host.service.sweep()
            clock.advance(by: .zero - wrong.error)
            if wrong.restarts { client.transport = try host.restart() }

            expect(try await contacts(token), 200, "the contacts")
            expect(try await contacts("wrong"), 401, "a wrong token")
            let used = try await host.service.listTokens().first?.lastUsedAt
            #expect(used.map { abs($0 - clock.source.milliseconds()) <= 60_000 } == true)
            try await exhaust(within: 60, atMost: 6, "requests") { try await contacts(token) }
            clock.advance(by: .seconds(61))
            expect(try await contacts(token), 200, "the contacts a minute later")
            try await host.service.sweep()
            try await expectNoTimeAhead(host)
        }
    }

    @Test(arguments: Stack.Engine.available, Case.all)
    func dunbar(_ engine: Stack.Engine, _ wrong: Case) async throws {
        let clock = TestClock()
        var setup = DunbarSetup(clock: clock)
        setup.peer = Self.peer
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            var client = Client(host)
            func signIn(_ name: String, _ password: String = "secret123") async throws -> RawAnswer {
                try await client.send(.post, "/login", #"{"username":"\#(name)","password":"\#(password)"}"#)
            }
            func forgot() async throws -> RawAnswer {
                try await client.send(.post, "/forgot-password", #"{"email":"anna@example.com"}"#)
            }
            func cookie(of answer: RawAnswer) -> String? {
                answer.headers[.setCookie].map { String($0.prefix { $0 != ";" }) }
            }
            var ids: [Int64] = []
            for name in ["anna", "bob"] {
                let made = try await client.send(
                    .post, "/register",
                    #"{"username":"\#(name)","email":"\#(name)@example.com","password":"secret123","displayName":"x"}"#)
                ids.append(try #require(try made.json()["id"]?.integer ?? made.json()["user"]?["id"]?.integer))
            }
            func follow(_ anna: String?, _ bob: String?) async throws -> RawAnswer {
                let asked = try await client.send(.post, "/users/\(ids[0])/follow", "{}", cookie: bob)
                if asked.status == 429 { return asked }
                let requests = try await client.send(.get, "/follow-requests/pending", cookie: anna).json().elements
                for request in requests {
                    _ = try await client.send(
                        .post, "/follow-requests/\(request["id"]?.integer ?? 0)/reject", "{}", cookie: anna)
                }
                return asked
            }
            let sent = host.mailbox.emails.count

            clock.advance(by: wrong.error)
            let (anna, bob) = (cookie(of: try await signIn("anna")), cookie(of: try await signIn("bob")))
            try await exhaust(within: 7 * 86_400, atMost: 4, "requests to follow") { try await follow(anna, bob) }
            try await exhaust(within: 60, atMost: 11, "wrong passwords") { try await signIn("anna", "wrong") }
            // The mail server is away: the e-mail waits until another time.
            host.mailbox.fail(with: Away())
            try await exhaust(within: 3600, atMost: 6, "forgotten passwords") { try await forgot() }
            try await host.service.sendDueEmails()
            host.mailbox.fail(with: nil)
            try await host.service.sweep()
            clock.advance(by: .zero - wrong.error)
            if wrong.restarts { client.transport = try host.restart() }

            let signedIn = try await signIn("anna")
            expect(signedIn, 200, "anna signs in")
            expect(try await forgot(), 200, "a forgotten password")
            let back = cookie(of: try await signIn("bob"))
            expect(try await follow(cookie(of: signedIn), back), 200, "a request to follow")
            if wrong.error > .zero {
                expect(try await client.send(.get, "/user", cookie: anna), 200, "anna's session goes on")
                try await host.service.sendDueEmails()
                #expect(host.mailbox.emails.count > sent, "the e-mails that waited")
                let rest = try await host.database.read { try $0.value("SELECT COUNT(*) FROM outbox", as: Int.self) }
                #expect(rest == 0)
            }
            try await exhaust(within: 60, atMost: 11, "wrong passwords") { try await signIn("anna", "wrong") }
            clock.advance(by: .seconds(61))
            expect(try await signIn("anna"), 200, "anna signs in a minute later")
            try await host.service.sweep()
            try await expectNoTimeAhead(host.node)
        }
    }

    private struct Away: Error {}
}
