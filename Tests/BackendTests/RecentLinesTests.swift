import CoreMetrics
import Logging
import PrometheusMetrics
import Testing

@testable import Backend

/// The operator's page has the newest lines of the log, and the requests of an hour, from memory.
@Suite(.timeLimit(.minutes(30))) struct RecentLinesTests {
    private func lines(_ count: Int, capacity: Int) -> RecentLines {
        var lines = RecentLines(capacity: capacity)
        for number in 1...count { lines.add("line \(number)", number % 2 == 0 ? .info : .error) }
        return lines
    }

    @Test(arguments: [(1, 1), (1, 3), (3, 3), (4, 3), (7, 3), (100, 7)])
    func theNewestStayInTheirOrder(_ count: Int, _ capacity: Int) {
        let kept = lines(count, capacity: capacity).all
        #expect(kept.map(\.number) == Array(max(1, count - capacity + 1)...count))
        #expect(kept.map(\.text) == kept.map { "line \($0.number)" })
    }

    @Test func linesAreChosen() {
        let all = lines(20, capacity: 100).all
        func chosen(_ words: [String] = [], _ level: Logger.Level = .trace, after: Int = 0, limit: Int = 100) -> [Int] {
            RecentLines.matches(all, words: words, level: level, after: after, limit: limit).map(\.number)
        }
        #expect(chosen() == Array(1...20))
        #expect(chosen(limit: 3) == [18, 19, 20])
        #expect(chosen(after: 18) == [19, 20])
        #expect(chosen([], .warning, limit: 2) == [17, 19])
        #expect(chosen(["line", "12"]) == [12])
        #expect(chosen(["absent"]) == [])
    }

    @Test func aLongLineIsCut() {
        var lines = RecentLines(capacity: 2)
        lines.add(String(repeating: "é", count: 10_000), .info)
        #expect(lines.all[0].text.utf8.count <= RecentLines.longest + 3)
    }

    // MARK: Traffic

    @Test func aMinuteIsWhatWasCountedMeanwhile() {
        let registry = PrometheusRegistry(ServerMetrics.descriptions)
        func timer(_ status: String) -> any TimerHandler {
            registry.makeTimer(
                label: "concord_http_request_duration_seconds",
                dimensions: [("api", "messenger"), ("route", "/a"), ("status", status)])
        }
        let traffic = Traffic(registry)
        timer("200").recordNanoseconds(1_000_000)
        traffic.note()
        #expect(
            traffic.hour(of: ["messenger"]).whole.requests == 0, "what came before the first note is not of a minute")
        for _ in 0..<99 { timer("200").recordNanoseconds(2_000_000) }
        timer("503").recordNanoseconds(20_000_000_000)
        traffic.note()
        timer("404").recordNanoseconds(400_000_000)
        let (whole, minutes) = traffic.hour(of: ["messenger"])
        #expect(minutes.map(\.requests) == [100, 1] && minutes.map(\.errors) == [1, 0])
        #expect(whole.requests == 101 && whole.errors == 1)
        #expect((1...2.5).contains(minutes[0].p95 ?? 0), "within the bucket that 2 ms are in")
        #expect(traffic.hour(of: ["dunbar"]).minutes.map(\.requests) == [0, 0])
        #expect(traffic.hour(of: ["dunbar", "messenger"]).minutes == minutes)
        #expect(traffic.hour(of: ["dunbar"]).whole.p95 == nil)
        for _ in 0..<100 { traffic.note() }
        #expect(traffic.hour(of: ["messenger"]).minutes.count == 60)
    }

    @Test func aShareIsWithinItsBucket() {
        var buckets = [Int64](repeating: 0, count: MetricDescription.seconds.count + 1)
        #expect(Traffic.quantile(0.95, of: buckets) == nil)
        buckets[0] = 100
        #expect(Traffic.quantile(0.5, of: buckets) == 0.0005)
        buckets[buckets.count - 1] = 100_000
        #expect(Traffic.quantile(0.95, of: buckets) == 10, "beyond the last bound it is not known")
    }
}
