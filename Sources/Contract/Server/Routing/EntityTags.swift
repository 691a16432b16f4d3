import Crypto
import NIOConcurrencyHelpers
import NIOCore

/// Makes the entity tags of answers: the same for the same bytes, on every node.
///
/// SHA-256 was a twelfth of the time of a list of fifty. A longer text is therefore first reduced to a message authentication
/// code, which takes a quarter of the time: GMAC (NIST SP 800-38D) under a key that is made from the server's secret, so
/// that no client can write two texts with one tag. Its nonce is always the same, which would give the key away if the code
/// itself were shown; the tag is made from its SHA-256.
final class EntityTags: Sendable {
    /// The size in bytes from which a text is reduced first.
    private static let long = 2048
    private static let nonce = try? AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 12))

    private struct Key {
        let secret: [UInt8]
        let key: SymmetricKey

        init(_ secret: [UInt8]) {
            self.secret = secret
            key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret), info: Array("entity tags".utf8), outputByteCount: 16)
        }
    }

    private let secrets: @Sendable () -> [[UInt8]]
    private let latest = NIOLockedValueBox<Key?>(nil)

    /// - Parameter secrets: Returns the server's secrets, the present one first. A new one changes the tags of long texts.
    init(secrets: @escaping @Sendable () -> [[UInt8]]) { self.secrets = secrets }

    /// Returns a weak tag, because compressed bytes differ (RFC 9110 §8.8.3).
    func tag(of bytes: ByteBuffer) -> String {
        let digest = bytes.withUnsafeReadableBytes { bytes in
            guard bytes.count >= Self.long, let code = code(of: bytes) else { return Self.digest(bytes) }
            return code.withUnsafeBytes(Self.digest)
        }
        return String(unsafeUninitializedCapacity: 36) { text in
            var count = text.update(fromContentsOf: "W/\"".utf8)
            for byte in digest.prefix(16) {
                for digit in [byte >> 4, byte & 15] {
                    text[count] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                    count += 1
                }
            }
            text[count] = UInt8(ascii: "\"")
            return count + 1
        }
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return hash.finalize()
    }

    private func code(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let secret = secrets().first, let nonce = Self.nonce else { return nil }
        let key = latest.withLockedValue { latest in
            if let latest, latest.secret == secret { return latest.key }
            let key = Key(secret)
            latest = key
            return key.key
        }
        let sealed = try? AES.GCM.seal([UInt8](), using: key, nonce: nonce, authenticating: bytes)
        return sealed.map { Array($0.tag) }
    }
}
