import Contract
import ContractClient
import Foundation
import HTTPTypes

/// An API without a server, for previews and tests. Every operation answers the contract's example until it is told
/// otherwise, and the SDK on top of it is the real one: give the mock to a client as its transport.
///
/// What a test sets holds for the requests that come after it. Safe to use from any task.
public protocol APIMock: Transport, SocketTransport {
    /// The API that the mock answers for.
    associatedtype API: ServiceAPI
    /// Does the work. What an app needs of it is below.
    var server: MockServer<API> { get }
}

extension APIMock {
    /// What a client of the mock has for its base URL. Nothing listens there.
    public var baseURL: URL { server.baseURL }

    // MARK: Answers

    /// Answers an operation from now on, with the status of its route.
    ///
    /// - Parameter handle: Sees the request as the server would have decoded it. It may throw a `Problem`, which is
    ///   answered in the API's error shape, or any other error, which the app sees as the network's.
    public func on<E: Endpoint>(
        _ operation: E.Type, _ handle: @escaping @Sendable (_ request: E) async throws -> E.Output
    ) where E.API == API {
        answer(operation) { Answer(E.route.status, try await handle($0)) }
    }

    /// Answers an operation from now on, with a status and headers of its own.
    public func answer<E: Endpoint>(
        _ operation: E.Type, _ handle: @escaping @Sendable (_ request: E) async throws -> Answer<E.Output>
    ) where E.API == API {
        server.state.use { $0.handlers[E.signature] = MockServer<API>.handler(handle) }
    }

    /// Refuses an operation from now on, in the API's error shape.
    ///
    /// - Parameters:
    ///   - message: As the API words it.
    ///   - headers: Such as `Retry-After`.
    ///   - times: How often; then it answers again as before. Nil for always.
    public func fail<E: Endpoint>(
        _ operation: E.Type, with status: HTTPResponse.Status, _ message: String, headers: HTTPFields = [:],
        times: Int? = nil
    ) where E.API == API {
        precondition(times ?? 1 > 0, "A refusal happens at least once.")
        let problem = Problem(status, message, headers: headers)
        server.state.use { $0.refusals[E.signature] = .init(problem: problem, times: times) }
    }

    /// An operation answers its example again, without a delay of its own.
    public func reset<E: Endpoint>(_ operation: E.Type) where E.API == API {
        server.state.use { state in
            state.handlers[E.signature] = nil
            state.refusals[E.signature] = nil
            state.delays[E.signature] = nil
        }
    }

    // MARK: The network

    /// How long every answer takes: none by default.
    public var delay: Duration {
        get { server.state.use { $0.delay } }
        nonmutating set { server.state.use { $0.delay = newValue } }
    }

    /// How long an operation's answer takes, whatever ``delay`` is.
    public func delay<E: Endpoint>(_ operation: E.Type, by delay: Duration) where E.API == API {
        server.state.use { $0.delays[E.signature] = delay }
    }

    /// Takes the network away: requests and sockets fail with `URLError(.notConnectedToInternet)`, open sockets break.
    public func offline() {
        server.state.use { $0.isOffline = true }
        dropSockets()
    }

    /// Gives the network back.
    public func online() { server.state.use { $0.isOffline = false } }

    /// Breaks every open socket, as a network does: without a close frame (1006).
    public func dropSockets() { server.dropSockets() }

    // MARK: What was sent

    /// Every request that came, in order, refused ones too: cast them, or ask for one operation's.
    public var requests: [any Endpoint] { server.state.use { $0.requests } }

    /// An operation's requests, in order.
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
