public import Contract
import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
public import Push
import Testing

/// A stand-in for Apple's push service: HTTP/2 over TLS. It checks each request as the service does, and remembers those
/// that it takes.
public final class APNsStandIn: Sendable {
    /// A notification that has arrived.
    public struct Push: Sendable {
        public let token: String
        public let headers: [String: String]
        public let payload: JSONValue
        /// The number of the connection that it came on, counted from one.
        public let connection: Int

        /// A member of `aps`.
        public func display(_ name: String) -> JSONValue? { payload["aps"]?[name] }
    }

    /// What becomes of a notification that is in order.
    public enum Reply: Sendable {
        case take
        case refuse(Int, reason: String, retryAfter: Int? = nil, timestamp: Int64? = nil)
        /// Closes the connection without an answer.
        case hangUp
        /// Announces that the connection takes no more and that nothing in progress was looked at, and closes it.
        case goAway
    }

    public static let (keyID, team, topic) = ("ABC123DEFG", "TEAM123456", "com.example.messenger")
    private static let key = P256.Signing.PrivateKey()

    public let port: Int
    private let authority: String
    private let now: @Sendable () -> Int64
    private let state = NIOLockedValueBox(State())

    private struct State {
        var taken: [Push] = []
        var tokens: Set<String> = []
        var connections = 0
        var reply: @Sendable (Push) -> Reply = { _ in .take }
        var watchers: [AsyncStream<Void>.Continuation] = []
        var complaints: [String] = []
    }

    private init(port: Int, authority: String, now: @escaping @Sendable () -> Int64) {
        (self.port, self.authority, self.now) = (port, authority, now)
    }

