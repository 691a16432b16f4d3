import Hummingbird
import NIOCore

/// A body that is requested piece by piece (``ConnectionGuard/demand(isHeld:)``).
struct DemandedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let connection: ConnectionReference
    let hold: MemoryHold

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
