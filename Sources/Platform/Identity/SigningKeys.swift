import Crypto
import Foundation
import JWTKit
import NIOConcurrencyHelpers

/// The keys with which a server signs tokens: the present one, and a former one whose tokens are still accepted. Both can
/// be replaced while the server runs.
public final class SigningKeys: Sendable {
    /// A key, with the name that tokens have in their header (`kid`, RFC 7515 §4.1.4).
    struct Key: Sendable {
        let id: String
        let bytes: [UInt8]
        // jwt-kit keeps its keys in an actor, which an initialiser cannot fill without suspending. It takes the default
        // key of a collection whatever `kid` a token has, so each key has a collection of its own.
        let collection: Task<JWTKeyCollection, Never>

        init(_ bytes: [UInt8]) {
            precondition(bytes.count >= 32, "an HS256 key has at least 32 bytes (RFC 7518 §3.2)")
            self.bytes = bytes
            id = SecretKeys.fingerprint(of: bytes, name: "token")
            collection = Task { await JWTKeyCollection().add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256) }
        }
    }

    private let keys: NIOLockedValueBox<[Key]>

    /// Makes keys of at least 32 bytes.
    public init(_ key: [UInt8], former: [UInt8]? = nil) {
        keys = NIOLockedValueBox(([key] + (former.map { [$0] } ?? [])).map(Key.init))
    }

    /// Replaces the keys. Tokens of a key that is left out are no longer accepted.
    public func replace(with key: [UInt8], former: [UInt8]?) {
        let wanted = [key] + (former.map { [$0] } ?? [])
        keys.withLockedValue { keys in
            keys = wanted.map { bytes in keys.first { $0.bytes == bytes } ?? Key(bytes) }
        }
    }

    /// The key that signs.
    var present: Key { keys.withLockedValue { $0[0] } }

    func accepts(_ id: String) -> Bool { keys.withLockedValue { $0.contains { $0.id == id } } }

    /// Returns the keys that may have signed a token: the one that its header names, else all.
    func candidates(for id: String?) -> [Key] {
        let all = keys.withLockedValue { $0 }
        let named = all.filter { $0.id == id }
        return named.isEmpty ? all : named
    }
}
