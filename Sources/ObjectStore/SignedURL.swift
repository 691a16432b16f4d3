import Crypto
import Foundation

/// Why a signed URL is not served.
public enum SignedURLError: Error, Equatable {
    /// The signature does not belong to this method, key and query: a 403.
    case badSignature
    /// Genuine, but its time is over: a 403.
    case expired
    /// Genuine, and the object has been deleted: a 404.
    case notFound
}

/// Mints and checks the queries of signed URLs, for a download
/// `expires=<Unix seconds>&name=…&type=…&disposition=…&signature=<base64url of HMAC-SHA-256>`, for an upload
/// `expires=<Unix seconds>&size=<bytes>&signature=…`.
///
/// The signature covers the method, the key and the query as a text, byte for byte, not the values it stands for.
/// So there is nothing to put in canonical form, and a parameter that is added, repeated, moved or only spelled
/// differently makes another text.
struct SignedURL: Sendable {
    private static let separator = "&signature="

    private let key: SymmetricKey

    init(signingKey: [UInt8]) {
        key = SymmetricKey(data: signingKey)
    }

    func query(for object: ObjectKey, as download: Download, expires: Int64) -> String {
        let query =
            "expires=\(expires)&name=\(download.filename.queryEncoded)&type=\(download.contentType.queryEncoded)"
            + "&disposition=\(download.disposition.rawValue)"
        return query + Self.separator + signature(of: query, method: "GET", object: object)
    }

    func uploadQuery(for object: ObjectKey, size: Int64, expires: Int64) -> String {
        let query = "expires=\(expires)&size=\(size)"
        return query + Self.separator + signature(of: query, method: "PUT", object: object)
    }

    /// What the query promises, if its signature is good and it has not expired at `now` (Unix seconds; expired
    /// means `now` ≥ `expires`).
    func verify(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Download {
        // Signed by us, so it has the one form that `query(for:as:expires:)` writes.
        let values = try signedValues(of: query, method: "GET", object: object)
        guard values.count == 4, let expires = Int64(values[0]), let filename = values[1].removingPercentEncoding,
            let contentType = values[2].removingPercentEncoding,
            let disposition = ContentDisposition(rawValue: String(values[3]))
        else { throw .badSignature }
        guard now < expires else { throw .expired }
        return Download(filename: filename, contentType: contentType, disposition: disposition)
    }

    /// How many bytes the query has room for, if its signature is good and it has not expired at `now`.
    func verifyUpload(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Int64 {
        let values = try signedValues(of: query, method: "PUT", object: object)
        guard values.count == 2, let expires = Int64(values[0]), let size = Int64(values[1]) else {
            throw .badSignature
        }
        guard now < expires else { throw .expired }
        return size
    }

    /// The values before the signature, which is good.
    private func signedValues(
        of query: String, method: String, object: ObjectKey
    ) throws(SignedURLError) -> [Substring] {
        guard let end = query.range(of: Self.separator, options: [.backwards, .literal]) else { throw .badSignature }
        let signed = query[..<end.lowerBound]
        guard Self.isEqual(query[end.upperBound...], signature(of: String(signed), method: method, object: object))
        else { throw .badSignature }
        return signed.split(separator: "&").map { $0.drop { $0 != "=" }.dropFirst() }
    }

    /// A key has no line break in it, so the three lines cannot be read in two ways.
    private func signature(of query: String, method: String, object: ObjectKey) -> String {
        var authentication = HMAC<SHA256>(key: key)
        authentication.update(data: Array("\(method)\n\(object.rawValue)\n\(query)".utf8))
        // Base64url without padding, RFC 4648 §5.
        let standard = Data(authentication.finalize()).base64EncodedString().utf8.prefix { $0 != UInt8(ascii: "=") }
        let text = standard.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Takes the same time wherever the two differ, so that a signature cannot be guessed byte by byte. The texts
    /// are compared, not the bytes they encode: of those there are several spellings.
    private static func isEqual(_ given: Substring, _ expected: String) -> Bool {
        let (given, expected) = (Array(given.utf8), Array(expected.utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
