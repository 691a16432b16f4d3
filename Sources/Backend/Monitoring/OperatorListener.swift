import Contract
import ContractServer
import CoreMetrics
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PrometheusMetrics

/// The port for the operator alone: `GET /metrics`, `/health` and `/ready` for all APIs together, and the operator's page with
/// its API.
struct OperatorListener: Sendable {
    let listener: Listener
    let health: Health

    /// - Parameters:
    ///   - desk: What the page's operations work with.
    ///   - sampler: Records current values before each answer of `GET /metrics`.
    init(_ desk: OperatorDesk, sampler: MetricsSampler, group: any EventLoopGroup) {
        let (settings, apis, registry) = (desk.settings, desk.commands.running, desk.registry)
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
        var routes = desk.routes()
        routes.serve(health)
        routes.serve(settings.operatorDocuments)
        routes.plain(.get, "/metrics") { _, _ in
            await sampler.sample()
            return Response(
                status: .ok,
                headers: [.contentType: PrometheusRegistry.contentType, .cacheControl: "no-store"],
                body: .init(byteBuffer: await outsideOfEventLoops { ByteBuffer(string: registry.text()) }))
        }
        // The limit on clients' connections does not apply: a server that is full must still be seen.
        listener = withMetricsFactory(MetricsSystem.factory.labelled(api: OperatorAPI.name)) {
            let options = ContractServer.Router<OperatorAPI>.Options(
                logger: logger, trustedProxies: settings.trustedProxies)
            return Listener(ContractServer.Router(routes, options: options), sockets: [], group: group)
        }
    }
}
