import AsyncHTTPClient
import CoreMetrics
import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Sends spans to a collector, every second and for a last time when the server stops.
///
/// A collector that is away costs requests nothing: what it does not take is tried again for about a minute, meanwhile the
/// queue fills, and beyond that spans are dropped and counted.
struct SpanExporter: Service {
    private static let batch = 512
    private static let attempts = 6

    private let endpoint: String
    private let queue: SpanQueue
    private let logger: Logger
    private let resource: [SpanRecord.Attribute]
    private let exported = Counter(label: "concord_spans_exported_total")

    init(_ tracer: OTLPTracer, logger: Logger) {
        endpoint = tracer.endpoint
        queue = tracer.queue
        self.logger = logger
        let (host, process) = (ProcessInfo.processInfo.hostName, ProcessInfo.processInfo.processIdentifier)
        resource = [
            .init("service.name", "concord"), .init("host.name", host),
            .init("service.instance.id", "\(host):\(process)"),
        ]
    }

    func run() async throws {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(3), read: .seconds(10)))
        // Sending spans makes no spans.
        configuration.tracing.tracer = nil
        let client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                await sendAll(with: client, attempts: Self.attempts)
            }
        }
        await sendAll(with: client, attempts: 1)
        try? await client.shutdown()
        // A service that ends would end the others.
        try? await gracefulShutdown()
    }

    private func sendAll(with client: HTTPClient, attempts: Int) async {
        while true {
            let spans = queue.take(Self.batch)
            if spans.isEmpty { return }
            if await send(spans, with: client, attempts: attempts) {
                exported.increment(by: spans.count)
            } else {
                queue.drop(spans.count)
            }
            if Task.isCancelled { return }
        }
    }

    /// Sends spans, again after pauses of 1, 2, 4 … seconds while the collector cannot take them.
    ///
    /// - Returns: Whether the collector has taken them.
    private func send(_ spans: [SpanRecord], with client: HTTPClient, attempts: Int) async -> Bool {
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        guard let body = try? JSONEncoder().encode(SpanBatch(resource: resource, spans: spans)) else { return false }
        var hasFailed = false
        for attempt in 1...attempts {
            var reason: String
            do {
                request.body = .bytes(body, length: .known(Int64(body.count)))
                let response = try await client.execute(request, timeout: .seconds(10))
                _ = try? await response.body.collect(upTo: 1 << 16)
                if (200..<300).contains(response.status.code) {
                    if hasFailed { logger.notice("the collector of traces takes spans again") }
                    return true
                }
                reason = "status \(response.status.code)"
                if ![429, 502, 503, 504].contains(response.status.code) { return refused(reason) }
            } catch {
                reason = "\(error)"
            }
            if Task.isCancelled { return false }
            if !hasFailed {
                logger.warning("the collector of traces does not answer", metadata: ["error": "\(reason)"])
            }
            hasFailed = true
            guard attempt < attempts else { break }
            do { try await Task.sleep(for: .seconds(1 << (attempt - 1))) } catch { return false }
        }
        return false
    }

    private func refused(_ reason: String) -> Bool {
        logger.warning("the collector of traces refuses spans", metadata: ["error": "\(reason)"])
        return false
    }
}
