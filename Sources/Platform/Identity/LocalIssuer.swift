import Crypto
import CryptoExtras
import Foundation

/// The server's own issuer of tokens, for development and for users without an account at another service. It uses an
/// RSA key in the data folder.
public struct LocalIssuer: Sendable {
    /// The issuer's name, claim `iss`.
    public static let name = "concord"

    /// The thumbprint of the public key (RFC 7638), which identifies it.
    public var fingerprint: String { keyID }
    /// The thumbprint of the former key, whose tokens are still accepted.
    public let formerFingerprint: String?

    /// The public keys with which tokens are verified. They can be replaced while the server runs.
    let keys: KeySource
    private let keySet: KeySet
    private let key: _RSA.Signing.PrivateKey
    private let keyID: String
    private let now: @Sendable () -> Int64

    init(
        _ key: _RSA.Signing.PrivateKey, former: _RSA.Signing.PrivateKey? = nil, now: @escaping @Sendable () -> Int64
    ) throws {
        self.key = key
        self.now = now
        keyID = try KeySet.thumbprint(of: key.publicKey)
        formerFingerprint = try former.map { try KeySet.thumbprint(of: $0.publicKey) }
        var known = [keyID: key.publicKey]
        if let former, let formerFingerprint { known[formerFingerprint] = former.publicKey }
        keySet = try KeySet(known)
        keys = KeySource(keySet)
    }

    /// Verifies tokens with the keys of another issuer from now on: with those of the same name after a rotation.
    public func acceptOnly(tokensOf other: LocalIssuer) { keys.replace(with: other.keySet) }

    /// Signs a token for a user, which is valid from now on: RS256, in the compact form.
    ///
    /// - Parameters:
    ///   - subject: The user's id, 1…255 scalars without control characters.
    ///   - lifetime: The lifetime in whole seconds.
    /// - Throws: ``TokenError/malformed`` when no verifier would accept the token, for an invalid subject or for claims
    ///   of more than 4 KiB.
    public func sign(
        subject: String, email: String? = nil, firstName: String? = nil, lastName: String? = nil, lifetime: Duration
    ) throws -> String {
        let now = now()
        let claims = BearerClaims(
            subject: subject, email: email, firstName: firstName, lastName: lastName, issuedAt: now,
            expiresAt: now + lifetime.components.seconds)
        guard [subject, email, firstName, lastName].allSatisfy({ $0.map(BearerClaims.isUsable) ?? true }) else {
            throw TokenError.malformed
        }
        let header = ["alg": "RS256", "kid": keyID, "typ": "JWT"]
        let signedPart = try Self.part(header) + "." + Self.part(BearerPayload(issuer: Self.name, claims: claims))
        let signature = try key.signature(
            for: SHA256.hash(data: Array(signedPart.utf8)), padding: .insecurePKCS1v1_5)
        let token = signedPart + "." + Base64URL.encode(signature.rawRepresentation)
        guard CompactToken.isPlausible(token) else { throw TokenError.malformed }
        return token
    }

    private static func part(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Base64URL.encode(try encoder.encode(value))
    }
}

extension SecretKeys {
    /// Returns the issuer with the key of this name: an RSA key of 2048 bits or more. It comes from the environment
    /// variable `variable` (PKCS #8 or PKCS #1, as PEM or as base64 of DER) if that is set, else from
    /// `<folder>/keys/<name>`, which is created when it does not exist.
    ///
    /// The call blocks on the file system, and for some tenths of a second when a key is generated; it is meant for the
    /// start. Concurrent processes get the same key.
    ///
    /// - Parameter now: Returns the time in Unix seconds.
    /// - Throws: ``SecretKeyError``.
    public func localIssuer(
        _ name: String, variable: String, now: @escaping @Sendable () -> Int64
    ) throws(SecretKeyError) -> LocalIssuer {
        let key = try secret(name, variable: variable, form: .rsaPrivateKey, decode: Self.privateKey)
        let former = try former(name, variable: variable, form: .rsaPrivateKey, decode: Self.privateKey)
        guard let issuer = try? LocalIssuer(key, former: former, now: now) else {
            throw .damagedFile(path: "\(folder)/keys/\(name)", .rsaPrivateKey)
        }
        return issuer
    }

    private static func privateKey(_ text: String) -> _RSA.Signing.PrivateKey? {
        let base64 = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }.joined()
        return Self.base64(base64).flatMap { try? _RSA.Signing.PrivateKey(derRepresentation: $0) }
    }
}
