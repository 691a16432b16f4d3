import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Identity
import MonicaClient
import MonicaService
import Testbed
import Testing

/// Apps of other people get tokens by OAuth 2.
@Suite(.timeLimit(.minutes(30))) struct MonicaSignInTests {
    private static let redirect = "monica://auth?from=a"

    /// A server with one account and one app, as a browser and the app see it.
    private struct Place {
        let host: MonicaHost
        let raw: RawClient
        let clientID: String
        let secret: String?
        let token: String

        /// The URL of the page, with the app's request.
        func page(_ more: [String: String?] = [:]) -> String {
            "/oauth/authorize?" + form(request(more))
        }

        func request(_ more: [String: String?]) -> [String: String?] {
            [
                "client_id": clientID, "response_type": "code", "redirect_uri": MonicaSignInTests.redirect,
                "state": "a b&c",
            ].merging(more) { $1 }
        }

        func form(_ fields: [String: String?]) -> String {
            fields.compactMap { name, value in value.map { "\(name)=\(RequestCoding.percentEncoded($0))" } }
                .sorted().joined(separator: "&")
        }

        func enter(_ secret: String, _ more: [String: String?] = [:]) async throws -> RawAnswer {
            try await raw.send(
                .post, "/oauth/authorize", headers: [.contentType: "application/x-www-form-urlencoded"],
                body: form(request(more).merging(["secret": secret]) { $1 }))
        }

        /// Signs in with a token, and returns the code that the browser brings to the app.
        func grant(_ more: [String: String?] = [:]) async throws -> String {
            let answer = try await enter(token, more)
            #expect(answer.status == 303, "\(answer.text)")
            let location = try #require(answer.headers[.location])
            #expect(location.hasPrefix(MonicaSignInTests.redirect + "&code=") && location.hasSuffix("&state=a%20b%26c"))
            return try #require(location.split(separator: "&").dropFirst().first?.split(separator: "=").last)
                .description
        }

        /// Asks for tokens, in JSON as the app for Android does.
        func exchange(_ fields: [String: String?]) async throws -> RawAnswer {
            let all = ["client_id": clientID, "client_secret": secret].merging(fields) { $1 }
            return try await raw(
                .post, "/oauth/token", .object(all.compactMapValues { $0.map { .string($0) } }))
        }

        func redeem(_ code: String, _ more: [String: String?] = [:]) async throws -> RawAnswer {
            try await exchange(
                ["grant_type": "authorization_code", "code": code, "redirect_uri": MonicaSignInTests.redirect]
                    .merging(more) { $1 })
        }

        func renew(_ token: String) async throws -> RawAnswer {
            try await exchange(["grant_type": "refresh_token", "refresh_token": token])
        }

        func status(_ token: String) async throws -> Int {
            let api = RawClient(baseURL: host.baseURL, transport: host.transport)
            return try await api.send(.get, "/me", token: token).status
        }
    }

    private func withPlace(
        on stack: Stack, hasSecret: Bool = true, limits: MonicaService.Limits = .outOfTheWay,
        _ body: (Place) async throws -> Void
    ) async throws {
        try await withMonica(on: stack, limits: limits) { host in
            let app = try await host.service.registerApp(
                named: "An <app>", redirect: Self.redirect, hasSecret: hasSecret, audit: .test)
            let root = try #require(URL(string: String(host.baseURL.absoluteString.dropLast("/api".count))))
            try await body(
                Place(
                    host: host, raw: RawClient(baseURL: root, transport: host.transport), clientID: app.clientID,
                    secret: app.secret, token: try await host.token("alice")))
        }
    }

    @Test(arguments: Stack.all)
    func aPersonSignsInToAnApp(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            let page = try await place.raw.send(.get, place.page())
            #expect(page.status == 200 && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[try #require(HTTPField.Name("Referrer-Policy"))] == "no-referrer")
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.hasSuffix("frame-ancestors 'none'; form-action 'self' monica:"), "\(policy)")
            #expect(page.text.contains("Sign in to <bdi>An &lt;app&gt;</bdi>"))
            #expect(page.text.contains(#"name="state" value="a b&amp;c""#))

            let answer = try await place.redeem(try await place.grant()).succeeded(200)
            #expect(answer["token_type"] == "Bearer" && answer["expires_in"] == 2_592_000)
            let access = try #require(answer["access_token"]?.string)
            #expect(access.utf8.count >= 43 && access != place.token)
            let client = MonicaAPIClient(
                configuration: APIConfiguration(baseURL: place.host.baseURL, token: access, retryCount: 0),
                transport: place.host.transport)
            try await client.create(Monica.ContactDraft(firstName: "John"))
            // The account is Alice's, and the form is that of Monica 4.
            let api = RawClient(baseURL: place.host.baseURL, transport: place.host.transport)
            let own = try await api.send(.get, "/contacts", token: place.token)
            #expect(try own.json()["meta"]?["total"] == 1)
            let shown = try await api.send(.get, "/contacts", token: access)
            #expect(try shown.json()["meta"]?["per_page"] == 15)
            let listed = try await place.host.service.listTokens(account: "alice")
            #expect(listed.map(\.name) == ["test", "An <app>"] && listed.map(\.dialect) == [.contract, .monica4])
            #expect(try await place.host.service.listApps().map(\.tokens) == [1])
            let tokens = try await client.send(Monica.ListTokens()).data
            #expect(tokens.map(\.isCurrent) == [false, true])
            let now = place.host.clock.source.milliseconds()
            #expect(
                tokens[0].expiresAt == nil && (tokens[1].expiresAt?.milliseconds ?? 0) / 1000 == now / 1000 + 2_592_000)
        }
    }

    @Test(arguments: Stack.all)
    func aCodeSignsInOnce(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            let service = place.host.service
            func code() async throws -> String {
                try #require(try await service.makeSignInCode(for: "alice", audit: .test))
            }
            #expect(try await service.makeSignInCode(for: "nobody", audit: .test) == nil)
            let first = try await code()
            let second = try await code()
            #expect(try await place.enter(first).status == 422, "a new code replaces the one before")
            let typed = second.lowercased().replacing("-", with: " ")
            #expect(try await place.enter(" \(typed)\n").status == 303)
            #expect(try await place.enter(second).status == 422)
            let late = try await code()
            place.host.clock.advance(by: .seconds(601))
            let refused = try await place.enter(late)
            #expect(refused.status == 422 && refused.text.contains("neither a token nor a code that is valid"))
            #expect(refused.text.contains(#"name="client_id" value="\#(place.clientID)""#), "it can be tried again")
            // Of many at once, one is first.
            let raced = try await code()
            let statuses = try await together(8) { _ in try await place.enter(raced).status }
            #expect(statuses.filter { $0 == 303 }.count == 1 && statuses.filter { $0 == 422 }.count == 7)
        }
    }

    @Test(arguments: Stack.all)
    func aGrantIsRedeemedOnceByItsApp(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            let code = try await place.grant()
            #expect(try await place.redeem(code).status == 200)
            let again = try await place.redeem(code)
            #expect(again.status == 400 && again.headers[.cacheControl] == "no-store")
            #expect(
                try again.json() == [
                    "error": "invalid_grant", "error_description": "The code is wrong, was used, or has expired.",
                ])
            let late = try await place.grant()
            place.host.clock.advance(by: .seconds(301))
            #expect(try await place.redeem(late).status == 400)

            let raced = try await place.grant()
            let statuses = try await together(8) { _ in try await place.redeem(raced).status }
            #expect(statuses.filter { $0 == 200 }.count == 1)

            // Another app cannot use it, nor does its attempt spoil it.
            let other = try await place.host.service.registerApp(
                named: "Other", redirect: Self.redirect, hasSecret: true, audit: .test)
            let kept = try await place.grant()
            let stolen = try await place.redeem(
                kept, ["client_id": other.clientID, "client_secret": other.secret])
            #expect(try stolen.json()["error"] == "invalid_grant")
            for (fields, status, error) in [
                (["client_secret": "x"], 401, "invalid_client"), (["client_id": "x"], 401, "invalid_client"),
                (["client_secret": nil], 401, "invalid_client"),
                (["redirect_uri": "monica://other"], 400, "invalid_grant"), (["code": nil], 400, "invalid_request"),
                (["grant_type": nil], 400, "invalid_request"),
                (["grant_type": "password"], 400, "unsupported_grant_type"),
            ] as [([String: String?], Int, String)] {
                let refused = try await place.redeem(kept, fields)
                #expect(refused.status == status, "\(fields)")
                #expect(try refused.json()["error"]?.string == error, "\(fields)")
            }
            // The other ways to send the same: a form, and the credentials in a header.
            let basic = Data("\(place.clientID):\(place.secret ?? "")".utf8).base64EncodedString()
            let answer = try await place.raw.send(
                .post, "/oauth/token",
                headers: [
                    .contentType: "application/x-www-form-urlencoded", .authorization: "Basic \(basic)",
                ], body: "grant_type=authorization_code&code=\(kept)")
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test(arguments: Stack.all)
    func aTokenIsRenewed(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            func tokens(_ answer: RawAnswer) throws -> (access: String, renewal: String) {
                let json = try answer.succeeded(200)
                return (
                    try #require(json["access_token"]?.string), try #require(json["refresh_token"]?.string)
                )
            }
            let first = try tokens(try await place.redeem(try await place.grant()))
            place.host.clock.advance(by: .seconds(30 * 24 * 3600 + 1))
            #expect(try await place.status(first.access) == 401)
            let second = try tokens(try await place.renew(first.renewal))
            #expect(try await place.status(second.access) == 200)
            // The answer may have been lost, so the former token counts for a minute; the pair of the lost answer does not.
            place.host.clock.advance(by: .seconds(30))
            let third = try tokens(try await place.renew(first.renewal))
            place.host.clock.advance(by: .seconds(1))
            #expect(try await place.status(second.access) == 401)
            #expect(try await place.status(third.access) == 200)
            #expect(try await place.renew(second.renewal).status == 400)
            // Later it counts as stolen, and the app is signed out.
            place.host.clock.advance(by: .seconds(61))
            let refused = try await place.renew(first.renewal)
            #expect(try refused.json()["error"] == "invalid_grant")
            place.host.clock.advance(by: .seconds(1))
            #expect(try await place.status(third.access) == 401)
            #expect(try await place.renew(third.renewal).status == 400)

            let idle = try tokens(try await place.redeem(try await place.grant()))
            place.host.clock.advance(by: .seconds(365 * 24 * 3600 + 1))
            #expect(try await place.renew(idle.renewal).status == 400)
            #expect(try await place.status(place.token) == 200, "other tokens go on")
        }
    }

    /// RFC 7636, with the values of its appendix B.
    @Test(arguments: Stack.all)
    func anAppWithoutSecretProvesThatItAsked(_ stack: Stack) async throws {
        try await withPlace(on: stack, hasSecret: false) { place in
            let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
            let challenge = [
                "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
            ]
            #expect(try await place.redeem(try await place.grant(challenge), ["code_verifier": verifier]).status == 200)
            for wrong in [nil, "x", String(verifier.dropLast())] {
                let code = try await place.grant(challenge)
                #expect(try await place.redeem(code, ["code_verifier": wrong]).status == 400)
                #expect(try await place.redeem(code, ["code_verifier": verifier]).status == 400, "it was used")
            }
            for request in [
                [:], ["code_challenge": verifier, "code_challenge_method": "plain"],
                ["code_challenge": verifier], ["code_challenge": "short", "code_challenge_method": "S256"],
            ] as [[String: String?]] {
                let refused = try await place.raw.send(.get, place.page(request))
                #expect(refused.status == 303)
                #expect(refused.headers[.location] == "\(Self.redirect)&error=invalid_request&state=a%20b%26c")
            }
        }
    }

    @Test(arguments: Stack.all)
    func aWrongRequestLeadsNowhereElse(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            for more in [
                ["client_id": nil], ["client_id": "x"], ["redirect_uri": "https://evil.example/"],
                ["redirect_uri": Self.redirect + "/"], ["state": String(repeating: "x", count: 1025)],
            ] as [[String: String?]] {
                let page = try await place.raw.send(.get, place.page(more))
                #expect(page.status == 400 && page.headers[.location] == nil, "\(more)")
                #expect(page.text.contains("<h1>This does not work</h1>"))
                #expect(try await place.enter(place.token, more).status == 400)
            }
            let implicit = try await place.raw.send(.get, place.page(["response_type": "token"]))
            #expect(
                implicit.headers[.location] == "\(Self.redirect)&error=unsupported_response_type&state=a%20b%26c")
            let left = try await place.enter(place.token, ["cancel": "1", "state": nil])
            #expect(left.headers[.location] == "\(Self.redirect)&error=access_denied")
            for secret in ["", " ", "x", String(repeating: "x", count: 5000)] {
                #expect(try await place.enter(secret).status == 422)
            }
            // PostgreSQL would end a text at U+0000, and SQLite would not.
            #expect(try await place.enter(place.token + "\0").status == 422)
            #expect(try await place.enter(place.token, ["client_id": place.clientID + "\0"]).status == 400)
            #expect(try await place.redeem("x\0").text.contains("invalid_"))
            let large = try await place.raw.send(
                .post, "/oauth/token", headers: [.contentType: "application/x-www-form-urlencoded"],
                body: "code=" + String(repeating: "x", count: 70_000))
            #expect(large.status == 413)
            #expect(try await place.raw.send(.post, "/oauth/token", body: "{").status == 400)
            for redirect in [
                "", "x", "javascript:alert(1)", "http://app.example/", "https://app.example/#a", "monica://a b",
                "data:,x",
                "https:///x",
            ] {
                await #expect(throws: (any Error).self, "\(redirect)") {
                    try await place.host.service.registerApp(
                        named: "a", redirect: redirect, hasSecret: true, audit: .test)
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func guessesAreLimited(_ stack: Stack) async throws {
        try await withPlace(on: stack, limits: .init()) { place in
            for attempt in 1...11 {
                let status = try await place.enter("x").status
                #expect(status == (attempt <= 10 ? 422 : 429))
            }
            #expect(try await place.redeem("x", ["client_secret": "x"]).status == 429)
            // Who knows a secret is not held back by it.
            #expect(try await place.redeem(try await place.grant()).status == 200)
        }
    }

    @Test(arguments: Stack.all)
    func anEndOfTheAccountOrTheAppEndsItsTokens(_ stack: Stack) async throws {
        try await withPlace(on: stack) { place in
            let service = place.host.service
            let access = try #require(try await place.redeem(try await place.grant()).json()["access_token"]?.string)
            let pending = try await place.grant()
            let app = try #require(try await service.listApps().first)
            #expect(try await service.removeApp(app.number, audit: .test))
            #expect(try await !service.removeApp(app.number, audit: .test))
            place.host.clock.advance(by: .seconds(1))
            #expect(try await place.status(access) == 401)
            #expect(try await place.redeem(pending).status == 401)
            #expect(try await place.raw.send(.get, place.page()).status == 400)
            #expect(try await place.status(place.token) == 200)
            #expect(try await service.makeSignInCode(for: "alice", audit: .test) != nil)
            let api = RawClient(baseURL: place.host.baseURL, transport: place.host.transport)
            #expect(try await api.send(.delete, "/me", token: place.token).status == 200)
            let left = try await place.host.database.read { db in
                try db.value("SELECT COUNT(*) FROM sign_in_codes", as: Int.self)
            }
            #expect(left == 0)
        }
    }
}
