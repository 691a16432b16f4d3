import HTTPTypes
package import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Reads request heads, and refuses those that NIO's decoder accepts and RFC 9112 does not.
package enum RequestRules {
    /// The error of a head, with the id of its request.
    struct Violation: Error {
        let refusal: ConnectionRefusal
        let requestID: String
    }

    /// Returns the reason for which a head is refused; nil when it is not.
    package static func refusal(of head: HTTPRequestHead) -> ConnectionRefusal? {
        let isOld = head.version.isOld
        var hosts = 0
        var isEncoded = false
        var isUpgrade = false
        for (name, _) in head.headers {
            switch name.utf8.count {
            case 4 where name.isField("host"): hosts += 1
            case 7 where isOld && name.isField("upgrade"): isUpgrade = true
            case 17 where isOld && name.isField("transfer-encoding"): isEncoded = true
            default: break
            }
        }
        if hosts > 1 || (hosts == 0 && !isOld) { return .host }
        return isEncoded || isUpgrade ? .oldVersion : nil
    }

    /// Returns the request of a head.
    ///
    /// - Throws: ``Violation``; `HTTP1TypeConversionError` when the method is none.
    static func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
        if let refusal = refusal(of: head) {
            throw Violation(
                refusal: refusal, requestID: RequestID.make(for: HTTPFields(head.headers, splitCookie: false)))
        }
        // What does not begin with a slash may be a whole URL, of which the path is taken.
        guard head.uri.utf8.first == UInt8(ascii: "/"), !head.version.isOld else {
            var head = head
            if head.version.isOld {
                // HTTP/1.0 knows neither.
                head.headers.remove(name: "Expect")
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            return try HTTPRequest(head, secure: false, splitCookie: false)
        }
        var request = HTTPRequest(
            method: try HTTPRequest.Method(head.method), scheme: "http", authority: nil, path: head.uri)
        request.headerFields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            if name.isField("host") {
                request.authority = value
            } else if let name = HTTPField.Name(name) {
                request.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        return request
    }
}

extension String {
    /// Returns whether the text is the name of a field, in any letter case.
    ///
    /// - Parameter name: The name, in lower case.
    fileprivate func isField(_ name: StaticString) -> Bool {
        guard utf8.count == name.utf8CodeUnitCount else { return false }
        return zip(utf8, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            .allSatisfy { $0 | 0x20 == $1 }
    }
}

/// The reasons for which a connection answers a request itself, before any route is looked up.
public enum ConnectionRefusal: Sendable {
    /// The bytes are not HTTP.
    case malformed
    /// The connection ended in the middle of a request.
    case cutShort
    /// The request is HTTP/1.1 without `Host`, or with two (RFC 9112 §3.2).
    case host
    /// The request is HTTP/1.0 with a `Transfer-Encoding` (RFC 9112 §6.1) or an `Upgrade` (RFC 6455 §4.1).
    case oldVersion
    /// The head has more or larger fields than ``RequestHeadLimits`` allow.
    case headTooLarge
    /// The server, or the client's address, has reached its limit of connections.
    case tooManyConnections

    public var status: HTTPResponse.Status {
        switch self {
        case .malformed, .cutShort, .host, .oldVersion: .badRequest
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .tooManyConnections: .serviceUnavailable
        }
    }

    public var message: String {
        switch self {
        case .malformed, .cutShort: "Malformed request"
        case .host: "A request has exactly one Host field"
        case .oldVersion: "HTTP/1.0 has neither Transfer-Encoding nor Upgrade"
        case .headTooLarge: RequestHeadLimits.message
        case .tooManyConnections: "Too many connections"
        }
    }
}

/// The limits on the size of a request's head.
public enum RequestHeadLimits {
    /// The maximum size in bytes of one field's name and value, and of the request's target.
    public static let field = 16_384
    /// The maximum size in bytes of all fields together.
    public static let list = 32_768
    public static let fieldCount = 100

    static let message = "Request header too large: at most 16 KiB a field, 32 KiB and 100 fields in all"
}

extension HTTPVersion {
    /// Whether the version is older than HTTP/1.1.
    var isOld: Bool { (major, minor) < (1, 1) }
}
