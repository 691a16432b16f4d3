import Foundation
import Logging
import NIOConcurrencyHelpers

/// Sees to it that a process that was told to stop does so within 30 seconds, whatever hangs: a database that accepts
/// connections and never answers, a disk, a thread that waits for either.
final class Ending: Sendable {
    /// So long requests in flight have to end by themselves.
    private static let grace: TimeInterval = 20
    /// So long they then have to be answered with what the database's refusal makes of them.
    private static let farewell: TimeInterval = 8

    private let hosted: [Hosted]
    private let logger: Logger
    private let isUnderWay = NIOLockedValueBox(false)

    init(hosted: [Hosted], logger: Logger) {
        self.hosted = hosted
        self.logger = logger
    }

    var hasBegun: Bool { isUnderWay.withLockedValue { $0 } }

    /// Starts to count, for which requests may still come first for a while. On a thread of its own: all the others may be what hangs.
    func begin(after delay: Duration) {
        let isFirst = isUnderWay.withLockedValue { isUnderWay in
            defer { isUnderWay = true }
            return !isUnderWay
        }
        guard isFirst else { return }
        let grace = Self.grace + delay / .seconds(1)
        inBackground { [hosted, logger] in
            Thread.sleep(forTimeInterval: grace)
            for api in hosted { api.abandon() }
            logger.warning("stopping: what still waited for a database was refused")
            Thread.sleep(forTimeInterval: Self.farewell)
            logger.warning("stopped, though not everything had ended")
            _exit(0)
        }
        // Whoever reads the log may hang, too.
        inBackground {
            Thread.sleep(forTimeInterval: grace + Self.farewell + 0.5)
            // Nothing else is waited for, not even what runs at a usual exit. What was acknowledged is on the disk.
            _exit(0)
        }
    }

    private func inBackground(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "ending"
        thread.start()
    }
}
