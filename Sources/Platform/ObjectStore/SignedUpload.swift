/// An object that a signed URL allows to write.
public struct SignedUpload: Sendable, Equatable {
    public let key: ObjectKey
    /// The maximum size in bytes.
    public let maximumSize: Int64
}

extension LocalObjectStore {
    public func uploadURL(for key: ObjectKey, upTo size: Int64, expiresIn seconds: Int64) throws -> String {
        signedURL.uploadURL(baseURL, key, size: size, expires: SignedURL.end(after: seconds, at: now()))
    }

    /// Returns the object that a PUT under the store's base URL may write.
    ///
    /// - Parameters:
    ///   - key: The path of the request after the base URL and "/", percent-decoded once.
    ///   - query: The query of the request, without "?", as received.
    public func verifyUpload(path key: String, query: String) throws(SignedURLError) -> SignedUpload {
        guard let key = ObjectKey(key) else { throw .badSignature }
        return SignedUpload(key: key, maximumSize: try signedURL.verifyUpload(query, for: key, now: now()))
    }
}
