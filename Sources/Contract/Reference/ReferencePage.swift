/// The page on which an API's description can be read and tried: static files without a framework, the same for every API.
///
/// It reads `openapi.json` and `asyncapi.json`, which are answered beside it, and asks no other host for anything.
public enum ReferencePage {
    /// A file of the page.
    public struct File: Sendable {
        /// The path at which the page expects the file.
        public let path: String
        /// The media type.
        public let contentType: String
        public let bytes: [UInt8]
    }

    /// The files: the page itself at `/`, and what it loads below `/reference/`.
    public static let files: [File] = [
        File(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.reference_html),
        File(
            path: "/reference/reference.css", contentType: "text/css; charset=utf-8",
            bytes: PackageResources.reference_css),
        script("answer", PackageResources.answer_js), script("console", PackageResources.console_js),
        script("description", PackageResources.description_js), script("elements", PackageResources.elements_js),
        script("operation", PackageResources.operation_js), script("reference", PackageResources.reference_js),
        script("request", PackageResources.request_js), script("session", PackageResources.session_js),
    ]

    /// The content security policy of the page (CSP 3): scripts and styles of this server alone, none within the page,
    /// requests and sockets to this server alone, and no frame around it.
    public static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:",
        "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static func script(_ name: String, _ bytes: [UInt8]) -> File {
        File(path: "/reference/\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
