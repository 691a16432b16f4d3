import Crypto
import Foundation

/// Writes sizes for the operator.
enum ByteText {
    /// Returns a size such as `12.3 MB`.
    static func of(_ count: Int64) -> String {
        count.formatted(.byteCount(style: .file).locale(Locale(identifier: "en_GB")))
    }
}

/// Writes digests.
enum SHA256Text {
    static func of(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }
}
