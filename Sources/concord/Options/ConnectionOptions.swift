import ArgumentParser
import ContractServer
import Foundation
import Logging

/// How many may be connected, and how the server takes leave of them.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How many connections there may be, over all APIs; beyond them clients are answered 503. "
                + "[CONCORD_MAX_CONNECTIONS] (default: what the limit of descriptors leaves)",
            valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "How many of one address; this machine and trusted proxies may have any number. "
                + "[CONCORD_MAX_CONNECTIONS_PER_ADDRESS] (default: 1000)",
            valueName: "count"))
    var maxConnectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "How long requests are still taken after SIGTERM while /ready says 503, so that a load balancer has time to "
                + "see it, in seconds. [CONCORD_DRAIN_DELAY] (default: 5, or 0 where it listens to this machine alone)",
            valueName: "seconds"))
    var drainDelay: Double?

    func validate() throws {
        for count in [maxConnections, maxConnectionsPerAddress] where count.map({ $0 < 1 }) == true {
            throw ValidationError("A number of connections is 1 or more")
        }
        if let drainDelay, !(0...3600 ~= drainDelay) { throw ValidationError("--drain-delay is 0 to 3600 seconds") }
    }

    /// - Parameter isLocal: Whether the server listens to this machine alone: then no balancer asks whether it is ready.
    func delay(_ environment: Environment, isLocal: Bool) throws -> Duration {
        let seconds = try environment.value(
            drainDelay, "CONCORD_DRAIN_DELAY", { Double($0).flatMap { 0...3600 ~= $0 ? $0 : nil } },
            default: isLocal ? 0 : 5)
        return .milliseconds(Int64(seconds * 1000))
    }

    /// - Parameters:
    ///   - descriptors: How many files and sockets this process may have open.
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
                "fewer connections than asked for: a process has too few descriptors (ulimit -n)",
                metadata: ["connections": "\(possible)", "descriptors": "\(descriptors)"])
        }
        return ConnectionLimits(
            total: min(wanted, possible),
            perAddress: try environment.value(
                maxConnectionsPerAddress, "CONCORD_MAX_CONNECTIONS_PER_ADDRESS", count, default: 1000),
            logger: logger, exempting: isExempt)
    }

    /// What databases, files and refused connections need stays free: a quarter, at least 64 and at most 4,096.
    static func connections(within descriptors: Int) -> Int {
        max(16, descriptors - max(64, min(4096, descriptors / 4)))
    }
}
