import Crypto
import Foundation
import Testing

@testable import Identity

/// A key is replaced, and what the former one has signed is accepted until it is dropped.
@Suite(.timeLimit(.minutes(30))) final class KeyRotationTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    private let claims = TokenClaims(
        subject: "42", kind: "access", issuedAt: 0, expiresAt: 3600, id: "j-1", session: "s-1")

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func secrets(_ environment: [String: String] = [:]) -> SecretKeys {
        SecretKeys(folder: folder, environment: environment)
    }

    private func hs256(_ text: String, key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }

    private func header(of token: String) throws -> [String: String] {
        let bytes = try #require(Base64URL.decode(String(token.split(separator: ".")[0])))
        return try JSONDecoder().decode([String: String].self, from: Data(bytes))
    }

    // MARK: Tokens

    @Test func aTokenOfTheFormerKeyIsAcceptedUntilItIsDropped() async throws {
        let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let secret = Secret(first)
        let signer = TokenSigner(secret: secret) { 0 }
        let old = try await signer.sign(claims)
        #expect(try await signer.verify(old) == claims)
        secret.replace(with: second, former: first)
        let new = try await signer.sign(claims)
        #expect(try header(of: old)["kid"] != header(of: new)["kid"])
        for token in [old, new] { #expect(try await signer.verify(token) == claims) }
        // It was verified before, and is not accepted from the cache.
        secret.replace(with: second, former: nil)
        await #expect(throws: TokenError.badSignature) { try await signer.verify(old) }
        #expect(try await signer.verify(new) == claims)
    }

    /// Tokens of earlier versions name no key.
    @Test func aTokenThatNamesNoKeyIsTriedWithEach() async throws {
        let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let bare = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        for key in [first, second] {
            let signed = try await TokenSigner(secret: Secret(key)) { 0 }.sign(claims)
            let input = bare + "." + signed.split(separator: ".")[1]
            let token = input + "." + Base64URL.encode(hs256(input, key: key))
            let both = TokenSigner(secret: Secret(second, former: first)) { 0 }
            #expect(try await both.verify(token) == claims)
            let other = TokenSigner(secret: Secret([UInt8](repeating: 3, count: 32))) { 0 }
            await #expect(throws: TokenError.badSignature) { try await other.verify(token) }
        }
    }

    // MARK: Derived keys

    @Test func aPurposeHasAKeyOfEachVersion() {
        let (first, second) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let secret = Secret(first)
        let old = secret.keys(for: "links")
        #expect(old.count == 1)
        #expect(secret.keys(for: "e-mails") != old)
        secret.replace(with: second, former: first)
        let both = secret.keys(for: "links")
        #expect(both.count == 2)
        #expect(both[1] == old[0] && both[0] != old[0])
        #expect(Secret(second).keys(for: "links") == [both[0]])
        secret.replace(with: second, former: nil)
        #expect(secret.keys(for: "links") == [both[0]])
        #expect(secret.bytes == [second])
    }

    // MARK: Files

    @Test func theFormerKeyOfAFileIsKeptWithItsDate() throws {
        let first = try secrets().key("tokens", variable: "KEY")
        #expect(try secrets().formerKey("tokens", variable: "KEY") == nil)
        #expect(try secrets().dropFormer("tokens") == false)
        try secrets().rotate("tokens", form: .randomBytes, at: 1_700_000_000)
        let second = try secrets().key("tokens", variable: "KEY")
        #expect(first != second)
        #expect(try secrets().formerKey("tokens", variable: "KEY") == first)
        #expect(secrets().rotationDate(of: "tokens") == "2023-11-14T22:13:20Z")
        for name in ["tokens", "tokens.former"] {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/keys/\(name)")[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        // A second rotation drops the first key.
        try secrets().rotate("tokens", form: .randomBytes, at: 1_700_000_001)
        #expect(try secrets().formerKey("tokens", variable: "KEY") == second)
        #expect(try secrets().dropFormer("tokens"))
        #expect(try secrets().formerKey("tokens", variable: "KEY") == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/keys")
        #expect(names == ["tokens"], "no draft is left")
    }

    @Test func aKeyOfAVariableHasItsFormerOneInAVariable() throws {
        _ = try secrets().key("tokens", variable: "KEY")
        try secrets().rotate("tokens", form: .randomBytes, at: 0)
        let (one, two) = (SecretForm.randomBytes.newKey(), SecretForm.randomBytes.newKey())
        // The file of a former key does not belong to the variable's key.
        #expect(try secrets(["KEY": one]).formerKey("tokens", variable: "KEY") == nil)
        #expect(
            try secrets(["KEY": one, "KEY_FORMER": two]).formerKey("tokens", variable: "KEY") == SecretKeys.bytes(two))
        #expect(throws: SecretKeyError.unusableVariable("KEY_FORMER", .randomBytes)) {
            try self.secrets(["KEY": one, "KEY_FORMER": "short"]).formerKey("tokens", variable: "KEY")
        }
    }

    @Test func anIssuerAcceptsItsFormerKey() async throws {
        func issuer() throws -> LocalIssuer { try secrets().localIssuer("issuer", variable: "KEY") { 0 } }
        let server = try issuer()
        let verifier = BearerVerifier(trusting: [.local(server)]) { 0 }
        let old = try server.sign(subject: "user_a", lifetime: .seconds(60))
        #expect(try await verifier.verify(old).subject == "user_a")
        try secrets().rotate("issuer", form: .rsaPrivateKey, at: 0)
        server.acceptOnly(tokensOf: try issuer())
        let new = try issuer().sign(subject: "user_a", lifetime: .seconds(60))
        for token in [old, new] { #expect(try await verifier.verify(token).subject == "user_a") }
        _ = try secrets().dropFormer("issuer")
        server.acceptOnly(tokensOf: try issuer())
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(old) }
        #expect(try await verifier.verify(new).subject == "user_a")
    }
}
