import Contract
import Foundation
import HTTPTypes

/// Carries one HTTP request. Redirects are returned like any other answer and never followed.
public protocol Transport: Sendable {
    /// Sends a request and returns its whole answer, whatever its status.
    ///
    /// - Parameter progress: Called as the body is sent.
    /// - Throws: The network's own error, `CancellationError`.
    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse
}

/// Receives the number of bytes sent so far, and the total.
public typealias UploadProgress = @Sendable (_ sent: Int64, _ total: Int64) -> Void

/// An HTTP request.
public struct TransportRequest: Sendable {
    /// The body of a request.
    public enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A file, streamed from disk and never whole in memory.
        case file(URL)
    }

    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The absolute URL.
    public var url: URL
    /// The headers.
    public var headers: HTTPFields
    /// The body.
    public var body: Body

    public init(method: HTTPRequest.Method, url: URL, headers: HTTPFields = [:], body: Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// An HTTP answer with its whole body.
public struct TransportResponse: Sendable {
    /// The HTTP status.
    public var status: HTTPResponse.Status
    /// The headers.
    public var headers: HTTPFields
    /// The body.
    public var body: [UInt8]

    public init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
