import Foundation
import Logging
import NIOConcurrencyHelpers

/// Ends a process within 30 seconds after it was asked to stop, even when something hangs: a database that accepts
/// connections and never answers, a disk, or a thread that waits for either.
final class ShutdownDeadline: Sendable {
    /// The time in which requests in flight can finish.
    private static let grace: TimeInterval = 20
    /// The time in which requests that wait for a database can be answered after they have been refused.
    private static let refusal: TimeInterval = 8

    private let apis: [RunningAPI]
    private let logger: Logger
    private let isUnderWay = NIOLockedValueBox(false)

    init(apis: [RunningAPI], logger: Logger) {
        self.apis = apis
        self.logger = logger
    }

    var hasBegun: Bool { isUnderWay.withLockedValue { $0 } }

    /// Starts the countdown, on a thread of its own, because all other threads may be hanging.
    ///
    /// - Parameter delay: The time during which requests are still accepted before the countdown begins.
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
            logger.warning("stopping: requests that still waited for a database were refused")
            Thread.sleep(forTimeInterval: Self.refusal)
            logger.warning("stopped before all work had ended")
            _exit(0)
        }
        // The program that reads the log may hang and block the thread above, so a second thread ends the process.
        inBackground {
            Thread.sleep(forTimeInterval: grace + Self.refusal + 0.5)
            // `_exit` skips exit handlers, which may hang, too. Everything that was acknowledged is on the disk.
            _exit(0)
        }
    }

    private func inBackground(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "shutdown deadline"
        thread.start()
    }
}
