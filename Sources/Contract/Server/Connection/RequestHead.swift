public import HTTPTypes

/// The head of a request: its request line, its fields, and what follows from them. It is an object, because all that
/// handles a request has the head at hand.
package final class RequestHead: Sendable {
    /// The way in which a request's body is delimited (RFC 9112 §6).
    package enum Body: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
    }

    package let method: HTTPRequest.Method
    /// The path with its query; an absolute target's without the scheme and the host.
    package let target: String
    /// The value of `Host`.
    package let authority: String?
    /// The fields in the order of the request, without `Host`.
    package let fields: HTTPFields
    package let body: Body
    /// Whether the client speaks HTTP/1.0, which has neither chunks nor persistent connections.
    package let isOld: Bool
    /// Whether the client takes no answer after this one (RFC 9112 §9.6).
    package let isLast: Bool
    /// Whether the client holds its body back until the server asks it to continue (RFC 9110 §10.1.1).
    package let awaitsContinue: Bool
    /// Whether the client offers to change to another protocol (RFC 9110 §7.8).
    package let offersUpgrade: Bool

    /// Makes the head of a request that came over no connection.
    init(_ request: HTTPRequest) {
        method = request.method
        target = request.path ?? "/"
        authority = request.authority
        fields = request.headerFields
        let length = request.headerFields.value(of: .contentLength).flatMap(Int.init)
        body = length.map { .length($0) } ?? (request.headerFields.contains(.transferEncoding) ? .chunked : .none)
        (isOld, isLast, awaitsContinue, offersUpgrade) = (false, false, false, false)
    }

    init(
        method: HTTPRequest.Method, target: String, authority: String?, fields: HTTPFields, body: Body, isOld: Bool,
        isLast: Bool, awaitsContinue: Bool, offersUpgrade: Bool
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.fields = fields
        self.body = body
        self.isOld = isOld
        self.isLast = isLast
        self.awaitsContinue = awaitsContinue
        self.offersUpgrade = offersUpgrade
    }

    /// Returns the same head without the offer to change to another protocol.
    func withoutUpgrade() -> RequestHead {
        var fields = fields
        fields[.upgrade] = nil
        return RequestHead(
            method: method, target: target, authority: authority, fields: fields, body: body, isOld: isOld,
            isLast: isLast, awaitsContinue: awaitsContinue, offersUpgrade: offersUpgrade)
    }

    /// The head as other libraries have it.
    var request: HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: authority, path: target, headerFields: fields)
    }

    /// Whether the body is read only on demand (``ConnectionGuard/demand(isHeld:)``): one that is large, of unknown size,
    /// or held back by the client. Most other bodies arrive together with their head.
    var isReadOnDemand: Bool {
        switch body {
        case .none: false
        case .length(let size): size > MemoryBudget.small || awaitsContinue
        case .chunked: true
        }
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
