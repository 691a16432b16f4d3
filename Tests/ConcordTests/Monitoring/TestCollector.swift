import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A collector of OpenTelemetry that keeps the spans which servers send.
final class TestCollector: Sendable {
    /// A span as a server has sent it.
    struct Span {
        let name: String
        let trace: String
        let id: String
        let parent: String?
        let kind: Int
        /// The attributes; numbers are texts, as they are sent.
        let attributes: [String: String]
        let nanoseconds: Int64
        let statusCode: Int
    }

    private let bodies = NIOLockedValueBox<[Data]>([])
    private let channel: NIOLockedValueBox<(any Channel)?>

    /// Listens on a port of this machine.
    init(port: Int) async throws {
        channel = NIOLockedValueBox(nil)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [bodies] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(bodies))
                }
            }
        let bound = try await bootstrap.bind(host: "127.0.0.1", port: port).get()
        channel.withLockedValue { $0 = bound }
    }

    func close() async throws { try await channel.withLockedValue { $0 }?.close() }

    /// The spans that have come so far.
    func spans() throws -> [Span] {
        try bodies.withLockedValue { $0 }.flatMap { body -> [Span] in
            let json = try #require(JSONSerialization.jsonObject(with: body) as? [String: Any])
            let resources = try #require(json["resourceSpans"] as? [[String: Any]])
            return try resources.flatMap { resource -> [Span] in
                let about = Self.attributes((resource["resource"] as? [String: Any])?["attributes"])
                #expect(about["service.name"] == "concord")
                let scopes = try #require(resource["scopeSpans"] as? [[String: Any]])
                return try scopes.flatMap { try #require($0["spans"] as? [[String: Any]]) }.map(Self.span)
            }
        }
    }

    private static func span(_ json: [String: Any]) throws -> Span {
        let (start, end) = (json["startTimeUnixNano"] as? String, json["endTimeUnixNano"] as? String)
        return Span(
            name: try #require(json["name"] as? String), trace: try #require(json["traceId"] as? String),
            id: try #require(json["spanId"] as? String), parent: json["parentSpanId"] as? String,
            kind: try #require(json["kind"] as? Int), attributes: attributes(json["attributes"]),
            nanoseconds: try #require(Int64(end ?? "")) - (try #require(Int64(start ?? ""))),
            statusCode: try #require((json["status"] as? [String: Any])?["code"] as? Int))
    }

    private static func attributes(_ json: Any?) -> [String: String] {
        let pairs = (json as? [[String: Any]] ?? []).compactMap { attribute -> (String, String)? in
            guard let key = attribute["key"] as? String, let value = attribute["value"] as? [String: Any] else {
                return nil
            }
            return (key, value.values.first.map { "\($0)" } ?? "")
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Waits until the spans meet a condition.
    func wait(until condition: ([Span]) -> Bool) async throws -> [Span] {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            let spans = try spans()
            if condition(spans) { return spans }
            try #require(ContinuousClock.now < end, "\(spans)")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let bodies: NIOLockedValueBox<[Data]>
        private var body = Data()
        private var isTaken = false

        init(_ bodies: NIOLockedValueBox<[Data]>) { self.bodies = bodies }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                body = Data()
                isTaken =
                    head.method == .POST && head.uri == "/v1/traces"
                    && head.headers["Content-Type"] == ["application/json"]
            case .body(let part): body.append(contentsOf: part.readableBytesView)
            case .end:
                if isTaken { bodies.withLockedValue { [body] in $0.append(body) } }
                let head = HTTPResponseHead(
                    version: .http1_1, status: isTaken ? .ok : .notFound, headers: ["Content-Length": "2"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
