import Backend
import ContractCheck
import Database
import HTTPTypes
import MessengerAPI
import MessengerCheck
import Testbed
import Testing

/// Codes of e-mails expire, and are not for accounts that are no more.
@Suite(.timeLimit(.minutes(30))) struct RecoveryTests {
    private func code(_ host: MessengerHost, at address: String) async throws -> String {
        let codes = try await host.operator.emails(address)
            .compactMap { $0.firstMatch(of: #/\n([A-Za-z0-9_-]{43})\n/#)?.output.1 }
        return String(try #require(codes.last))
    }

    @Test(arguments: Stack.Engine.available)
    func codesExpire(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, raw) = (try await host.world().person(), host.world().raw)
            let address = "\(alice.name)@example.com"
            try await alice.send(Messenger.ForgotPassword(email: address))
            let reset = try await code(host, at: address)
            try await alice.send(Messenger.ChangeEmail(email: "new@example.com", password: alice.password))
            let verification = try await code(host, at: "new@example.com")
            host.clock.advance(by: .seconds(3600))
            let late = try await raw.send(
                .post, "/auth/reset-password", body: #"{"token":"\#(reset)","new_password":"another one"}"#)
            #expect(late.status == 400)
            host.clock.advance(by: .seconds(23 * 3600))
            let later = try await raw.send(.post, "/auth/verify-email", body: #"{"token":"\#(verification)"}"#)
            #expect(later.status == 400)
            try await host.service.sweep()
            for table in ["reset_tokens", "email_changes"] as [SQL] {
                #expect(try await host.database.read { try $0.exists("SELECT 1 FROM \(table)") } == false)
            }
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aDeletedAccountGetsNothing(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let (alice, raw) = (try await host.world().person(), host.world().raw)
            let address = "\(alice.name)@example.com"
            try await alice.send(Messenger.ForgotPassword(email: address))
            let reset = try await code(host, at: address)
            try await alice.client.deleteAccount(password: alice.password)
            #expect(
                try await raw.send(.post, "/auth/forgot-password", body: #"{"email":"\#(address)"}"#).status == 204)
            #expect(try await host.operator.emails(address).count == 1)
            let refused = try await raw.send(
                .post, "/auth/reset-password", body: #"{"token":"\#(reset)","new_password":"another one"}"#)
            #expect(refused.status == 400)
        }
    }
}
