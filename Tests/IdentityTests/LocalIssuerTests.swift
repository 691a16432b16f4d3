import Foundation
import Testing

@testable import Identity

/// The server's own issuer has a key from a file or from the environment.
@Suite(.timeLimit(.minutes(30))) struct LocalIssuerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func issuer(_ environment: [String: String] = [:]) throws -> LocalIssuer {
        try SecretKeys(folder: folder.path + "/data", environment: environment).localIssuer("issuer", variable: "KEY") {
            RSAKey.start
        }
    }

    /// Returns the subject of a token that one issuer made and another verifies.
    private func verify(_ token: String, with issuer: LocalIssuer) async -> String? {
        try? await BearerVerifier(trusting: [.local(issuer)], now: { RSAKey.start }).verify(token).subject
    }

    @Test func `a key is made once, for its owner only`() async throws {
        let token = try issuer().sign(subject: "user_abc", lifetime: .seconds(60))
        #expect(await verify(token, with: try issuer()) == "user_abc")
        #expect(try folder.mode(of: "data") == 0o700)
        #expect(try folder.mode(of: "data/keys") == 0o700)
        #expect(try folder.mode(of: "data/keys/issuer") == 0o600)
    }

    @Test(.timeLimit(.minutes(30))) func `all that start at once get one key`() async throws {
        let issuers = try await withThrowingTaskGroup(of: LocalIssuer.self) { group in
            for _ in 0..<4 { group.addTask { try issuer() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for other in issuers {
            let token = try other.sign(subject: "user_abc", lifetime: .seconds(60))
            #expect(await verify(token, with: issuers[0]) == "user_abc")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/data/keys")
        #expect(names == ["issuer"], "no drafts are left")
    }

    @Test func `the variable takes PEM and DER, PKCS 8 and PKCS 1`() async throws {
        let key = RSAKey.first.key
        let token = try LocalIssuer(key, now: { RSAKey.start }).sign(subject: "user_abc", lifetime: .seconds(60))
        for text in [
            key.pemRepresentation, key.pkcs8PEMRepresentation, key.pkcs8PEMRepresentation + "\n",
            key.pkcs8PEMRepresentation.replacingOccurrences(of: "\n", with: "\r\n"),
            key.derRepresentation.base64EncodedString(), " \(key.pkcs8DERRepresentation.base64EncodedString())\n",
            Base64URL.encode(key.pkcs8DERRepresentation),
        ] {
            #expect(await verify(token, with: try issuer(["KEY": text])) == "user_abc", "\(text)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data"))
    }

    @Test func `the file's text works as the variable's value`() async throws {
        let token = try issuer().sign(subject: "user_abc", lifetime: .seconds(60))
        let text = try String(contentsOfFile: folder.path + "/data/keys/issuer", encoding: .utf8)
        #expect(text.utf8.count % 4 == 1 && text.last == "\n", "padded, as other programs want it")
        #expect(await verify(token, with: try issuer(["KEY": text])) == "user_abc")
    }

    @Test func `the file accepts the forms of the variable, PEM included`() async throws {
        _ = try issuer()
        let path = folder.path + "/data/keys/issuer"
        let key = RSAKey.second.key
        try key.pkcs8PEMRepresentation.write(toFile: path, atomically: false, encoding: .utf8)
        let token = try LocalIssuer(key, now: { RSAKey.start }).sign(subject: "user_abc", lifetime: .seconds(60))
        #expect(await verify(token, with: try issuer()) == "user_abc")
        #expect(key.pkcs8PEMRepresentation.utf8.count > 1024, "longer than any random key")

        // The beginning of a file that is too long must not be used as a key.
        let blank = String(repeating: "\n", count: 8192)
        try (key.pkcs8PEMRepresentation + blank).write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: SecretKeyError.damagedFile(path: path, .rsaPrivateKey)) { try issuer() }
    }

    @Test func `an invalid RSA key is an error that names it and hides its value`() throws {
        let small = RSAKey("small", .init(bitCount: 1024)).key
        for text in [
            "", "AAAA", "rubbish", Data(repeating: 7, count: 32).base64EncodedString(),
            RSAKey.first.key.publicKey.pemRepresentation, small.pemRepresentation,
        ] {
            let error = try #require(throws: SecretKeyError.self) { try issuer(["KEY": text]) }
            #expect(error == .unusableVariable("KEY", .rsaPrivateKey))
            #expect(error.description.hasPrefix("KEY must be an RSA private key of at least 2048 bits"))
            #expect(text.count < 4 || !error.description.contains(text))
        }
        _ = try issuer()
        let path = folder.path + "/data/keys/issuer"
        try "rubbish".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: SecretKeyError.damagedFile(path: path, .rsaPrivateKey)) { try issuer() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "rubbish")
    }
}
