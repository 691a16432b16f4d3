import ArgumentParser
import Backend
import CoreMetrics
import Foundation
import OperatorPage
import PrometheusMetrics

/// The settings of the operator's port, which has the operator's page and shows metrics.
struct MonitoringOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address of the operator's port, which has the operator's page, and shows metrics (GET /metrics) without "
                + "asking who wants to see them. [CONCORD_OPERATOR_HOST] (default: 127.0.0.1)",
            valueName: "host"))
    var operatorHost: String?

    @Option(
        help: ArgumentHelp(
            "A collector of OpenTelemetry, such as http://127.0.0.1:4318, which receives traces of requests (OTLP over HTTP, "
                + "JSON). [CONCORD_OTLP] (default: none)",
            valueName: "url"))
    var otlp: String?

    @Option(
        help: ArgumentHelp(
            "The share of the traces that begin here which are recorded, from 0 to 1. [CONCORD_OTLP_RATIO] (default: 1)",
            valueName: "ratio"))
    var otlpRatio: Double?

    func validate() throws {
        if let otlpRatio, !(0...1 ~= otlpRatio) { throw ValidationError("--otlp-ratio is a number from 0 to 1") }
    }

    /// The name of the operator's port in `--port`.
    static let portName = "operator"
    static let defaultPort = 8090

    /// Returns the address of the operator's port; nil when it is off.
    ///
    /// - Parameters:
    ///   - port: The port as the operator has given it: a number or `off`.
    ///   - fallback: The port that holds when none is given.
    func address(_ environment: Environment, port: String?, default fallback: Int) throws -> Listener.Address? {
        let host = try environment.value(operatorHost, "CONCORD_OPERATOR_HOST", { $0 }, default: "127.0.0.1")
        guard let port else { return .init(host: host, port: fallback) }
        if port == "off" { return nil }
        guard let number = Int(port), 0...65_535 ~= number else {
            throw ValidationError("\(port) is not a port for operator: 0 to 65535, or off")
        }
        return .init(host: host, port: number)
    }

    /// Returns the recorder of spans for the collector that the operator has named; nil when there is none.
    func tracer(_ environment: Environment) throws -> OTLPTracer? {
        let ratio = try environment.value(
            otlpRatio, "CONCORD_OTLP_RATIO", { Double($0).flatMap { 0...1 ~= $0 ? $0 : nil } }, default: 1)
        let url = try environment.value(otlp, "CONCORD_OTLP", { $0 }, default: "")
        if url.isEmpty { return nil }
        let parts = URLComponents(string: url)
        guard ["http", "https"].contains(parts?.scheme?.lowercased() ?? ""), parts?.host?.isEmpty == false else {
            throw ValidationError("\(url) is no URL of a collector: http://host:4318 or https://host")
        }
        return OTLPTracer(endpoint: url, ratio: ratio)
    }

    /// The files of the operator's page, and the description of its API.
    static var documents: [ServedDocument] {
        let description = ServedDocument("/openapi.json") { Array(OperatorDescription.make().openAPI.compact.utf8) }
        return [description]
            + OperatorPage.files.map { file in
                ServedDocument(file.path, contentType: file.contentType, policy: OperatorPage.policy) { file.bytes }
            }
    }

    /// Lets the whole process record its metrics, from now on.
    static func begin() -> PrometheusRegistry {
        let registry = PrometheusRegistry(ServerMetrics.descriptions)
        MetricsSystem.bootstrap(registry)
        Gauge(
            label: "concord_build_info", dimensions: [("version", Concord.number), ("commit", Concord.commit)]
        ).record(1)
        return registry
    }
}
