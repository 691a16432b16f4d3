import Crypto

/// Makes random tokens: refresh tokens, session ids, one-time links.
public enum RandomToken {
    /// Returns a new token of `bytes` random bytes from the operating system's generator, in base64url (32 bytes give
    /// 43 characters).
    ///
    /// The client gets the text; the server should only store ``Digest/sha256(_:)`` of it.
    public static func make(bytes: Int = 32) -> String {
        Base64URL.encode(randomBytes(bytes))
    }
}

/// Computes digests of secrets that are looked up but never read back.
public enum Digest {
    /// Returns the SHA-256 (FIPS 180-4) of the UTF-8 bytes of `string`: 32 bytes.
    ///
    /// It is suitable for random tokens only. A password needs ``Passwords``, whose cost prevents guessing.
    public static func sha256(_ string: String) -> [UInt8] { sha256(Array(string.utf8)) }

    /// Returns the SHA-256 (FIPS 180-4) of `bytes`: 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: bytes)
        return Array(hash.finalize())
    }
}

/// Returns `count` bytes of the operating system's cryptographic generator.
func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}
