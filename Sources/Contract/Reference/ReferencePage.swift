/// The page on which an API's description can be read and tried: static files without a framework, the same for every API but
/// for what its first view says.
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

        /// Makes a file of a page.
        public init(path: String, contentType: String, bytes: [UInt8]) {
            self.path = path
            self.contentType = contentType
            self.bytes = bytes
        }
    }

    /// The first view of an API's page, which is there before the description has been loaded.
    public struct Introduction: Sendable {
        /// The page of another API of the same server.
        public struct Neighbor: Sendable {
            let title: String
            let port: Int
            let url: String?

            /// - Parameters:
            ///   - port: The port on which the API listens. The page links to it when it was itself reached at its own port: behind a
            ///     proxy, the other's address is unknown.
            ///   - url: The URL by which clients reach the API, if the operator has said so.
            public init(title: String, port: Int, url: String?) {
                self.title = title
                self.port = port
                self.url = url
            }
        }

        let title: String
        let version: String
        let sentence: String
        let steps: [String]
        let takesToken: Bool
        let hasSocket: Bool
        let port: Int
        let neighbors: [Neighbor]

        /// - Parameters:
        ///   - sentence: The sentence that says what the API is.
        ///   - steps: The steps to a first result. Names of operations and commands stand between backticks.
        ///   - takesToken: Whether requests are sent with a token, and not with a cookie.
        ///   - hasSocket: Whether the API has a live socket.
        ///   - port: The port on which the API listens.
        ///   - neighbors: The other APIs of the server.
        public init(
            title: String, version: String, sentence: String, steps: [String], takesToken: Bool, hasSocket: Bool,
            port: Int, neighbors: [Neighbor]
        ) {
            self.title = title
            self.version = version
            self.sentence = sentence
            self.steps = steps
            self.takesToken = takesToken
            self.hasSocket = hasSocket
            self.port = port
            self.neighbors = neighbors
        }
    }

    /// Returns the files of an API's page: the page itself at `/`, and what it loads below `/reference/`.
    public static func files(_ introduction: Introduction) -> [File] { [page(introduction)] + shared }

    /// The files that the operator's page has, too: the style, and the making of elements.
    public static let common: [File] = [
        style("style", PackageResources.style_css), script("elements", PackageResources.elements_js),
    ]

    /// The files that the pages of all APIs have in common.
    public static let shared: [File] =
        common + [
            style("reference", PackageResources.reference_css),
            script("answer", PackageResources.answer_js), script("console", PackageResources.console_js),
            script("description", PackageResources.description_js),
            script("known", PackageResources.known_js), script("operation", PackageResources.operation_js),
            script("parts", PackageResources.parts_js), script("reference", PackageResources.reference_js),
            script("request", PackageResources.request_js), script("session", PackageResources.session_js),
            script("swift", PackageResources.swift_js), script("words", PackageResources.words_js),
        ]

    /// The content security policy of the page (CSP 3): scripts and styles of this server alone, none within the page,
    /// requests and sockets to this server alone, and no frame around it.
    public static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:",
        "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static func style(_ name: String, _ bytes: [UInt8]) -> File {
        File(path: "/reference/\(name).css", contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func script(_ name: String, _ bytes: [UInt8]) -> File {
        File(path: "/reference/\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    // MARK: The first view

    private static func page(_ introduction: Introduction) -> File {
        let session = introduction.takesToken ? PackageResources.token_html : PackageResources.cookie_html
        var text = String(decoding: PackageResources.reference_html, as: UTF8.self)
        for (name, value) in [
            ("title", escaped(introduction.title)), ("version", escaped(introduction.version)),
            ("sentence", escaped(introduction.sentence)), ("port", "\(introduction.port)"),
            ("socket", "\(introduction.hasSocket)"),
            ("neighbors", introduction.neighbors.map(link).joined()),
            ("steps", introduction.steps.map { "<li>\(sentence($0))</li>" }.joined()),
            ("session", String(decoding: session, as: UTF8.self)),
        ] { text = text.split(separator: "{{\(name)}}", omittingEmptySubsequences: false).joined(separator: value) }
        return File(path: "/", contentType: "text/html; charset=utf-8", bytes: Array(text.utf8))
    }

    private static func link(to neighbor: Introduction.Neighbor) -> String {
        let place = neighbor.url.map { "href=\"\(escaped($0))/\"" } ?? "data-port=\"\(neighbor.port)\""
        return "<li><a \(place)>\(escaped(neighbor.title))</a></li>"
    }

    /// Returns a sentence in which the names of operations are links to them, and the words of commands stay whole.
    private static func sentence(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            if index % 2 == 0 { return escaped(part) }
            let words = part.split(separator: " ").map { "<span>\(escaped($0))</span>" }
            let code = "<code>\(words.joined(separator: " "))</code>"
            return words.count == 1 ? "<a href=\"#\(escaped(part))\">\(code)</a>" : code
        }.joined()
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
