import Foundation
import NIOConcurrencyHelpers

/// What a database that several nodes share has to say.
public enum Announcement: Sendable, Hashable {
    /// Something was announced and committed: here or on another node, in the order of the commits.
    case payload(String)
    /// From here on announcements are heard; what came before, while there was no connection, is not told. Look again.
    case gap
}

/// A connection of its own that listens to one channel, on a thread of its own, for as long as it is kept.
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
                    // The first time too: something may have been announced before this node listened.
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
            // A peer that vanished says nothing, like one that has nothing to say: ask it.
            if silence % 10 == 9 { try connection.simple("SELECT 1") }
        }
    }
}
