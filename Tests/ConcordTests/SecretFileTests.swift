import Database
import Foundation
import Testbed
import Testing

/// Secrets can be given as files: `NAME_FILE` is the path of a file with the value of `NAME`.
@Suite(.timeLimit(.minutes(30))) struct SecretFileTests {
    private func concord(
        _ arguments: [String], _ environment: [String: String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: environment)
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    /// The token is signed with the key of the file, so the server that has the same key as a variable accepts it.
    @Test(arguments: ["", "\n", "\r\n"])
    func aKeyIsReadFromAFile(_ end: String) async throws {
        try await withTemporaryFolder { folder in
            let made = try await concord(
                ["deuce-diary", "token", "create", "--user", "u", "--data", folder + "/a"], [:])
            #expect(made.status == 0, "\(made.errors)")
            let key = try String(contentsOfFile: folder + "/a/keys/deuce-diary-issuer", encoding: .utf8)
            let file = folder + "/key"
            try Data((key.trimmingCharacters(in: .whitespacesAndNewlines) + end).utf8).write(
                to: URL(fileURLWithPath: file))
            let port = try await reservePort()
            let server = try ConcordProcess(
                ["serve", "deuce-diary", "--data", folder + "/b", "--port", "deuce-diary=\(port)"],
                environment: ["CONCORD_DEUCE_DIARY_ISSUER_KEY_FILE": file])
            try await server.waitUntilReady()
            #expect(!FileManager.default.fileExists(atPath: folder + "/b/keys/deuce-diary-issuer"))
            let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let answer = try await StockTools.run(
                "/usr/bin/curl",
                [
                    "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)",
                    "http://127.0.0.1:\(port)/api/auth/user",
                ])
            #expect(answer.output == "200")
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test(.enabled(if: Stack.postgreSQL != nil, "`make test` starts PostgreSQL"))
    func theDatabaseIsReadFromAFile() async throws {
        try await withTestDatabase(on: .postgreSQL) { place in
            let file = place.folder + "/database"
            try Data((try #require(place.url) + "\n").utf8).write(to: URL(fileURLWithPath: file))
            let made = try await concord(
                ["monica", "token", "create", "--account", "alice", "--data", place.folder + "/data"],
                ["CONCORD_DATABASE_FILE": file])
            #expect(made.status == 0, "\(made.errors)")
            let listed = try await concord(
                ["monica", "token", "list", "--data", place.folder + "/data", "--database", try #require(place.url)],
                [:])
            #expect(listed.output.contains("\talice\t"), "\(listed.errors)")
        }
    }

    @Test func whatCannotBeReadIsNamed() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(fileURLWithPath: folder + "/empty"))
            let serve = ["serve", "messenger", "--data", folder + "/data", "--port", "messenger=0"]
            let missing = try await concord(serve, ["CONCORD_SMTP_FILE": folder + "/none"])
            #expect(missing.status == 1)
            #expect(missing.errors == "Error: CONCORD_SMTP_FILE is \(folder)/none: there is no such file\n")
            let empty = try await concord(serve, ["AWS_SECRET_ACCESS_KEY_FILE": folder + "/empty"])
            #expect(empty.status == 1)
            #expect(empty.errors == "Error: AWS_SECRET_ACCESS_KEY_FILE is \(folder)/empty: it is empty\n")
            let both = try await concord(serve, ["CONCORD_SMTP": "smtp://a", "CONCORD_SMTP_FILE": folder + "/empty"])
            #expect(both.status == 64)
            #expect(both.errors.contains("CONCORD_SMTP and CONCORD_SMTP_FILE are both set: give one of them"))
            // A value that cannot be used is not repeated, because it may contain a password.
            let wrong = try await concord(serve, ["CONCORD_DATABASE": "mysql://user:hidden@host"])
            #expect(wrong.status == 64)
            #expect(wrong.errors.contains("CONCORD_DATABASE has an invalid value\n"), "\(wrong.errors)")
            #expect(!wrong.errors.contains("hidden"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
        }
    }
}
