import Foundation
import HTTPTypes

/// A request that has ended, in a form that may be logged: without its headers, its body and the values of its query.
public struct LoggedRequest: Sendable, CustomStringConvertible {
    /// The HTTP method.
    public let method: HTTPRequest.Method
    /// The host and the path, with the names of the query's parameters and without their values.
    public let target: String
    /// The status of the answer, or the error that came instead.
    public let outcome: Result<HTTPResponse.Status, any Error>
    /// The size of the answer's body in bytes; 0 without an answer.
    public let size: Int
    /// The time from the request to the end of its answer.
    public let duration: Duration

    /// One line, such as `GET api.example.com/chats?limit 200 in 12 ms, 3120 bytes`.
    public var description: String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        switch outcome {
        case .success(let status): return "\(method) \(target) \(status.code) in \(milliseconds) ms, \(size) bytes"
        case .failure(let error): return "\(method) \(target) failed after \(milliseconds) ms: \(error)"
        }
    }
}

/// A transport that reports every request once it has ended, each repeat and each renewal of a token on its own.
///
/// ```swift
/// let messenger = MessengerClient(baseURL: url, transport: LoggingTransport { print($0) })
/// ```
public struct LoggingTransport: Transport {
    private let base: any Transport
    private let log: @Sendable (LoggedRequest) -> Void

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: Carries the requests.
    ///   - log: Called for each request, from any thread.
    public init(_ base: any Transport = URLSessionTransport(), log: @escaping @Sendable (LoggedRequest) -> Void) {
        self.base = base
        self.log = log
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let start = ContinuousClock.now
        func report(_ outcome: Result<HTTPResponse.Status, any Error>, size: Int) {
            log(
                LoggedRequest(
                    method: request.method, target: Self.target(of: request.url), outcome: outcome, size: size,
                    duration: start.duration(to: .now)))
        }
        do {
            let response = try await base.send(request, progress: progress)
            report(.success(response.status), size: response.body.count)
            return response
        } catch {
            report(.failure(error), size: 0)
            throw error
        }
    }

    private static func target(of url: URL) -> String {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let names = (parts?.queryItems ?? []).map(\.name).joined(separator: "&")
        let port = url.port.map { ":\($0)" } ?? ""
        return (url.host ?? "") + port + url.path + (names.isEmpty ? "" : "?\(names)")
    }
}
