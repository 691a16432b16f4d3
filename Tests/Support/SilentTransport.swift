public import ContractClient
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that never answers. A request ends when it is cancelled, with the error that `URLSession` has for that.
public final class SilentTransport: Transport {
    private struct State {
        var requests = 0
        var open = 0
    }

    private let state = Locked(State())
    private let asks = AsyncStream<Void>.makeStream()
    private let ends = AsyncStream<Void>.makeStream()

    public init() {}

    /// The number of requests so far.
    public var requests: Int { state.use { $0.requests } }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        state.use {
            $0.requests += 1
            $0.open += 1
        }
        asks.continuation.yield()
        let never = AsyncStream<Void> { _ in }
        for await _ in never {}
        state.use { $0.open -= 1 }
        ends.continuation.yield()
        throw URLError(.cancelled)
    }

    /// Returns once a request has come that was not waited for yet.
    public func asked() async { for await _ in asks.stream { return } }

    /// Returns once no request is open.
    public func allCancelled() async {
        while state.use({ $0.open }) > 0 { for await _ in ends.stream { break } }
    }
}
