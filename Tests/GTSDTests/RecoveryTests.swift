import Backend
import ContractCheck
import Database
import GTSDAPI
import GTSDCheck
import GTSDService
import HTTPTypes
import Testbed
import Testing

/// Codes of e-mails expire, are limited, and are not for accounts that may not be entered.
@Suite(.timeLimit(.minutes(30))) struct GTSDRecoveryTests {
    private func emails(_ host: GTSDHost, to address: String) async throws -> [String] {
        try await host.operator.emails(address)
    }

    private func code(_ host: GTSDHost, at address: String) async throws -> String {
        let codes = try await emails(host, to: address)
            .compactMap { $0.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#)?.output.1 }
        return String(try #require(codes.last))
    }

    private func post(_ path: String, _ body: String, on host: GTSDHost) async throws -> RawAnswer {
        try await host.world().raw.send(.post, path, body: body)
    }

    @Test(arguments: Stack.Engine.available)
    func aDeactivatedAccountGetsNothing(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let anna = try await host.world().person()
            #expect(try await post("/auth/forgot-password", #"{"email":"\#(anna.email)"}"#, on: host).status == 200)
            let code = try await code(host, at: anna.email)
            #expect(
                try await GTSDService.setActive(false, email: anna.email, in: host.database, audit: .test))
            #expect(try await post("/auth/forgot-password", #"{"email":"\#(anna.email)"}"#, on: host).status == 200)
            #expect(try await emails(host, to: anna.email).count == 1)
            let refused = try await post(
                "/auth/reset-password", #"{"token":"\#(code)","newPassword":"Other-456"}"#, on: host)
            #expect(refused.status == 400 && refused.text.contains("Invalid or expired reset token"))
            #expect(try await GTSDService.setActive(true, email: anna.email, in: host.database, audit: .test))
            let again = try await post(
                "/auth/reset-password", #"{"token":"\#(code)","newPassword":"Other-456"}"#, on: host)
            #expect(again.status == 200)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func codesExpire(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let anna = try await host.world().person()
            #expect(try await post("/auth/forgot-password", #"{"email":"\#(anna.email)"}"#, on: host).status == 200)
            let reset = try await code(host, at: anna.email)
            _ = try await anna.client.send(GTSD.ChangeEmail(email: "new@example.com", password: "Secret-123"))
            let verification = try await code(host, at: "new@example.com")
            host.clock.advance(by: .seconds(3600))
            let late = try await post(
                "/auth/reset-password", #"{"token":"\#(reset)","newPassword":"Other-456"}"#, on: host)
            #expect(late.status == 400)
            host.clock.advance(by: .seconds(23 * 3600))
            #expect(try await post("/auth/verify-email", #"{"token":"\#(verification)"}"#, on: host).status == 400)
            try await host.service.sweep()
            for table in ["reset_tokens", "email_changes"] as [SQL] {
                #expect(try await host.database.read { try $0.exists("SELECT 1 FROM \(table)") } == false)
            }
        }
    }

    /// The request does the same work for an address with and without an account; the e-mail is composed later.
    @Test(arguments: Stack.Engine.available)
    func requestsAreLimitedAndAlike(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess), peer: "192.0.2.1") { host in
            for address in ["nobody@example.com", " NOBODY@example.com"] {
                for _ in 0..<(address.hasPrefix(" ") ? 2 : 3) {
                    #expect(
                        try await post("/auth/forgot-password", #"{"email":"\#(address)"}"#, on: host).status == 200)
                }
            }
            let refused = try await post("/auth/forgot-password", #"{"email":"nobody@example.com"}"#, on: host)
            #expect(refused.status == 429 && refused.headers[.retryAfter] == "3600")
            #expect(try await post("/auth/forgot-password", #"{"email":"b@example.com"}"#, on: host).status == 200)
            #expect(try await emails(host, to: "nobody@example.com").isEmpty)
        }
    }
}
