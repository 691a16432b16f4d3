/// An object that a signed URL gives access to.
public struct SignedDownload: Sendable, Equatable {
    /// The file that holds the object. It may be deleted before it is opened, which is then a 404 as well.
    public let path: String
    /// Its size in bytes.
    public let size: Int64
    /// The name, safe media type and disposition that the URL was signed with.
    public let download: Download

    /// The value of `Content-Type`; always to be sent with `X-Content-Type-Options: nosniff`.
    public var contentType: String { download.contentType }
    /// The value of `Content-Disposition`.
    public var contentDisposition: String { download.disposition.fieldValue(filename: download.filename) }
}

extension LocalObjectStore {
    /// The object that a request under the store's base URL may have.
    ///
    /// - Parameters:
    ///   - method: as received; GET, or HEAD, which a URL for GET allows too.
    ///   - key: the path of the request after the base URL and "/", as received: nothing percent-decoded.
    ///   - query: the query of the request, without "?", as received.
    /// - Throws: ``SignedURLError``; a disk that cannot be read counts as ``SignedURLError/notFound``.
    public func verify(
        method: String, path key: String, query: String
    ) async throws(SignedURLError) -> SignedDownload {
        guard method == "GET" || method == "HEAD", let key = ObjectKey(key) else { throw .badSignature }
        let download = try signedURL.verify(query, for: key, now: now())
        let path = layout.path(of: key)
        let size: Int64?
        do {
            size = try await self.size(of: key)
        } catch {
            size = nil
        }
        guard let size else { throw .notFound }
        return SignedDownload(path: path, size: size, download: download)
    }
}
