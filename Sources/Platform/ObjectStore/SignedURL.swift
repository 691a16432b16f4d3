import Crypto
import Foundation

/// The reason why a signed URL is refused.
public enum SignedURLError: Error, Equatable {
    /// The signature does not belong to this method, key and query: a 403.
    case badSignature
    /// The signature is valid, but the URL has expired: a 403.
    case expired
}

/// Makes and verifies the queries of signed URLs. For a download: `expires=<Unix
/// seconds>&name=…&type=…&disposition=…&signature=<base64url of HMAC-SHA-256>`. For an upload: `expires=<Unix
/// seconds>&size=<bytes>&signature=…`.
///
/// The signature covers the method, the key and the values of the parameters, not their spelling: clients and proxies
/// may write a "/" as `%2F` or the other way round. Each of these parameters must occur once, in this order.
struct SignedURL: Sendable {
    private static let download = ["expires", "name", "type", "disposition"]
    private static let upload = ["expires", "size"]

    /// Returns the key that signs, and then a former one that is still accepted, if there is one.
    let keys: @Sendable () -> [SymmetricKey]

    func query(for object: ObjectKey, as download: Download, expires: Int64) -> String {
        signed(
            Self.download,
            [String(expires), download.filename, download.contentType, download.disposition.rawValue],
            method: "GET", object: object)
    }

    func uploadQuery(for object: ObjectKey, size: Int64, expires: Int64) -> String {
        signed(Self.upload, [String(expires), String(size)], method: "PUT", object: object)
    }

    /// Returns the download of a query, if its signature is valid and it has not expired at `now` (Unix seconds;
    /// expired means `now` ≥ `expires`).
    func verify(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Download {
        let values = try signedValues(of: query, Self.download, method: "GET", object: object)
        guard let expires = Int64(values[0]), let disposition = ContentDisposition(rawValue: values[3]) else {
            throw .badSignature
        }
        guard now < expires else { throw .expired }
        return Download(filename: values[1], contentType: values[2], disposition: disposition)
    }

    /// Returns the number of bytes that the query allows, if its signature is valid and it has not expired at `now`.
    func verifyUpload(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Int64 {
        let values = try signedValues(of: query, Self.upload, method: "PUT", object: object)
        guard let expires = Int64(values[0]), let size = Int64(values[1]) else { throw .badSignature }
        guard now < expires else { throw .expired }
        return size
    }

    private func signed(_ names: [String], _ values: [String], method: String, object: ObjectKey) -> String {
        var query = ""
        for (name, value) in zip(names, values) { query += name + "=" + value.queryValue + "&" }
        return query + "signature=" + signature(of: names, values, method: method, object: object, with: keys()[0])
    }

    /// Returns the values of the parameters, if their signature is valid.
    private func signedValues(
        of query: String, _ names: [String], method: String, object: ObjectKey
    ) throws(SignedURLError) -> [String] {
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: parts.first.flatMap(Self.decoded), value: parts.count == 2 ? Self.decoded(parts[1]) : nil)
        }
        guard parameters.map(\.name) == names + ["signature"] else { throw .badSignature }
        let values = parameters.compactMap(\.value)
        guard values.count == parameters.count, let given = values.last else { throw .badSignature }
        let signed = Array(values.dropLast())
        let isGenuine = keys().contains { key in
            given.isEqualInConstantTime(to: signature(of: names, signed, method: method, object: object, with: key))
        }
        guard isGenuine else { throw .badSignature }
        return signed
    }

    /// Decodes a name or a value; nil when its bytes are not UTF-8. A plus is a space, as in a form, because these URLs
    /// never contain a plus.
    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    /// Returns the signature. Neither a key nor an encoded value contains a line break, so the lines are unambiguous.
    private func signature(
        of names: [String], _ values: [String], method: String, object: ObjectKey, with key: SymmetricKey
    ) -> String {
        var text = "2\n" + method + "\n" + object.rawValue
        for (name, value) in zip(names, values) { text += "\n" + name + "=" + value.queryEncoded }
        return authenticationCode(of: text, with: key)
    }
}

/// Returns an HMAC-SHA-256 in base64url without padding (RFC 4648 §5).
private func authenticationCode(of text: String, with key: SymmetricKey) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    let encoded = Data(code).base64EncodedString().utf8.prefix { $0 != UInt8(ascii: "=") }.map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

extension String {
    /// Compares in constant time, so that a signature cannot be guessed byte by byte. The texts are compared, not the
    /// bytes that they encode, which have several spellings.
    fileprivate func isEqualInConstantTime(to other: String) -> Bool {
        let (given, expected) = (Array(utf8), Array(other.utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
