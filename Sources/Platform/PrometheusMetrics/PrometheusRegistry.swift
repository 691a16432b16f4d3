public import CoreMetrics
import NIOConcurrencyHelpers

/// Keeps metrics in memory, and writes them in Prometheus' text format.
///
/// A program bootstraps swift-metrics with it, and answers `GET /metrics` with ``text()``. Counters, meters and gauges
/// become what they are called; timers become histograms in seconds, and recorders histograms.
public final class PrometheusRegistry: MetricsFactory {
    /// The metrics of one name.
    private struct Family {
        let kind: MetricDescription.Kind
        var series: [String: Series] = [:]
    }

    private let descriptions: [String: MetricDescription]
    private let families = NIOLockedValueBox<[String: Family]>([:])

    /// - Parameter descriptions: The help texts and buckets of metrics that are known. A metric that is recorded without
    ///   a description has no help text, and buckets for times.
    public init(_ descriptions: [MetricDescription] = []) {
        self.descriptions = Dictionary(descriptions.map { ($0.name, $0) }) { first, _ in first }
    }

    // MARK: Making metrics

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make(.counter, label, dimensions) { CounterSeries(name: $0, labels: $1) }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        make(.counter, label, dimensions) { FloatingPointCounterSeries(name: $0, labels: $1) }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        make(.gauge, label, dimensions) { GaugeSeries(name: $0, labels: $1) }
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions) : make(.gauge, label, dimensions) { GaugeSeries(name: $0, labels: $1) }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        let bounds = descriptions[label]?.buckets ?? MetricDescription.seconds
        return make(.histogram, label, dimensions) { HistogramSeries(name: $0, labels: $1, bounds: bounds) }
    }

    /// Returns the series of a name and its labels, which exists once. A name that is in use for another kind of metric
    /// gets a series that is not exported: one name has one kind.
    private func make<S: Series>(
        _ kind: MetricDescription.Kind, _ label: String, _ dimensions: [(String, String)],
        _ new: (_ name: String, _ labels: String) -> S
    ) -> S {
        let name = label.asMetricName
        let labels = dimensions.map { "\($0.0.asMetricName)=\"\($0.1.escaped(isQuoted: true))\"" }.sorted()
            .joined(separator: ",")
        return families.withLockedValue { families in
            let known = families[name]?.series[labels]
            if let known = known as? S { return known }
            let made = new(name, labels)
            guard known == nil, families[name, default: Family(kind: kind)].kind == kind else { return made }
            families[name, default: Family(kind: kind)].series[labels] = made
            return made
        }
    }

    // MARK: Removing metrics

    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func remove(_ handler: AnyObject) {
        guard let series = handler as? Series else { return }
        families.withLockedValue { families in
            guard families[series.name]?.series[series.labels] === series else { return }
            families[series.name]?.series[series.labels] = nil
            if families[series.name]?.series.isEmpty == true { families[series.name] = nil }
        }
    }

    // MARK: Writing

    /// Returns all metrics in Prometheus' text format, in the order of their names and labels.
    public func text() -> String {
        // The lock is not held while the text is written, because requests make series under it.
        let families = families.withLockedValue { $0 }.sorted { $0.key < $1.key }
        var text = ""
        for (name, family) in families {
            if let help = descriptions[name]?.help { text += "# HELP \(name) \(help.escaped(isQuoted: false))\n" }
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (_, series) in family.series.sorted(by: { $0.key < $1.key }) { series.write(to: &text) }
        }
        return text
    }

    /// A metric under one set of labels, as it is now.
    public struct Sample: Sendable {
        private let labels: String
        /// The value; for a histogram, the number of its values.
        public let value: Double
        /// The numbers of a histogram's values in each bucket; the last one is for those above every bound.
        public let buckets: [Int64]

        fileprivate init(_ series: Series) {
            (labels, value, buckets) = (series.labels, series.value, series.buckets)
        }

        /// Returns the value of a label, with quotes and backslashes escaped; nil without that label.
        public func label(_ name: String) -> String? {
            let beginning = "\(name)=\""
            let part = labels.split(separator: "\",").first { $0.hasPrefix(beginning) }
            guard let value = part?.dropFirst(beginning.count) else { return nil }
            return String(value.hasSuffix("\"") ? value.dropLast() : value)
        }
    }

    /// Returns what is recorded under a name, for each set of labels.
    public func samples(of name: String) -> [Sample] {
        families.withLockedValue { $0[name].map { Array($0.series.values) } ?? [] }.map(Sample.init)
    }

    /// The names of all metrics that have been recorded.
    public var names: Set<String> { families.withLockedValue { Set($0.keys) } }
}
