import Foundation

/// A JSON Web Signature in the compact form (RFC 7515 §7.1), parsed and not verified yet.
struct CompactToken {
    static let maximumLength = 4096

    /// Claim `alg` of the header, or nil when it is absent or null.
    let algorithm: String?
    /// Claim `kid` of the header, or nil when it is absent or null.
    let keyID: String?
    /// Claim `typ` of the header, or nil when it is absent or null.
    let type: String?
    /// Whether the header marks extensions as critical. RFC 7515 §4.1.11 demands that they are understood, and none is.
    let hasCriticalExtensions: Bool
    let payload: [UInt8]
    /// The header and the payload, in the form in which they were signed.
    let signedPart: [UInt8]
    let signature: [UInt8]

    /// Returns whether `text` may be a token, and may be looked up in a ``BoundedCache``.
    ///
    /// Only ASCII may be looked up, because Swift compares strings by canonical equivalence, and some characters
    /// are equivalent to others.
    static func isPlausible(_ text: String) -> Bool {
        guard text.utf8.count <= maximumLength else { return false }
        var text = text
        return text.withUTF8 { text in
            // The bits of all bytes are gathered, of which ASCII lacks the highest.
            text.reduce(0, |) < 0x80
        }
    }

    /// Parses a token; nil unless `text` is three parts in canonical base64url, the first of which is a JSON object.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard Self.isPlausible(text), parts.count == 3,
            let header = Base64URL.decode(String(parts[0])),
            let payload = Base64URL.decode(String(parts[1])),
            let signature = Base64URL.decode(String(parts[2])),
            let fields = try? JSONDecoder().decode(Header.self, from: Data(header))
        else { return nil }
        algorithm = fields.algorithm
        keyID = fields.keyID
        type = fields.type
        hasCriticalExtensions = fields.hasCriticalExtensions
        self.payload = payload
        signedPart = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
        self.signature = signature
    }

    /// The header members that are read. A token must not decide where a key is found (`jku`, `jwk`, `x5u`, `x5c`).
    private struct Header: Decodable {
        let algorithm: String?
        let keyID: String?
        let type: String?
        let hasCriticalExtensions: Bool

        enum CodingKeys: String, CodingKey {
            case alg, kid, typ, crit
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            algorithm = try container.decodeIfPresent(String.self, forKey: .alg)
            keyID = try container.decodeIfPresent(String.self, forKey: .kid)
            type = try container.decodeIfPresent(String.self, forKey: .typ)
            hasCriticalExtensions = container.contains(.crit)
        }
    }
}
