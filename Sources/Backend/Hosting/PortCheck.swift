import NIOCore
import NIOPosix

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The error of a start that cannot have its ports. It names all of them.
public struct PortsUnusable: Error, CustomStringConvertible {
    let problems: [String]
    public var description: String { problems.joined(separator: "\n") }
}

extension ServerSettings {
    /// Makes sure that the server can have its ports, before it makes anything.
    ///
    /// - Returns: The operator's address; nil if it is off. A free port (0) takes the place of its default port if that is
    ///   taken.
    /// - Throws: ``PortsUnusable``.
    func freePorts(of apis: [any HostedAPI]) async throws -> Listener.Address? {
        let problems = await portProblems(of: apis)
        guard problems.isEmpty else { throw PortsUnusable(problems: problems) }
        guard let address = operatorAddress, isOperatorPortFree, await refusal(of: operatorName, at: address) != nil
        else { return operatorAddress }
        logger.warning(
            "the operator's default port is taken, so another one is used: set --port operator=PORT",
            metadata: ["port": "\(address.port)"])
        return .init(host: address.host, port: 0)
    }

    /// Returns why ports cannot be taken, one sentence each. It takes each port for a moment.
    func portProblems(of apis: [any HostedAPI]) async -> [String] {
        var addresses = apis.map { (name: $0.name, address: Listener.Address(host: host, port: port(of: $0))) }
        if let operatorAddress, !isOperatorPortFree { addresses.append((operatorName, operatorAddress)) }
        addresses.removeAll { $0.address.port == 0 }
        var problems = Dictionary(grouping: addresses, by: \.address.port).sorted { $0.key < $1.key }
            .filter { $0.value.count > 1 }
            .map { "\($1.map(\.name).joined(separator: " and ")) have the same port \($0): set --port" }
        if isServerRunning { return problems }
        for (name, address) in addresses {
            if let refusal = await refusal(of: name, at: address) { problems.append(refusal) }
        }
        return problems
    }

    private var operatorName: String { OperatorAPI.name }

    private func refusal(of name: String, at address: Listener.Address) async -> String? {
        do {
            // A connection that is made meanwhile must not be accepted, for nothing would answer it: closing resets it.
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.autoRead, value: false)
                .bind(host: address.host, port: address.port).get()
            try await channel.close()
            return nil
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            return "\(AddressTaken(name: name, address: address))"
        } catch {
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "there is no such host"
            return "\(AddressRefused(name: name, address: address, reason: reason))"
        }
    }
}
