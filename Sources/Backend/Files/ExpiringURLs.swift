import ContractServer
import Crypto
import Foundation
import Identity

/// Signs the URLs of files, so that they can be fetched by those who have been given one, for a limited time.
///
/// A URL is good to the end of the next day (UTC), so that all URLs of a file are the same for a day, and what was
/// fetched once can be kept. Its query is `expires=<Unix seconds>&signature=<base64url of HMAC-SHA-256>`. The signature
/// covers the path and the time, as values: however a client or a proxy has spelled them.
public struct ExpiringURLs: Sendable {
    /// What a query is worth.
    public enum Verdict: Sendable {
        case good
        /// The query has no signature at all.
        case unsigned
        /// The signature is not this server's, or its time is over.
        case refused
    }

    /// In seconds.
    private static let day: Int64 = 24 * 3600

    private let key: SymmetricKey

    /// - Parameters:
    ///   - secret: A key of the API's. Another is derived from it (HKDF, RFC 5869), which serves this purpose alone.
    ///   - purpose: The API and its files, such as `dunbar media`.
    public init(secret: [UInt8], purpose: String) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Data("concord signed urls \(purpose)".utf8),
            outputByteCount: 32)
    }

    /// The query of the URL of a file, without `?`.
    ///
    /// - Parameters:
    ///   - path: As it is requested, such as `/media/x.jpg`.
    ///   - now: In milliseconds since 1970.
    public func query(for path: String, at now: Int64) -> String {
        let expires = (now / 1000 / Self.day + 2) * Self.day
        let signature = HMAC<SHA256>.authenticationCode(for: Self.signed(path, expires), using: key)
        return "expires=\(expires)&signature=\(Base64URL.encode(signature))"
    }

    /// - Parameters:
    ///   - query: As it came; nil when there was none.
    ///   - now: In milliseconds since 1970.
    public func verdict(on query: String?, for path: String, at now: Int64) -> Verdict {
        var values: [String: String] = [:]
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(parts[0]).removingPercentEncoding, ["expires", "signature"].contains(name) else {
                continue
            }
            // Twice the same name could mean either.
            guard parts.count == 2, values[name] == nil, let value = String(parts[1]).removingPercentEncoding else {
                return .refused
            }
            values[name] = value
        }
        if values.isEmpty { return .unsigned }
        guard let expires = values["expires"].flatMap({ Int64($0) }), expires > now / 1000,
            let signature = values["signature"].flatMap(Base64URL.decode),
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: Self.signed(path, expires), using: key)
        else { return .refused }
        return .good
    }

    private static func signed(_ path: String, _ expires: Int64) -> Data { Data("GET\n\(path)\n\(expires)".utf8) }
}
