import ArgumentParser
import Backend
import ContractServer
import Database
import Foundation
import Identity
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the APIs until SIGTERM or Ctrl-C.",
        discussion: """
            Prints a line for each API with its base URL, then 'ready'. Everything that must survive is in the data \
            folder: databases, uploaded files and generated keys. On SIGTERM or Ctrl-C, requests in flight are \
            finished, live sockets are closed with code 1001, and the process exits with 0.

            A flag wins over its environment variable. Secrets are generated into the data folder on the first \
            start; CONCORD_MESSENGER_TOKEN_KEY, CONCORD_GTSD_TOKEN_KEY, CONCORD_DEUCE_DIARY_REQUEST_KEY, \
            CONCORD_DUNBAR_REQUEST_KEY, CONCORD_MONICA_REQUEST_KEY and CONCORD_URL_KEY (base64 of 32 bytes or more) \
            and CONCORD_DEUCE_DIARY_ISSUER_KEY (an RSA private key) replace them.

            Log lines go to standard error.
            """)

    @Argument(help: "Which APIs: \(Self.names.joined(separator: ", ")). All when none is named.")
    var apis: [String] = []

    @Option(help: "Address to listen on. [CONCORD_HOST] (default: 127.0.0.1)")
    var host: String?

    @Option(help: "Folder for everything that must survive. [CONCORD_DATA] (default: ./data)")
    var data: String?

    @Option(
        help: ArgumentHelp(
            "sqlite: a file for each API in the data folder. Or a PostgreSQL (15 or newer), which several nodes can "
                + "share; each API has a schema of its own in it. [CONCORD_DATABASE] (default: sqlite)",
            valueName: "sqlite|postgres://…"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "What carries events between nodes. local: nothing, for the one node of SQLite. postgres: LISTEN and "
                + "NOTIFY of the database that they share. [CONCORD_BUS] (default: what the database offers)",
            valueName: "local|postgres"))
    var bus: Bus?

    @Option(
        help: ArgumentHelp(
            "local: files in the data folder. Or an S3 bucket, whose endpoint clients must reach too; credentials are "
                + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. [CONCORD_OBJECTS] (default: local)",
            valueName: "local|s3://bucket?endpoint=…"))
    var objects: String?

    @Option(
        help: ArgumentHelp(
            "Port of an API; 0 takes a free one. Repeatable. [CONCORD_PORT_MESSENGER …] (default: \(Self.defaults))",
            valueName: "name=port"))
    var port: [String] = []

    @Option(
        help: ArgumentHelp(
            "What the absolute URLs of an API begin with, as clients reach it. [CONCORD_PUBLIC_URL_MESSENGER …] "
                + "(default: http://localhost:<port>)",
            valueName: "name=url"))
    var publicURL: [String] = []

    @Option(
        help: ArgumentHelp(
            "Address or network (10.0.0.0/8) of proxies whose X-Forwarded-For is believed. Repeatable. "
                + "[CONCORD_TRUSTED_PROXIES, separated by commas]",
            valueName: "ip"), transform: { try AddressRange($0) })
    var trustedProxy: [AddressRange] = []

    @Flag(help: "Answers to unforeseen failures say why (GTSD's stack). Not for production. [CONCORD_DEVELOPMENT=1]")
    var development = false

    @Option(
        help: "trace, debug, info, notice, warning, error or critical. [CONCORD_LOG_LEVEL] (default: info)",
        transform: Serve.level)
    var logLevel: Logger.Level?

    @Option(help: "text or json, a line per event. [CONCORD_LOG_FORMAT] (default: text)")
    var logFormat: LogFormat?

    @OptionGroup(title: "Stored files")
    var storage: StorageOptions

    @OptionGroup(title: "Where database, files and keys do not fit together")
    var belonging: BelongingOptions

    @OptionGroup(title: "Connections")
    var connections: ConnectionOptions

    @OptionGroup(title: "Deuce Diary")
    var deuceDiary: DeuceDiaryOptions

    @OptionGroup(title: "Dunbar")
    var dunbar: DunbarOptions

    static var names: [String] { Composition.apis.map(\.name) }
    static var defaults: String { Composition.apis.map { "\($0.name)=\($0.port)" }.joined(separator: ", ") }

    static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else { throw ValidationError("no log level: \(text)") }
        return level
    }

    /// A database that can be used, by its look.
    static func place(_ text: String) -> String? {
        text == "sqlite" || text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") ? text : nil
    }

    static func store(_ text: String) -> String? { text == "local" || text.hasPrefix("s3://") ? text : nil }

    func validate() throws {
        if let objects, Self.store(objects) == nil {
            throw ValidationError("--objects is 'local' or 's3://bucket?endpoint=…', not '\(objects)'")
        }
        try DatabaseOptions.check(database)
        for name in apis where !Self.names.contains(name) {
            throw ValidationError("There is no API '\(name)'. Known: \(Self.names.joined(separator: ", "))")
        }
        if Set(apis).count < apis.count { throw ValidationError("Name each API once") }
    }

    func run() async throws {
        let environment = Environment.process
        let host = try environment.value(host, "CONCORD_HOST", { $0 }, default: "127.0.0.1")
        let folder = try environment.value(data, "CONCORD_DATA", { $0 }, default: "./data")
        let level = try environment.value(logLevel, "CONCORD_LOG_LEVEL", Logger.Level.init(rawValue:), default: .info)
        let format = try environment.value(
            logFormat, "CONCORD_LOG_FORMAT", LogFormat.init(rawValue:), default: .text)
        let database = try environment.value(database, "CONCORD_DATABASE", Self.place, default: "sqlite")
        try environment.value(bus, "CONCORD_BUS", Bus.init(rawValue:), default: Bus(of: database))
            .check(with: database)
        let ports = try ports(environment)
        let diary = try deuceDiary.settings(environment)
        let people = try dunbar.settings(environment)
        let files = try storage.settings(environment)
        let urls = try publicURLs(environment)

        let writer = LogWriter(to: STDERR_FILENO) { dropped in
            LogOutput.line(.warning, "log lines dropped", ["count": "\(dropped)"], format)
        }
        writer.flushAtExit()
        let logger = Logger(label: "concord") { _ in LogOutput(level: level, format: format, writer: writer) }
        PrivateFiles.keepPrivate()
        MemoryKeeper.begin()
        let proxies = TrustedProxies(try environment.trustedProxies(trustedProxy))
        let limits = try connections.limits(environment, descriptors: raiseDescriptorLimit(), logger: logger) {
            ClientAddress($0).isThisMachine || proxies.contains($0)
        }
        let isLocal = ClientAddress(host).isThisMachine || host == "localhost"
        let drainDelay = try connections.delay(environment, isLocal: isLocal)
        let dataFolder = try DataFolder(folder)
        for path in dataFolder.exposed {
            logger.warning("other users could reach this; it has been made private", metadata: ["path": "\(path)"])
        }
        let composition = Composition(
            folder: dataFolder.path,
            keys: SecretKeys(folder: dataFolder.path, environment: environment.variables),
            passwords: Self.passwords(environment), group: MultiThreadedEventLoopGroup.singleton, logger: logger,
            trustedProxies: proxies, connections: limits,
            publicURL: { name in
                let url = urls[name] ?? "http://localhost:\(ports[name] ?? 0)"
                return url.hasSuffix("/") ? String(url.dropLast()) : url
            },
            storage: files,
            isDevelopment: try development
                || environment.value(nil, "CONCORD_DEVELOPMENT", { ["1": true, "0": false][$0] }, default: false),
            database: database,
            objects: try environment.value(objects, "CONCORD_OBJECTS", Self.store, default: "local"),
            environment: environment.variables, deuceDiary: diary,
            dunbar: people, belonging: belonging)

        let unnamed = (apis.isEmpty ? Self.names : apis).filter { urls[$0] == nil }
        if !isLocal, !unnamed.isEmpty {
            logger.warning(
                "links lead to this machine itself, where no phone finds them: set --public-url NAME=URL",
                metadata: ["apis": "\(unnamed.joined(separator: " "))", "host": "\(host)"])
        }
        let (hosted, waiting) = try await compose(composition)
        for api in hosted { await api.review() }
        let announcement = Announcement(of: hosted.map(\.name))
        var services: [any Service] = hosted.map { api in
            ListenerService(
                hosted: api, address: .init(host: host, port: ports[api.name] ?? 0), logger: logger,
                announcement: announcement)
        }
        do {
            services.append(try OperatorServer(composition, hosted))
        } catch {
            for api in hosted { try? await api.close() }
            throw error
        }
        services.append(Sweeper(hosted: hosted, logger: logger))
        services += hosted.map { Ear(hosted: $0) }
        if !waiting.isEmpty { services.append(Pairer(waiting: waiting)) }
        // Services are shut down from the last to the first: readiness is withdrawn before the listeners stop.
        services.append(MemoryKeeper())
        let ending = Ending(hosted: hosted, logger: logger)
        services.append(Drain(hosted: hosted, ending: ending, delay: drainDelay))
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet(logger))
        // What has not ended by then is cancelled, and then ``Ending`` waits no longer. The library's own limit on that is
        // a trap.
        group.maximumGracefulShutdownDuration = .seconds(24) + drainDelay
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await ServiceGroup(configuration: group).run())
        } catch {
            outcome = .failure(error)
        }
        do {
            for api in hosted { try await api.close() }
            try outcome.get()
        } catch  where ending.hasBegun {
            logger.warning("not everything ended by itself", metadata: ["error": "\(error)"])
        }
        withExtendedLifetime(dataFolder) { logger.info("stopped") }
    }

    /// All of them, or none: what is open by then is closed when one cannot be put together, or has a database, files and
    /// keys that do not belong together.
    ///
    /// - Returns: Also those whose files could not be asked yet.
    private func compose(_ composition: Composition) async throws -> (hosted: [Hosted], waiting: [Hosted]) {
        var (hosted, waiting): ([Hosted], [Hosted]) = ([], [])
        do {
            for name in apis.isEmpty ? Self.names : apis { hosted.append(try composition.host(name)) }
            for api in hosted where try await !api.pair() { waiting.append(api) }
            for api in hosted { try await Waiting.asLongAsItTakes { try await api.prepare() } }
        } catch {
            for api in hosted { try? await api.close() }
            throw error
        }
        return (hosted, waiting)
    }

    /// A debug build hashes passwords many times slower than a release build does, and tests start many servers. To these they
    /// give `CONCORD_TEST_PASSWORDS=1`, which a release build does not look at.
    private static func passwords(_ environment: Environment) -> Passwords {
        #if DEBUG
        if environment.variables["CONCORD_TEST_PASSWORDS"] == "1" { return Passwords(cost: .testing) }
        #endif
        return Passwords()
    }

    private func publicURLs(_ environment: Environment) throws -> [String: String] {
        let urls = try environment.perAPI(publicURL, "CONCORD_PUBLIC_URL", names: Self.names)
        for (name, url) in urls {
            let parts = URLComponents(string: url)
            let isWeb = ["http", "https"].contains(parts?.scheme?.lowercased() ?? "")
            guard isWeb, parts?.host?.isEmpty == false, parts?.query == nil, parts?.fragment == nil else {
                throw ValidationError("\(url) is no public URL for \(name): http://host:port or https://host")
            }
        }
        return urls
    }

    private func ports(_ environment: Environment) throws -> [String: Int] {
        let given = try environment.perAPI(port, "CONCORD_PORT", names: Self.names)
        var ports = Dictionary(uniqueKeysWithValues: Composition.apis.map { ($0.name, $0.port) })
        for (name, text) in given {
            guard let port = Int(text), 0...65_535 ~= port else {
                throw ValidationError("\(text) is no port for \(name): 0 to 65535")
            }
            ports[name] = port
        }
        return ports
    }

    /// The lifecycle library reports each of its steps at a level that operators read.
    private func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = max(.warning, logger.logLevel)
        return quiet
    }

    /// Every socket is a file descriptor; the usual limit of 1,024 is for programs that have few.
    ///
    /// - Returns: The limit.
    private func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        let isRaised = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return Int(clamping: isRaised ? limit.rlim_max : before)
    }
}

