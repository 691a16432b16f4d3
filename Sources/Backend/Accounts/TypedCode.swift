import Contract
import Identity

/// Codes of letters and digits that a person types: to register, or to sign in once.
public enum TypedCode {
    /// The letters and digits of a code. Those that look alike are left out.
    private static let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

    /// Returns a random code of 60 bits, such as `K7QM-2XWA-9DHT`.
    public static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<12).map { _ in alphabet[Int(generator.next() & 31)] }
        return stride(from: 0, to: 12, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Returns the digest of a code. It may be typed in small letters, with spaces and without hyphens.
    public static func digest(of code: String) -> [UInt8] {
        Digest.sha256(String(code.foldedForComparison.uppercased().filter { $0 != "-" && !$0.isWhitespace }))
    }
}
