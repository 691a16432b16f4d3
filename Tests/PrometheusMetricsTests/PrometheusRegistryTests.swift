import CoreMetrics
import PrometheusMetrics
import Testing

@Suite(.timeLimit(.minutes(30))) struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry([
        .init("requests_total", .counter, "The requests, with a \\ and\na second line."),
        .init("size", .histogram, "Sizes.", buckets: [1, 10]),
    ])

    @Test func eachKindHasItsForm() {
        Counter(label: "requests_total", dimensions: [("api", "a")], factory: registry).increment(by: 3)
        FloatingPointCounter(label: "seconds_total", dimensions: [], factory: registry).increment(by: 0.5)
        let meter = Meter(label: "open", dimensions: [], factory: registry)
        meter.increment(by: 3.0)
        meter.decrement(by: 1.0)
        Gauge(label: "temperature", dimensions: [], factory: registry).record(-1.25)
        for value in [1, 2, 10, 11] { Recorder(label: "size", dimensions: [], factory: registry).record(value) }
        #expect(
            registry.text() == """
                # TYPE open gauge
                open 2
                # HELP requests_total The requests, with a \\\\ and\\na second line.
                # TYPE requests_total counter
                requests_total{api="a"} 3
                # TYPE seconds_total counter
                seconds_total 0.5
                # HELP size Sizes.
                # TYPE size histogram
                size_bucket{le="1"} 1
                size_bucket{le="10"} 3
                size_bucket{le="+Inf"} 4
                size_sum 24
                size_count 4
                # TYPE temperature gauge
                temperature -1.25

                """)
    }

    @Test func timersAreHistogramsInSeconds() {
        let timer = CoreMetrics.Timer(label: "duration_seconds", dimensions: [("route", "/a")], factory: registry)
        timer.recordNanoseconds(2_500_000)
        timer.recordNanoseconds(20_000_000_000)
        let text = registry.text()
        for line in [
            #"duration_seconds_bucket{route="/a",le="0.001"} 0"#, #"duration_seconds_bucket{route="/a",le="0.0025"} 1"#,
            #"duration_seconds_bucket{route="/a",le="10"} 1"#, #"duration_seconds_bucket{route="/a",le="+Inf"} 2"#,
            #"duration_seconds_sum{route="/a"} 20.0025"#, #"duration_seconds_count{route="/a"} 2"#,
        ] {
            #expect(text.contains(line + "\n"), "\(text)")
        }
    }

    /// A label's value cannot end the line or look like another label.
    @Test func textOfOthersIsEscaped() {
        Counter(label: "hb.requests-total", dimensions: [("http.route", "a\"b\\c\nd")], factory: registry).increment()
        Counter(label: "2fast", dimensions: [], factory: registry).increment()
        #expect(registry.text().contains(#"hb_requests_total{http_route="a\"b\\c\nd"} 1"# + "\n"))
        #expect(registry.text().contains("\n_2fast 1\n"))
    }

    /// Parts of a program that record the same share one series, whatever the order of the labels.
    @Test func aNameWithItsLabelsIsOneSeries() async {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let dimensions = [("a", "1"), ("b", "2")]
                    let counter = Counter(
                        label: "shared_total", dimensions: index.isMultiple(of: 2) ? dimensions : dimensions.reversed(),
                        factory: registry)
                    let timer = CoreMetrics.Timer(label: "shared_seconds", dimensions: [], factory: registry)
                    for _ in 0..<1000 {
                        counter.increment()
                        timer.recordNanoseconds(500_000_000)
                    }
                }
            }
        }
        #expect(registry.text().contains(#"shared_total{a="1",b="2"} 8000"# + "\n"))
        #expect(registry.text().contains("shared_seconds_sum 4000\n"))
        #expect(registry.text().contains("shared_seconds_count 8000\n"))
    }

    /// One name has one kind, or the text would not be valid.
    @Test func anotherKindOfTheSameNameIsNotExported() {
        Counter(label: "x_total", dimensions: [], factory: registry).increment()
        Meter(label: "x_total", dimensions: [("a", "b")], factory: registry).set(5)
        Meter(label: "x_total", dimensions: [], factory: registry).set(5)
        #expect(registry.text() == "# TYPE x_total counter\nx_total 1\n")
    }

    @Test func aDestroyedMetricIsNotExported() {
        let counter = Counter(label: "gone_total", dimensions: [], factory: registry)
        counter.increment()
        counter.destroy()
        counter.increment()
        #expect(registry.text() == "")
        #expect(registry.names.isEmpty)
    }

    /// Metrics that are made without a factory belong to the factory of the task.
    @Test func aFactoryOfTheTaskAddsLabels() {
        withMetricsFactory(registry.withLabelAndDimensionsMapping { ($0, [("api", "a")] + $1) }) {
            Counter(label: "mapped_total").increment()
        }
        #expect(registry.text().contains(#"mapped_total{api="a"} 1"#))
    }
}
