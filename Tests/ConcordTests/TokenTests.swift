import Foundation
import Identity
import Testbed
import Testing

/// `concord deuce-diary token create` issues tokens for operators and developers.
@Suite(.timeLimit(.minutes(30))) struct TokenTests {
    private func token(_ arguments: String..., data: String, environment: [String: String] = [:]) async throws -> (
        status: Int32, output: String, errors: String
    ) {
        let process = try ConcordProcess(
            ["deuce-diary", "token", "create", "--data", data] + arguments, environment: environment)
        return (await process.status(), await process.wholeOutput(), await process.standardError())
    }

    /// Returns the claims that the server reads in a token, this number of seconds from now.
    private func claims(of output: String, data: String, after seconds: Int64 = 0) async throws -> BearerClaims {
        let now = Int64(Date().timeIntervalSince1970) + seconds
        let issuer = try SecretKeys(folder: data, environment: [:]).localIssuer(
            "deuce-diary-issuer", variable: "KEY", now: { now })
        #expect(output.hasSuffix("\n") && output.filter(\.isNewline).count == 1, "a token and nothing else")
        return try await BearerVerifier(trusting: [.local(issuer)], now: { now }).verify(String(output.dropLast()))
    }

    @Test func aTokenSpeaksOfTheUser() async throws {
        try await withTemporaryFolder { folder in
            let data = folder + "/data"
            let whole = try await token("--user", "user_abc", "--email", "a@b.c", "--name", "Ann de Wit", data: data)
            #expect(whole.status == 0 && whole.errors.isEmpty, "\(whole.errors)")
            let claims = try await claims(of: whole.output, data: data)
            #expect(claims.subject == "user_abc")
            #expect([claims.email, claims.firstName, claims.lastName] == ["a@b.c", "Ann", "de Wit"])
            #expect(claims.expiresAt - claims.issuedAt == 30 * 24 * 3600)

            let brief = try await token("--user", "u", "--first-name", "A", "--lifetime", "7200s", data: data)
            let other = try await self.claims(of: brief.output, data: data)
            #expect([other.email, other.firstName, other.lastName] == [nil, "A", nil])
            #expect(other.expiresAt - other.issuedAt == 7200)
            await #expect(throws: TokenError.expired) {
                try await self.claims(of: brief.output, data: data, after: 10_800)
            }
        }
    }

    @Test func theServerMayBeRunningAndSeveralMayBeMadeAtOnce() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        let made = try await token("--user", "user_\(number)", data: folder)
                        #expect(made.status == 0, "\(made.errors)")
                        let subject = try await claims(of: made.output, data: folder).subject
                        #expect(subject == "user_\(number)")
                    }
                }
                try await group.waitForAll()
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func settingsComeFromTheEnvironmentToo() async throws {
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(
                ["deuce-diary", "token", "create", "--user", "u"], environment: ["CONCORD_DATA": folder + "/data"])
            #expect(await process.status() == 0)
            let claims = try await claims(of: await process.wholeOutput(), data: folder + "/data")
            #expect(claims.subject == "u")

            let key = try String(contentsOfFile: folder + "/data/keys/deuce-diary-issuer", encoding: .utf8)
            let made = try await token(
                "--user", "v", data: folder + "/none", environment: ["CONCORD_DEUCE_DIARY_ISSUER_KEY": key])
            #expect(try await self.claims(of: made.output, data: folder + "/data").subject == "v")
            #expect(!FileManager.default.fileExists(atPath: folder + "/none"))
        }
    }

    @Test(arguments: [
        (["--user", ""], "--user, --email and the names must have 1 to 255 characters each"),
        ([], "Missing expected argument '--user <user>'"),
        (["--user", "u", "--lifetime", "0s"], "--lifetime"), (["--user", "u", "--lifetime", "12"], "--lifetime"),
        (["--user", "u", "--lifetime", "4000d"], "--lifetime"),
        (["--user", "u", "--lifetime", "9223372036854775807d"], "--lifetime"),
        (["--user", "u", "--name", "A B", "--first-name", "A"], "--name contains both names"),
    ])
    func mistakesAreNamed(arguments: [String], words: String) async throws {
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(
                ["deuce-diary", "token", "create", "--data", folder + "/data"] + arguments)
            #expect(await process.status() != 0)
            #expect(await process.standardError().contains(words))
            #expect(await process.wholeOutput().isEmpty)
        }
    }
}
