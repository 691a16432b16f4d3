import ContractClient
import DeuceDiaryAPI
import Foundation

/// The entries that others log in a group, as they happen, for as long as the sequence is iterated.
///
/// ```swift
/// let live = diary.live(group: group.id, since: feed.first)
/// for try await event in live {
///     if case .logged(let notice) = event { show(notice) }
/// }
/// ```
///
/// The connection reconnects after 1, 2, 4 … 60 seconds. After each reconnect it reads what was missed with
/// ``DeuceDiary/GetGroup``, so each entry comes exactly once and in order, from any server of this contract. The user's
/// own entries are left out: the app has them from the answer.
///
/// The socket is opened with the user's token in a header, and a newer token is sent over it before that one expires.
/// Concord's server then sends only what a member may see, and nothing after the membership has ended; other servers
/// ignore both.
///
/// The connection begins with the first iteration, of this value by one task or of ``events`` by any number of them. It ends
/// when the last iterating task is cancelled, with ``close()``, or when nothing refers to this value any more. The sequences
/// throw ``SignedOut`` when the token provider does; no other error ends them. An iteration that takes no events holds the
/// others up after a thousand.
public final class DeuceDiaryLive: AsyncSequence, Sendable {
    /// An event that an app may want to handle.
    public enum Event: Sendable {
        /// The connection receives the group's entries; missed ones follow.
        case connected(DeuceDiary.Group.ID)
        /// The connection was lost or could not be opened. The next attempt is in `retry`.
        case disconnected(reason: any Error, retry: Duration)
        /// Another user has logged: once for each entry, oldest first.
        case logged(DeuceDiary.Notice)
        /// The group does not exist, or the caller is not, or no longer, a member: nothing more comes until another
        /// group is chosen.
        case refused(DeuceDiary.Group.ID)
    }

    public typealias Element = Event

    private let feed: LiveFeed
    /// The consumer of the iterations of this value, from the first one on.
    private let consumer = Locked<EventConsumer<Event>?>(nil)

    init(
        client: DeuceDiaryClient, group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry?,
        transport: any SocketTransport, pacing: LiveConnection.Pacing
    ) {
        feed = LiveFeed(client: client, group: group, since: since, transport: transport, pacing: pacing)
    }

    deinit { close() }

    /// Switches to another group.
    ///
    /// - Parameters:
    ///   - group: The other group.
    ///   - since: The newest entry of it that the app has. Without one, entries come from now on.
    public func change(to group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry? = nil) async {
        await feed.change(to: group, since: since)
    }

    /// Tries to connect at once, or checks at once that the open connection is alive. On Apple platforms this happens by
    /// itself when the network comes back and when the app comes to the front.
    public func wake() { feed.connection.wake() }

    /// Ends the connection and the sequences. A second call does nothing.
    public func close() { feed.events.finish() }

    public func makeAsyncIterator() -> Iterator {
        let consumer = consumer.use { consumer in
            let present = consumer ?? feed.events.consumer()
            consumer = present
            return present
        }
        return Iterator(live: self, consumer: consumer)
    }

    /// The same events for another task: each sequence of it has every event from its first iteration on.
    public var events: Events { Events(live: self) }

    /// The events of a connection, for one of the tasks that share it.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = Event

        let live: DeuceDiaryLive

        public func makeAsyncIterator() -> Iterator { Iterator(live: live, consumer: live.feed.events.consumer()) }
    }

    /// Hands out the events to one task.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the connection alive.
        let live: DeuceDiaryLive
        let consumer: EventConsumer<Event>

        public func next() async throws -> Event? { try await consumer.next() }
    }
}

extension DeuceDiaryClient {
    /// Returns a connection that delivers the entries that others log in a group. It begins when it is iterated.
    ///
    /// - Parameters:
    ///   - group: The group. ``DeuceDiaryLive/change(to:since:)`` switches to another.
    ///   - since: The newest entry that the app has; later ones are delivered first. Without one, entries come from
    ///     ``DeuceDiaryLive/Event/connected(_:)`` on.
    ///   - transport: The WebSocket client; by default this client's own.
    ///   - pacing: The times of pings and reconnects.
    public func live(
        group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry? = nil,
        over transport: (any SocketTransport)? = nil, pacing: LiveConnection.Pacing = .standard
    ) -> DeuceDiaryLive {
        DeuceDiaryLive(
            client: self, group: group, since: since, transport: transport ?? sockets, pacing: pacing)
    }
}
