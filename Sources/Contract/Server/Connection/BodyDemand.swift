import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// An event that travels down a channel's pipeline when more of a request's body is wanted. Until then,
/// ``ConnectionGuard`` reads no more of a large body; at the first one it tells a waiting client to continue (RFC 9110
/// §10.1.1).
///
/// A request whose head is refused is therefore refused before its body arrives, and a server without room for a body
/// does not read it.
struct BodyDemand: Sendable {
    /// The number of bytes that are read for one demand.
    static let credit = 65_536

    /// Whether what was read stays in memory.
    var isHeld = false

    /// Returns whether a body is read only on demand: one that is large, of unknown size, or held back by the client.
    /// Most other bodies arrive together with their head.
    static func isNeeded(for headers: HTTPFields) -> Bool {
        if let length = headers.value(of: .contentLength).flatMap(Int.init) {
            return length > MemoryBudget.small || isAwaited(by: headers)
        }
        return headers.contains(.transferEncoding)
    }

    /// Returns whether the client holds its body back until the server asks it to continue.
    static func isAwaited(by headers: HTTPFields) -> Bool {
        headers.value(of: .expect)?.lowercased() == "100-continue"
    }
}

/// A body that is requested piece by piece.
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

/// The client, or the server's shutdown, ended a connection in the middle of a body.
struct BodyCutShort: Error {}

/// The memory that a request's body takes, until the request is answered.
final class BodyHold: Sendable {
    private let budget: MemoryBudget
    private let taken = NIOLockedValueBox(0)

    init(_ budget: MemoryBudget) { self.budget = budget }

    var isHeld: Bool { taken.withLockedValue { $0 > 0 } }

    /// Waits until there is room for a number of bytes. It may be called only once for a request: two requests that
    /// each hold some and wait for more could wait for each other.
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
