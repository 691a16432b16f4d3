import ContractClient
import Foundation
import MessengerAPI

/// The events of chats as they happen, for as long as the sequence is iterated.
///
/// ```swift
/// let live = messenger.live()
/// await live.subscribe(to: chat, since: newest)
/// for try await event in live {
///     if case .message(let message) = event { show(message) }
/// }
/// ```
///
/// The connection signs in, renews its token before it expires, pings, notices a lost peer, and reconnects after 1, 2,
/// 4 … 60 seconds. After each reconnect it reads what was missed with ``Messenger/ListMessages``, so each message of
/// a subscribed chat comes exactly once and in the order of ids, from any server of this contract.
///
/// One task iterates. The connection begins with the iteration and ends when the iterating task is cancelled, with
/// ``close()``, or when nothing refers to this value any more. The sequence throws ``SignedOut`` when the session has
/// ended, here or on the server; no other error ends it.
public final class MessengerLive: AsyncSequence, Sendable {
    /// An event that an app may want to handle.
    public enum Event: Sendable {
        /// The connection is signed in; missed messages follow.
        case connected
        /// The connection was lost or could not be opened. The next attempt is in `retry`.
        case disconnected(reason: any Error, retry: Duration)
        /// The chat's messages will come from now on, after those since the requested id.
        case subscribed(Messenger.Chat.ID)
        /// No more messages will come: the chat does not exist, or the caller is not, or no longer, a member.
        case unsubscribed(Messenger.Chat.ID)
        /// A message. Each comes once, and in the order of ids in each chat.
        case message(Messenger.Message)
        /// Another event of a chat, such as a ``Messenger/MessageEdit``, after the messages that came before it. Events
        /// during a disconnection are not repeated: reload what is displayed after ``connected`` and after a
        /// ``Messenger/Resync``.
        ///
        /// An app casts it to the struct that it handles: `case .update(let edit as Messenger.MessageEdit)`.
        case update(any Messenger.ChatFrame)
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

    /// Subscribes to a chat, through every reconnect. It may be called at any time, also before the iteration.
    ///
    /// - Parameters:
    ///   - chat: The chat. A chat that is already subscribed stays as it is.
    ///   - since: The newest message that the app has; later ones are delivered first. Without it messages come from
    ///     ``Event/subscribed(_:)`` on. 0 delivers the whole chat.
    public func subscribe(to chat: Messenger.Chat.ID, since: Messenger.Message.ID? = nil) async {
        await feed.subscribe(to: chat, since: since)
    }

    /// Ends the subscription of a chat. Messages that were received before may still come.
    public func unsubscribe(from chat: Messenger.Chat.ID) async { await feed.unsubscribe(from: chat) }

    /// Ends the connection and the sequence. A second call does nothing.
    public func close() { feed.events.finish() }

    public func makeAsyncIterator() -> Iterator {
        feed.start()
        return Iterator(live: self)
    }

    /// Hands out the events to one task.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the connection alive.
        let live: MessengerLive

        public func next() async throws -> Event? { try await live.feed.events.next() }
    }
}

extension MessengerClient {
    /// Returns a connection that delivers the events of chats. It begins when it is iterated.
    ///
    /// - Parameters:
    ///   - transport: The WebSocket client; by default this client's own.
    ///   - pacing: The times of pings and reconnects.
    public func live(
        over transport: (any SocketTransport)? = nil, pacing: LiveConnection.Pacing = .standard
    ) -> MessengerLive {
        MessengerLive(client: self, transport: transport ?? sockets, pacing: pacing)
    }
}
