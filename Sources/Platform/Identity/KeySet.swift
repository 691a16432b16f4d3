import Crypto
import CryptoExtras
import Foundation

/// The public keys of an issuer at one time: the usable part of a JSON Web Key Set (RFC 7517 §5).
///
/// A key is usable for RS256 if it is RSA of 2048…8192 bits with a `kid`, and its `use` and `alg`, if present, are
/// `sig` and `RS256`. Keys of other types are ignored.
struct KeySet: Sendable {
    static let maximumLength = 1 << 20
    static let maximumCount = 100

    private let keys: [String: Key]
    /// The verified tokens of these keys. They are dropped with the keys, so that a key that its issuer has withdrawn
    /// is not trusted through the cache.
    let verified = BoundedCache<String, BearerPayload>(capacity: 10_000)

    /// Makes a set of keys by their names.
    init(_ keys: [String: _RSA.Signing.PublicKey]) throws {
        self.keys = try keys.mapValues(Key.init)
    }

    /// Reads a key set as an issuer publishes it, up to 1 MiB and a hundred keys.
    init(json: [UInt8]) throws(KeySetFailure) {
        guard json.count <= Self.maximumLength else { throw KeySetFailure("longer than 1 MiB") }
        guard let set = try? JSONDecoder().decode(Published.self, from: Data(json)) else {
            throw KeySetFailure("no JSON Web Key Set")
        }
        var keys: [String: Key] = [:]
        for published in set.keys.prefix(Self.maximumCount) {
            guard let published = published.key, let id = published.kid, keys[id] == nil,
                let key = try? published.key()
            else { continue }
            keys[id] = key
        }
        guard !keys.isEmpty else { throw KeySetFailure("without a key for RS256") }
        self.keys = keys
    }

    func contains(_ id: String) -> Bool { keys[id] != nil }

    func hasSameKeys(as other: KeySet) -> Bool { keys.mapValues(\.primitives) == other.keys.mapValues(\.primitives) }

    /// Returns whether the key `id` has signed `bytes` with RS256; false when there is no such key.
    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by id: String) -> Bool {
        guard let key = keys[id] else { return false }
        return key.rsa.isValidSignature(
            .init(rawRepresentation: signature), for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
    }

    /// Returns the name that RFC 7638 gives to a key.
    static func thumbprint(of key: _RSA.Signing.PublicKey) throws -> String {
        let primitives = try key.getKeyPrimitives()
        let (e, n) = (Base64URL.encode(primitives.publicExponent), Base64URL.encode(primitives.modulus))
        return Base64URL.encode(Digest.sha256(#"{"e":"\#(e)","kty":"RSA","n":"\#(n)"}"#))
    }

    private struct Key: Sendable {
        let rsa: _RSA.Signing.PublicKey
        let primitives: _RSA.Signing.PublicKey.Primitives

        init(_ rsa: _RSA.Signing.PublicKey) throws {
            self.rsa = rsa
            primitives = try rsa.getKeyPrimitives()
        }
    }

    private struct Published: Decodable {
        let keys: [Element]

        /// An element that may be unreadable. One such key must not keep the others from being read.
        struct Element: Decodable {
            let key: JSONWebKey?

            init(from decoder: any Decoder) throws {
                key = try? JSONWebKey(from: decoder)
            }
        }
    }

    /// A key of RFC 7517 §4 and RFC 7518 §6.3.1.
    private struct JSONWebKey: Decodable {
        let kty: String
        let kid: String?
        let use: String?
        let alg: String?
        let n: String
        let e: String

        func key() throws -> Key? {
            // The size of the modulus decides how long a verification takes, and the keys come from outside.
            guard kty == "RSA", use == nil || use == "sig", alg == nil || alg == "RS256",
                let n = Base64URL.decode(n), n.count <= 1024, let e = Base64URL.decode(e), e.count <= 4
            else { return nil }
            return try Key(_RSA.Signing.PublicKey(n: n, e: e))
        }
    }
}

/// The reason for which a key set could not be fetched or read, for an operator's log.
public struct KeySetFailure: Error, Equatable, CustomStringConvertible {
    /// The reason, for the operator.
    public let description: String

    init(_ description: String) { self.description = "the issuer's key set: " + description }
}
