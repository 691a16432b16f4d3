import AsyncHTTPClient
import Foundation
import NIOCore

/// The URL at which an issuer publishes its keys.
public struct KeySetURL: Sendable {
    private let url: String
    private let timeout: TimeAmount

    /// Checks a URL.
    ///
    /// - Parameters:
    ///   - text: `https://…`, or `http://…` on this machine: keys that could be replaced on the way would prove
    ///     nothing.
    ///   - timeout: The time limit for a whole answer.
    /// - Throws: ``KeySetFailure``.
    public init(_ text: String, timeout: TimeAmount = .seconds(10)) throws(KeySetFailure) {
        guard let url = URL(string: text), let host = url.host, !host.isEmpty,
            url.scheme == "https" || url.scheme == "http" && ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
        else { throw KeySetFailure("\(text) is no https:// address") }
        self.url = text
        self.timeout = timeout
    }

    /// Fetches the key set, up to 1 MiB. Redirects are not followed.
    ///
    /// - Throws: ``KeySetFailure``, or the connection's error.
    public func fetch() async throws -> [UInt8] {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: timeout, read: timeout),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The caller retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Keys are fetched once an hour, so no connection is kept.
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/json")
            let response = try await client.execute(request, timeout: timeout)
            guard response.status == .ok else { throw KeySetFailure("\(url) answers \(response.status.code)") }
            do {
                return Array(try await response.body.collect(upTo: KeySet.maximumLength).readableBytesView)
            } catch is NIOTooManyBytesError {
                throw KeySetFailure("longer than 1 MiB")
            }
        }
    }
}