    /// Runs a test with a stand-in of its own.
    ///
    /// - Parameter clock: The clock by which it judges the age of tokens.
    public static func run(
        by clock: TestClock, _ body: (APNsStandIn) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let (key, certificate) = (folder + "/key.pem", folder + "/certificate.pem")
            let made = try await runShell(
                """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout \(key) -out \(certificate)
                """)
            try #require(made.status == 0, "\(String(decoding: made.output, as: UTF8.self))")
            let standIn = APNsStandIn(
                port: try await reservePort(), authority: certificate, now: { clock.source.seconds })
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            tls.applicationProtocols = ["h2"]
            let context = try NIOSSLContext(configuration: tls)
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.ofTests)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { standIn.accept($0, context) }
                .bind(host: "127.0.0.1", port: standIn.port).get()
            let result: Result<Void, any Error>
            do { result = .success(try await body(standIn)) } catch { result = .failure(error) }
            try await server.close()
            try result.get()
            #expect(standIn.complaints == [])
        }
    }

    /// The key with which notifications must be signed.
    public var apnsKey: APNsKey {
        get throws { try APNsKey(pem: Self.pem, id: Self.keyID, team: Self.team) }
    }

    /// The content of the key's `.p8` file.
    public static var pem: String { key.pemRepresentation }

    /// The URL for `--apns-url`.
    public var url: String { "https://localhost:\(port)?ca=\(authority)" }

    /// Returns a client of the stand-in.
    public func client() throws -> APNsClient {
        let endpoint = try #require(APNsEndpoint(standIn: url))
        // A busy machine may need longer than Apple's service.
        return APNsClient(try apnsKey, topic: Self.topic, at: endpoint, timeout: .minutes(25), now: now)
    }

    /// Decides what becomes of notifications from now on.
    public func reply(_ reply: @escaping @Sendable (Push) -> Reply) { state.withLockedValue { $0.reply = reply } }

    public var taken: [Push] { state.withLockedValue { $0.taken } }
    /// The number of different tokens of the team that have been used.
    public var tokenCount: Int { state.withLockedValue { $0.tokens.count } }
    public var connectionCount: Int { state.withLockedValue { $0.connections } }
    /// The reasons for which requests were refused as malformed.
    public var complaints: [String] { state.withLockedValue { $0.complaints } }

    /// Returns the notifications once there are as many.
    public func taken(_ count: Int) async -> [Push] {
        let (news, watcher) = AsyncStream<Void>.makeStream()
        state.withLockedValue { $0.watchers.append(watcher) }
        watcher.yield()
        for await _ in news where taken.count >= count { break }
        return taken
    }

    // MARK: Connections

    private func accept(_ channel: any Channel, _ context: NIOSSLContext) -> EventLoopFuture<Void> {
        let number = state.withLockedValue { state in
            state.connections += 1
            return state.connections
        }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            connection.initialSettings = [
                HTTP2Setting(parameter: .maxConcurrentStreams, value: 1000),
                HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
            ]
            _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                mode: .server, connectionConfiguration: connection, streamConfiguration: .init()
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandlers(
                        HTTP2FramePayloadToHTTP1ServerCodec(), Stream(self, connection: number))
                }
            }
        }
    }

    /// One request.
    private final class Stream: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let owner: APNsStandIn
        private let connection: Int
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ owner: APNsStandIn, connection: Int) { (self.owner, self.connection) = (owner, connection) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body(let bytes): body += Array(bytes.readableBytesView)
            case .end: if let head { answer(owner.judge(head, body, connection: connection), context) }
            }
        }

        private func answer(_ reply: Reply, _ context: ChannelHandlerContext) {
            switch reply {
            case .take: respond(200, [:], "", context)
            case .refuse(let status, let reason, let retryAfter, let timestamp):
                let time = timestamp.map { #","timestamp":\#($0)"# } ?? ""
                let headers = retryAfter.map { ["retry-after": "\($0)"] } ?? [:]
                respond(status, headers, #"{"reason":"\#(reason)"\#(time)}"#, context)
            case .hangUp: context.channel.parent?.close(promise: nil)
            case .goAway:
                guard let parent = context.channel.parent else { return }
                let payload = HTTP2Frame.FramePayload.goAway(
                    lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
                let frame = HTTP2Frame(streamID: .rootStream, payload: payload)
                parent.writeAndFlush(frame).whenComplete { _ in parent.close(promise: nil) }
            }
        }

        private func respond(
            _ status: Int, _ headers: [String: String], _ text: String, _ context: ChannelHandlerContext
        ) {
            var head = HTTPResponseHead(version: .http2, status: .init(statusCode: status))
            for (name, value) in headers { head.headers.add(name: name, value: value) }
            head.headers.add(name: "apns-id", value: UUID().uuidString)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            // Clients close a connection on which empty DATA frames follow each other.
            if !text.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    // MARK: Requests

    private func judge(_ head: HTTPRequestHead, _ body: [UInt8], connection: Int) -> Reply {
        let headers = Dictionary(head.headers.map { ($0.name, $0.value) }) { first, _ in first }
        guard head.method == .POST, head.uri.hasPrefix("/3/device/") else { return complain(404, "BadPath") }
        let token = String(head.uri.dropFirst("/3/device/".count))
        guard !token.isEmpty, token.allSatisfy(\.isHexDigit) else { return complain(400, "BadDeviceToken") }
        let bearer = headers["authorization"] ?? ""
        guard bearer.hasPrefix("bearer ") else { return complain(403, "MissingProviderToken") }
        if let refusal = refusal(of: String(bearer.dropFirst("bearer ".count))) { return refusal }
        guard headers["apns-topic"] == Self.topic else { return complain(400, "BadTopic") }
        guard ["alert", "background"].contains(headers["apns-push-type"]) else {
            return complain(400, "InvalidPushType")
        }
        guard ["10", "5"].contains(headers["apns-priority"]) else { return complain(400, "BadPriority") }
        guard let expiration = headers["apns-expiration"].flatMap(Int64.init), expiration > now() else {
            return complain(400, "BadExpirationDate")
        }
        guard (headers["apns-collapse-id"] ?? "").utf8.count <= 64 else { return complain(400, "BadCollapseId") }
        guard body.count <= 4096 else { return complain(413, "PayloadTooLarge") }
        guard let payload = try? JSONDecoder().decode(JSONValue.self, from: Data(body)), case .object? = payload["aps"]
        else { return complain(400, "PayloadEmpty") }
        let push = Push(token: token, headers: headers, payload: payload, connection: connection)
        let reply = state.withLockedValue { $0.reply }(push)
        if case .take = reply { take(push) }
        return reply
    }

    private func take(_ push: Push) {
        let watchers = state.withLockedValue { state in
            state.taken.append(push)
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    private func complain(_ status: Int, _ reason: String) -> Reply {
        state.withLockedValue { $0.complaints.append(reason) }
        return .refuse(status, reason: reason)
    }

    /// Verifies the team's token: its signature, its header and its claims.
    private func refusal(of token: String) -> Reply? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.decoded(parts[0]), let claims = Self.decoded(parts[1]),
            let signature = Self.bytes(parts[2]).flatMap({ try? P256.Signing.ECDSASignature(rawRepresentation: $0) }),
            Self.key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            header["alg"] == "ES256", header["kid"] == .string(Self.keyID), claims["iss"] == .string(Self.team),
            let issuedAt = claims["iat"]?.integer
        else { return complain(403, "InvalidProviderToken") }
        guard -3600...3600 ~= now() - issuedAt else { return .refuse(403, reason: "ExpiredProviderToken") }
        _ = state.withLockedValue { $0.tokens.insert(token) }
        return nil
    }

    private static func bytes(_ text: String) -> Data? {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let length = (standard.count + 3) / 4 * 4
        return Data(base64Encoded: standard.padding(toLength: length, withPad: "=", startingAt: 0))
    }

    private static func decoded(_ text: String) -> JSONValue? {
        bytes(text).flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) }
    }
}
