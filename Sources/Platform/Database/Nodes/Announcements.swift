import Foundation

extension Database {
    /// The largest announcement in bytes: PostgreSQL carries less than 8,000.
    public static let maximumAnnouncement = 7900

    /// One that announces, and does not hear its own announcements.
    public struct Announcer: Hashable, Sendable {
        private let id = UUID()

        public init() {}
    }

    /// Announces a text to every node that listens (``listen(as:_:)``), soon, and to other listeners of this process. It
    /// never blocks, and belongs to no transaction: what a transaction announces, it announces when it is durable
    /// (``Session/afterCommit(_:)``).
    ///
    /// A node that dies may not have announced what it had committed last. Listeners then receive a gap.
    ///
    /// - Parameter text: Makes a text of at most ``maximumAnnouncement`` bytes without control characters, such as JSON,
    ///   possibly on another thread and more than once. For nil, or a longer text, listeners receive a gap.
    /// - Precondition: ``isShared``.
    public func announce(from announcer: Announcer, _ text: @escaping @Sendable () -> String?) {
        guard case .postgreSQL(let engine) = engine else { preconditionFailure("the database has one node") }
        engine.announce(from: announcer, text)
    }

    /// Returns the number of nodes that are connected to the database, this one among them.
    public func countNodes() async throws -> Int {
        guard case .postgreSQL(let engine) = engine else { return 1 }
        let prefix = engine.nodePrefix
        return try await read { db in
            try db.value(
                """
                SELECT COUNT(DISTINCT application_name) FROM pg_stat_activity
                WHERE datname = current_database() AND starts_with(application_name, \(prefix))
                """) ?? 1
        }
    }

    /// Calls the handler for each announcement of others, until the task is cancelled. Ends at once for a database with
    /// one node.
    public func listen(
        as announcer: Announcer, _ handler: @escaping @Sendable (Announcement) async -> Void
    ) async {
        guard case .postgreSQL(let engine) = engine else { return }
        let (announcements, continuation) = AsyncStream<Announcement>.makeStream()
        let stop = engine.listen(as: announcer) { continuation.yield($0) }
        for await announcement in announcements { await handler(announcement) }
        stop()
    }
}
