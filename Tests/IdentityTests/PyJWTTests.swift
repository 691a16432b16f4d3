import Foundation
import Testbed
import Testing

@testable import Identity

/// Tokens are compatible with PyPI's PyJWT, an independent implementation.
@Suite(.timeLimit(.minutes(30))) struct PyJWTTests {
    private struct Made: Decodable {
        /// The key set as text, as an issuer would publish it.
        let keySet: String
        let good: String
        let forged: [String: String]
    }

    @Test(.enabled(if: StockTools.python != nil, "`make test` installs PyJWT and sets CONCORD_PYTHON"))
    func `both understand each other`() async throws {
        let folder = try TemporaryFolder()
        let local = try SecretKeys(folder: folder.path, environment: [:]).localIssuer("issuer", variable: "KEY") {
            RSAKey.start
        }
        let token = try local.sign(
            subject: "user_abc", email: "zoë@example.com", firstName: "Zoë", lifetime: .seconds(60))
        let run = try await StockTools.run(
            try #require(StockTools.python),
            [
                StockTools.package + "/Tests/StockClient/tokens.py", folder.path + "/keys/issuer", token,
                "\(RSAKey.start)", folder.path + "/made.json",
            ])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("tokens: as the standard says"))

        let made = try JSONDecoder().decode(
            Made.self, from: Data(contentsOf: URL(fileURLWithPath: folder.path + "/made.json")))
        let keySet = Array(made.keySet.utf8)
        let verifier = BearerVerifier(
            trusting: [.outside("https://py.example", refreshFailed: { _ in }, keySet: { keySet })],
            now: { RSAKey.start })
        let claims = try await verifier.verify(made.good)
        #expect(
            claims
                == BearerClaims(
                    subject: "user_py", email: "zoë@example.com", firstName: "Zoë", issuedAt: RSAKey.start,
                    expiresAt: RSAKey.start + 60))
        #expect(made.forged.count == 5)
        for (name, token) in made.forged {
            await #expect(throws: TokenError.badSignature, "\(name)") { try await verifier.verify(token) }
        }
    }
}
