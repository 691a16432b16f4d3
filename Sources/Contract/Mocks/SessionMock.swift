import Contract
import ContractClient
import ContractExamples
import Foundation
import HTTPTypes

extension MockServer where API: SessionAPI {
    /// Makes the mock of an API with sessions, in which every operation answers the contract's example. Any token is valid;
    /// an operation that needs a caller refuses a request without one.
    ///
    /// - Parameter unauthorized: The sentence of that refusal.
    public convenience init(baseURL: URL, examples: Examples, unauthorized: String) {
        self.init(
            baseURL: baseURL, examples: examples, sleep: { try await Task.sleep(for: $0) },
            authorize: { if $0 == nil { throw Problem(.unauthorized, unauthorized) } },
            accept: { connection in
                guard connection.headers.bearerToken != nil else { throw SocketRefused(status: 401, body: []) }
                return { _, _ in }
            })
    }
}

extension APIMock {
    /// Sends a frame to the app over every open socket.
    public func push(_ frame: some ServerFrame) throws {
        let text = String(decoding: try frame.json(), as: UTF8.self)
        for connection in server.state.use({ $0.connections }) { connection.push(text) }
    }
}

extension APIMock where API: SessionAPI {
    /// Returns an SDK on top of the mock.
    ///
    /// - Parameters:
    ///   - isSignedIn: Whether there is a session already.
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    public func client(signedIn isSignedIn: Bool = true, retry: Retry = .never) -> SessionClient<API> {
        let tokens = StoredTokens(accessToken: "access", refreshToken: "refresh", expiresAt: .distantFuture, user: "1")
        return SessionClient(
            baseURL: baseURL, store: MemoryTokenStore(isSignedIn ? tokens : nil), transport: self, sockets: self,
            retry: retry)
    }
}
