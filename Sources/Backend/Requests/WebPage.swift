import Contract
import ContractServer
import Foundation
import HTTPTypes
import Identity

/// A piece of HTML, in which the texts that are put into it are escaped.
///
/// ```swift
/// let heading: HTML = "<h1>\(name) invites you</h1>"
/// ```
public struct HTML: ExpressibleByStringInterpolation, Sendable {
    public let source: String

    public init(stringLiteral source: String) { self.source = source }
    public init(stringInterpolation parts: StringInterpolation) { source = parts.source }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { source += literal }
        public mutating func appendInterpolation(_ html: HTML) { source += html.source }
        public mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": source += "&amp;"
                case "<": source += "&lt;"
                case ">": source += "&gt;"
                case "\"": source += "&quot;"
                case "'": source += "&#39;"
                default: source.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

/// A page for people who use a browser: HTML without scripts, which loads nothing.
public struct WebPage: Sendable {
    private let title: String
    private let content: HTML
    private let formTarget: String?

    /// - Parameters:
    ///   - title: The title of the browser's tab.
    ///   - content: The heading and what follows. A link of the class `main` is shown as a button.
    ///   - formsLeadTo: The URL to which this server sends a browser that has sent the page's form; nil for a page without
    ///     forms.
    public init(_ title: String, content: HTML, formsLeadTo formTarget: String? = nil) {
        self.title = title
        self.content = content
        self.formTarget = formTarget
    }

    /// The headers of everything that is answered at the page's path. The path holds a secret, which is neither kept by
    /// caches nor passed on.
    public static let headers: HTTPFields = [
        .vary: "Accept", .cacheControl: "no-store", .referrerPolicy: "no-referrer",
    ]

    private static let style = """
        :root { color-scheme: light dark }
        body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem; \
        overflow-wrap: anywhere; background: #fff; color: #111 }
        a { color: #0645ad }
        label, input, button { display: block; box-sizing: border-box; width: 100%; font: inherit }
        input, button { margin: .5rem 0 1rem; padding: .75rem 1rem; border: 1px solid #767676; border-radius: .5rem; \
        background: transparent; color: inherit }
        [role=alert] { padding: .75rem 1rem; border-left: .25rem solid #b00020 }
        .main { display: block; padding: .75rem 1rem; border-radius: .5rem; background: #0645ad; color: #fff; \
        text-align: center; text-decoration: none }
        @media (prefers-color-scheme: dark) {
        body { background: #111; color: #eee }
        a { color: #9cc4ff }
        .main { background: #9cc4ff; color: #111 }
        }
        """

    /// The text of the policy before what it says about forms. Nothing but the page's own style is allowed, which its digest
    /// names (CSP 3).
    private static let policy: String = {
        let digest = Data(Digest.sha256(style)).base64EncodedString()
        return "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none'; frame-ancestors 'none'; form-action "
    }()

    /// The addresses to which forms may lead. Browsers hold redirects after a form to them, too.
    private var formAction: String {
        guard let formTarget else { return "'none'" }
        let url = URL(string: formTarget)
        guard let url, let scheme = url.scheme else { return "'self'" }
        guard ["http", "https"].contains(scheme), let host = url.host else { return "'self' \(scheme):" }
        return "'self' \(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }

    /// Returns the page as an operation's answer.
    public func answer<Output>(_ status: HTTPResponse.Status) -> Answer<Output> {
        let html: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(title)</title>
            <style>\(HTML(stringLiteral: Self.style))</style>
            </head>
            <body>
            <main>
            \(content)
            </main>
            </body>
            </html>

            """
        var headers = Self.headers
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentSecurityPolicy] = Self.policy + formAction
        headers[.xContentTypeOptions] = "nosniff"
        return Answer(status, encoded: Array(html.source.utf8), headers: headers)
    }
}

extension RequestInfo {
    /// Whether a browser sent the request. Apps and scripts do not accept HTML.
    public var wantsPage: Bool { headers[.accept]?.lowercased().contains("text/html") == true }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}
