public import ContractClient
public import Foundation
public import HTTPTypes
public import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Opens WebSockets with SwiftNIO, for Linux, where `URLSession` has none.
///
/// TLS uses the system's certificate authorities and checks the host name.
public struct NIOSocketTransport: SocketTransport {
    /// The context is made once, because it reads the whole list of certificate authorities.
    private static let tls = Result { try NIOSSLContext(configuration: .makeClientConfiguration()) }

    private let eventLoopGroup: any EventLoopGroup
    private let openingTime: TimeAmount

    /// - Parameter openingTime: The most time that opening a socket takes, name resolution and TLS included.
    public init(
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        openingTime: TimeAmount = .seconds(30)
    ) {
        self.eventLoopGroup = eventLoopGroup
        self.openingTime = openingTime
    }

    /// Opens a WebSocket; see ``ContractClient/SocketTransport/open(_:headers:maximumMessageSize:)``.
    ///
    /// - Throws: ``ContractClient/SocketRefused`` with up to 64 KiB of the body, ``InvalidSocketURL``,
    ///   `CancellationError`, or the error of NIO or NIOSSL; `ChannelError.connectTimeout` when the time for opening is over.
    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let target = try SocketTarget(url)
        let eventLoop = eventLoopGroup.next()
        let opened = eventLoop.makePromise(of: NIOSocket.self)
        let timeout = eventLoop.scheduleTask(in: openingTime) { [openingTime] in
            opened.fail(ChannelError.connectTimeout(openingTime))
        }
        opened.futureResult.whenComplete { _ in timeout.cancel() }

        let connected = ClientBootstrap(group: eventLoop)
            .connectTimeout(openingTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if target.isSecure {
                        let tls = try Self.tls.get()
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: target.serverName))
                    }
                    let encoder = HTTPRequestEncoder()
                    let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
                    let handshake = ClientHandshake(
                        head: target.request(headers: headers), maximumMessageSize: maximumMessageSize,
                        httpHandlers: [encoder, decoder], opened: opened)
                    try pipeline.addHandlers([encoder, decoder, handshake])
                }
            }
            .connect(host: target.host, port: target.port)
        connected.whenFailure { opened.fail($0) }
        connected.whenSuccess { channel in
            opened.futureResult.whenFailure { _ in channel.close(promise: nil) }
        }

        return try await withTaskCancellationHandler {
            try await opened.futureResult.get()
        } onCancel: {
            opened.fail(CancellationError())
        }
    }
}

/// The error for a URL that is not one of a WebSocket: no host, or a scheme other than `ws`, `wss`, `http` and `https`.
public struct InvalidSocketURL: Error {
    /// The URL whose scheme or host cannot be used.
    public let url: URL
}

/// The address and the path of a connection.
struct SocketTarget: Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    private let authority: String
    private let path: String

    init(_ url: URL) throws(InvalidSocketURL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let name = parts.host, !name.isEmpty
        else { throw InvalidSocketURL(url: url) }
        switch parts.scheme?.lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw InvalidSocketURL(url: url)
        }
        // An IPv6 address is in brackets in a URL, and depending on Foundation's version also in `host`.
        host = name.trimmingCharacters(in: ["[", "]"])
        port = parts.port ?? (isSecure ? 443 : 80)
        authority = (host.contains(":") ? "[\(host)]" : host) + (parts.port.map { ":\($0)" } ?? "")
        let rawPath = parts.percentEncodedPath
        path = (rawPath.isEmpty ? "/" : rawPath) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// The name for which the certificate must be valid; nil for an IP address, which cannot be a server name in TLS.
    var serverName: String? {
        (try? SocketAddress(ipAddress: host, port: port)) == nil ? host : nil
    }

    func request(headers: HTTPFields) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: ["Host": authority])
        for field in headers {
            head.headers.add(name: field.name.rawName, value: field.value)
        }
        return head
    }
}
