import ContractClient
import DeuceDiaryAPI
import Foundation

/// What others log in a group, as it happens, for as long as it is iterated over.
///
/// ```swift
/// let live = diary.live(group: group, since: feed.first)
/// for try await event in live {
///     if case .logged(let notice) = event { show(notice) }
/// }
/// ```
///
/// The connection comes back by itself after 1, 2, 4 … 60 seconds. After each reconnect it reads what was missed with
/// ``DeuceDiary/GetGroup``, so each entry comes exactly once and in order, against any server of this
/// contract. One's own entries are left out: their author has them from the answer.
///
/// The socket is opened with the user's token, in a header, and a newer one is sent over it before that expires. A server of
/// Concord's then sends what a member may hear, and nothing after the membership has ended; others ignore both.
///
/// One task iterates. The connection begins with the iteration and ends when the iterating task is cancelled, with
/// ``close()``, or when nothing refers to this value any more. The sequence throws ``SignedOut`` when the
/// token provider does; nothing else ends it.
public final class DeuceDiaryLive: AsyncSequence, Sendable {
    /// What an app may want to know.
    public enum Event: Sendable {
        /// Listening to the group; what was missed meanwhile follows.
        case connected(DeuceDiary.Group.ID)
        /// The connection was lost, or did not come about. The next try is in `retry`.
        case disconnected(reason: any Error, retry: Duration)
        /// Somebody else has logged: once for each entry, oldest first.
        case logged(DeuceDiary.Notice)
        /// The group is closed to the caller (any more), or gone: nothing more will come until another is chosen.
        case refused(DeuceDiary.Group.ID)
    }

    public typealias Element = Event

    private let feed: LiveFeed

    init(
        client: DeuceDiaryClient, group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry?,
        transport: any SocketTransport, pacing: LiveConnection.Pacing
    ) {
        feed = LiveFeed(client: client, group: group, since: since, transport: transport, pacing: pacing)
    }

    deinit { close() }

    /// Listens to another group from now on, in place of the one before.
    ///
    /// - Parameters:
    ///   - group: The other.
    ///   - since: The newest entry that the app has of it. Without one, entries come from now on.
    public func change(to group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry? = nil) async {
        await feed.change(to: group, since: since)
    }

    /// Ends the connection and the sequence. Idempotent.
    public func close() { feed.events.finish() }

    public func makeAsyncIterator() -> Iterator {
        feed.start()
        return Iterator(live: self)
    }

    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the connection.
        let live: DeuceDiaryLive

        public func next() async throws -> Event? { try await live.feed.events.next() }
    }
}

extension DeuceDiaryClient {
    /// A connection that brings what others log in a group. It begins when it is iterated over.
    ///
    /// - Parameters:
    ///   - group: Whose entries come; another with ``DeuceDiaryLive/change(to:since:)``.
    ///   - since: The newest entry that the app has; what came after it is delivered first. Without one, entries come
    ///     from ``DeuceDiaryLive/Event/connected(_:)`` on.
    ///   - transport: By default the client's own.
    ///   - pacing: When it pings, gives up and comes back.
    public func live(
        group: DeuceDiary.Group.ID, since: DeuceDiary.FeedEntry? = nil,
        over transport: (any SocketTransport)? = nil, pacing: LiveConnection.Pacing = .standard
    ) -> DeuceDiaryLive {
        DeuceDiaryLive(
            client: self, group: group, since: since, transport: transport ?? sockets, pacing: pacing)
    }
}
