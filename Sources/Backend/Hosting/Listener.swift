import Contract
import ContractServer
import CoreMetrics
import Foundation
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import WebSockets

/// Serves one API on one port: its operations and its sockets.
public struct Listener: Sendable {
    public let name: String
    private let run: @Sendable (Address, Logger, @escaping @Sendable (Int) async -> Void) async throws -> Void

    public struct Address: Sendable {
        public var host: String
        /// The port; 0 takes any free one.
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Makes the listener of an API.
    ///
    /// - Parameters:
    ///   - group: The event loops; they must be those with which the API's hub was made.
    ///   - tls: The certificate and key with which the port speaks TLS; nil for plain HTTP.
    public init<API: ServiceAPI>(
        _ router: ContractServer.Router<API>, sockets: [SocketRoute], group: any EventLoopGroup,
        limits: ConnectionGuard.Limits = .init(), connections: ConnectionLimits? = nil,
        tls: TLSConfiguration? = nil
    ) {
        name = API.name
        let malformed = Counter(label: "concord_http_malformed_requests_total")
        run = { address, logger, started in
            guard 0...65_535 ~= address.port else {
                throw AddressRefused(name: API.name, address: address, reason: "a port is a number from 0 to 65535")
            }
            let refused = { @Sendable (reason: ConnectionRefusal, id: String) in
                // The router logs requests, but it has not seen this one.
                switch reason {
                // The router logs these itself when a head has been received.
                case .cutShort, .tooManyConnections: break
                default:
                    malformed.increment()
                    logger.info(
                        "malformed request",
                        metadata: [
                            "request": "\(id)", "api": "\(API.name)", "status": .stringConvertible(reason.status.code),
                            "reason": "\(reason.message)",
                        ])
                }
                let failure = API.Failure(Problem(reason.status, reason.message), requestID: id)
                return (try? JSONBody.encode(failure)) ?? ByteBuffer()
            }
            let upgrade = ConnectionUpgrade(SocketUpgrade(routes: sockets, sendsDirectly: tls == nil))
            let server = HTTPServer(router, group: group) {
                ConnectionGuard(
                    limits: limits, connections: connections, memory: router.memory, upgrade: upgrade,
                    sendsDirectly: tls == nil, refused: refused)
            }
            // Hummingbird would log a line of its own for each listener.
            var quiet = logger
            quiet.logLevel = max(.notice, logger.logLevel)
            do {
                try await server.run(at: address, tls: tls, group: group, logger: quiet) { channel in
                    AcceptPause.add(to: channel, logger)
                    await started(channel.localAddress?.port ?? address.port)
                }
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                throw AddressTaken(name: API.name, address: address)
            } catch let error as IOError where error.errnoCode == EACCES || error.errnoCode == EADDRNOTAVAIL {
                throw AddressRefused(
                    name: API.name, address: address, reason: String(cString: strerror(error.errnoCode)))
            } catch  where error is SocketAddressError || error is SocketAddressError.UnknownHost {
                throw AddressRefused(name: API.name, address: address, reason: "there is no such host")
            }
        }
    }

    /// Serves until the surrounding service group shuts down: requests in flight end, sockets close with 1001.
    ///
    /// - Parameter started: Called with the port once connections are accepted.
    /// - Throws: ``AddressTaken``, ``AddressRefused``.
    public func serve(
        on address: Address, logger: Logger, started: @escaping @Sendable (Int) async -> Void
    ) async throws {
        try await run(address, logger, started)
    }
}

extension ConnectionUpgrade {
    /// Makes the upgrade of connections to sockets.
    package init(_ sockets: SocketUpgrade) {
        self.init { request, channel, decide in
            sockets.consider(request, on: channel) { outcome in
                switch outcome {
                case .accept(let fields, let add): decide(.accept(fields, add: add))
                case .refuse(let status, let fields, let body): decide(.refuse(.init(status, fields, body)))
                }
            }
        }
    }
}

extension ServerChildChannel {
    /// The number of connections that may wait to be accepted, which the system limits further (`net.core.somaxconn`,
    /// 4,096 on Linux). When it is exceeded, the system drops what a new connection sends, for seconds: after a restart all
    /// clients of a server connect at the same time.
    private static var backlog: Int { 65_535 }

    /// Accepts connections until the surrounding service group shuts down, and waits for those that are open.
    fileprivate func run(
        at address: Listener.Address, tls: TLSConfiguration?, group: any EventLoopGroup, logger: Logger,
        started: @escaping @Sendable (any Channel) async -> Void
    ) async throws {
        if let tls {
            let encrypted = try TLSChannel(self, tlsConfiguration: tls)
            return try await encrypted.run(at: address, tls: nil, group: group, logger: logger, started: started)
        }
        let service = server(
            configuration: .init(address: .hostname(address.host, port: address.port), backlog: Self.backlog),
            onServerRunning: started, eventLoopGroup: group, logger: logger)
        try await service.run()
    }
}

/// The error of a listener whose port is taken by another process.
public struct AddressTaken: Error, CustomStringConvertible {
    let name: String
    let address: Listener.Address
    public var description: String {
        """
        Port \(address.port) on \(address.host) is taken by another process, so \(name) cannot listen there. \
        Stop that process, or choose another port with --port.\(advice)
        """
    }

    /// Advice if the port is that of macOS' AirPlay Receiver.
    private var advice: String {
        #if os(macOS)
        guard [5000, 7000].contains(address.port) else { return "" }
        return """
             On a Mac it is AirPlay Receiver's: choose --port \(name)=5001, or switch AirPlay Receiver off in System \
            Settings.
            """
        #else
        return ""
        #endif
    }
}

/// The error of a listener that the operating system does not allow.
public struct AddressRefused: Error, CustomStringConvertible {
    let name: String
    let address: Listener.Address
    let reason: String
    public var description: String {
        """
        \(name) cannot listen on \(address.host):\(address.port): \(reason). Ports below 1024 need privileges; the \
        host must be an address of this machine.
        """
    }
}
