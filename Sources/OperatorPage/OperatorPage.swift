public import ContractReference

/// The operator's page: static files without a framework, on the operator's port. It asks the API there for everything that it
/// shows, and no other host for anything.
public enum OperatorPage {
    /// The page itself at `/`, and what it loads. The style and the making of elements are those of the reference pages.
    public static let files: [ReferencePage.File] =
        [
            ReferencePage.File(
                path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.operator_html),
            ReferencePage.File(
                path: "/page/operator.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.operator_css
            ),
            script("operator", PackageResources.operator_js), script("asking", PackageResources.asking_js),
            script("parts", PackageResources.parts_js), script("chart", PackageResources.chart_js),
            script("overview", PackageResources.overview_js), script("people", PackageResources.people_js),
            script("reports", PackageResources.reports_js), script("log", PackageResources.log_js),
        ] + ReferencePage.common

    /// The content security policy of the page (CSP 3): everything of this server alone, nothing within the page, and no
    /// frame around it.
    public static let policy = [
        "default-src 'self'", "img-src 'self' data:", "object-src 'none'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static func script(_ name: String, _ bytes: [UInt8]) -> ReferencePage.File {
        .init(path: "/page/\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
