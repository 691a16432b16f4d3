import Foundation
import Logging
import NIOConcurrencyHelpers

/// Ends a process that was told to stop within 30 seconds, even when something hangs: a database that accepts connections
/// and never answers, a disk, or a thread that waits for either.
final class ShutdownDeadline: Sendable {
    /// How long requests in flight have to end by themselves.
    private static let grace: TimeInterval = 20
    /// How long requests that wait for a database have to be answered once they are refused.
    private static let farewell: TimeInterval = 8

    private let apis: [RunningAPI]
    private let logger: Logger
    private let isUnderWay = NIOLockedValueBox(false)

    init(apis: [RunningAPI], logger: Logger) {
        self.apis = apis
        self.logger = logger
    }

    var hasBegun: Bool { isUnderWay.withLockedValue { $0 } }

    /// Starts the countdown, on a thread of its own: all the others may be what hangs.
    ///
    /// - Parameter delay: How long requests are still taken before the countdown begins.
    func begin(after delay: Duration) {
        let isFirst = isUnderWay.withLockedValue { isUnderWay in
            defer { isUnderWay = true }
            return !isUnderWay
        }
        guard isFirst else { return }
        let grace = Self.grace + delay / .seconds(1)
        inBackground { [apis, logger] in
            Thread.sleep(forTimeInterval: grace)
            for api in apis { api.database.refuseAll() }
            logger.warning("stopping: what still waited for a database was refused")
            Thread.sleep(forTimeInterval: Self.farewell)
            logger.warning("stopped, though not everything had ended")
            _exit(0)
        }
        // The program that reads the log may hang, too.
        inBackground {
            Thread.sleep(forTimeInterval: grace + Self.farewell + 0.5)
            // Nothing else is waited for, not even what runs at a usual exit. What was acknowledged is on the disk.
            _exit(0)
        }
    }

    private func inBackground(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "shutdown deadline"
        thread.start()
    }
}
