import Crypto
import Foundation
import JWTKit
import NIOConcurrencyHelpers

/// The keys of a ``Secret`` with which tokens are signed: the present one, and a former one whose tokens are still
/// accepted.
final class SigningKeys: Sendable {
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

    private let secret: Secret
    /// The keys of the secret as it was when they were asked for last.
    private let made = NIOLockedValueBox<[Key]>([])

    init(_ secret: Secret) { self.secret = secret }

    private var all: [Key] {
        let wanted = secret.bytes
        return made.withLockedValue { made in
            if !made.lazy.map(\.bytes).elementsEqual(wanted) {
                made = wanted.map { bytes in made.first { $0.bytes == bytes } ?? Key(bytes) }
            }
            return made
        }
    }

    /// The key that signs.
    var present: Key { all[0] }

    /// Returns whether tokens of a key are accepted.
    func accepts(_ id: String) -> Bool { all.contains { $0.id == id } }

    /// Returns the keys that may have signed a token: the one that its header names, else all.
    func candidates(for id: String?) -> [Key] {
        let all = all
        let named = all.filter { $0.id == id }
        return named.isEmpty ? all : named
    }
}
