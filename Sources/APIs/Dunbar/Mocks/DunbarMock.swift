import Contract
import ContractClient
import ContractMocks
import DunbarAPI
import DunbarClient
import DunbarExamples
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
/// The mock holds the examples' data: John (1), who is signed in, Sarah (2), who asks to follow him (request 1), and
/// Alex (3), whom he asks. John's post (1) has Sarah's comment. Other ids are refused as the contract says. Any name
/// and password signs in as John. Posts and comments are stored; nothing else is.
public struct DunbarMock: APIMock {
    /// The server that reads the requests. An app's tests need only the members of ``APIMock``.
    public let server: MockServer<Dunbar>
    let memory: Locked<DunbarMemory>

    /// Creates a mock.
    ///
    /// - Parameter sleep: Waits for the mock's delays. A test replaces it.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Locked(DunbarMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://dunbar.example/api")!, examples: DunbarExamples.all, sleep: sleep,
            token: { $0[.cookie] },
            authorize: { cookie in
                let isGood = memory.use { memory in cookie.map(memory.sessions.contains) ?? false }
                guard isGood else { throw Problem(.unauthorized, "Unauthorized") }
            })
        authentication()
        accounts()
        sessions()
        users()
        posts()
        reports()
        comments()
        follows()
        blocks()
    }

    /// Returns an SDK on top of the mock. Its session lives as long as it does.
    ///
    /// - Parameters:
    ///   - signedIn: Whether John is already signed in.
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

/// The mock's data.
struct DunbarMemory: Sendable {
    static let cookie = Dunbar.sessionCookie

    /// The values of the session cookies.
    var sessions: Set<String> = []
    private var serial = 0
    /// John's sessions as he is shown them.
    var listed = [Dunbar.Session.example, .otherExample]
    /// John's posts, newest first.
    var posts = [Dunbar.Post.example]
    /// The comments on the first post, oldest first.
    var comments = [Dunbar.Comment.example]

    /// Begins a session and returns the value of its cookie.
    mutating func begin() -> String {
        serial += 1
        sessions.insert("\(Self.cookie)=mock\(serial)")
        return "mock\(serial)"
    }
}

extension DunbarClient {
    /// An SDK for previews, signed in as John, in which every operation answers the contract's example. See
    /// ``DunbarMock`` for other answers.
    public static func mock() -> DunbarClient { DunbarMock().client() }
}