/// Says where each API is, in the order in which they were named, and `ready`, once all of them are there.
private actor Announcement {
    private let names: [String]
    private var urls: [String: String] = [:]

    init(of names: [String]) { self.names = names }

    func started(_ name: String, _ url: String) {
        urls[name] = url
        guard urls.count == names.count else { return }
        for name in names { print(name.padding(toLength: 12, withPad: " ", startingAt: 0), urls[name] ?? "") }
        print("ready")
        fflush(nil)
    }
}

private struct ListenerService: Service {
    let hosted: Hosted
    let address: Listener.Address
    let logger: Logger
    let announcement: Announcement

    func run() async throws {
        try await hosted.listener.serve(on: address, logger: logger) { port in
            await announcement.started(hosted.name, "http://\(address.host):\(port)\(hosted.basePath)")
        }
    }
}

private struct Drain: Service {
    let hosted: [Hosted]
    let ending: Ending
    /// For so long requests are still taken.
    let delay: Duration

    func run() async throws {
        try await gracefulShutdown()
        ending.begin(after: delay)
        for api in hosted { api.health.drain() }
        try? await Task.sleep(for: delay)
    }
}

/// Hears what other nodes announce.
private struct Ear: Service {
    let hosted: Hosted

    func run() async throws {
        await cancelWhenGracefulShutdown { await Waiting.asLongAsItTakes { await hosted.listen() } }
        // With one node there is nothing to hear; a service that ends would end the others.
        try await gracefulShutdown()
    }
}
