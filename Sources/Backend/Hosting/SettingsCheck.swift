import ContractServer
import Database
import Foundation
import Identity
import Logging
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
        problems += folderProblems() + keyProblems(of: apis) + certificateProblems()
        problems += movedDatabases(of: apis).map(\.description)
        problems += await objectProblems(of: apis)
        problems += await databaseProblems(of: apis)
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
        let plainLinks = apis.filter { api in
            appLinks[api.name] != nil && !publicURL(of: api).lowercased().hasPrefix("https:")
        }.map(\.name)
        if !plainLinks.isEmpty {
            problems.append(
                """
                The links of \(plainLinks.joined(separator: ", ")) open no app, because their public URL is not https: set \
                --public-url NAME=https://…
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
        guard let space = try? reserve.space(of: path), space.available < reserve.bytes(of: space) else { return [] }
        return [
            """
            The disk of \(folder) has \(space.available >> 20) MiB left, less than the reserve of \
            \(reserve.bytes(of: space) >> 20) MiB: uploads are refused (507) until there is more, or --disk-reserve is less
            """
        ]
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
            return try [ServerCertificate.expiryProblem(certificate, now: Date())].compactMap { $0 }
        } catch {
            return ["\(error)"]
        }
    }

    private func objectProblems(of apis: [any HostedAPI]) async -> [String] {
        guard objects != "local", let api = apis.first(where: { $0.storesFiles }) else { return [] }
        do {
            let bucket = try S3ObjectStore(
                location: try S3Location(objects).folder(api.name),
                credentials: try S3Credentials(environment: environment),
                spoolFolder: "\(folder)/uploads/\(api.name)", reserve: reserve, now: { TimeSource.system.seconds })
            do { try await bucket.reach() } catch {
                try await bucket.close()
                return ["The bucket \(objects.prefix { $0 != "?" }) cannot be used: \(error)"]
            }
            try await bucket.close()
            return []
        } catch {
            return ["\(error)"]
        }
    }

    // MARK: Other processes

    private func databaseProblems(of apis: [any HostedAPI]) async -> [String] {
        switch database {
        case .sqlite: return await contentProblems(of: apis, url: nil)
        case .postgreSQL(let url):
            let problems = await serverProblems(url)
            return problems.isEmpty ? await contentProblems(of: apis, url: url) : problems
        }
    }

    /// Looks whether this program can use the databases, and whether the clock is behind their times.
    private func contentProblems(of apis: [any HostedAPI], url: String?) async -> [String] {
        var problems: [String] = []
        for api in apis {
            let (path, now) = (DatabaseLocation.file(of: api.name, in: folder), TimeSource.system.milliseconds())
            do {
                let ahead = try await NIOThreadPool.singleton.runIfActive {
                    try Database.look(url: url, path: path, schema: api.schema) { db in
                        try StoredTimes.ahead(of: now, api.storedTimes, in: db)
                    } ?? nil
                }
                guard let ahead else { continue }
                problems.append(
                    """
                    The \(api.title) database has times up to \(ahead.newest), which lie ahead of the clock: \
                    \(StoredTimes.Ahead.meaning)
                    """)
            } catch {
                problems.append("\(error)")
            }
        }
        return problems
    }

    private func serverProblems(_ url: String) async -> [String] {
        var problems: [String] = []
        let servers: [(name: String, url: String?, isPooler: Bool)] = [
            ("PostgreSQL", url, false), ("The pooler", pooler, true), ("The replica", replica, false),
        ]
        for case (let name, let url?, let isPooler) in servers {
            do {
                try await NIOThreadPool.singleton.runIfActive { try Database.reach(url: url, isPooler: isPooler) }
            } catch let error as UnsuitableEncoding {
                problems.append("\(error)")
            } catch {
                problems.append("\(name) does not answer: \(error)")
            }
        }
        if problems.isEmpty, backups != nil {
            let tools = PostgreSQLTools(environment: environment)
            do { try await NIOThreadPool.singleton.runIfActive { try tools.requireDump(of: url) } } catch {
                problems.append("Backups will fail: \(error)")
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
}
