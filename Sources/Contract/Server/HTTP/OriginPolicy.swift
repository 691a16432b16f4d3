import Contract
import Foundation
import HTTPTypes

/// Refuses what a page of another site makes a browser send: the browser adds this site's cookies by itself, and says
/// in `Origin` whose page it was (Fetch, "Origin header").
public struct OriginPolicy: Sendable {
    private let origins: Set<String>

    /// - Parameter urls: Whose pages may change something. Of each its origin counts.
    public init(_ urls: [String]) { origins = Set(urls.compactMap { Self.origin(of: $0) }) }

    /// Lets through what changes nothing, what is of a known origin, and what says none: apps do not.
    ///
    /// - Throws: 403 in the API's words.
    public func admit(_ request: HTTPRequest, _ phrases: Phrases) throws(Problem) {
        guard [.post, .put, .patch, .delete].contains(request.method) else { return }
        for origin in request.headerFields[values: .origin] {
            guard let known = Self.origin(of: origin), origins.contains(known) else {
                throw Problem(.forbidden, phrases.foreignOrigin)
            }
        }
    }

    /// `scheme://host:port` (RFC 6454 §6.2); nil for what has none, such as `null`.
    static func origin(of url: String) -> String? {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), !host.isEmpty
        else { return nil }
        let port = parts.port ?? ["http": 80, "https": 443][scheme] ?? 0
        return "\(scheme)://\(host):\(port)"
    }
}
