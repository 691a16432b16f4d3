import ContractClient
import Foundation
import MessengerAPI

/// What happens in chats, as it happens, for as long as it is iterated over.
///
/// ```swift
/// let live = messenger.live()
/// await live.subscribe(to: chat, since: newest)
/// for try await event in live {
///     if case .message(let message) = event { show(message) }
/// }
/// ```
///
/// The connection signs in, renews its token before it expires, pings, notices a peer that is gone, and comes back by
/// itself after 1, 2, 4 … 60 seconds. After each reconnect it reads what was missed with
/// ``Messenger/ListMessages``, so each message of a subscribed chat comes exactly once and in the order of
/// ids, against any server of this contract.
///
/// One task iterates. The connection begins with the iteration and ends when the iterating task is cancelled, with
/// ``close()``, or when nothing refers to this value any more. The sequence throws ``SignedOut`` when the
/// session has ended, here or on the server; nothing else ends it.
public final class MessengerLive: AsyncSequence, Sendable {
    /// What an app may want to know.
    public enum Event: Sendable {
        /// Signed in; what was missed meanwhile follows.
        case connected
        /// The connection was lost, or did not come about. The next try is in `retry`.
        case disconnected(reason: any Error, retry: Duration)
        /// Messages from now on will come, after those since the id that was asked for.
        case subscribed(Messenger.Chat.ID)
        /// No more messages will come: the chat does not exist, or the caller is no member (any more).
        case unsubscribed(Messenger.Chat.ID)
        /// Once each, in the order of ids in each chat.
        case message(Messenger.Message)
        /// Something else about a chat, such as ``Messenger/ServerFrame/messageEdited(_:)``, after the messages
        /// that came before it. What happened while disconnected is not repeated: look again at what is shown after
        /// ``connected``, and after ``Messenger/ServerFrame/resync(_:)``.
        case update(Messenger.ServerFrame)
    }

    public typealias Element = Event

    private let feed: LiveFeed

    init(client: MessengerClient, transport: any SocketTransport, pacing: LiveConnection.Pacing) {
        feed = LiveFeed(
            client: client,
            connection: LiveConnection(
                url: client.baseURL.appendingPathComponent("ws"), transport: transport,
                maximumMessageSize: MessengerClient.maximumFrame, pacing: pacing))
    }

    deinit { close() }

    /// Listens to a chat from now on, through every reconnect. Callable at any time, before the iteration too.
    ///
    /// - Parameters:
    ///   - chat: One that is subscribed already stays as it is.
    ///   - since: The newest message that the app has; what came after it is delivered first. Without it messages come
    ///     from ``Event/subscribed(_:)`` on. 0 delivers the whole chat.
    public func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID? = nil) async {
        await feed.subscribe(to: chat, since: since)
    }

    /// No longer listens to a chat. What was received before may still come.
    public func unsubscribe(from chat: Messenger.Chat.ID) async { await feed.unsubscribe(from: chat) }

    /// Ends the connection and the sequence. Idempotent.
    public func close() { feed.events.finish() }

    public func makeAsyncIterator() -> Iterator {
        feed.start()
        return Iterator(live: self)
    }

    /// Hands out the events to one task.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the connection.
        let live: MessengerLive

        public func next() async throws -> Event? { try await live.feed.events.next() }
    }
}

extension MessengerClient {
    /// A connection that brings what happens in chats. It begins when it is iterated over.
    ///
    /// - Parameters:
    ///   - transport: By default the client's own.
    ///   - pacing: When it pings, gives up and comes back.
    public func live(
        over transport: (any SocketTransport)? = nil, pacing: LiveConnection.Pacing = .standard
    ) -> MessengerLive {
        MessengerLive(client: self, transport: transport ?? sockets, pacing: pacing)
    }
}
