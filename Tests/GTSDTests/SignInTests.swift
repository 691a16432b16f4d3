import Backend
import Contract
import ContractCheck
import ContractServer
import GTSDAPI
import GTSDCheck
import GTSDClient
import GTSDService
import HTTPTypes
import Logging
import Testbed
import Testing

/// Guessing passwords is limited, and does not lock out the account's own user.
@Suite(.timeLimit(.minutes(30))) struct GTSDSignInTests {
    private static let password = "Secret-123"

    /// Returns the server as a client at an address sees it.
    private func raw(_ host: GTSDHost, from peer: String) -> RawClient {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = Router(
            host.service.routes(), options: .init(logger: logger) { Problem.unavailable($0, GTSD.errorMessages) })
        return RawClient(baseURL: host.baseURL, transport: InProcessTransport(table, peer: peer))
    }

    private func logIn(_ raw: RawClient, _ password: String = Self.password) async throws -> Int {
        try await raw.send(
            .post, "/auth/login", body: #"{"email":"anna@example.com","password":"\#(password)"}"#
        ).status
    }

    private func signUp(_ raw: RawClient) async throws -> JSONValue {
        let answer = try await raw.send(
            .post, "/auth/signup", body: #"{"email":"anna@example.com","password":"\#(Self.password)"}"#)
        #expect(answer.status == 201)
        return try #require(try answer.json()["data"])
    }

    @Test("A user is not locked out at the address of their sign-up", arguments: Stack.Engine.available)
    func familiar(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host async throws in
            let home = raw(host, from: "198.51.100.1")
            _ = try await signUp(home)
            for index in 0..<100 { #expect(try await logIn(raw(host, from: "203.0.113.\(index)"), "x") == 401) }
            #expect(try await logIn(raw(host, from: "203.0.113.200")) == 429)
            #expect(try await logIn(home) == 200)
        }
    }

    @Test("Wrong passwords at a deletion count as at a sign-in", arguments: Stack.Engine.available)
    func deletion(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host async throws in
            let home = raw(host, from: "198.51.100.1")
            let token = try #require(try await signUp(home)["accessToken"]?.string)
            func delete(_ password: String) async throws -> RawAnswer {
                try await home.send(.delete, "/auth/me", token: token, body: #"{"password":"\#(password)"}"#)
            }
            for _ in 0..<6 { #expect(try await delete("x").status == 403) }
            for _ in 0..<4 { #expect(try await logIn(home, "x") == 401) }
            let refused = try await delete(Self.password)
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] == "60")
            host.clock.advance(by: .seconds(60))
            let answer = try await delete(Self.password)
            #expect(answer.status == 200)
            #expect(answer.text.contains("Account deleted successfully"))
        }
    }

    @Test(
        "The session of an account that is switched off is kept for when it is on again",
        arguments: Stack.Engine.available)
    func deactivated(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host async throws in
            let home = raw(host, from: "198.51.100.1")
            let token = try #require(try await signUp(home)["refreshToken"]?.string)
            func refresh(_ token: String) async throws -> RawAnswer {
                try await home.send(.post, "/auth/refresh", body: #"{"refreshToken":"\#(token)"}"#)
            }
            func setActive(_ isActive: Bool) async throws {
                #expect(
                    try await GTSDService.setActive(
                        isActive, email: "anna@example.com", in: host.database, audit: .test))
            }
            try await setActive(false)
            let refused = try await refresh(token)
            #expect(refused.status == 403)
            #expect(refused.text.contains("Account is deactivated"))
            #expect(try await refresh("unknown").status == 401)
            try await setActive(true)
            #expect(try await refresh(token).status == 200)
            // An expired token gives no information about the account.
            host.clock.advance(by: .seconds(8 * 24 * 3600))
            try await setActive(false)
            #expect(try await refresh(token).status == 401)
        }
    }

    @Test(arguments: [
        ("UTC+1", false), ("UTC+14", false), ("UTC-12", false), ("UTC+5:30", false), ("PST", false), ("ACT", false),
        ("IST", false), ("SystemV/EST5", false), ("GMT+5", false), ("+05:30", false), ("Etc/GMT+5", false),
        ("CET", false),
        ("EST5EDT", false), ("Etc/GMT0", false), ("GMT0", false), ("Factory", false), ("Mars/Olympus", false),
        ("", false),
        ("Europe/Berlin", true), ("America/Argentina/Buenos_Aires", true), ("UTC", true), ("GMT", true),
        ("Etc/UTC", true),
        ("Japan", true), ("NZ", true), ("US/Pacific", true), ("Asia/Calcutta", true), ("Singapore", true),
    ])
    func aTimeZoneIsThatOfAPlace(_ zone: String, _ isKnown: Bool) async throws {
        #expect(GTSD.Zone.isKnown(zone) == isKnown)
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host async throws in
            let answer = try await raw(host, from: "198.51.100.1").send(
                .post, "/auth/signup",
                body: #"{"email":"a@b.cd","password":"\#(Self.password)","timezone":"\#(zone)"}"#)
            #expect(answer.status == (isKnown ? 201 : 400))
        }
    }

    @Test(arguments: [
        ("a,b@c.de", "Anna", "email: Invalid email format"), ("<a>@b.co", "Anna", "email: Invalid email format"),
        (".a@b.co", "Anna", "email: Invalid email format"), ("a..b@c.de", "Anna", "email: Invalid email format"),
        ("a@-b.co", "Anna", "email: Invalid email format"), ("a@localhost", "Anna", "email: Invalid email format"),
        ("a@b.co", "An\\nna", "name: Name contains invalid characters"),
        ("a@b.co", "\u{202E}annA", "name: Name contains invalid characters"),
        ("a@b.co", " ", "name: Name must be 1 to 255 characters"),
        ("a@b.co", "Anna 👩‍👩‍👧", nil), ("o'neil+x@b-c.co", "Åsa", nil),
    ])
    func namesAndAddressesAreLookedAt(_ email: String, _ name: String, _ mistake: String?) async throws {
        try await withGTSD(on: Stack(.sqlite, .inProcess)) { host async throws in
            let answer = try await raw(host, from: "198.51.100.1").send(
                .post, "/auth/signup",
                body: #"{"email":"\#(email)","password":"\#(Self.password)","name":"\#(name)"}"#)
            #expect(answer.status == (mistake == nil ? 201 : 400))
            if let mistake { #expect(answer.text.contains("Validation failed: \(mistake)\"")) }
        }
    }
}
