/// An object that a signed URL allows to read.
public struct SignedDownload: Sendable, Equatable {
    /// The object, which may have been deleted.
    public let key: ObjectKey
    /// The name, safe media type and disposition that the URL was signed with.
    public let download: Download

    /// The value of `Content-Type`, which must be sent with `X-Content-Type-Options: nosniff`.
    public var contentType: String { download.contentType }
    /// The value of `Content-Disposition`.
    public var contentDisposition: String { download.disposition.fieldValue(filename: download.filename) }
}

extension LocalObjectStore {
    /// Returns the object that a request under the store's base URL may read.
    ///
    /// - Parameters:
    ///   - method: The method as received: GET, or HEAD, which a URL for GET allows, too.
    ///   - key: The path of the request after the base URL and "/", percent-decoded once.
    ///   - query: The query of the request, without "?", as received.
    public func verify(method: String, path key: String, query: String) throws(SignedURLError) -> SignedDownload {
        guard method == "GET" || method == "HEAD", let key = ObjectKey(key) else { throw .badSignature }
        return SignedDownload(key: key, download: try signedURL.verify(query, for: key, now: now()))
    }
}
