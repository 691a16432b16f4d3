import Database
import Foundation

/// Carries what a transaction has to tell to the sockets of every node: within the process where the database has one
/// node, else through the database. Either way in the order of the commits, and never before one.
public struct Announcer<News: Codable & Sendable>: Sendable {
    private let database: Database
    private let deliver: @Sendable (News) -> Void

    /// - Parameter deliver: Tells the sockets of this node. It must not block.
    public init(_ database: Database, deliver: @escaping @Sendable (News) -> Void) {
        self.database = database
        self.deliver = deliver
    }

    /// Tells every node once the transaction is durable; nobody when it fails.
    ///
    /// - Parameter short: Says the same in little, for news that is longer than a database carries
    ///   (`Database.maximumAnnouncement`): each node then reads the rest.
    public func announce(_ news: News, inShort short: @autoclosure () -> News, in db: Session) throws {
        guard database.isShared else { return db.afterCommit { deliver(news) } }
        var payload = try JSONEncoder().encode(news)
        if payload.count > Database.maximumAnnouncement { payload = try JSONEncoder().encode(short()) }
        try db.announce(String(decoding: payload, as: UTF8.self))
    }

    /// Hears what is announced, here and elsewhere, until the task is cancelled. One task for each node.
    ///
    /// - Parameters:
    ///   - complete: Reads what news in short leaves out; nil when that has gone since.
    ///   - gap: Called when something may have been missed, or could not be read: whoever listens looks for himself.
    public func listen(
        completing complete: @escaping @Sendable (News) async throws -> News?, gap: @escaping @Sendable () -> Void
    ) async {
        await database.listen { announcement in
            switch announcement {
            case .gap: gap()
            case .payload(let text):
                // What cannot be read was announced by a node of another version.
                guard let heard = try? JSONDecoder().decode(News.self, from: Data(text.utf8)) else { return gap() }
                do {
                    if let news = try await complete(heard) { deliver(news) }
                } catch {
                    gap()
                }
            }
        }
    }
}
