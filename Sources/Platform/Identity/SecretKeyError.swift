import CryptoExtras
import Foundation

/// The reason why a secret key is unavailable. ``description`` is a sentence for the operator, and never shows the key.
public enum SecretKeyError: Error, Equatable, CustomStringConvertible {
    /// The environment variable is set to a value that does not have the required form.
    case unusableVariable(String, SecretForm)
    /// The key file can be read or written by the group or by others; `mode` is its permission bits.
    case exposedFile(path: String, mode: UInt32)
    /// The key file does not contain a key of the required form.
    case damagedFile(path: String, SecretForm)
    /// A call of the operating system failed; `reason` is its text.
    case inaccessible(path: String, reason: String)
    /// The name of the key would not be safe as a file name, which is 1…64 of a–z, 0–9 and "-".
    case unsuitableName(String)

    /// The problem, and what to do about it.
    public var description: String {
        switch self {
        case .unusableVariable(let name, let form):
            "\(name) must be \(form.words) (for example: \(form.recipe))"
        case .exposedFile(let path, let mode):
            "The secret key \(path) is open to other users (mode 0\(String(mode, radix: 8))); run: chmod 600 '\(path)'"
        case .damagedFile(let path, let form):
            "The secret key \(path) is damaged: it must hold \(form.words). Restore it from a backup; "
                + "deleting it makes a new key, and everything signed with the old one becomes invalid"
        case .inaccessible(let path, let reason):
            "The secret key \(path) cannot be read or created: \(reason)"
        case .unsuitableName(let name):
            "\"\(name)\" cannot name a secret key: only a–z, 0–9 and \"-\" are allowed"
        }
    }
}

/// The kinds of secret keys.
public enum SecretForm: Sendable, Equatable {
    /// Random bytes, at least 32, in base64.
    case randomBytes
    /// An RSA key of at least 2048 bits, PKCS #8 or PKCS #1, in base64 or as PEM.
    case rsaPrivateKey

    var words: String {
        switch self {
        case .randomBytes: "base64 of at least 32 random bytes"
        case .rsaPrivateKey: "an RSA private key of at least 2048 bits, as PEM or as base64 of its DER form"
        }
    }

    /// The most bytes that a file of this form may have. As PEM, an RSA key of 8192 bits has 6,500.
    var sizeLimit: Int {
        switch self {
        case .randomBytes: 1024
        case .rsaPrivateKey: 8192
        }
    }

    /// Returns the text of a new key, in one line of base64.
    public func newKey() -> String {
        switch self {
        case .randomBytes: Base64.encode(Identity.randomBytes(32)) + "="
        // This only fails without memory or randomness.
        case .rsaPrivateKey:
            try! _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8DERRepresentation.base64EncodedString()
        }
    }

    var recipe: String {
        switch self {
        case .randomBytes: "openssl rand -base64 32"
        case .rsaPrivateKey: "openssl genrsa 2048"
        }
    }
}
