public import Crypto
import NIOConcurrencyHelpers

/// A secret of random bytes that an operator can replace while the server runs: the present one, and a former one that
/// is still accepted.
public final class Secret: Sendable {
    private struct Version {
        let bytes: [UInt8]
        var derived: [String: SymmetricKey] = [:]
    }

    /// The present version, and then the former one, if there is one.
    private let versions: NIOLockedValueBox<[Version]>

    /// Makes a secret of at least 32 bytes.
    public init(_ bytes: [UInt8], former: [UInt8]? = nil) {
        versions = NIOLockedValueBox(Self.list(bytes, former).map { Version(bytes: $0) })
    }

    /// Replaces the secret. Signatures under a version that is left out are no longer accepted.
    public func replace(with bytes: [UInt8], former: [UInt8]?) {
        versions.withLockedValue { versions in
            versions = Self.list(bytes, former).map { bytes in
                versions.first { $0.bytes == bytes } ?? Version(bytes: bytes)
            }
        }
    }

    /// Returns the bytes of the present version, and then those of the former one, if there is one.
    public var bytes: [[UInt8]] { versions.withLockedValue { $0.map(\.bytes) } }

    /// Returns the keys of 32 bytes that serve one purpose alone (HKDF with SHA-256, RFC 5869): the one that is derived
    /// from the present version, and then that of the former version, if there is one.
    public func keys(for purpose: String) -> [SymmetricKey] {
        versions.withLockedValue { versions in
            versions.indices.map { index in
                if let key = versions[index].derived[purpose] { return key }
                let key = HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: versions[index].bytes), info: Array(purpose.utf8),
                    outputByteCount: 32)
                versions[index].derived[purpose] = key
                return key
            }
        }
    }

    private static func list(_ bytes: [UInt8], _ former: [UInt8]?) -> [[UInt8]] {
        [bytes] + (former.map { [$0] } ?? [])
    }
}
