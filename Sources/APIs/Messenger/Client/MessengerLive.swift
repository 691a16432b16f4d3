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
/// The connection begins with the first iteration, of this value by one task or of ``events(in:since:)`` by any number of
/// them. It ends when the last iterating task is cancelled, with ``close()``, or when nothing refers to this value any
/// more. The sequences throw ``SignedOut`` when the session has ended, here or on the server; no other error ends them.
/// An iteration that takes no events holds the others up after a thousand.
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
        /// The server does not accept the subscription now, with its message, such as beyond 1,000 chats. It is asked
        /// again in `retry`. The other chats go on.
        case refused(Messenger.Chat.ID, reason: String, retry: Duration)
        /// A message. Each comes once, and in the order of ids in each chat.
        case message(Messenger.Message)
        /// Another event of a chat, such as a ``Messenger/MessageEdit``, after the messages that came before it. Events
        /// during a disconnection are not repeated: reload what is displayed after ``connected`` and after a
        /// ``Messenger/Resync``.
        ///
        /// An app casts it to the struct that it handles: `case .update(let edit as Messenger.MessageEdit)`.
        case update(any Messenger.ChatFrame)
        /// The user is in another chat from now on, which a member created or added the user to. It is not subscribed yet.
        /// What was added during a disconnection is in the list of chats after ``connected``.
        case chatAdded(Messenger.Chat.ID)
        /// The user is no longer in a chat, which may be one that is not subscribed.
        case chatRemoved(Messenger.Chat.ID)
        /// Chats may have been added or removed unnoticed: read the list again.
        case chatsChanged
    }

    public typealias Element = Event

    private let feed: LiveFeed
    /// The consumer of the iterations of this value, from the first one on.
    private let consumer = Locked<EventConsumer<Event>?>(nil)

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

    /// Tries to connect at once, or checks at once that the open connection is alive. On Apple platforms this happens by
    /// itself when the network comes back and when the app comes to the front.
    public func wake() { feed.connection.wake() }

    /// Tells the other members of a subscribed chat that the user is typing. Call it with each change of the text: it is
    /// sent once in 3 seconds, and only while there is a connection.
    public func startTyping(in chat: Messenger.Chat.ID) async { await feed.startTyping(in: chat) }

    /// Ends the connection and the sequences. A second call does nothing.
    public func close() { feed.events.finish() }

    public func makeAsyncIterator() -> Iterator {
        let consumer = consumer.use { consumer in
            let present = consumer ?? feed.events.consumer()
            consumer = present
            return present
        }
        return Iterator(live: self, consumer: consumer, lease: nil)
    }

    /// Returns the events of one chat, beside those of the connection: for a view that shows the chat.
    ///
    /// The chat is subscribed for as long as such a sequence is iterated, or for good with ``subscribe(to:since:)``.
    ///
    /// - Parameters:
    ///   - chat: The chat.
    ///   - since: The newest message that the app has; later ones are delivered first. A chat that is subscribed
    ///     already continues where it is.
    public func events(in chat: Messenger.Chat.ID, since: Messenger.Message.ID? = nil) -> ChatEvents {
        ChatEvents(live: self, chat: chat, since: since)
    }

    /// The events of one chat.
    public struct ChatEvents: AsyncSequence, Sendable {
        public typealias Element = Event

        let live: MessengerLive
        let chat: Messenger.Chat.ID
        let since: Messenger.Message.ID?

        public func makeAsyncIterator() -> Iterator {
            let consumer = live.feed.events.consumer { [chat] event in event.chat == nil || event.chat == chat }
            return Iterator(live: live, consumer: consumer, lease: Lease(on: chat, since: since, of: live.feed))
        }
    }

    /// Hands out the events to one task.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the connection alive.
        let live: MessengerLive
        let consumer: EventConsumer<Event>
        let lease: Lease?

        public func next() async throws -> Event? { try await consumer.next() }
    }

    /// Keeps a chat subscribed for as long as it exists.
    final class Lease: Sendable {
        private let feed: LiveFeed
        private let chat: Messenger.Chat.ID
        private let holding: Task<Void, Never>

        init(on chat: Messenger.Chat.ID, since: Messenger.Message.ID?, of feed: LiveFeed) {
            (self.feed, self.chat) = (feed, chat)
            holding = Task { await feed.hold(chat, since: since) }
        }

        deinit {
            Task { [feed, chat, holding] in
                await holding.value
                await feed.release(chat)
            }
        }
    }
}

extension MessengerLive.Event {
    /// The chat of the event; nil if it is about the connection.
    public var chat: Messenger.Chat.ID? {
        switch self {
        case .connected, .disconnected, .chatsChanged: nil
        case .subscribed(let chat), .unsubscribed(let chat), .refused(let chat, _, _): chat
        case .chatAdded(let chat), .chatRemoved(let chat): chat
        case .message(let message): message.chat
        case .update(let frame): frame.chat
        }
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
