import ContractClient
import ContractMocks
import Foundation
import MessengerAPI
import MessengerClient
import MessengerExamples

/// Messenger without a server, for previews and tests. Every operation answers the contract's example:
///
/// ```swift
/// let mock = MessengerMock()
/// mock.fail(Messenger.SendMessage.self, with: .forbidden, "Not a member of this chat")
/// let messenger = mock.client()
/// ```
///
/// The mock holds the examples' data: Alice (1), who is signed in, and Bob (2), their chat 5 with message 99, and file
/// 42. Other ids are refused as the contract says. Any name and password signs in as Alice. A message sent to the chat
/// gets the next id, appears in the history and comes over the live sockets. It can be edited, deleted and marked as
/// read. The mock also stores Alice's profile, whether she has muted the chat, the users she has blocked and the devices she has
/// registered, of which 7 is there from the beginning. Deleting her account ends her sessions; it stores nothing else.
public struct MessengerMock: APIMock {
    /// The server that reads the requests. An app's tests need only the members of ``APIMock``.
    public let server: MockServer<Messenger>
    let memory: Locked<MessengerMemory>

    /// Creates a mock.
    ///
    /// - Parameter sleep: Waits for the mock's delays. A test replaces it.
    public init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        let memory = Locked(MessengerMemory())
        self.memory = memory
        server = MockServer(
            baseURL: URL(string: "https://messenger.example")!, examples: MessengerExamples.all, sleep: sleep,
            authorize: { token in try memory.use { try $0.authorize(token) } },
            accept: { connection in
                guard connection.url.path == "/ws" else { throw SocketRefused(status: 404, body: []) }
                // The reference is weak because the memory holds the connections.
                return { [weak memory] connection, text in memory?.use { $0.receive(text, on: connection) } }
            })
        auth()
        account()
        sessions()
        recovery()
        users()
        blocks()
        chats()
        members()
        messages()
        messageChanges()
        receipts()
        files()
        devices()
        muting()
        reports()
    }

    /// Returns an SDK on top of the mock. Its session lives as long as it does.
    ///
    /// - Parameters:
    ///   - signedIn: Whether Alice is already signed in.
    ///   - retry: By default nothing is sent twice, so that an app sees every failure at once.
    public func client(signedIn: Bool = true, retry: Retry = .never) -> MessengerClient {
        var stored: StoredTokens?
        if signedIn {
            let tokens = memory.use { $0.signIn() }
            stored = StoredTokens(
                accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                expiresAt: Date().addingTimeInterval(TimeInterval(tokens.expiresIn)), user: tokens.user.description)
        }
        return MessengerClient(
            baseURL: baseURL, store: MemoryTokenStore(stored), transport: self, sockets: self, retry: retry)
    }

    // MARK: Sessions

    /// Expires every current access token, as after an hour: it is refused with 401. The SDK renews it by itself.
    public func expireAccessTokens() { memory.use { $0.sessions.expire() } }

    /// Ends every session, as from another device: requests throw ``MessengerClient/SignedOut``, live sockets close
    /// with 4001.
    public func endSessions() { memory.use { $0.endSessions() } }

    // MARK: Live

    /// Sends a message to chat 5 as another member: it gets the next id, appears in the history, and comes over the
    /// live sockets.
    ///
    /// - Parameters:
    ///   - content: The text.
    ///   - sender: The sender; Bob by default.
    @discardableResult
    public func push(_ content: String, from sender: Messenger.User.ID = Messenger.User.example.id) -> Messenger.Message
    {
        memory.use { memory in
            let message = memory.next(content, from: sender)
            memory.add(message)
            return message
        }
    }

    /// Sends a message of your own over the live sockets, and adds it to the history, replacing one with its id.
    public func push(_ message: Messenger.Message) { memory.use { $0.add(message) } }

    /// Sends a frame to every signed-in socket: a `resync`, or one of a type that the app does not know.
    public func broadcast(_ frame: some Messenger.ServerFrame) { memory.use { $0.broadcast(frame) } }
}

/// The mock's data.
struct MessengerMemory: Sendable {
    var sessions = MockSessions()
    /// Alice's sessions as she is shown them.
    var listed = [Messenger.Session.example, .otherExample]
    /// Alice's account.
    var account = Messenger.Account.example
    /// The users whom Alice has blocked.
    var blocked: Set<Messenger.User.ID> = []
    /// The messages of chat 5, by id.
    var messages = [Messenger.Message.example]
    /// The edits and deletions since the beginning. Their indices are the chat's versions before them.
    var changes: [Messenger.MessageChange] = []
    /// The newest message that Alice has read.
    var lastRead = Messenger.Message.ID(0)
    /// Alice's muting of chat 5.
    var mute: Messenger.Mute?
    /// The devices that Alice has registered.
    var devices = [Messenger.Device.example]
    /// The id of the next device.
    var nextDevice = Messenger.Device.example.id.rawValue + 1
    var sockets: [MockLiveSocket] = []
}

extension MessengerClient {
    /// An SDK for previews, signed in as Alice, in which every operation answers the contract's example. See
    /// ``MessengerMock`` for other answers.
    public static func mock() -> MessengerClient { MessengerMock().client() }
}
