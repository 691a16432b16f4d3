import Crypto
import CryptoExtras
import Foundation

/// The server's own issuer of tokens, for development and for users without an account elsewhere: an RSA key in the
/// data folder instead of a service.
public struct LocalIssuer: Sendable {
    /// Its name, claim `iss`.
    public static let name = "concord"

    /// Tells its key from others: the thumbprint of the public key (RFC 7638).
    public var fingerprint: String { keyID }

    let keySet: KeySet
    private let key: _RSA.Signing.PrivateKey
    private let keyID: String
    private let now: @Sendable () -> Int64

    init(_ key: _RSA.Signing.PrivateKey, now: @escaping @Sendable () -> Int64) throws {
        self.key = key
        self.now = now
        keyID = try KeySet.thumbprint(of: key.publicKey)
        keySet = try KeySet([keyID: key.publicKey])
    }

    /// A token that speaks of this user, good from now on: RS256, in the compact form.
    ///
    /// - Parameters:
    ///   - subject: the user's id, 1…255 scalars without control characters.
    ///   - lifetime: in whole seconds.
    /// - Throws: ``TokenError/malformed`` when no verifier would take it, for a subject that is none or for claims of
    ///   more than 4 KiB.
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
    /// The issuer whose key has this name: an RSA key of 2048 bits or more, from the environment variable `variable`
    /// (PKCS #8 or PKCS #1, as PEM or as base64 of DER) if it is set, else from `<folder>/keys/<name>`, which is made
    /// when absent.
    ///
    /// Blocks on the file system, and for some tenths of a second when a key is made; meant for start-up. Any number of
    /// processes may ask at once and get one key.
    ///
    /// - Parameter now: the time in Unix seconds.
    /// - Throws: ``SecretKeyError``.
    public func localIssuer(
        _ name: String, variable: String, now: @escaping @Sendable () -> Int64
    ) throws(SecretKeyError) -> LocalIssuer {
        try secret(name, variable: variable, form: .rsaPrivateKey) {
            // Fails only where there is no memory or no randomness.
            try! _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8DERRepresentation.base64EncodedString() + "\n"
        } decode: { text in
            let base64 = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }.joined()
            return Self.base64(base64).flatMap { der in
                try? LocalIssuer(_RSA.Signing.PrivateKey(derRepresentation: der), now: now)
            }
        }
    }
}
