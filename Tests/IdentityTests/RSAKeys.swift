import Crypto
import CryptoExtras
import Foundation

@testable import Identity

/// An issuer's key, which signs tokens of any content.
struct RSAKey: Sendable {
    /// A key that is made once, because that takes a while.
    static let first = RSAKey("first")
    static let second = RSAKey("second")

    let id: String
    let key: _RSA.Signing.PrivateKey

    init(_ id: String, _ size: _RSA.Signing.KeySize = .bits2048) {
        self.id = id
        key = try! _RSA.Signing.PrivateKey(unsafeKeySize: size)
    }

    /// Creates the same key under another name.
    init(_ id: String, of other: RSAKey) {
        self.id = id
        key = other.key
    }

    /// Returns the key as a member of a key set, with added or replaced fields.
    func webKey(_ more: [String: Any] = [:]) -> [String: Any] {
        let primitives = try! key.publicKey.getKeyPrimitives()
        return [
            "kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": Base64URL.encode(primitives.modulus),
            "e": Base64URL.encode(primitives.publicExponent),
        ].merging(more) { _, new in new }
    }

    func sign<D: Crypto.Digest>(_ digest: D) -> [UInt8] {
        Array(try! key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }

    func rs256(_ input: Data) -> [UInt8] { sign(SHA256.hash(data: input)) }

    /// Returns a token that ``outside`` would have made, with changed fields if given.
    func token(header: [String: Any?] = [:], _ claims: [String: Any?] = [:]) -> String {
        Self.token(header: header, claims, id: id, sign: rs256)
    }

    /// Returns a token with another signature. A nil removes a field.
    static func token(
        header: [String: Any?] = [:], _ claims: [String: Any?] = [:], id: String = RSAKey.first.id,
        sign: (Data) -> [UInt8]
    ) -> String {
        let usualHeader: [String: Any?] = ["alg": "RS256", "typ": "JWT", "kid": id]
        let usualClaims: [String: Any?] = [
            "iss": issuer, "sub": "user_1", "iat": start, "nbf": start, "exp": start + 60, "azp": "https://app.example",
        ]
        let input =
            part(usualHeader.merging(header) { _, new in new }) + "."
            + part(usualClaims.merging(claims) { _, new in new })
        return input + "." + Base64URL.encode(sign(Data(input.utf8)))
    }

    private static func part(_ fields: [String: Any?]) -> String {
        Base64URL.encode(try! JSONSerialization.data(withJSONObject: fields.compactMapValues { $0 }))
    }

    static let issuer = "https://issuer.example"
    static let start: Int64 = 1_700_000_000

    /// Returns a key set as an issuer publishes it.
    static func keySet(_ keys: [String: Any]...) -> [UInt8] {
        Array(try! JSONSerialization.data(withJSONObject: ["keys": keys]))
    }
}
