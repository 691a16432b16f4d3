import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// A body that is requested piece by piece (``ConnectionGuard/demand(isHeld:)``).
struct DemandedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let connection: ConnectionReference
    let hold: BodyHold

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate let sequence: DemandedBody

        @concurrent mutating func next() async throws -> ByteBuffer? {
            sequence.connection.demand(isHeld: sequence.hold.isHeld)
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
