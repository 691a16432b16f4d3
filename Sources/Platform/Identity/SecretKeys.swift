import Crypto
import NIOConcurrencyHelpers

/// The server's own secrets, from the environment, or else from files that are created at the first use.
///
/// A file has a line of base64, so that its text can be moved to the environment variable as it is. A key is never
/// replaced, because tokens and links signed with it would stop working.
public struct SecretKeys: Sendable {
    package let folder: String
    package let environment: [String: String]
    private let made = NIOLockedValueBox<Set<String>>([])

    /// Makes the secrets of a data folder.
    ///
    /// - Parameters:
    ///   - folder: The path of the data folder. Keys are in its subfolder `keys`; both are created when they do not
    ///     exist.
    ///   - environment: The environment variables of the process.
    public init(folder: String, environment: [String: String]) {
        self.folder = folder
        self.environment = environment
    }

    /// Returns the key `name`, of at least 32 bytes. It comes from the environment variable `variable` (base64 or
    /// base64url, padded or not) if that is set, else from `<folder>/keys/<name>`, which is created when it does not
    /// exist.
    ///
    /// The call blocks on the file system; it is meant for the start. Concurrent processes get the same key.
    ///
    /// - Throws: ``SecretKeyError``.
    public func key(_ name: String, variable: String) throws(SecretKeyError) -> [UInt8] {
        try secret(name, variable: variable, form: .randomBytes, decode: Self.bytes)
    }

    /// Derives a key for one use from the key `name` (HKDF, RFC 5869), so that what is signed for one use is not valid
    /// for another. Like ``key(_:variable:)`` it blocks.
    public func key(_ name: String, variable: String, for use: String) throws(SecretKeyError) -> [UInt8] {
        let secret = SymmetricKey(data: try key(name, variable: variable))
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Array("\(name) \(use)".utf8), outputByteCount: 32)
        return derived.withUnsafeBytes { Array($0) }
    }

    /// Returns whether this process has created the key, because its file did not exist.
    public func wasMade(_ name: String) -> Bool { made.withLockedValue { $0.contains(name) } }

    /// Returns a digest that identifies a key without revealing anything about it. It is keyed with the key itself.
    public static func fingerprint(of key: [UInt8], name: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("fingerprint of \(name)".utf8), using: SymmetricKey(data: key))
        return code.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns a secret of any form. `decode` parses its text, or returns nil when it is not valid.
    func secret<Value>(
        _ name: String, variable: String, form: SecretForm, decode: (String) -> Value?
    ) throws(SecretKeyError) -> Value {
        try Self.requireSuitable(name)
        if let text = environment[variable] {
            guard let secret = decode(text) else { throw .unusableVariable(variable, form) }
            return secret
        }
        let file = SecretFile(folder: folder, name: name, form: form)
        var text = try file.contents()
        if text == nil {
            text = try file.create(form.newKey() + "\n")
            made.withLockedValue { _ = $0.insert(name) }
        }
        guard let secret = text.flatMap(decode) else { throw .damagedFile(path: file.path, form) }
        return secret
    }

    static func requireSuitable(_ name: String) throws(SecretKeyError) {
        guard 1...64 ~= name.utf8.count,
            name.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") })
        else { throw .unsuitableName(name) }
    }

    /// Decodes a key of random bytes.
    static func bytes(_ text: String) -> [UInt8]? { base64(text).flatMap { $0.count >= 32 ? $0 : nil } }

    /// Decodes base64 or base64url, padded or not, surrounded by any white space.
    static func base64(_ text: String) -> [UInt8]? {
        var digits = text.drop(while: \.isWhitespace)
        while digits.last?.isWhitespace == true { digits.removeLast() }
        while digits.last == "=" { digits.removeLast() }
        return Base64.decode(Base64.standardAlphabet(String(digits)))
    }
}
