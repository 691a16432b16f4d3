import NIOConcurrencyHelpers
import PrometheusMetrics
import ServiceLifecycle

/// The requests of the last hour by minute, for the operator's page.
///
/// Requests pay nothing for it: once a minute it notes what the metrics have counted since the start, and a minute is the
/// difference between two notes.
final class Traffic: Service {
    /// The requests of an API since the start.
    private struct Count {
        /// The numbers of requests by duration, as the metric's buckets have them.
        var buckets = [Int64](repeating: 0, count: MetricDescription.seconds.count + 1)
        var errors: Int64 = 0

        mutating func add(_ other: Count) {
            for index in buckets.indices { buckets[index] += other.buckets[index] }
            errors += other.errors
        }
    }

    /// The most notes, which enclose an hour.
    private static let limit = 60
    private let registry: PrometheusRegistry
    private let notes = NIOLockedValueBox<[[String: Count]]>([])

    init(_ registry: PrometheusRegistry) { self.registry = registry }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { self.note() } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    /// Ends a minute.
    func note() {
        let now = counts()
        notes.withLockedValue { notes in
            notes.append(now)
            if notes.count > Self.limit { notes.removeFirst() }
        }
    }

    /// Returns the last hour of APIs together: as a whole, and its minutes, the oldest first; the last one is the present minute.
    func hour(of apis: [String]) -> (whole: OperatorAPI.Minute, minutes: [OperatorAPI.Minute]) {
        let totals = (notes.withLockedValue { $0 } + [counts()]).map { note in
            apis.compactMap { note[$0] }.reduce(into: Count()) { $0.add($1) }
        }
        let minutes = zip(totals, totals.dropFirst()).map { Self.minute(from: $0, to: $1) }
        return (Self.minute(from: totals.first ?? Count(), to: totals.last ?? Count()), minutes)
    }

    private func counts() -> [String: Count] {
        var counts: [String: Count] = [:]
        for sample in registry.samples(of: "concord_http_request_duration_seconds") {
            guard let api = sample.label("api") else { continue }
            var count = counts[api] ?? Count()
            for (index, number) in sample.buckets.enumerated() where index < count.buckets.count {
                count.buckets[index] += number
                if sample.label("status")?.first == "5" { count.errors += number }
            }
            counts[api] = count
        }
        return counts
    }

    private static func minute(from start: Count, to end: Count) -> OperatorAPI.Minute {
        let buckets = zip(start.buckets, end.buckets).map { max(0, $1 - $0) }
        return OperatorAPI.Minute(
            requests: Int(buckets.reduce(0, +)), errors: Int(max(0, end.errors - start.errors)),
            p95: quantile(0.95, of: buckets).map { ($0 * 100_000).rounded() / 100 })
    }

    /// Returns the duration in seconds below which a share of the requests lies, as Prometheus estimates it: within a
    /// bucket, requests are taken to be evenly spread. It is nil without requests.
    static func quantile(_ share: Double, of buckets: [Int64]) -> Double? {
        let wanted = share * Double(buckets.reduce(0, +))
        guard wanted > 0 else { return nil }
        var (below, lower) = (0.0, 0.0)
        for (count, bound) in zip(buckets, MetricDescription.seconds) {
            if count > 0, below + Double(count) >= wanted {
                return lower + (bound - lower) * (wanted - below) / Double(count)
            }
            (below, lower) = (below + Double(count), bound)
        }
        return lower
    }
}
