import ArgumentParser
import Backend
import ContractServer
import Foundation
import Logging

/// The limits on connections, and the shutdown.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The most connections of all APIs together; further clients are answered with 503. "
                + "[CONCORD_MAX_CONNECTIONS] (default: as the limit of file descriptors allows)",
            valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "The most connections of one address; this machine and trusted proxies are not limited. "
                + "[CONCORD_MAX_CONNECTIONS_PER_ADDRESS] (default: 1000)",
            valueName: "count"))
    var maxConnectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "The time in seconds during which requests are still accepted after SIGTERM while /ready answers 503, so "
                + "that load balancers notice it. [CONCORD_DRAIN_DELAY] (default: 5, or 0 when it listens on loopback "
                + "alone)",
            valueName: "seconds"))
    var drainDelay: Double?

    @Option(
        name: .customLong("tls-cert"),
        help: ArgumentHelp(
            "The certificate and its chain, in PEM: every API speaks TLS. Read again every hour and on SIGHUP. "
                + "[CONCORD_TLS_CERT]",
            valueName: "file"))
    var tlsCertificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The certificate's private key, in PEM. [CONCORD_TLS_KEY]", valueName: "file"))
    var tlsKey: String?

    /// Returns the files of the certificate, or nil when the server is to speak plain HTTP.
    func certificate(_ environment: Environment) throws -> CertificateFiles? {
        let certificate = try environment.value(tlsCertificate, "CONCORD_TLS_CERT", { $0 }, default: "")
        let key = try environment.value(tlsKey, "CONCORD_TLS_KEY", { $0 }, default: "")
        if certificate.isEmpty, key.isEmpty { return nil }
        guard !certificate.isEmpty, !key.isEmpty else {
            throw ValidationError("--tls-cert and --tls-key are needed together")
        }
        return CertificateFiles(certificate: certificate, key: key)
    }

    func validate() throws {
        for count in [maxConnections, maxConnectionsPerAddress] where count.map({ $0 < 1 }) == true {
            throw ValidationError("A number of connections must be 1 or more")
        }
        if let drainDelay, !(0...3600 ~= drainDelay) {
            throw ValidationError("--drain-delay must be 0 to 3600 seconds")
        }
    }

    /// Returns the drain delay.
    ///
    /// - Parameter isLocal: Whether the server listens on loopback alone, where no load balancer asks whether it is
    ///   ready.
    func delay(_ environment: Environment, isLocal: Bool) throws -> Duration {
        let seconds = try environment.value(
            drainDelay, "CONCORD_DRAIN_DELAY", { Double($0).flatMap { 0...3600 ~= $0 ? $0 : nil } },
            default: isLocal ? 0 : 5)
        return .milliseconds(Int64(seconds * 1000))
    }

    /// Returns the limits on connections.
    ///
    /// - Parameters:
    ///   - descriptors: The number of files and sockets that this process may have open.
    ///   - isExempt: Whether an address may have any number of connections.
    func limits(
        _ environment: Environment, descriptors: Int, logger: Logger,
        exempting isExempt: @escaping @Sendable (_ address: String) -> Bool
    ) throws -> ConnectionLimits {
        let count = { @Sendable (text: String) in Int(text).flatMap { $0 > 0 ? $0 : nil } }
        let possible = Self.connections(within: descriptors)
        let wanted = try environment.value(maxConnections, "CONCORD_MAX_CONNECTIONS", count, default: possible)
        if wanted > possible {
            logger.warning(
                "fewer connections than requested: the limit of file descriptors is too low (ulimit -n)",
                metadata: ["connections": .stringConvertible(possible), "descriptors": .stringConvertible(descriptors)])
        }
        return ConnectionLimits(
            total: min(wanted, possible),
            perAddress: try environment.value(
                maxConnectionsPerAddress, "CONCORD_MAX_CONNECTIONS_PER_ADDRESS", count, default: 1000),
            logger: logger, exempting: isExempt)
    }

    /// Returns the number of connections for a number of descriptors. A quarter, at least 64 and at most 4,096, stays
    /// free for databases, files and refused connections.
    static func connections(within descriptors: Int) -> Int {
        max(16, descriptors - max(64, min(4096, descriptors / 4)))
    }
}
