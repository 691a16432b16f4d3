import Contract
import ContractClient
import Foundation
import HTTPTypes

/// An API without a server, for previews and tests. Every operation answers the contract's example until a test sets
/// another answer. The SDK on top is the real one: give the mock to a client as its transport.
///
/// What a test sets applies to the requests that follow. A mock may be used from any task.
public protocol APIMock: Transport, SocketTransport {
    /// The API that the mock answers for.
    associatedtype API: ServiceAPI
    /// The server that reads and answers the requests. The members below are what an app needs of it.
    var server: MockServer<API> { get }
}

extension APIMock {
    /// The base URL of the mock's clients. No server listens there.
    public var baseURL: URL { server.baseURL }

    // MARK: Answers

    /// Sets the answer of an operation, with the status of its route.
    ///
    /// - Parameter handle: Receives the request as the server would have decoded it. It may throw a `Problem`, which is
    ///   answered in the API's error shape, or any other error, which the app receives as a network error.
    public func on<E: Endpoint>(
        _ operation: E.Type, _ handle: @escaping @Sendable (_ request: E) async throws -> E.Output
    ) where E.API == API {
        answer(operation) { Answer(E.route.status, try await handle($0)) }
    }

    /// Sets the answer of an operation, with a status and headers.
    public func answer<E: Endpoint>(
        _ operation: E.Type, _ handle: @escaping @Sendable (_ request: E) async throws -> Answer<E.Output>
    ) where E.API == API {
        server.state.use { $0.handlers[E.signature] = MockServer<API>.handler(handle) }
    }

    /// Makes an operation refuse its requests, in the API's error shape.
    ///
    /// - Parameters:
    ///   - message: The message, as the API words it.
    ///   - headers: Headers of the answer, such as `Retry-After`.
    ///   - times: The number of requests that are refused before the operation answers as before; nil for all.
    public func fail<E: Endpoint>(
        _ operation: E.Type, with status: HTTPResponse.Status, _ message: String, headers: HTTPFields = [:],
        times: Int? = nil
    ) where E.API == API {
        precondition(times ?? 1 > 0, "A refusal happens at least once.")
        let problem = Problem(status, message, headers: headers)
        server.state.use { $0.refusals[E.signature] = .init(problem: problem, times: times) }
    }

    /// Makes an operation answer its example again, without a delay of its own.
    public func reset<E: Endpoint>(_ operation: E.Type) where E.API == API {
        server.state.use { state in
            state.handlers[E.signature] = nil
            state.refusals[E.signature] = nil
            state.delays[E.signature] = nil
        }
    }

    // MARK: The network

    /// The time that every answer takes: none by default.
    public var delay: Duration {
        get { server.state.use { $0.delay } }
        nonmutating set { server.state.use { $0.delay = newValue } }
    }

    /// Sets the time that an operation's answer takes, in place of ``delay``.
    public func delay<E: Endpoint>(_ operation: E.Type, by delay: Duration) where E.API == API {
        server.state.use { $0.delays[E.signature] = delay }
    }

    /// Disconnects the network: requests and sockets fail with `URLError(.notConnectedToInternet)`, open sockets break.
    public func offline() {
        server.state.use { $0.isOffline = true }
        dropSockets()
    }

    /// Reconnects the network.
    public func online() { server.state.use { $0.isOffline = false } }

    /// Breaks every open socket as a network failure does: without a close frame (1006).
    public func dropSockets() { server.dropSockets() }

    // MARK: Requests that were sent

    /// All requests in order, including refused ones. Cast them, or use ``requests(_:)`` for those of one operation.
    public var requests: [any Endpoint] { server.state.use { $0.requests } }

    /// Returns an operation's requests, in order.
    public func requests<E: Endpoint>(_ operation: E.Type) -> [E] where E.API == API {
        requests.compactMap { $0 as? E }
    }

    // MARK: As a transport

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        try await server.send(request, progress: progress)
    }

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        try server.open(url, headers: headers)
    }
}
