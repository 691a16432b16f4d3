import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Refuses request heads that NIO's decoder accepts and RFC 9112 does not. It sits between the decoder and the codec to
/// the currency types, where the version and every `Host` are still visible.
///
/// ``ConnectionGuard`` puts it there and answers what it refuses.
final class RequestRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The error of a head, with the id of its request.
    struct Violation: Error {
        let refusal: ConnectionRefusal
        let requestID: String
    }

    private var hasRefused = false
    /// Whether the client speaks HTTP/1.0, which has neither chunks nor persistent connections.
    private var isOldClient = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if let refusal = refusal(of: head) {
            hasRefused = true
            let id = RequestID.make(for: HTTPFields(head.headers, splitCookie: false))
            return context.fireErrorCaught(Violation(refusal: refusal, requestID: id))
        }
        guard head.version.isOld else { return context.fireChannelRead(data) }
        isOldClient = true
        head.headers.remove(name: "Expect")
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func refusal(of head: HTTPRequestHead) -> ConnectionRefusal? {
        let isOld = head.version.isOld
        var hosts = 0
        var isEncoded = false
        var isUpgrade = false
        for (name, _) in head.headers {
            switch name.utf8.count {
            case 4 where name.lowercased() == "host": hosts += 1
            case 7 where isOld && name.lowercased() == "upgrade": isUpgrade = true
            case 17 where isOld && name.lowercased() == "transfer-encoding": isEncoded = true
            default: break
            }
        }
        if hosts > 1 || (hosts == 0 && !isOld) { return .host }
        return isEncoded || isUpgrade ? .oldVersion : nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isOldClient, case .head(var head) = unwrapOutboundIn(data), !head.headers.contains(name: "Content-Length")
        else {
            return context.write(data, promise: promise)
        }
        // The end of the connection is the end of the body.
        head.version = .http1_0
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard event is HTTPServerUpgradeEvents else { return }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
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
    fileprivate var isOld: Bool { (major, minor) < (1, 1) }
}
