import Contract
import ContractClient
import ContractMocks
import Foundation
import GTSDAPI
import GTSDClient
import GTSDExamples

/// GTSD without a server, for previews and tests. Every operation answers the contract's example:
///
/// ```swift
/// let mock = GTSDMock()
/// mock.fail(GTSD.SubmitEvidence.self, with: .notFound, "Task 123 not found or does not belong to user")
/// let gtsd = mock.client()
/// ```
///
/// The mock holds the examples' data: Anna (`1`), who is signed in, with task 123, photo 789 and a streak of 14 days.
/// Other ids are refused as the contract says. Any address and password signs in as Anna. A completed task stays
/// completed; the mock stores nothing else.
public struct GTSDMock: APIMock {
    /// The server that reads the requests. An app's tests need only the members of ``APIMock``.
    public let server: MockServer<GTSD>
    let memory: Locked<GTSDMemory>

    /// Creates a mock.
    ///
    /// - Parameter sleep: Waits for the mock's delays. A test replaces it.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Locked(GTSDMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://gtsd.example")!, examples: GTSDExamples.all, sleep: sleep,
            authorize: { token in
                guard let token else { throw Problem(.unauthorized, "Authentication required") }
                guard memory.use({ $0.sessions.isGood(token) }) else {
                    throw Problem(.unauthorized, "Invalid or expired token")
                }
            })
        auth()
        sessions()
        recovery()
        tasks()
        photos()
        plans()
    }

    /// Returns an SDK on top of the mock. Its session lives as long as it does.
    ///
    /// - Parameters:
    ///   - signedIn: Whether Anna is already signed in.
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    public func client(signedIn: Bool = true, retry: Retry = .never) -> GTSDClient {
        var stored: StoredTokens?
        if signedIn {
            let tokens = memory.use { $0.signIn() }
            stored = StoredTokens(
                accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                expiresAt: Date().addingTimeInterval(900), user: tokens.user.id.rawValue)
        }
        return GTSDClient(baseURL: baseURL, store: MemoryTokenStore(stored), transport: self, retry: retry)
    }

    /// Expires every current access token, as after 15 minutes: it is refused with 401. The SDK renews it by itself.
    public func expireAccessTokens() { memory.use { $0.sessions.expire() } }

    /// Ends every session, as from another device: requests throw `SignedOut`.
    public func endSessions() { memory.use { $0.sessions.endAll() } }
}

/// The mock's data.
struct GTSDMemory: Sendable {
    var sessions = MockSessions()
    /// Anna's sessions as she is shown them.
    var listed = [GTSD.Session.example, .otherExample]
    var task = GTSD.Task.example

    mutating func signIn() -> GTSD.SignedIn {
        var signedIn = GTSD.SignedIn.example
        (signedIn.accessToken, signedIn.refreshToken) = sessions.begin(signedIn.accessToken)
        return signedIn
    }

    mutating func renew(_ refreshToken: String) throws -> GTSD.RefreshedTokens {
        guard let token = sessions.renew(refreshToken, GTSD.SignedIn.example.accessToken) else {
            throw Problem(.unauthorized, "Invalid or expired refresh token")
        }
        return .init(accessToken: token, refreshToken: refreshToken)
    }
}

extension GTSDClient {
    /// An SDK for previews, signed in as Anna, in which every operation answers the contract's example. See
    /// ``GTSDMock`` for other answers.
    public static func mock() -> GTSDClient { GTSDMock().client() }
}
