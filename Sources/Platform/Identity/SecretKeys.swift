import Crypto
import NIOConcurrencyHelpers

/// The server's own secrets: from the environment, or else from files that are made at first use.
///
/// A file holds a line of base64, so that its text can be moved to the environment variable as it is.
/// A key is never replaced: tokens and links signed with it would stop working.
public struct SecretKeys: Sendable {
    private let folder: String
    private let environment: [String: String]
    private let made = NIOLockedValueBox<Set<String>>([])

    /// - Parameters:
    ///   - folder: the path of the data folder; keys live in its subfolder `keys`, both made when absent.
    ///   - environment: the variables of the process.
    public init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    /// The key `name`, at least 32 bytes: from the environment variable `variable` (base64 or base64url, padded or
    /// not) if it is set, else from `<folder>/keys/<name>`, which is made when absent.
    ///
    /// Blocks on the file system; meant for start-up. Any number of processes may ask at once and get one key.
    /// Throws ``SecretKeyError``.
    public func key(_ name: String, variable: String) throws(SecretKeyError) -> [UInt8] {
        try secret(name, variable: variable, form: .randomBytes) {
            Base64.encode(randomBytes(32)) + "=\n"
        } decode: { text in
            Self.base64(text).flatMap { $0.count >= 32 ? $0 : nil }
        }
    }

    /// Derives a key for one use from the key `name` (HKDF, RFC 5869), so that what is signed for one use is good for no
    /// other. Like ``key(_:variable:)`` it blocks.
    public func key(_ name: String, variable: String, for use: String) throws(SecretKeyError) -> [UInt8] {
        let secret = SymmetricKey(data: try key(name, variable: variable))
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Array("\(name) \(use)".utf8), outputByteCount: 32)
        return derived.withUnsafeBytes { Array($0) }
    }

    /// Whether the key of this name was made by this process, because its file was missing.
    public func wasMade(_ name: String) -> Bool { made.withLockedValue { $0.contains(name) } }

    /// Returns what tells a key from others without saying anything about it: a digest that is keyed with the key itself.
    public static func fingerprint(of key: [UInt8], name: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("fingerprint of \(name)".utf8), using: SymmetricKey(data: key))
        return code.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A secret of any form: `make` writes a new one as text, and `decode` reads it, or says by nil that it is none.
    func secret<Secret>(
        _ name: String, variable: String, form: SecretForm, make: () -> String, decode: (String) -> Secret?
    ) throws(SecretKeyError) -> Secret {
        guard 1...64 ~= name.utf8.count,
            name.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") })
        else { throw .unsuitableName(name) }
        if let text = environment[variable] {
            guard let secret = decode(text) else { throw .unusableVariable(variable, form) }
            return secret
        }
        let file = SecretFile(folder: folder, name: name, form: form)
        var text = try file.contents()
        if text == nil {
            text = try file.create(make())
            made.withLockedValue { _ = $0.insert(name) }
        }
        guard let secret = text.flatMap(decode) else { throw .damagedFile(path: file.path, form) }
        return secret
    }

    /// The bytes of base64 or base64url, padded or not, with white space around.
    static func base64(_ text: String) -> [UInt8]? {
        let trimmed = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).drop { $0 == "=" }
        return Base64.decode(Base64.standardAlphabet(String(trimmed.reversed())))
    }
}
