import ContractServer
import Crypto
import Foundation
import Identity

/// Signs the URLs of files, so that a client that has been given a URL can fetch the file for a limited time.
///
/// A URL is valid to the end of the next day (UTC), so that all URLs of a file are the same for a day and a client can
/// cache the file. Its query is `expires=<Unix seconds>&signature=<base64url of HMAC-SHA-256>`. The signature covers
/// the path and the time after decoding, however a client or a proxy has spelled them.
public struct ExpiringURLs: Sendable {
    /// The result of checking a query.
    public enum Verdict: Sendable {
        case valid
        /// The query has no signature at all.
        case unsigned
        /// The signature is not this server's, or the URL has expired.
        case refused
    }

    /// The seconds of a day.
    private static let day: Int64 = 24 * 3600

    private let secret: Secret
    private let purpose: String

    /// - Parameters:
    ///   - secret: One of the API's keys. The signing key is derived from it, so that it serves this purpose alone.
    ///   - purpose: The API and its kind of files, such as `dunbar media`.
    public init(secret: Secret, purpose: String) {
        self.secret = secret
        self.purpose = "concord signed urls \(purpose)"
    }

    /// Returns the query of a file's URL, without `?`.
    ///
    /// - Parameters:
    ///   - path: The path of the URL, such as `/media/x.jpg`.
    ///   - now: The time in milliseconds since 1970.
    public func query(for path: String, at now: Int64) -> String {
        let expires = (now / 1000 / Self.day + 2) * Self.day
        let signature = HMAC<SHA256>.authenticationCode(
            for: Self.signed(path, expires), using: secret.keys(for: purpose)[0])
        return "expires=\(expires)&signature=\(Base64URL.encode(signature))"
    }

    /// Checks the signature and the time in a query.
    ///
    /// - Parameters:
    ///   - query: The query as it was received; nil when there was none.
    ///   - now: The time in milliseconds since 1970.
    public func verdict(on query: String?, for path: String, at now: Int64) -> Verdict {
        var values: [String: String] = [:]
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(parts[0]).removingPercentEncoding, ["expires", "signature"].contains(name) else {
                continue
            }
            // A name that occurs twice is ambiguous.
            guard parts.count == 2, values[name] == nil, let value = String(parts[1]).removingPercentEncoding else {
                return .refused
            }
            values[name] = value
        }
        if values.isEmpty { return .unsigned }
        guard let expires = values["expires"].flatMap({ Int64($0) }), expires > now / 1000,
            // Another time was signed while the clock was ahead.
            expires <= (now + StoredTimes.tolerance) / 1000 + 2 * Self.day,
            let signature = values["signature"].flatMap(Base64URL.decode)
        else { return .refused }
        let signed = Self.signed(path, expires)
        let isGenuine = secret.keys(for: purpose).contains { key in
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
        }
        return isGenuine ? .valid : .refused
    }

    private static func signed(_ path: String, _ expires: Int64) -> Data { Data("GET\n\(path)\n\(expires)".utf8) }
}
