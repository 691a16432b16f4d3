import ContractClient
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The address of a Monica server, and the token for it.
public struct APIConfiguration: Hashable, Sendable {
    /// The URL to which the contract's paths are appended: it ends with `/api`, without a trailing slash.
    public var baseURL: URL
    /// A personal access token.
    public var token: String
    /// The time to wait for an answer, in seconds.
    public var timeout: TimeInterval
    /// The number of repeats after the first attempt.
    public var retryCount: Int

    public init(baseURL: URL, token: String, timeout: TimeInterval = 10, retryCount: Int = 3) {
        self.baseURL = baseURL
        self.token = token
        self.timeout = timeout
        self.retryCount = retryCount
    }

    /// The server that Monica's makers run. The user has to set its token.
    public static let cloud = APIConfiguration(baseURL: URL(string: "https://app.monicahq.com/api")!, token: "")

    /// Returns the configuration of a self-hosted server.
    ///
    /// - Parameters:
    ///   - url: The server's address, as the other SDKs take it; it may end with `/api`.
    ///   - token: A personal access token.
    public static func selfHosted(url: URL, token: String) -> APIConfiguration {
        selfHosted(url: url.absoluteString, token: token)
    }

    /// Returns the configuration of a self-hosted server whose address a person has typed.
    ///
    /// - Parameters:
    ///   - url: The address as a person types it: https is added when there is no scheme; trailing slashes and an
    ///     `/api` do not matter.
    ///   - token: A personal access token.
    public static func selfHosted(url: String, token: String) -> APIConfiguration {
        var text = url.trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.contains("://") { text = "https://" + text }
        while text.hasSuffix("/") { text.removeLast() }
        if !text.hasSuffix("/api") { text += "/api" }
        // An invalid URL becomes one at which no server answers.
        return APIConfiguration(
            baseURL: URL(string: text) ?? URL(string: "https://monica.invalid/api")!, token: token)
    }
}

extension URLSessionConfiguration {
    /// The contract's configuration: 10 seconds until an answer begins, 30 for the whole, no cache and no cookies of
    /// the system.
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
