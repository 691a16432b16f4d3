import Backend
import ContractClient
import Foundation
import Testbed
import Testing

/// Debian's Prometheus reads what a server shows, and the files of Packaging.
@Suite(
    .enabled(if: Monitors.runner != nil, "`make test` unpacks Prometheus and sets CONCORD_MONITORS"),
    .timeLimit(.minutes(30))
)
struct PrometheusTests {
    private static let rules = "\(StockTools.package)/Packaging/alerts.yml"
    private let runner = Monitors.runner ?? ""

    @Test func theAlertRulesAreValid() async throws {
        let result = try await StockTools.run(runner, ["promtool", "check", "rules", Self.rules])
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("SUCCESS"))
    }

    /// Prometheus itself evaluates the rule over a series of a report that grows older.
    @Test func aReportThatWaitsForTwentyHoursIsAnAlert() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/test.yml"
            let test = """
                rule_files: ["\(Self.rules)"]
                evaluation_interval: 1m
                tests:
                  - interval: 1m
                    input_series:
                      - series: 'concord_reports_oldest_age_seconds{job="concord",api="dunbar"}'
                        values: "0+60x1440"
                    alert_rule_test:
                      - eval_time: 20h
                        alertname: ConcordReportsWait
                      - eval_time: 22h
                        alertname: ConcordReportsWait
                        exp_alerts:
                          - exp_labels: {severity: warning, job: concord, api: dunbar}
                            exp_annotations:
                              summary: "a report of dunbar has waited 22h 0m 0s for an operator"
                """
            try test.write(toFile: path, atomically: true, encoding: .utf8)
            let result = try await StockTools.run(runner, ["promtool", "test", "rules", path])
            #expect(result.status == 0, "\(result.output)")
        }
    }

    /// Starts a server and Prometheus with the configuration of docs/monitoring.md, and asks it what it has seen.
    @Test func prometheusScrapesAServer() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            var options = ["serve", "--data", "\(folder)/data", "--port", "operator=\(port)"]
            for api in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] { options += ["--port", "\(api)=0"] }
            let server = try ConcordProcess(options)
            try await server.waitUntilReady()

            let text = try await Exposition(port: port).text
            try text.write(toFile: "\(folder)/metrics", atomically: true, encoding: .utf8)
            let check = try await StockTools.run(runner, ["promtool", "check", "metrics"], input: "\(folder)/metrics")
            #expect(check.status == 0 && check.output == "", "\(check.output)")

            let monitor = try await Monitor(scraping: port, rules: Self.rules, in: folder)
            defer { monitor.process.signal(SIGKILL) }
            let targets = try await monitor.wait("targets") { $0.contains(#""health":"up""#) }
            #expect(targets.contains(#""scrapeUrl":"http://127.0.0.1:\#(port)/metrics""#), "\(targets)")
            #expect(targets.contains(#""lastError":"""#), "\(targets)")
            let query = "query?query=concord_build_info"
            let info = try await monitor.wait(query) { $0.contains(#""job":"concord""#) }
            #expect(info.contains(#""version":"0.1.0""#), "\(info)")
            let loaded = try await monitor.wait("rules") { $0.contains("ConcordDown") && !$0.contains(#""unknown""#) }
            #expect(!loaded.contains(#""health":"err""#), "\(loaded)")

            for expression in try Dashboard().expressions {
                let answer = try await monitor.ask("query", expression)
                #expect(answer.contains(#""status":"success""#), "\(expression): \(answer)")
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
            _ = try await monitor.wait("targets") { $0.contains(#""health":"down""#) }
        }
    }
}

/// The files that an operator takes along agree with what is recorded.
@Suite(.timeLimit(.minutes(30))) struct MonitoringFileTests {
    private let described = Set(ServerMetrics.descriptions.map(\.name))

    /// Returns the metrics that a text mentions.
    private func metrics(in text: String) -> Set<String> {
        let names = text.matches(of: /\b(?:concord|process)_[a-z_]+/).map { String($0.output) }
        return Set(
            names.map { name in
                let parts = ["_bucket", "_sum", "_count"]
                let part = parts.first { name.hasSuffix($0) && described.contains(String(name.dropLast($0.count))) }
                return String(name.dropLast(part?.count ?? 0))
            })
    }

    @Test func theDashboardShowsMetricsThatExist() throws {
        let expressions = try Dashboard().expressions
        #expect(expressions.count > 30)
        let shown = metrics(in: expressions.joined(separator: "\n"))
        #expect(shown.subtracting(described) == [])
        // Those that a panel has no use for.
        let left: Set = [
            "concord_build_info", "concord_http_requests_in_flight", "concord_http_malformed_requests_total",
            "concord_disk_size_bytes", "concord_certificate_expiry_timestamp_seconds", "process_max_fds",
            "process_start_time_seconds", "concord_spans_exported_total", "concord_spans_dropped_total",
        ]
        #expect(described.subtracting(shown) == left)
    }

    @Test func theAlertsAreAboutMetricsThatExist() throws {
        let rules = try String(contentsOfFile: "\(StockTools.package)/Packaging/alerts.yml", encoding: .utf8)
        #expect(metrics(in: rules).subtracting(described) == [])
        let page = try String(contentsOfFile: "\(StockTools.package)/docs/monitoring.md", encoding: .utf8)
        for alert in rules.matches(of: /alert: (\w+)/) { #expect(page.contains("`\(alert.output.1)`")) }
    }

    @Test func thePageHasARowForEachMetric() throws {
        let page = try String(contentsOfFile: "\(StockTools.package)/docs/monitoring.md", encoding: .utf8)
        let rows = page.matches(of: /(?m)^\| `((?:concord|process)_\w+)` \| (\w+) \|/)
        let kinds = rows.map { "\($0.output.1) \($0.output.2)" }
        #expect(Set(kinds) == Set(ServerMetrics.descriptions.map { "\($0.name) \($0.kind.rawValue)" }))
        #expect(kinds.count == described.count)
    }
}

/// Packaging/grafana-dashboard.json.
private struct Dashboard {
    /// The queries of all panels, with values for the variables that Grafana replaces.
    let expressions: [String]

    init() throws {
        let file = URL(fileURLWithPath: "\(StockTools.package)/Packaging/grafana-dashboard.json")
        let dashboard = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let panels = try #require(dashboard?["panels"] as? [[String: Any]])
        expressions = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
            .map { expression in
                [("$__rate_interval", "1m"), ("$api", ".*"), ("$job", ".*")].reduce(expression) {
                    $0.replacingOccurrences(of: $1.0, with: $1.1)
                }
            }
    }
}

/// A Prometheus that scrapes one server.
private struct Monitor {
    let process: ConcordProcess
    private let url: String

    init(scraping target: Int, rules: String, in folder: String) async throws {
        let port = try await reservePort()
        url = "http://127.0.0.1:\(port)/api/v1/"
        let page = try #require(try Proxies.blocks(of: "monitoring.md")["yaml"])
        let configuration = page.replacingOccurrences(of: "127.0.0.1:8090", with: "127.0.0.1:\(target)")
            .replacingOccurrences(of: "/etc/prometheus/concord-alerts.yml", with: rules)
            .replacingOccurrences(of: "15s", with: "1s\n  evaluation_interval: 1s")
        try configuration.write(toFile: "\(folder)/prometheus.yml", atomically: true, encoding: .utf8)
        process = try ConcordProcess(
            [
                "prometheus", "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/series",
                "--web.listen-address=127.0.0.1:\(port)",
            ], executable: Monitors.runner)
    }

    func ask(_ path: String, _ query: String? = nil) async throws -> String {
        var parts = try #require(URLComponents(string: url + path))
        if let query { parts.queryItems = [URLQueryItem(name: "query", value: query)] }
        let encoded = parts.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        parts.percentEncodedQuery = encoded
        let request = TransportRequest(method: .get, url: try #require(parts.url))
        return String(decoding: try await URLSessionTransport.patient.send(request, progress: nil).body, as: UTF8.self)
    }

    /// Asks until the answer meets a condition.
    func wait(_ path: String, until condition: (String) -> Bool) async throws -> String {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            let answer = try? await ask(path)
            if let answer, condition(answer) { return answer }
            try #require(ContinuousClock.now < end, "\(answer ?? "no answer")")
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
