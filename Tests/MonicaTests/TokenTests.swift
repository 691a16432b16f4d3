import Contract
import ContractCheck
import HTTPTypes
import Identity
import MonicaService
import Testbed
import Testing

/// Personal access tokens can be listed and revoked, and requests are limited.
@Suite(.timeLimit(.minutes(30))) struct MonicaTokenTests {
    @Test(arguments: Stack.all)
    func aTokenIsKnownUntilItIsRevoked(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let (kept, revoked) = (try await host.token("alice"), try await host.token("alice"))
            var listed = try await host.service.listTokens(account: "alice")
            #expect(listed.map(\.lastUsedAt) == [nil, nil])
            // The time of use is stored to the minute, and this is not a full minute.
            host.clock.advance(by: .milliseconds(61_234))
            for token in [kept, revoked] {
                let answer = try await raw.send(.get, "/me", token: token)
                #expect(answer.status == 200)
            }
            listed = try await host.service.listTokens(account: "alice")
            let minute = host.clock.source.milliseconds() / 60_000 * 60_000
            #expect(listed.map(\.lastUsedAt) == [minute, minute])
            let isRevoked = try await host.service.revokeToken(listed[1].id, audit: .test)
            #expect(isRevoked)
            let isRevokedAgain = try await host.service.revokeToken(listed[1].id, audit: .test)
            #expect(!isRevokedAgain)
            host.clock.advance(by: .seconds(1))
            let answers = [
                try await raw.send(.get, "/me", token: kept).status,
                try await raw.send(.get, "/me", token: revoked).status,
            ]
            #expect(answers == [200, 401])
            // The database has only a digest of the token.
            let stored = try await host.database.read { db in
                try db.all("SELECT digest FROM tokens") { try $0.get(0, as: [UInt8].self) }
            }
            #expect(stored == [Digest.sha256(kept)])
            #expect(kept.utf8.count >= 43)
        }
    }

    @Test(arguments: Stack.all)
    func eachTokenHasItsRequestsAMinute(_ stack: Stack) async throws {
        var limits = MonicaService.Limits()
        limits.contactRequests = 3
        limits.otherRequests = 2
        try await withMonica(on: stack, limits: limits) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let (token, other) = (try await host.token(), try await host.token())
            for left in [2, 1, 0] {
                let answer = try await raw.send(.get, left == 1 ? "/export/vcard" : "/contacts/0/notes", token: token)
                #expect(answer.headers[.init("X-RateLimit-Limit")!] == "3")
                #expect(answer.headers[.init("X-RateLimit-Remaining")!] == String(left))
                let reset = host.clock.source.milliseconds() / 1000 + 60
                #expect(answer.headers[.init("X-RateLimit-Reset")!] == String(reset))
            }
            let refused = try await raw.send(.get, "/contacts?limit=x", token: token)
            #expect(refused.status == 429)
            #expect(
                refused.text
                    == #"{"error":{"message":"Too many attempts, please slow down the request","code":429,"error_code":34}}"#
            )
            #expect(refused.headers[.init("X-RateLimit-Remaining")!] == "0")
            #expect(refused.headers[.retryAfter] == "60")
            var statuses: [Int] = []
            for (path, token) in [("/notes", token), ("/tags", token), ("/me", token), ("/contacts", other)] {
                statuses.append(try await raw.send(.get, path, token: token).status)
            }
            #expect(statuses == [200, 200, 429, 200])
            host.clock.advance(by: .seconds(60))
            let again = try await raw.send(.get, "/contacts", token: token)
            #expect(again.status == 200)
        }
    }

    @Test(arguments: Stack.all)
    func onlyWrongTokensCountByAddress(_ stack: Stack) async throws {
        try await withMonica(on: stack, limits: MonicaService.Limits()) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let token = try await host.token()
            var statuses: [Int] = []
            for index in 0..<11 { statuses.append(try await raw.send(.get, "/me", token: "wrong \(index)").status) }
            #expect(statuses == Array(repeating: 401, count: 10) + [429])
            let refused = try await raw.send(.get, "/me", token: "wrong")
            #expect(refused.headers[.retryAfter] == "60")
            let missing = try await raw.send(.get, "/me")
            let good = try await raw.send(.get, "/me", token: token)
            #expect([missing.status, good.status] == [401, 200])
        }
    }
}
