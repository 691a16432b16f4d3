/// The way in which an object is presented to a downloading client.
public struct Download: Sendable, Hashable {
    /// The name to save it under, as the uploader gave it; ``ContentDisposition`` makes it safe for a header.
    public let filename: String
    /// The media type to serve: not necessarily the one given, see ``init(filename:contentType:disposition:)``.
    public let contentType: String
    /// Whether a browser saves it or shows it.
    public let disposition: ContentDisposition

    /// An uploader chooses the type, and a browser runs what it takes for a document, in the origin of the server.
    /// So only `image/*`, `audio/*`, `video/*` and `application/pdf` are kept, in lower case and without
    /// parameters. All else becomes `application/octet-stream`, also SVG and the other image types in XML, which
    /// can carry scripts.
    public init(filename: String, contentType: String, disposition: ContentDisposition = .attachment) {
        self.filename = filename
        self.contentType = Self.harmless(contentType)
        self.disposition = disposition
    }

    private static let opaque = "application/octet-stream"

    private static func harmless(_ contentType: String) -> String {
        let given = contentType.prefix { $0 != ";" }.trimmingOptionalWhitespace
        // Lower case turns some letters outside ASCII into ASCII, so this comes first.
        guard given.utf8.allSatisfy({ $0 < 0x80 }) else { return opaque }
        let essence = given.lowercased()
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isName(parts[1]), !parts[1].hasSuffix("+xml") else { return opaque }
        switch (parts[0], parts[1]) {
        case ("image", _), ("audio", _), ("video", _), ("application", "pdf"): return essence
        default: return opaque
        }
    }

    /// A `restricted-name` of RFC 6838 §4.2.
    private static func isName(_ text: Substring) -> Bool {
        1...127 ~= text.utf8.count && text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$&-^_.+".utf8.contains($0) }
    }
}
