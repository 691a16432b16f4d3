import Database
import Foundation

/// The number of an event among those of its topic: one more than that of the event before it.
///
/// A transaction takes it under a lock of the topic's row that it holds until its end, so that the numbers have no holes and
/// grow in the order of the commits.
public struct EventNumber<Topic: Hashable & Codable & Sendable>: Hashable, Codable, Sendable {
    public let topic: Topic
    public let number: Int64

    public init(_ number: Int64, of topic: Topic) {
        self.topic = topic
        self.number = number
    }
}

/// Publishes the events of transactions to the sockets of every node: within the process where the database has one
/// node, else through the database as well. The events of a topic arrive in the order of their numbers, and never before
/// the commit.
///
/// On a database with several nodes an event is announced after the commit. An announcement may be lost, with its node or on
/// its way. That is noticed by the hole in the numbers of its topic, or because its node is gone, and then the sockets
/// read.
public struct EventPublisher<Topic: Hashable & Codable & Sendable, Event: Codable & Sendable>: Sendable {
    private let database: Database
    private let deliver: @Sendable (Event) -> Void
    private let order: TopicOrder<Topic, Event>
    private let announcer = Database.Announcer()

    /// The form in which nodes exchange an event.
    private struct Note: Codable {
        var number: EventNumber<Topic>?
        /// The event; nil for one that is too long.
        var event: Event?
    }

    /// Creates a publisher, of which a service has one.
    ///
    /// - Parameters:
    ///   - subscribersRead: Whether the subscribers of a topic read what they may have missed when `gap` is called, and say
    ///     so (``begin(_:at:)``). Otherwise they begin anew.
    ///   - deliver: Passes an event to the sockets of this node. It must not block.
    ///   - gap: Called when events of a topic may have been missed, before a later one is delivered. It must not block.
    public init(
        _ database: Database, subscribersRead: Bool, deliver: @escaping @Sendable (Event) -> Void,
        gap: @escaping @Sendable (Topic) -> Void
    ) {
        self.database = database
        self.deliver = deliver
        order = TopicOrder(subscribersRead ? .read : .deliver, deliver: deliver, gap: gap)
    }

    /// Publishes an event to every node once the transaction is durable, and never when the transaction fails.
    ///
    /// - Parameters:
    ///   - short: The same event without its content, for an event that is longer than a database carries
    ///     (`Database.maximumAnnouncement`). Each node then reads the content itself; without it, its sockets read.
    ///   - number: The number of the event; nil for one that needs no order.
    public func publish(_ event: Event, short: Event?, as number: EventNumber<Topic>?, in db: Session) {
        if database.isShared, let number { order.expect(number.number, of: number.topic) }
        db.afterCommit { publish(event, short: short, as: number) }
    }

    /// Publishes an event that is durable, or that needs not be.
    public func publish(_ event: Event, short: Event?, as number: EventNumber<Topic>?) {
        // One node publishes in the order of its commits.
        guard database.isShared else { return deliver(event) }
        pass(event, number)
        database.announce(from: announcer) {
            Self.text(Note(number: number, event: event)) ?? Self.text(Note(number: number, event: short))
        }
    }

    /// Returns nil for what is too long.
    private static func text(_ note: Note) -> String? {
        guard let text = try? JSONEncoder().encode(note), text.count <= Database.maximumAnnouncement else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private func pass(_ event: Event?, _ number: EventNumber<Topic>?) {
        if let number { return order.take(event, number.number, of: number.topic) }
        if let event { deliver(event) }
    }

    /// Notes that a subscriber of a topic has read what its events up to a number say, and that it has been subscribed
    /// since before.
    ///
    /// - Returns: Whether that is enough: all later events have been delivered to it or will be. Otherwise it must read
    ///   again.
    public func begin(_ topic: Topic, at number: Int64) -> Bool {
        !database.isShared || order.begin(topic, at: number)
    }

    /// Delivers the events of other nodes until the task is cancelled. Each node runs it in one task.
    ///
    /// - Parameters:
    ///   - complete: Reads the content that a short event leaves out; nil when it has been deleted since.
    ///   - gap: Called when an event may have been missed or could not be read. The sockets then read again what they
    ///     show.
    public func listen(
        completing complete: @escaping @Sendable (Event) async throws -> Event?, gap: @escaping @Sendable () -> Void
    ) async {
        let beginAnew = { @Sendable in order.beginAnew(gap) }
        await database.listen(as: announcer) { announcement in
            switch announcement {
            case .gap: beginAnew()
            case .round: order.completeRound()
            case .payload(let text):
                // What cannot be decoded comes from a node of another version.
                guard let note = try? JSONDecoder().decode(Note.self, from: Data(text.utf8)), let event = note.event
                else { return beginAnew() }
                do { pass(try await complete(event), note.number) } catch { beginAnew() }
            }
        }
    }
}
