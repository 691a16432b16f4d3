import ContractCheck
import Database
import Foundation
import HTTPTypes
import Identity
import Testbed
import Testing

/// Sessions are cookies that last 30 days from their last use, and the database has only their digests.
@Suite(.timeLimit(.minutes(30))) struct DunbarSessionTests {
    private static let day = Duration.seconds(24 * 3600)

    @Test(arguments: Stack.all)
    func aSessionLasts30DaysFromItsLastUse(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            // A use on the same day does not renew the session.
            host.clock.advance(by: Self.day - .seconds(1))
            #expect(try await john.raw(.get, "/user").headers[.setCookie] == nil)
            // After a day the session is renewed, and the same cookie is sent again.
            for _ in 0..<3 {
                host.clock.advance(by: Self.day * 29)
                let answer = try await john.raw(.get, "/user")
                #expect(answer.status == 200)
                #expect(answer.cookie == john.cookie)
                #expect(try DunbarScenarioAttributes.of(answer).contains("Max-Age=2592000"))
                #expect(try await john.raw(.get, "/feed").headers[.setCookie] == nil)
            }
            host.clock.advance(by: Self.day * 30)
            let answer = try await john.raw(.get, "/user")
            #expect(answer.status == 401)
            #expect(answer.headers[.setCookie] == nil)
        }
    }

    /// Proxies may pass cookies on in several headers (RFC 9113 §8.2.3).
    @Test(arguments: Stack.Engine.available)
    func cookiesMayBeInSeveralHeaders(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let (john, jane) = try await world.pair()
            let old = "\(john.cookie.prefix { $0 != "=" })=old"
            for cookies in [[old, john.cookie], ["\(old); \(old)", "\(john.cookie); \(jane.cookie)"]] {
                var headers = HTTPFields()
                for cookie in cookies { headers.append(HTTPField(name: .cookie, value: cookie)) }
                let answer = try await world.raw.send(.get, "/user", headers: headers)
                #expect(answer.status == 200)
                #expect(try answer.json()["user"]?["id"] == .integer(john.id.rawValue))
            }
        }
    }

    /// A refused request counts as a use: the cookie must not expire during use.
    @Test(arguments: Stack.all)
    func aRefusedRequestRenewsTheSession(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let john = try await host.world().person()
            host.clock.advance(by: Self.day * 2)
            let answer = try await john.raw(.delete, "/posts/999")
            #expect(answer.status == 404)
            #expect(answer.cookie == john.cookie)
            // An operation without sign-in counts, too.
            host.clock.advance(by: Self.day * 2)
            #expect(try await john.raw(.get, "/users/\(john.id)").cookie == john.cookie)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func onlyAHashOfTheCookieIsStored(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            let token = try #require(john.cookie.split(separator: "=").last.map(String.init))
            let hashes = try await host.database.read { db in
                try db.all("SELECT hash FROM sessions") { try $0.get(0, as: [UInt8].self) }
            }
            #expect(hashes == [Digest.sha256(token)])
            #expect(token.utf8.count == 43)
            let passwords = try await host.database.read { db in
                try db.all("SELECT password FROM users") { try $0.get(0, as: String.self) }
            }
            #expect(passwords.allSatisfy { $0.hasPrefix("$scrypt$") })
        }
    }

    @Test(arguments: [("https://dunbar.example", true), ("HTTPS://dunbar.example", true), ("http://test", false)])
    func theCookieIsSecureOnAServerWithHTTPS(_ url: String, _ isSecure: Bool) async throws {
        var setup = DunbarSetup()
        setup.publicURL = url
        try await withDunbar(on: Stack(.sqlite, .inProcess), setup) { host in
            let world = host.world()
            let john = try await world.person()
            for answer in [
                try await world.raw.send(
                    .post, "/login", body: #"{"username":"\#(john.name)","password":"secret123"}"#),
                try await john.raw(.post, "/logout"),
            ] {
                #expect(try DunbarScenarioAttributes.of(answer).contains("Secure") == isSecure)
            }
        }
    }

    @Test func configuredOriginsMayChangeThings() async throws {
        var setup = DunbarSetup()
        setup.publicURL = "https://dunbar.example"
        setup.origins = ["https://app.example/", "http://localhost:3000"]
        try await withDunbar(on: Stack(.sqlite, .inProcess), setup) { host in
            let john = try await host.world().person()
            for (origin, isKnown) in [
                ("https://dunbar.example", true), ("https://DUNBAR.example:443", true), ("https://app.example", true),
                ("http://localhost:3000", true), ("http://dunbar.example", false),
                ("https://dunbar.example:8443", false),
                ("http://localhost", false), ("https://app.example.evil", false), ("null", false),
                // The host of these requests is "test".
                ("http://test", true), ("https://test", false), ("http://test:5000", false),
            ] {
                let answer = try await john.raw(
                    .post, "/posts", headers: [.origin: origin], body: #"{"content":"x"}"#)
                #expect(answer.status == (isKnown ? 201 : 403), "\(origin)")
            }
        }
    }

    /// A session that was signed out at one node is refused at another at once.
    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func aLogoutHoldsOnEveryNode() async throws {
        try await withDunbarNodes(2, on: Stack(.postgreSQL, .inProcess)) { nodes in
            let (first, second) = (nodes[0].world(), nodes[1].world())
            let john = try await first.person()
            let headers: HTTPFields = [.cookie: john.cookie]
            #expect(try await second.raw.send(.get, "/user", headers: headers).status == 200)
            #expect(try await first.raw.send(.post, "/logout", headers: headers).status == 200)
            #expect(try await second.raw.send(.get, "/user", headers: headers).status == 401)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func guessingIsLimited(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.peer = "192.0.2.1"
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let world = host.world()
            let john = try await world.person()
            func login(_ password: String) async throws -> RawAnswer {
                try await world.raw.send(
                    .post, "/login", body: #"{"username":"\#(john.name)","password":"\#(password)"}"#)
            }
            for _ in 0..<10 { #expect(try await login("wrong").status == 401) }
            let refused = try await login("secret123")
            #expect(refused.status == 429)
            #expect(refused.text == #"{"message":"Too many requests, please try again later"}"#)
            #expect(refused.headers[.retryAfter] == "60")
            host.clock.advance(by: .seconds(60))
            #expect(try await login("secret123").status == 200)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func registrationsAreLimited(_ engine: Stack.Engine) async throws {
        var setup = DunbarSetup()
        setup.peer = "192.0.2.1"
        try await withDunbar(on: Stack(engine, .inProcess), setup) { host in
            let world = host.world()
            for _ in 0..<20 { try await world.person() }
            let answer = try await world.raw.send(
                .post, "/register",
                body: #"{"username":"one","email":"one@example.com","password":"12345678","displayName":"One"}"#)
            #expect(answer.status == 429)
            host.clock.advance(by: .seconds(60))
            try await world.person()
        }
    }
}

enum DunbarScenarioAttributes {
    static func of(_ answer: RawAnswer) throws -> [String] {
        try #require(answer.headers[.setCookie]).components(separatedBy: "; ").dropFirst().map { $0 }
    }
}
