// The members of Apple's Foundation and Core Foundation that the SDKs use and Linux's Foundation lacks, with the
// signatures of Apple's documentation. Nothing here has behaviour: it exists for the type checker.
@_exported import Dispatch
@_exported import Foundation

// MARK: URL loading

public class URLCache: NSObject, @unchecked Sendable {}
public class HTTPCookieStorage: NSObject, @unchecked Sendable {}

public class HTTPCookie: NSObject, @unchecked Sendable {
    public class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        fatalError()
    }
    public var name: String { fatalError() }
    public var value: String { fatalError() }
    public var expiresDate: Date? { fatalError() }
    public var isSecure: Bool { fatalError() }
}

public struct URLRequest: Hashable, Sendable {
    public init(url: URL) { fatalError() }
    public var url: URL?
    public var httpMethod: String?
    public var timeoutInterval: TimeInterval = 60
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

public class NSURLRequest: NSObject, @unchecked Sendable {
    public enum CachePolicy: UInt, Sendable { case useProtocolCachePolicy, reloadIgnoringLocalCacheData }
}

public class URLResponse: NSObject, @unchecked Sendable {
    public var suggestedFilename: String? { fatalError() }
    public var mimeType: String? { fatalError() }
    public var expectedContentLength: Int64 { fatalError() }
}

public class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public var statusCode: Int { fatalError() }
    public var allHeaderFields: [AnyHashable: Any] { fatalError() }
}

public class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var `default`: URLSessionConfiguration { fatalError() }
    public class var ephemeral: URLSessionConfiguration { fatalError() }
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    public var timeoutIntervalForRequest: TimeInterval = 60
    public var timeoutIntervalForResource: TimeInterval = 60
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies = true
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    public var requestCachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    public var urlCache: URLCache?
    public var waitsForConnectivity = false
    public var sessionSendsLaunchEvents = true
    public var isDiscretionary = false
    public var sharedContainerIdentifier: String?
}

public class URLSessionTask: NSObject, @unchecked Sendable {
    public var delegate: (any URLSessionTaskDelegate)?
    public var response: URLResponse? { fatalError() }
    public var taskDescription: String?
    public var taskIdentifier: Int { fatalError() }
    public func resume() {}
    public func cancel() {}
}

public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
public class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

public class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {}
}

public class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    public enum Message: Sendable {
        case data(Data)
        case string(String)
    }

    public enum CloseCode: Int, Sendable {
        case invalid = 0
        case normalClosure = 1000
        case goingAway = 1001
    }

    public var maximumMessageSize = 1_048_576
    public var closeCode: CloseCode { fatalError() }
    public var closeReason: Data? { fatalError() }
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {}
    public func send(_ message: Message) async throws {}
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {}
    public func receive() async throws -> Message { fatalError() }
    public func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {}
    public func cancel(with closeCode: CloseCode, reason: Data?) {}
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
}

// Apple's protocols have optional requirements, which Linux's compiler does not know: here they have defaults.
extension URLSessionDelegate {
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

extension URLSessionTaskDelegate {
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

extension URLSessionWebSocketDelegate {
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {}
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {}
}

extension URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {}
}

public class URLSession: NSObject, @unchecked Sendable {
    public init(configuration: URLSessionConfiguration) {}
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
    ) {}
    public var configuration: URLSessionConfiguration { fatalError() }
    public func finishTasksAndInvalidate() {}
    public func invalidateAndCancel() {}
    public var allTasks: [URLSessionTask] { get async { fatalError() } }
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { fatalError() }
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask { fatalError() }
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask { fatalError() }
    public func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask { fatalError() }
}

// MARK: Core Foundation

public typealias OSStatus = Int32
public typealias CFTypeRef = AnyObject
/// Stands for the bridged dictionary: Linux does not bridge.
public typealias CFDictionary = [String: Any]
public typealias CFString = String
