import Contract
import ContractServer
import CoreMetrics
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PrometheusMetrics

/// The port for the operator alone: `GET /metrics`, and `/health` and `/ready` for all APIs together.
struct OperatorListener: Sendable {
    let listener: Listener
    let health: Health

    /// The error shape of the operator's port.
    enum API: ServiceAPI {
        static let name = "operator"
        static let sections: [Section] = []
    }

    /// No operation of this port has a caller.
    private struct NoCaller: Sendable {}

    /// - Parameter sampler: Records current values before each answer.
    init(
        _ registry: PrometheusRegistry, sampler: MetricsSampler, apis: [RunningAPI], _ settings: ServerSettings,
        group: any EventLoopGroup
    ) {
        // A line for each request of a monitor would fill the log.
        var logger = settings.logger
        logger.logLevel = max(.notice, logger.logLevel)
        health = Health(check: {
            var parts: [Health.Part] = []
            for api in apis {
                parts.append(
                    await Health.Part(api.name) {
                        let failed = await api.service.check().first { $0.isNeeded && $0.failure != nil }
                        if let failure = failed?.failure { throw failure }
                    })
            }
            return parts
        })
        var routes = Routes<API, NoCaller>(
            secrets: { [[]] }, name: { _ in "" }, authenticate: { _ in throw Problem(.unauthorized, "Unauthorized") })
        routes.serve(health)
        routes.plain(.get, "/metrics") { _, _ in
            await sampler.sample()
            return Response(
                status: .ok,
                headers: [.contentType: PrometheusRegistry.contentType, .cacheControl: "no-store"],
                body: .init(byteBuffer: await outsideOfEventLoops { ByteBuffer(string: registry.text()) }))
        }
        // The limit on clients' connections does not apply: a server that is full must still be seen.
        listener = withMetricsFactory(MetricsSystem.factory.labelled(api: API.name)) {
            Listener(
                ContractServer.Router<API>(routes, options: .init(logger: logger)), sockets: [], group: group)
        }
    }
}
