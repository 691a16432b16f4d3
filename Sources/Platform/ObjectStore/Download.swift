/// The way in which an object is presented to a downloading client.
public struct Download: Sendable, Hashable {
    /// The name under which the file is saved, as the uploader gave it. ``ContentDisposition`` makes it safe for a
    /// header.
    public let filename: String
    /// The media type of the answer. It may differ from the given one: see ``init(filename:contentType:disposition:)``.
    public let contentType: String
    /// Whether a browser saves the file or shows it.
    public let disposition: ContentDisposition

    /// Makes a download with a safe media type. An uploader chooses the type, and a browser would run documents in the
    /// origin of the server. So only `image/*`, `audio/*`, `video/*` and `application/pdf` are kept, in lower case and
    /// without parameters. Any other type becomes `application/octet-stream`, including SVG and other image types in
    /// XML, which can contain scripts.
    public init(filename: String, contentType: String, disposition: ContentDisposition = .attachment) {
        self.filename = filename
        self.contentType = Self.harmless(contentType)
        self.disposition = disposition
    }

    private static let opaque = "application/octet-stream"

    private static func harmless(_ contentType: String) -> String {
        // Nearly all files are of these types, and a list of photos has one for each.
        switch contentType {
        case "image/jpeg", "image/png", "image/heic", "video/mp4": return contentType
        default: break
        }
        let given = contentType.prefix { $0 != ";" }.trimmingOptionalWhitespace
        // This comes first, because lower case turns some letters outside ASCII into ASCII.
        guard given.utf8.allSatisfy({ $0 < 0x80 }) else { return opaque }
        let essence = given.lowercased()
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isName(parts[1]), !parts[1].hasSuffix("+xml") else { return opaque }
        switch (parts[0], parts[1]) {
        case ("image", _), ("audio", _), ("video", _), ("application", "pdf"): return essence
        default: return opaque
        }
    }

    /// Returns whether a text is a `restricted-name` of RFC 6838 §4.2.
    private static func isName(_ text: Substring) -> Bool {
        1...127 ~= text.utf8.count && text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$&-^_.+".utf8.contains($0) }
    }
}
