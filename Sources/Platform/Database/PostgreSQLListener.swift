import Foundation
import NIOConcurrencyHelpers

/// An event of a database that several nodes share.
public enum Announcement: Sendable, Hashable {
    /// An announcement was committed, on this node or another, in the order of the commits.
    case payload(String)
    /// Announcements may have been missed while there was no connection, and are received again from now on.
    /// Subscribers must read again.
    case gap
}

/// A connection that listens to one channel, on a thread of its own, for as long as the object lives.
final class PostgreSQLListener: Sendable {
    private let isStopped = NIOLockedValueBox(false)

    init(
        url: String, namespace: String, channel: String, _ handler: @escaping @Sendable (Announcement) -> Void
    ) {
        let thread = Thread { [isStopped] in
            var pause = 0.1
            while !isStopped.withLockedValue({ $0 }) {
                do {
                    let connection = try PostgreSQLConnection(url: url, namespace: namespace)
                    try connection.simple("LISTEN \"\(channel)\"")
                    pause = 0.1
                    // This also happens at the first connection, because there may have been announcements before this
                    // node listened.
                    handler(.gap)
                    try Self.listen(on: connection, until: isStopped, handler)
                } catch {
                    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
                    pause = min(1, pause * 2)
                }
            }
        }
        thread.name = "postgresql listener"
        thread.start()
    }

    deinit { stop() }

    func stop() { isStopped.withLockedValue { $0 = true } }

    private static func listen(
        on connection: PostgreSQLConnection, until isStopped: NIOLockedValueBox<Bool>,
        _ handler: (Announcement) -> Void
    ) throws {
        var silence = 0
        while !isStopped.withLockedValue({ $0 }) {
            let payloads = try connection.notifications(waitingMilliseconds: 500)
            for payload in payloads { handler(.payload(payload)) }
            silence = payloads.isEmpty ? silence + 1 : 0
            // A vanished peer is as silent as an idle one, so it is probed.
            if silence % 10 == 9 { try connection.simple("SELECT 1") }
        }
    }
}
