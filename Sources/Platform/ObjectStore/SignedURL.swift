import Crypto
import Foundation
import NIOConcurrencyHelpers

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
    /// The longest time in seconds for which a URL is valid, as with S3. A URL that seems to be valid for longer was made while
    /// the clock was ahead.
    static let longest: Int64 = 7 * 86_400
    /// The seconds by which the clocks of nodes may differ.
    private static let tolerance: Int64 = 60

    private static let download = ["expires", "name", "type", "disposition"]
    private static let upload = ["expires", "size"]

    /// Returns the key that signs, and then a former one that is still accepted, if there is one.
    private let keys: @Sendable () -> [SymmetricKey]
    /// The key that signed most recently, with the code that it begins, because preparing it takes half as long as signing.
    private let signer = NIOLockedValueBox<(key: SymmetricKey, begun: HMAC<SHA256>)?>(nil)

    init(keys: @escaping @Sendable () -> [SymmetricKey]) { self.keys = keys }

    /// Returns the URL of a download: the base, the key and the query.
    func url(_ base: String, _ object: ObjectKey, as download: Download, expires: Int64) -> String {
        signed(
            base, Self.download,
            [String(expires), download.filename, download.contentType, download.disposition.rawValue],
            method: "GET", object: object)
    }

    /// Returns the URL of an upload: the base, the key and the query.
    func uploadURL(_ base: String, _ object: ObjectKey, size: Int64, expires: Int64) -> String {
        signed(base, Self.upload, [String(expires), String(size)], method: "PUT", object: object)
    }

    /// Returns the download of a query, if its signature is valid and it has not expired at `now` (Unix seconds;
    /// expired means `now` ≥ `expires`).
    func verify(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Download {
        let values = try signedValues(of: query, Self.download, method: "GET", object: object)
        guard let expires = Int64(values[0]), let disposition = ContentDisposition(rawValue: values[3]) else {
            throw .badSignature
        }
        guard Self.isValid(until: expires, at: now) else { throw .expired }
        return Download(filename: values[1], contentType: values[2], disposition: disposition)
    }

    /// Returns the number of bytes that the query allows, if its signature is valid and it has not expired at `now`.
    func verifyUpload(_ query: String, for object: ObjectKey, now: Int64) throws(SignedURLError) -> Int64 {
        let values = try signedValues(of: query, Self.upload, method: "PUT", object: object)
        guard let expires = Int64(values[0]), let size = Int64(values[1]) else { throw .badSignature }
        guard Self.isValid(until: expires, at: now) else { throw .expired }
        return size
    }

    /// Returns the time at which a URL ends that is made now.
    static func end(after seconds: Int64, at now: Int64) -> Int64 { now + min(seconds, longest) }

    private static func isValid(until end: Int64, at now: Int64) -> Bool {
        now < end && end <= now + longest + tolerance
    }

    private func signed(
        _ base: String, _ names: [String], _ values: [String], method: String, object: ObjectKey
    ) -> String {
        // Lists have many URLs, so they are made of bytes.
        var url: [UInt8] = []
        url.reserveCapacity(base.utf8.count + object.rawValue.utf8.count + values.reduce(160) { $0 + $1.utf8.count })
        url.append(base)
        url.append("/")
        url.append(object.rawValue)
        for (index, name) in names.enumerated() {
            url.append(index == 0 ? "?" : "&")
            url.append(name)
            url.append("=")
            url.append(values[index], leaving: .queryValue)
        }
        url.append("&signature=")
        url += signature(of: names, values, method: method, object: object, begun: begun(with: keys()[0]))
        return String(decoding: url, as: UTF8.self)
    }

    /// Returns an authentication code that has read its key.
    private func begun(with key: SymmetricKey) -> HMAC<SHA256> {
        signer.withLockedValue { signer in
            if let signer, signer.key == key { return signer.begun }
            let begun = HMAC<SHA256>(key: key)
            signer = (key, begun)
            return begun
        }
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
            let code = signature(of: names, signed, method: method, object: object, begun: HMAC(key: key))
            return Self.areEqualInConstantTime(Array(given.utf8), code)
        }
        guard isGenuine else { throw .badSignature }
        return signed
    }

    /// Decodes a name or a value; nil when its bytes are not UTF-8. A plus is a space, as in a form, because these URLs
    /// never contain a plus.
    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    /// Returns the signature: an HMAC-SHA-256 in base64url without padding (RFC 4648 §5). Neither a key nor an encoded value
    /// contains a line break, so the lines are unambiguous.
    private func signature(
        of names: [String], _ values: [String], method: String, object: ObjectKey, begun: HMAC<SHA256>
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(object.rawValue.utf8.count + values.reduce(96) { $0 + $1.utf8.count })
        text.append("2\n")
        text.append(method)
        text.append("\n")
        text.append(object.rawValue)
        for (index, name) in names.enumerated() {
            text.append("\n")
            text.append(name)
            text.append("=")
            text.append(values[index], leaving: .unreserved)
        }
        var code = begun
        code.update(data: text)
        // The 32 bytes are 43 characters and one "=".
        return Data(code.finalize()).base64EncodedString().utf8.dropLast().map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
    }

    /// Compares in constant time, so that a signature cannot be guessed byte by byte. The texts are compared, not the
    /// bytes that they encode, which have several spellings.
    private static func areEqualInConstantTime(_ given: [UInt8], _ expected: [UInt8]) -> Bool {
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
