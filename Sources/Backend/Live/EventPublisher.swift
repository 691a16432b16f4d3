import Database
import Foundation

/// Publishes the events of transactions to the sockets of every node: within the process where the database has one
/// node, else through the database. In both cases events arrive in the order of the commits, and never before the
/// commit.
public struct EventPublisher<Event: Codable & Sendable>: Sendable {
    private let database: Database
    private let deliver: @Sendable (Event) -> Void

    /// - Parameter deliver: Passes an event to the sockets of this node. It must not block.
    public init(_ database: Database, deliver: @escaping @Sendable (Event) -> Void) {
        self.database = database
        self.deliver = deliver
    }

    /// Publishes an event to every node once the transaction is durable, and never when the transaction fails.
    ///
    /// - Parameter short: The same event without its content, for an event that is longer than a database carries
    ///   (`Database.maximumAnnouncement`). Each node then reads the content itself.
    public func publish(_ event: Event, short: @autoclosure () -> Event, in db: Session) throws {
        guard database.isShared else { return db.afterCommit { deliver(event) } }
        var payload = try JSONEncoder().encode(event)
        if payload.count > Database.maximumAnnouncement { payload = try JSONEncoder().encode(short()) }
        try db.announce(String(decoding: payload, as: UTF8.self))
    }

    /// Delivers the events of this node and of the others until the task is cancelled. Each node runs it in one task.
    ///
    /// - Parameters:
    ///   - complete: Reads the content that a short event leaves out; nil when it has been deleted since.
    ///   - gap: Called when an event may have been missed or could not be read. The sockets then read again what they
    ///     show.
    public func listen(
        completing complete: @escaping @Sendable (Event) async throws -> Event?, gap: @escaping @Sendable () -> Void
    ) async {
        await database.listen { announcement in
            switch announcement {
            case .gap: gap()
            case .payload(let text):
                // An event that cannot be decoded comes from a node of another version.
                guard let decoded = try? JSONDecoder().decode(Event.self, from: Data(text.utf8)) else { return gap() }
                do {
                    if let event = try await complete(decoded) { deliver(event) }
                } catch {
                    gap()
                }
            }
        }
    }
}
