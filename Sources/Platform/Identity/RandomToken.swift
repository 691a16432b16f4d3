import Crypto

/// Opaque tokens: refresh tokens, session ids, one-time links.
public enum RandomToken {
    /// A fresh token of `bytes` random bytes from the operating system's generator, in base64url
    /// (32 bytes give 43 characters).
    ///
    /// Give the text to the client and store only ``Digest/sha256(_:)`` of it.
    public static func make(bytes: Int = 32) -> String {
        Base64URL.encode(randomBytes(bytes))
    }
}

/// Digests of secrets that are looked up but never read back.
public enum Digest {
    /// SHA-256 (FIPS 180-4) of the UTF-8 bytes of `string`: 32 bytes.
    ///
    /// Fit for random tokens only: a password needs ``Passwords``, whose cost stops guessing.
    public static func sha256(_ string: String) -> [UInt8] { sha256(Array(string.utf8)) }

    /// SHA-256 (FIPS 180-4) of `bytes`: 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: bytes)
        return Array(hash.finalize())
    }
}

/// `count` bytes from the operating system's cryptographic generator.
func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}
