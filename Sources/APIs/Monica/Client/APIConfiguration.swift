import ContractClient
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where a Monica is, and the token for it.
public struct APIConfiguration: Hashable, Sendable {
    /// What the contract's paths are appended to: it ends with `/api`, without a slash behind it.
    public var baseURL: URL
    /// A personal access token.
    public var token: String
    /// Seconds without an answer.
    public var timeout: TimeInterval
    /// How often a request is sent again, beside the first time.
    public var retryCount: Int

    public init(baseURL: URL, token: String, timeout: TimeInterval = 10, retryCount: Int = 3) {
        self.baseURL = baseURL
        self.token = token
        self.timeout = timeout
        self.retryCount = retryCount
    }

    /// The one that Monica's makers run. Its token is the user's to set.
    public static let cloud = APIConfiguration(baseURL: URL(string: "https://app.monicahq.com/api")!, token: "")

    /// One of somebody's own.
    ///
    /// - Parameters:
    ///   - url: As a person types it: without a scheme it is https; slashes at its end, or an `/api`, do not matter.
    ///   - token: A personal access token.
    public static func selfHosted(url: String, token: String) -> APIConfiguration {
        var text = url.trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.contains("://") { text = "https://" + text }
        while text.hasSuffix("/") { text.removeLast() }
        if !text.hasSuffix("/api") { text += "/api" }
        // What is no URL at all is one that nobody answers at.
        return APIConfiguration(
            baseURL: URL(string: text) ?? URL(string: "https://monica.invalid/api")!, token: token)
    }
}

extension URLSessionConfiguration {
    /// The contract's: 10 seconds for an answer to begin, 30 for the whole, nothing kept by the system.
    public static var monica: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.concord
        configuration.timeoutIntervalForRequest = 10
        configuration.timeoutIntervalForResource = 30
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpAdditionalHeaders = MonicaHeaders.all
        return configuration
    }
}

enum MonicaHeaders {
    static let all = ["Accept": "application/json", "User-Agent": "MonicaClient/1.0 iOS"]
}
