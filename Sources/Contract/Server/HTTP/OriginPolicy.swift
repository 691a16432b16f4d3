import Contract
import Foundation
import HTTPTypes

/// Refuses requests that a page of another site makes a browser send. The browser adds this site's cookies by itself,
/// and names the page's site in `Origin` (Fetch, "Origin header").
public struct OriginPolicy: Sendable {
    private let origins: Set<String>

    /// - Parameter urls: The sites whose pages may change something. Only their origins count.
    public init(_ urls: [String]) { origins = Set(urls.compactMap { Self.origin(of: $0) }) }

    /// Accepts requests that change nothing, requests from a known origin, and requests without an origin, such as
    /// those of apps.
    ///
    /// - Throws: 403 in the API's words.
    public func admit(
        _ method: HTTPRequest.Method, _ headers: HTTPFields, _ errorMessages: ErrorMessages
    ) throws(Problem) {
        guard [.post, .put, .patch, .delete].contains(method) else { return }
        for origin in headers[values: .origin] {
            guard let known = Self.origin(of: origin), origins.contains(known) else {
                throw Problem(.forbidden, errorMessages.foreignOrigin)
            }
        }
    }

    /// Returns `scheme://host:port` (RFC 6454 §6.2); nil for a text without an origin, such as `null`.
    static func origin(of url: String) -> String? {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        let port = parts.port ?? ["http": 80, "https": 443][scheme] ?? 0
        return "\(scheme)://\(host):\(port)"
    }
}
