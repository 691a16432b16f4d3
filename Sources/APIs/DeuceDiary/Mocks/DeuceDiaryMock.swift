import Contract
import ContractClient
import ContractMocks
import DeuceDiaryAPI
import DeuceDiaryClient
import Foundation

/// Deuce Diary without a server, for previews and tests. Every operation answers the contract's example:
///
/// ```swift
/// let mock = DeuceDiaryMock()
/// mock.fail(DeuceDiary.LogDeuce.self, with: .forbidden, "Not authorized for group …")
/// let diary = mock.client()
/// ```
///
/// It is the world of those examples: John (`user_abc123`), who is signed in, Jane, and their group "Throne Room" with
/// an entry of John's. Other ids are refused as the contract says. What is logged is in the group from then on and comes
/// over the live sockets, and what is deleted of it is gone; nothing else is remembered.
public struct DeuceDiaryMock: APIMock {
    public let server: MockServer<DeuceDiary>
    let memory: Guarded<DeuceDiaryMemory>

    /// - Parameter sleep: Waits out the delays. A test's does not.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Guarded(DeuceDiaryMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://deuce-diary.example")!, sleep: sleep,
            authorize: { token in
                guard let token else { throw Problem(.unauthorized, "Unauthorized") }
                try memory.use { memory in
                    if memory.refused.contains(token) { throw Problem(.unauthorized, "Invalid token") }
                }
            },
            accept: { connection in
                guard connection.url.path == "/ws" else { throw SocketRefused(status: 404, body: []) }
                memory.use { $0.sockets.append(.init(connection: connection)) }
                // Weak: the memory holds the connections.
                return { [weak memory] connection, text in memory?.use { $0.receive(text, on: connection) } }
            })
        users()
        groups()
        members()
        invites()
        entries()
        reactions()
        locations()
        analytics()
    }

    /// An SDK on top of the mock.
    ///
    /// - Parameters:
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    ///   - token: By default one that is good.
    public func client(
        retry: Retry = .never, token: @escaping @Sendable () async throws -> String = { "mock" }
    ) -> DeuceDiaryClient {
        DeuceDiaryClient(baseURL: baseURL, transport: self, sockets: self, retry: retry, token: token)
    }

    /// Refuses a token with 401 from now on, as after its time.
    public func refuse(token: String) { memory.use { _ = $0.refused.insert(token) } }

    // MARK: Live

    /// Somebody logs in "Throne Room": the entry is in the group, and comes over the live sockets.
    ///
    /// - Parameters:
    ///   - thoughts: Any text.
    ///   - location: Any place.
    ///   - author: Jane unless told otherwise.
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

    /// Sends a frame to every socket: one that the app does not know.
    public func broadcast(_ frame: DeuceDiary.ServerFrame) {
        memory.use { memory in for socket in memory.sockets { socket.push(frame) } }
    }
}

/// What the mock remembers.
struct DeuceDiaryMemory: Sendable {
    var refused: Set<String> = []
    /// Of "Throne Room", the newest first.
    var entries = [DeuceDiary.FeedEntry.example]
    /// How many were made, those that are deleted too.
    var count = 0
    var sockets: [MockLiveSocket] = []
}

extension DeuceDiaryClient {
    /// An SDK for previews, signed in as John, in which every operation answers the contract's example. See
    /// ``DeuceDiaryMock`` for answers of your own.
    public static func mock() -> DeuceDiaryClient { DeuceDiaryMock().client() }
}
