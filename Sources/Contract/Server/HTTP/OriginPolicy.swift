import Contract
import Foundation
import HTTPTypes

/// Refuses requests that a page of another site makes a browser send. The browser adds this site's cookies by itself,
/// and names the page's site in `Origin` (Fetch, "Origin header").
public struct OriginPolicy: Sendable {
    private let origins: Set<String>
    private let report: @Sendable (_ origin: String) -> Void

    /// - Parameters:
    ///   - urls: The sites whose pages may change something, beside the server's own. Only their origins count.
    ///   - report: Receives the origin of each request that is refused, shortened to 100 characters.
    public init(_ urls: [String], report: @escaping @Sendable (_ origin: String) -> Void = { _ in }) {
        origins = Set(urls.compactMap { Self.origin(of: $0) })
        self.report = report
    }

    /// Accepts requests that change nothing, requests of the server's own pages and of known origins, and requests without
    /// an origin, such as those of apps. A page is the server's own if it has the scheme, the host and the port that the
    /// request itself was sent to: a browser lets no page choose those.
    ///
    /// - Throws: 403 in the API's words.
    public func admit(
        _ method: HTTPRequest.Method, _ info: RequestInfo, _ errorMessages: ErrorMessages
    ) throws(Problem) {
        guard [.post, .put, .patch, .delete].contains(method) else { return }
        for origin in info.headers[values: .origin] {
            if let page = Self.origin(of: origin) {
                if origins.contains(page) { continue }
                if let own = info.origin?.text, Self.origin(of: own) == page { continue }
            }
            report(String(origin.prefix(100)))
            throw Problem(.forbidden, errorMessages.foreignOrigin)
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
