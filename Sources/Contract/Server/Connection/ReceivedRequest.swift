import HTTPTypes
import Hummingbird
import NIOCore

/// A request as its connection has received it.
struct ReceivedRequest: Sendable {
    enum Body: Sendable {
        case whole(ByteBuffer)
        /// The pieces of a body that arrive while the request is handled.
        case pieces(RequestBody)
    }

    let head: RequestHead
    var body: Body
    /// The answer, where the request has made an offer that is refused.
    var refusal: ConnectionUpgrade.Refusal?

    var method: HTTPRequest.Method { head.method }
    var headers: HTTPFields { head.fields }
    /// Whether the method is GET or HEAD, which change nothing (RFC 9110 §9.2.1).
    var changesNothing: Bool { head.method == .get || head.method == .head }

    init(head: RequestHead, body: Body, refusal: ConnectionUpgrade.Refusal? = nil) {
        self.head = head
        self.body = body
        self.refusal = refusal
    }

    /// Makes a request that came over no connection.
    init(_ request: Request) { self.init(head: RequestHead(request.head), body: .pieces(request.body)) }

    /// The request as handlers of plain routes and readers of forms have it.
    var request: Request { Request(head: head.request, body: pieces) }

    /// The body as a sequence of its pieces.
    var pieces: RequestBody {
        switch body {
        case .whole(let bytes): RequestBody(buffer: bytes)
        case .pieces(let pieces): pieces
        }
    }

    /// Returns the same request, whose body is requested piece by piece if it is large.
    func demanding(from connection: ConnectionReference?, _ hold: MemoryHold?) -> ReceivedRequest {
        guard let connection, let hold, case .pieces(let pieces) = body, head.isReadOnDemand else { return self }
        var request = self
        request.body = .pieces(
            RequestBody(asyncSequence: DemandedBody(body: pieces, connection: connection, hold: hold)))
        return request
    }
}
