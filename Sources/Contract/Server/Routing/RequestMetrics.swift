import CoreMetrics
import NIOConcurrencyHelpers

/// Records the requests of one route: their number and durations, by status.
///
/// What is recorded is named by the route's template and never by the path of a request, so that clients cannot make any
/// number of series.
final class RequestMetrics: Sendable {
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]
    /// The timers of the statuses that have occurred: a few, so that a search is as fast as a dictionary.
    private let timers = NIOLockedValueBox<[(status: Int, timer: CoreMetrics.Timer)]>([])

    /// - Parameter route: The route's template, such as `/chats/{id}`.
    init(route: String, method: String) {
        factory = MetricsSystem.factory
        dimensions = [("route", route), ("method", method)]
    }

    func record(_ status: Int, _ duration: Duration) {
        let timer = timers.withLockedValue { timers in
            if let known = timers.first(where: { $0.status == status }) { return known.timer }
            let timer = CoreMetrics.Timer(
                label: "concord_http_request_duration_seconds", dimensions: dimensions + [("status", "\(status)")],
                factory: factory)
            timers.append((status, timer))
            return timer
        }
        timer.recordNanoseconds(duration.wholeNanoseconds)
    }
}

extension Duration {
    var wholeNanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
