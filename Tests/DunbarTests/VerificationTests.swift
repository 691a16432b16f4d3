import ContractCheck
import ContractClient
import Database
import DunbarAPI
import DunbarCheck
import Foundation
import HTTPTypes
import Identity
import Testbed
import Testing

/// An e-mail verifies a user's address.
@Suite(.timeLimit(.minutes(30))) struct DunbarVerificationTests {
    private func token(_ host: DunbarHost) async throws -> String {
        try await host.service.sendDueEmails()
        let email = try #require(host.mailbox.emails.last)
        let match = try #require(email.text.firstMatch(of: #/\/api\/verify-email\/(\S+)/#))
        return String(match.output.1)
    }

    @Test(arguments: Stack.all)
    func aLinkIsValidFor24Hours(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let world = host.world()
            let john = try await world.person()
            let token = try await token(host)
            let stored = try await host.database.read { db in
                try db.all("SELECT hash FROM email_tokens") { try $0.get(0, as: [UInt8].self) }
            }
            #expect(stored == [Digest.sha256(token)])
            host.clock.advance(by: .seconds(24 * 3600 - 1))
            #expect(try await world.raw.send(.get, "/verify-email/\(token)").status == 200)
            #expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified == true)
            host.clock.advance(by: .seconds(1))
            let late = try await world.raw.send(.get, "/verify-email/\(token)")
            #expect(late.status == 400)
            #expect(late.text == #"{"message":"Invalid or expired verification token"}"#)
            try await host.service.sweep()
            let left = try await host.database.read { try $0.value("SELECT COUNT(*) FROM email_tokens", as: Int.self) }
            #expect(left == 0)
            #expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified == true)
        }
    }

    /// A user who has lost the e-mail may ask for another one, a few times.
    @Test(arguments: Stack.all)
    func theEmailIsSentAgain(_ stack: Stack) async throws {
        var setup = DunbarSetup()
        setup.peer = "192.0.2.1"
        try await withDunbar(on: stack, setup) { host in
            let world = host.world()
            let john = try await world.person()
            _ = try await token(host)
            host.clock.advance(by: .seconds(24 * 3600))
            func resend(_ person: Person) async throws -> RawAnswer {
                try await person.raw(.post, "/verify-email/resend", body: "{}")
            }
            #expect(try await resend(john).text == #"{"message":"Verification email sent"}"#)
            let another = try await token(host)
            #expect(host.mailbox.emails.count == 2)
            #expect(host.mailbox.emails.last?.to == "\(john.name)@example.com")
            #expect(try await world.raw.send(.get, "/verify-email/\(another)").status == 200)
            #expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified == true)
            let needless = try await resend(john)
            #expect(needless.status == 400 && needless.text == #"{"message":"Email already verified"}"#)
            #expect(try await world.raw.send(.post, "/verify-email/resend").status == 401)
            // Requests from this machine are not limited.
            guard stack.wire == .inProcess else { return }
            let jane = try await world.person()
            for _ in 0..<5 { #expect(try await resend(jane).status == 200) }
            let refused = try await resend(jane)
            #expect(refused.status == 429 && refused.headers[.retryAfter] != nil)
        }
    }

    /// A browser receives a page, an app a JSON answer.
    @Test(arguments: Stack.all)
    func theLinkOpensAPage(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let world = host.world()
            let john = try await world.person()
            let token = try await token(host)
            let accept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
            // The page is not JSON, which the checks demand of all other answers.
            func open(_ token: String) async throws -> TransportResponse {
                let url = try #require(URL(string: "\(host.baseURL.absoluteString)/verify-email/\(token)"))
                var request = TransportRequest(method: .get, url: url)
                request.headers[.accept] = accept
                return try await host.transport.send(request, progress: nil)
            }
            let lost = try await open("x")
            let shown = String(decoding: lost.body, as: UTF8.self)
            #expect(lost.status == .badRequest && shown.contains("<h1>This link is no longer good</h1>"))
            let page = try await open(token)
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == .ok && text.contains("<h1>Email verified</h1>"))
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
            #expect(try await john.send(Dunbar.GetCurrentUser()).user.emailVerified == true)
            for headers in [[:], [.accept: "*/*"], [.accept: "application/json"]] as [HTTPFields] {
                let answer = try await world.raw.send(.get, "/verify-email/\(token)", headers: headers)
                #expect(answer.text == #"{"message":"Email verified"}"#)
            }
        }
    }

    /// A user who has the code of the e-mail has access to the mailbox.
    @Test(arguments: Stack.Engine.available)
    func aNewPasswordVerifiesTheAddress(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let world = host.world()
            let john = try await world.person()
            let body = #"{"email":"\#(john.name)@example.com"}"#
            #expect(try await world.raw.send(.post, "/forgot-password", body: body).status == 200)
            try await host.service.sendDueEmails()
            let email = try #require(host.mailbox.emails.last { $0.subject == "Reset your password" })
            let code = try #require(email.text.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#)).output.1
            let reset = #"{"token":"\#(code)","newPassword":"new password"}"#
            #expect(try await world.raw.send(.post, "/reset-password", body: reset).status == 200)
            let verified = try await host.database.read { db in
                try db.value("SELECT is_verified FROM users WHERE id = \(john.id)", as: Bool.self)
            }
            #expect(verified == true)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aRefusingMailServerStopsNothing(_ engine: Stack.Engine) async throws {
        struct Refused: Error {}
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            host.mailbox.fail(with: Refused())
            let john = try await host.world().person()
            try await host.service.sendDueEmails()
            try await john.publish()
            #expect(host.mailbox.emails.isEmpty)
        }
    }

    /// A registration that is refused, or repeated under its key, sends no e-mail.
    @Test func eachAccountGetsOneEmail() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let body = #"{"username":"jdoe","email":" J@Example.com ","password":"12345678","displayName":"J"}"#
            for _ in 0..<3 {
                let answer = try await world.raw.send(.post, "/register", headers: [.idempotencyKey: "k"], body: body)
                #expect(answer.status == 201)
            }
            #expect(try await world.raw.send(.post, "/register", body: body).status == 400)
            try await host.service.sendDueEmails()
            #expect(host.mailbox.emails.map(\.to) == ["J@Example.com"])
            #expect(host.mailbox.emails.allSatisfy { $0.text.contains("http://test/api/verify-email/") })
        }
    }
}
