import Contract
import Foundation
import HTTPTypes

/// Carries one HTTP request. Redirects are answers like any other, never followed.
public protocol Transport: Sendable {
    /// Sends a request and returns its whole answer, whatever its status.
    ///
    /// - Parameter progress: Told how much of the body is on its way, in bytes.
    /// - Throws: the network's own error, `CancellationError`.
    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse
}

/// Bytes sent so far, and in all.
public typealias UploadProgress = @Sendable (_ sent: Int64, _ total: Int64) -> Void

/// An HTTP request, ready to go.
public struct TransportRequest: Sendable {
    /// What follows the headers.
    public enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Streamed from disk, never whole in memory.
        case file(URL)
    }

    public var method: HTTPRequest.Method
    public var url: URL
    public var headers: HTTPFields
    public var body: Body

    public init(method: HTTPRequest.Method, url: URL, headers: HTTPFields = [:], body: Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// An HTTP answer, whole.
public struct TransportResponse: Sendable {
    public var status: HTTPResponse.Status
    public var headers: HTTPFields
    public var body: [UInt8]

    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
