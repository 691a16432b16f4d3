public import HTTPTypes
public import NIOCore

/// Decides whether a connection changes from HTTP to another protocol that its client offers (RFC 9110 §7.8).
public struct ConnectionUpgrade: Sendable {
    /// The decision on an offer.
    public enum Decision {
        /// The client gets a last answer, and the connection then belongs to the handlers that the closure adds behind a
        /// handler. The future completes when the answer has been written.
        case accept(
            HTTPFields,
            add: (_ handler: any ChannelHandler, _ pipeline: ChannelPipeline, _ answer: EventLoopFuture<Void>) throws ->
                Void)
        /// The client gets an ordinary answer, and the connection continues with HTTP.
        case refuse(Refusal)
    }

    /// The answer to an offer that is refused. The server adds to it what every answer has.
    public struct Refusal: Sendable {
        public let status: HTTPResponse.Status
        public let fields: HTTPFields
        /// The body; empty for that of the API's errors.
        public let body: ByteBuffer

        public init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: ByteBuffer) {
            (self.status, self.fields, self.body) = (status, fields, body)
        }
    }

    /// Considers the offer of a request without a body, on the connection's event loop. It returns nil when the request is
    /// answered as if it had made no offer. Otherwise it calls `decide` once, on the event loop and not before it returns,
    /// unless what it returns is called to cancel the decision.
    public typealias Consider =
        @Sendable (
            _ request: HTTPRequest, _ channel: any Channel, _ decide: @escaping @Sendable (sending Decision) -> Void
        ) -> (() -> Void)?

    let consider: Consider

    public init(_ consider: @escaping Consider) { self.consider = consider }
}
