import Contract
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The platform's own HTTP client.
public struct URLSessionTransport: Transport {
    private let session: URLSession

    /// Creates a transport.
    ///
    /// - Parameter configuration: By default without cookies and without a cache, because answers belong to a token.
    public init(configuration: URLSessionConfiguration = .concord) {
        session = URLSession(configuration: configuration)
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        try Task.checkCancellation()
        var outgoing = URLRequest(url: request.url)
        outgoing.httpMethod = request.method.rawValue
        for field in request.headers { outgoing.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        let (data, response) = try await run(TaskDelegate(progress: progress)) { completion in
            switch request.body {
            case .none: session.dataTask(with: outgoing, completionHandler: completion)
            case .bytes(let bytes): session.uploadTask(with: outgoing, from: Data(bytes), completionHandler: completion)
            case .file(let url): session.uploadTask(with: outgoing, fromFile: url, completionHandler: completion)
            }
        }
        #if canImport(FoundationNetworking)
        // Linux's URLSession reports no progress for a task with a completion handler, so only the end of an upload is
        // reported.
        if let size = try request.body.size() { progress?(size, size) }
        #endif
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var headers = HTTPFields()
        for (name, value) in response.allHeaderFields {
            if let name = HTTPField.Name("\(name)") { headers[name] = "\(value)" }
        }
        return TransportResponse(status: .init(code: response.statusCode), headers: headers, body: [UInt8](data))
    }

    /// Runs a task with a delegate of its own. The session's async methods accept a delegate too, but on Linux they
    /// ignore it and follow redirects.
    private func run(
        _ delegate: TaskDelegate,
        _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Data, URLResponse) {
        let reply = Reply<(Data, URLResponse)>()
        let task = make { data, response, error in
            if let data, let response, error == nil {
                reply.deliver(.success((data, response)))
            } else {
                reply.deliver(.failure(error ?? URLError(.badServerResponse)))
            }
        }
        task.delegate = delegate
        task.resume()
        do {
            return try await reply.value()
        } catch {
            task.cancel()
            // The request is cancelled when the app's task is, or by the session that carries it.
            throw (error as? URLError)?.code == .cancelled ? CancellationError() : error
        }
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

extension TransportRequest.Body {
    /// The size of the body in bytes; nil without a body.
    fileprivate func size() throws -> Int64? {
        switch self {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let url): (try url.resourceValues(forKeys: [.fileSizeKey]).fileSize).map(Int64.init)
        }
    }
}

extension URLSessionConfiguration {
    /// A configuration without cookies and without a cache, which waits at most 30 s for an answer.
    public static var concord: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 30
        return configuration
    }
}
