import ContractCheck
import Database
import DunbarAPI
import Foundation
import HTTPTypes
import Identity
import Testbed
import Testing

/// The letter that verifies an address.
@Suite struct DunbarVerificationTests {
    private func token(_ host: DunbarHost) async throws -> String {
        try await host.service.settleLetters()
        let letter = try #require(host.mailbox.letters.last)
        let match = try #require(letter.text.firstMatch(of: #/\/api\/verify-email\/(\S+)/#))
        return String(match.output.1)
    }

    @Test(arguments: Stack.all)
    func aLinkIsGoodFor24Hours(_ stack: Stack) async throws {
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

    @Test(arguments: Stack.Engine.available)
    func aMailServerThatRefusesStopsNothing(_ engine: Stack.Engine) async throws {
        struct Refused: Error {}
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            host.mailbox.fail(with: Refused())
            let john = try await host.world().person()
            try await host.service.settleLetters()
            try await john.publish()
            #expect(host.mailbox.letters.isEmpty)
        }
    }

    /// A registration that is refused, or repeated under its key, sends no letter.
    @Test func aLetterForEachAccountAndNoMore() async throws {
        try await withDunbar(on: Stack(.sqlite, .inProcess)) { host in
            let world = host.world()
            let body = #"{"username":"jdoe","email":" J@Example.com ","password":"12345678","displayName":"J"}"#
            for _ in 0..<3 {
                let answer = try await world.raw.send(.post, "/register", headers: [.idempotencyKey: "k"], body: body)
                #expect(answer.status == 201)
            }
            #expect(try await world.raw.send(.post, "/register", body: body).status == 400)
            try await host.service.settleLetters()
            #expect(host.mailbox.letters.map(\.to) == ["J@Example.com"])
            #expect(host.mailbox.letters.allSatisfy { $0.text.contains("http://test/api/verify-email/") })
        }
    }
}
