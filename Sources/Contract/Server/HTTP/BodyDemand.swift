import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// Sent down a channel's pipeline when more of a request's body is wanted: ``ConnectionGuard`` reads no more of a large
/// body before, and tells a client that waits for it to go on (RFC 9110 §10.1.1).
///
/// So a request whose head is refused is refused before its body comes, and a server that has no room for a body does not
/// read it.
struct BodyDemand: Sendable {
    /// How many bytes are read for one demand.
    static let credit = 65_536

    /// Whether what was read stays in memory.
    var isHeld = false

    /// Whether a body is read only when it is wanted: one that is large, of unknown size, or waited with. Of the others
    /// most come along with their head.
    static func isNeeded(for headers: HTTPFields) -> Bool {
        if let length = headers[.contentLength].flatMap(Int.init) {
            return length > MemoryBudget.small || isAwaited(by: headers)
        }
        return headers.contains(.transferEncoding)
    }

    /// Whether the client sends no body until it is told to.
    static func isAwaited(by headers: HTTPFields) -> Bool {
        headers[.expect]?.lowercased() == "100-continue"
    }
}

/// A body that is asked for piece by piece.
struct DemandedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel
    let hold: BodyHold

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate let sequence: DemandedBody

        mutating func next() async throws -> ByteBuffer? {
            sequence.channel.triggerUserOutboundEvent(BodyDemand(isHeld: sequence.hold.isHeld), promise: nil)
            return try await body.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: body.makeAsyncIterator(), sequence: self) }
}

/// The client, or the server's stop, ended a connection within a body.
struct BodyCutShort: Error {}

/// The room that a request's body takes, until the request is answered.
final class BodyHold: Sendable {
    private let budget: MemoryBudget
    private let taken = NIOLockedValueBox(0)

    init(_ budget: MemoryBudget) { self.budget = budget }

    var isHeld: Bool { taken.withLockedValue { $0 > 0 } }

    /// Waits until there is room for so many bytes. To be called once: what holds some and waits for more could wait for
    /// another that does so too.
    func take(_ size: Int) async throws {
        try await budget.take(size)
        taken.withLockedValue { $0 += size }
    }

    func release() {
        let size = taken.withLockedValue { taken in
            defer { taken = 0 }
            return taken
        }
        if size > 0 { budget.give(size) }
    }
}
