import ContractServer
import Database
import Foundation
import Identity
import Logging
import NIOCore
import NIOPosix
import ObjectStore
import Redis

extension ServerSettings {
    /// Returns what is wrong with the settings, in sentences for the operator. Nothing is created or changed.
    ///
    /// It connects to PostgreSQL and Redis, and takes the ports for a moment unless a server that uses the data folder has them.
    ///
    /// - Parameters:
    ///   - apis: The APIs that are to be served.
    ///   - hasProxies: Whether the operator trusts any proxy.
    public func problems(serving apis: [any HostedAPI], behindProxies hasProxies: Bool) async -> [String] {
        var problems = reachability(of: apis, behindProxies: hasProxies)
        problems += folderProblems() + keyProblems(of: apis) + certificateProblems() + objectProblems(of: apis)
        problems += await databaseProblems()
        problems += await portProblems(of: apis)
        return problems
    }

    /// Whether a server uses the data folder now.
    public var isServerRunning: Bool {
        guard let socket = try? UnixSocket.connect(in: folder) else { return false }
        close(socket)
        return true
    }

    // MARK: Clients and proxies

    private func reachability(of apis: [any HostedAPI], behindProxies hasProxies: Bool) -> [String] {
        var problems: [String] = []
        let unnamed = apis.map(\.name).filter { publicURLs[$0] == nil }
        if !isLocal, !unnamed.isEmpty {
            problems.append(
                """
                The server listens on \(host), and no public URL is set for \(unnamed.joined(separator: ", ")): links in \
                answers begin with the host that a client asks, and links in e-mails with \(scheme)://localhost, which \
                other devices cannot reach. Set --public-url NAME=URL
                """)
        }
        let secure = apis.map(\.name).filter { publicURLs[$0]?.lowercased().hasPrefix("https:") == true }
        if certificate == nil, !secure.isEmpty, !hasProxies {
            problems.append(
                """
                The public URLs of \(secure.joined(separator: ", ")) are https, but the server has no certificate, so a \
                proxy is in front of it, and that proxy is not trusted: all its clients count as one address. Set \
                --trusted-proxy to the proxy's address
                """)
        } else if certificate == nil, !isLocal, !hasProxies {
            problems.append(
                """
                The server speaks HTTP on \(host), so passwords and tokens can be read on their way: set --tls-cert \
                and --tls-key, or put a proxy in front and set --trusted-proxy
                """)
        }
        if isDevelopment, !isLocal {
            problems.append("--development shows the causes of errors to every client on \(host): leave it out")
        }
        return problems
    }

    // MARK: Files

    private func folderProblems() -> [String] {
        var path = URL(fileURLWithPath: folder).path
        var isFolder: ObjCBool = false
        while !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), path != "/" {
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
        }
        guard isFolder.boolValue else {
            return ["The data folder \(folder) cannot be created: \(path) is not a folder"]
        }
        guard access(path, W_OK | X_OK) == 0 else {
            return ["The data folder \(folder) cannot be written to: \(path): \(DataFolder.reason())"]
        }
        return []
    }

    private func keyProblems(of apis: [any HostedAPI]) -> [String] {
        let secrets = SecretKeys(folder: folder, environment: environment)
        return apis.flatMap(\.keys).compactMap { key in
            // A key without a variable and a file would be created by reading it.
            let isFile = FileManager.default.fileExists(atPath: "\(folder)/keys/\(key.name)")
            guard environment[key.variable] != nil || isFile else { return nil }
            do {
                switch key.form {
                case .secret: _ = try secrets.key(key.name, variable: key.variable)
                case .rsa: _ = try secrets.localIssuer(key.name, variable: key.variable) { TimeSource.system.seconds }
                }
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    private func certificateProblems() -> [String] {
        guard let certificate else { return [] }
        do {
            let quiet = Logger(label: "certificate") { _ in SwiftLogNoOpLogHandler() }
            _ = try ServerCertificate(certificate, logger: quiet).configuration()
            return []
        } catch {
            return ["\(error)"]
        }
    }

    private func objectProblems(of apis: [any HostedAPI]) -> [String] {
        guard objects != "local", apis.contains(where: { $0.storesFiles }) else { return [] }
        do {
            _ = try (S3Location(objects), S3Credentials(environment: environment))
            return []
        } catch {
            return ["\(error)"]
        }
    }

    // MARK: Other processes

    private func databaseProblems() async -> [String] {
        guard case .postgreSQL(let url) = database else { return [] }
        var problems: [String] = []
        do {
            try await NIOThreadPool.singleton.runIfActive { try Database.reach(url: url, isPooler: false) }
        } catch {
            problems.append("PostgreSQL does not answer: \(error)")
        }
        if let pooler {
            do {
                try await NIOThreadPool.singleton.runIfActive { try Database.reach(url: pooler, isPooler: true) }
            } catch {
                problems.append("The pooler does not answer: \(error)")
            }
        }
        if let replica {
            do {
                try await NIOThreadPool.singleton.runIfActive { try Database.reach(url: replica, isPooler: false) }
            } catch {
                problems.append("The replica does not answer: \(error)")
            }
        }
        if case .redis(let server) = bus {
            do {
                try await NIOThreadPool.singleton.runIfActive { try RedisConnection(to: server).close() }
            } catch {
                problems.append("The event bus does not answer: \(error)")
            }
        }
        return problems
    }

    private func portProblems(of apis: [any HostedAPI]) async -> [String] {
        var problems: [String] = []
        let ports = apis.map { (name: $0.name, port: port(of: $0)) }.filter { $0.port != 0 }
        for (port, sharing) in Dictionary(grouping: ports, by: \.port).sorted(by: { $0.key < $1.key })
        where sharing.count > 1 {
            problems.append("\(sharing.map(\.name).joined(separator: " and ")) have the same port \(port): set --port")
        }
        if isServerRunning { return problems }
        for (name, port) in ports {
            do {
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: host, port: port).get()
                try await channel.close()
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                problems.append("\(AddressTaken(name: name, address: .init(host: host, port: port)))")
            } catch {
                let reason =
                    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "there is no such host"
                problems.append(
                    "\(AddressRefused(name: name, address: .init(host: host, port: port), reason: reason))")
            }
        }
        return problems
    }
}
