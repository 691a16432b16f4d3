import Contract
import ContractClient
import ContractMocks
import DunbarAPI
import DunbarClient
import Foundation
import HTTPTypes

/// Dunbar without a server, for previews and tests. Every operation answers the contract's example:
///
/// ```swift
/// let mock = DunbarMock()
/// mock.fail(Dunbar.Follow.self, with: .badRequest, "You have reached the maximum number of follows (150)")
/// let dunbar = mock.client()
/// ```
///
/// It is the world of those examples: John (1), who is signed in, Sarah (2), who asks to follow him (request 1), and Alex
/// (3), whom he asks. John's post (1) has Sarah's comment. Other ids are refused as the contract says. Any name and
/// password signs in as John. What is posted and commented is there from then on; nothing else is remembered.
public struct DunbarMock: APIMock {
    /// Reads the requests. An app's tests need what ``APIMock`` says.
    public let server: MockServer<Dunbar>
    let memory: Guarded<DunbarMemory>

    /// - Parameter sleep: Waits out the delays. A test's does not.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Guarded(DunbarMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://dunbar.example/api")!, sleep: sleep, token: { $0[.cookie] },
            authorize: { cookie in
                let isGood = memory.use { memory in cookie.map(memory.sessions.contains) ?? false }
                guard isGood else { throw Problem(.unauthorized, "Unauthorized") }
            })
        authentication()
        accounts()
        users()
        posts()
        reports()
        comments()
        follows()
        blocks()
        server.example(of: Dunbar.CheckHealth.self) { _ in .example }
    }

    /// An SDK on top of the mock. Its session lives as long as it does.
    ///
    /// - Parameters:
    ///   - signedIn: Whether John is signed in already.
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    public func client(signedIn: Bool = true, retry: Retry = .never) -> DunbarClient {
        var cookies: [StoredCookie] = []
        if signedIn {
            let value = memory.use { $0.begin() }
            cookies = [StoredCookie(name: DunbarMemory.cookie, value: value, expiresAt: nil, isSecure: false)]
        }
        return DunbarClient(
            baseURL: baseURL, store: MemoryCookieStore(cookies), transport: self, retry: retry, isConnected: { true })
    }

    /// Ends every session, as from another device: requests throw `APIError.unauthorized`.
    public func endSessions() { memory.use { $0.sessions = [] } }
}

/// What the mock remembers.
struct DunbarMemory: Sendable {
    static let cookie = "dunbar.session"

    /// As clients send them.
    var sessions: Set<String> = []
    private var serial = 0
    /// John's, the newest first.
    var posts = [Dunbar.Post.example]
    /// Of the first post, the oldest first.
    var comments = [Dunbar.Comment.example]

    /// The value of a new session's cookie.
    mutating func begin() -> String {
        serial += 1
        sessions.insert("\(Self.cookie)=mock\(serial)")
        return "mock\(serial)"
    }
}

extension DunbarClient {
    /// An SDK for previews, signed in as John, in which every operation answers the contract's example. See
    /// ``DunbarMock`` for answers of your own.
    public static func mock() -> DunbarClient { DunbarMock().client() }
}
