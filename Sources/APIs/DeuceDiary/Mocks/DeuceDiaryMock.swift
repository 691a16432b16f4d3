import Contract
import ContractClient
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryClient
import DeuceDiaryExamples
import Foundation

/// Deuce Diary without a server, for previews and tests. Every operation answers the contract's example:
///
/// ```swift
/// let mock = DeuceDiaryMock()
/// mock.fail(DeuceDiary.LogDeuce.self, with: .forbidden, "Not authorized for group …")
/// let diary = mock.client()
/// ```
///
/// The mock holds the examples' data: John (`user_abc123`), who is signed in, Jane, and their group "Throne Room" with
/// an entry by John. Other ids are refused as the contract says. A new entry appears in the group and comes over the
/// live sockets, and a deleted one disappears; the mock stores nothing else.
public struct DeuceDiaryMock: APIMock {
    /// The server that reads the requests. An app's tests need only the members of ``APIMock``.
    public let server: MockServer<DeuceDiary>
    let memory: Locked<DeuceDiaryMemory>

    /// Creates a mock.
    ///
    /// - Parameter sleep: Waits for the mock's delays. A test replaces it.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Locked(DeuceDiaryMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://deuce-diary.example")!, examples: DeuceDiaryExamples.all, sleep: sleep,
            authorize: { token in
                guard let token else { throw Problem(.unauthorized, "Unauthorized") }
                try memory.use { memory in
                    if memory.refused.contains(token) { throw Problem(.unauthorized, "Invalid token") }
                }
            },
            accept: { connection in
                guard connection.url.path == "/ws" else { throw SocketRefused(status: 404, body: []) }
                memory.use { $0.sockets.append(.init(connection: connection)) }
                // The reference is weak because the memory holds the connections.
                return { [weak memory] connection, text in memory?.use { $0.receive(text, on: connection) } }
            })
        users()
        groups()
        members()
        invites()
        entries()
        reactions()
        locations()
        reports()
        blocks()
    }

    /// Returns an SDK on top of the mock.
    ///
    /// - Parameters:
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    ///   - token: Returns the token; by default one that the mock accepts.
    public func client(
        retry: Retry = .never, token: @escaping @Sendable () async throws -> String = { "mock" }
    ) -> DeuceDiaryClient {
        DeuceDiaryClient(baseURL: baseURL, transport: self, sockets: self, retry: retry, token: token)
    }

    /// Refuses a token with 401 from now on, as after its expiry.
    public func refuse(token: String) { memory.use { _ = $0.refused.insert(token) } }

    // MARK: Live

    /// Logs an entry in "Throne Room" as another member: it appears in the group, and comes over the live sockets.
    ///
    /// - Parameters:
    ///   - thoughts: The text.
    ///   - location: The location.
    ///   - author: The author; Jane by default.
    @discardableResult
    public func push(
        _ thoughts: String, at location: String = "Home", from author: DeuceDiary.User = .otherExample
    ) -> DeuceDiary.FeedEntry {
        memory.use { memory in
            let entry = memory.next(thoughts, at: location, from: author)
            memory.add(entry)
            return entry
        }
    }

    /// Sends a frame to every socket, such as one of a type that the app does not know.
    public func broadcast(_ frame: some DeuceDiary.ServerFrame) {
        memory.use { memory in for socket in memory.sockets { socket.push(frame) } }
    }
}

/// The mock's data.
struct DeuceDiaryMemory: Sendable {
    var refused: Set<String> = []
    /// The entries of "Throne Room", newest first.
    var entries = [DeuceDiary.FeedEntry.example]
    /// The number of entries that were ever created, including deleted ones.
    var count = 0
    var sockets: [MockLiveSocket] = []
    var isJaneBlocked = false
}

extension DeuceDiaryClient {
    /// An SDK for previews, signed in as John, in which every operation answers the contract's example. See
    /// ``DeuceDiaryMock`` for other answers.
    public static func mock() -> DeuceDiaryClient { DeuceDiaryMock().client() }
}
