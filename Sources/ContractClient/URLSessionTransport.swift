import Contract
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The platform's own HTTP client.
public struct URLSessionTransport: Transport {
    private let session: URLSession

    /// - Parameter configuration: By default without cookies and without a cache: answers belong to a token.
    public init(configuration: URLSessionConfiguration = .concord) {
        session = URLSession(configuration: configuration)
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        var outgoing = URLRequest(url: request.url)
        outgoing.httpMethod = request.method.rawValue
        for field in request.headers { outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        let delegate = TaskDelegate(progress: progress)
        let (data, response) =
            switch request.body {
            case .none: try await session.data(for: outgoing, delegate: delegate)
            case .bytes(let bytes): try await session.upload(for: outgoing, from: Data(bytes), delegate: delegate)
            case .file(let url): try await session.upload(for: outgoing, fromFile: url, delegate: delegate)
            }
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var headers = HTTPFields()
        for (name, value) in response.allHeaderFields {
            if let name = HTTPField.Name("\(name)") { headers[name] = "\(value)" }
        }
        return TransportResponse(status: .init(code: response.statusCode), headers: headers, body: [UInt8](data))
    }

    /// Stops at redirects and reports progress.
    private final class TaskDelegate: NSObject, URLSessionTaskDelegate {
        private let progress: UploadProgress?

        init(progress: UploadProgress?) { self.progress = progress }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            progress?(totalBytesSent, totalBytesExpectedToSend)
        }
    }
}

extension URLSessionConfiguration {
    /// No cookies, no cache, half a minute without an answer at most.
    public static var concord: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 30
        return configuration
    }
}
