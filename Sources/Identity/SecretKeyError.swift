/// Why a secret key could not be had. ``description`` is a sentence for the operator; it never shows the key.
public enum SecretKeyError: Error, Equatable, CustomStringConvertible {
    /// The environment variable is set to something other than base64 of at least 32 bytes.
    case unusableVariable(String)
    /// The key file can be read or written by the group or by others; `mode` is its permission bits.
    case exposedFile(path: String, mode: UInt32)
    /// The key file does not hold base64 of at least 32 bytes.
    case damagedFile(path: String)
    /// A call of the operating system failed; `reason` is its text.
    case inaccessible(path: String, reason: String)
    /// The name of the key would not be safe as a file name: it is 1…64 of a–z, 0–9 and "-".
    case unsuitableName(String)

    /// What is wrong, and what to do about it.
    public var description: String {
        switch self {
        case .unusableVariable(let name):
            "\(name) must be base64 of at least 32 random bytes (for example: openssl rand -base64 32)"
        case .exposedFile(let path, let mode):
            "The secret key \(path) is open to other users (mode 0\(String(mode, radix: 8))); run: chmod 600 '\(path)'"
        case .damagedFile(let path):
            "The secret key \(path) is damaged: it must hold base64 of at least 32 bytes. Restore it from a backup; "
                + "deleting it makes a new key, and everything signed with the old one becomes invalid"
        case .inaccessible(let path, let reason):
            "The secret key \(path) cannot be read or created: \(reason)"
        case .unsuitableName(let name):
            "\"\(name)\" cannot name a secret key: only a–z, 0–9 and \"-\" are allowed"
        }
    }
}
