import ArgumentParser
import Backend
import ContractServer
import Cores
import DeuceDiaryAPI
import Foundation
import GTSDAPI
import GTSDService
import Identity
import Logging
import MonicaAPI
import MonicaService
import NIOConcurrencyHelpers
import Tracing

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the APIs until SIGTERM or Ctrl-C.",
        discussion: """
            Prints a line for each API with its base URL, then 'ready'. All persistent data is in the data \
            folder: databases, uploaded files and generated keys. On SIGTERM or Ctrl-C, requests in flight are \
            finished, live sockets are closed with code 1001, and the process exits with 0.

            A flag overrides its environment variable. Secrets are generated in the data folder on the first \
            start; \(variables(.secret)) (base64 of 32 bytes or more) and \(variables(.rsa)) (an RSA private key) \
            replace them. These variables, CONCORD_DATABASE, CONCORD_BUS, CONCORD_SMTP, CONCORD_APNS_KEY and those of S3 can also be given as files: \
            CONCORD_SMTP_FILE is the path of a file with the value of CONCORD_SMTP.

            Log lines go to standard error.
            """)

    @Argument(help: "The APIs to serve: \(ConcordAPI.names.joined(separator: ", ")). By default all.")
    var apis: [String] = []

    @Option(help: "The address to listen on. [CONCORD_HOST] (default: 127.0.0.1)")
    var host: String?

    @OptionGroup var place: DatabaseOptions

    @Option(
        help: ArgumentHelp(
            "The event bus between nodes. local: within the process, for the single node of SQLite. postgres: LISTEN "
                + "and NOTIFY of the database that the nodes share. redis://user:password@host:6379 or rediss://…: a Redis "
                + "beside that database. [CONCORD_BUS] (default: the one for the database)",
            valueName: "local|postgres|redis://…"), transform: Bus.flag)
    var bus: Bus?

    @Option(
        help: ArgumentHelp(
            "A pooler of transactions in front of the same PostgreSQL, such as PgBouncer's, for what requests do. All else "
                + "uses --database: LISTEN, migrations, backups. [CONCORD_DATABASE_POOLER] (default: none)",
            valueName: "postgres://…"))
    var databasePooler: String?

    @Option(
        help: ArgumentHelp(
            "A standby of the same PostgreSQL that answers reads. Each commit must wait until the standby shows it; while "
                + "that is not so, the primary answers the reads. [CONCORD_DATABASE_REPLICA] (default: none)",
            valueName: "postgres://…"))
    var databaseReplica: String?

    @Option(
        help: ArgumentHelp(
            "The place of uploaded files. local: in the data folder. Or an S3 bucket, whose endpoint clients must be "
                + "able to reach, too, with the credentials AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. "
                + "[CONCORD_OBJECTS] (default: local)",
            valueName: "local|s3://bucket?endpoint=…"))
    var objects: String?

    @Option(
        help: ArgumentHelp(
            "The port of an API, or of the operator; 0 takes a free one, and operator=off takes none. Repeatable. "
                + "[CONCORD_PORT_MESSENGER …] (default: \(Self.defaults))",
            valueName: "name=port"))
    var port: [String] = []

    @Option(
        help: ArgumentHelp(
            "A number that is added to each default port, for a second server on one machine. [CONCORD_PORT_OFFSET] "
                + "(default: 0)",
            valueName: "number"))
    var portOffset: Int?

    @Option(
        help: ArgumentHelp(
            "The URL by which clients reach an API, without the contract's path. [CONCORD_PUBLIC_URL_MESSENGER …] "
                + "(default: links begin with the address that was asked, those of e-mails with http://localhost:<port>)",
            valueName: "name=url"))
    var publicURL: [String] = []

    @Option(
        help: ArgumentHelp(
            "The address or network (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted. Repeatable. "
                + "[CONCORD_TRUSTED_PROXIES, separated by commas]",
            valueName: "ip"), transform: { try AddressRange($0) })
    var trustedProxy: [AddressRange] = []

    @Flag(
        help:
            "Show the cause of unexpected errors in answers (GTSD's stack). Not for production. [CONCORD_DEVELOPMENT=1]"
    )
    var development = false

    @Option(
        help: ArgumentHelp(
            "Whether each API answers the page of its reference at '/', on which its operations can be tried. "
                + "[CONCORD_REFERENCE] (default: on)",
            valueName: "on|off"))
    var reference: Toggle?

    @Option(
        help: ArgumentHelp(
            "The number of event loops, and of threads for blocking work and for reading; passwords take half as many. "
                + "[CONCORD_THREADS] (default: the cores that the process may use, by its affinity, cpuset and CPU quota)",
            valueName: "count"), transform: Serve.count)
    var threads: Int?

    @Option(
        help:
            "The least level of log lines: trace, debug, info, notice, warning, error or critical. A file 'log-level' in the data folder has precedence; it is read again on SIGHUP. [CONCORD_LOG_LEVEL] (default: info)",
        transform: Serve.level)
    var logLevel: Logger.Level?

    @Option(help: "The format of log lines: text or json. [CONCORD_LOG_FORMAT] (default: text)")
    var logFormat: LogFormat?

    @Option(
        help: ArgumentHelp(
            "A file of words and phrases, one on each line, that are refused with 400 where strangers would read them: in the "
                + "messages, posts, comments, entries and names of Messenger, Dunbar and Deuce Diary. It is read at the start. "
                + "[CONCORD_WORDS] (default: none)",
            valueName: "file"))
    var words: String?

    @Option(
        help: ArgumentHelp(
            "A file of words and phrases as for --words. Texts that have one are published, and reported to the queue of "
                + "'concord reports'. [CONCORD_FLAG_WORDS] (default: none)",
            valueName: "file"))
    var flagWords: String?

    @OptionGroup var appLinks: AppLinkOptions

    @OptionGroup(title: "Who runs the server, and its terms")
    var about: AboutOptions

    @OptionGroup(title: "Stored files")
    var storage: StorageOptions

    @OptionGroup(title: "When database, files and keys do not belong together")
    var start: StartOptions

    @OptionGroup(title: "Backups")
    var backups: BackupOptions

    @OptionGroup(title: "Connections")
    var connections: ConnectionOptions

    @OptionGroup(title: "Monitoring")
    var monitoring: MonitoringOptions

    @OptionGroup(title: "E-mails")
    var mail: MailOptions

    @OptionGroup(title: "Messenger")
    var messenger: MessengerOptions

    @OptionGroup(title: "Deuce Diary")
    var deuceDiary: DeuceDiaryOptions

    @OptionGroup(title: "Dunbar")
    var dunbar: DunbarOptions

    private static var defaults: String {
        (ConcordAPI.all.map { "\($0.name)=\($0.hosted.port)" }
            + ["\(MonitoringOptions.portName)=\(MonitoringOptions.defaultPort)"]).joined(separator: ", ")
    }

    /// Returns the environment variables that replace keys of a form, for the help text.
    private static func variables(_ form: HostedKey.Form) -> String {
        ConcordAPI.all.flatMap(\.hosted.keys).filter { $0.form == form }.map(\.variable)
            .formatted(.list(type: .and).locale(Locale(identifier: "en_GB")))
    }

    static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else { throw ValidationError("'\(text)' is not a log level") }
        return level
    }

    static func count(_ text: String) throws -> Int {
        guard let count = threads(text) else {
            throw ValidationError("'\(text)' is not a number of threads: 1 to 1024")
        }
        return count
    }

    private static func threads(_ text: String) -> Int? { Int(text).flatMap { 1...1024 ~= $0 ? $0 : nil } }

    /// Decides for how many cores this process makes threads.
    private func chooseCores(_ environment: Environment) throws {
        let usable = UsableCores.current
        let count = try environment.value(
            threads, "CONCORD_THREADS", Self.threads, default: usable.count, shown: "\(usable)")
        if count != usable.count { UsableCores.choose(.init(count: count, reason: "CONCORD_THREADS or --threads")) }
    }

    static func postgreSQL(_ text: String) -> String? {
        guard case .postgreSQL? = DatabaseLocation(text) else { return nil }
        return text
    }

    static func store(_ text: String) -> String? { text == "local" || text.hasPrefix("s3://") ? text : nil }

    func validate() throws {
        if let objects, Self.store(objects) == nil {
            throw ValidationError("--objects must be 'local' or 's3://bucket?endpoint=…', not '\(objects)'")
        }
        if let databasePooler, Self.postgreSQL(databasePooler) == nil {
            throw ValidationError("--database-pooler must be 'postgres://…'")
        }
        if let databaseReplica, Self.postgreSQL(databaseReplica) == nil {
            throw ValidationError("--database-replica must be 'postgres://…'")
        }
    }

    /// Checks the names of the APIs. It does not belong to ``validate()``, which runs before unknown options are found:
    /// the value of a misspelt option would be reported as an unknown API.
    private func checkNames() throws {
        for name in apis { _ = try ConcordAPI.named(name) }
        if Set(apis).count < apis.count { throw ValidationError("Name each API once") }
    }

    func run() async throws {
        let environment = try place.data.ofServer()
        try chooseCores(environment)
        ProcessThreads.begin()
        let (served, known) = try hosted(environment)
        let metrics = MonitoringOptions.begin()
        var settings = try settings(environment)
        settings.metrics = metrics
        settings.inForce = describedOnce(environment, settings.logger)
        if let tracer = settings.tracer { InstrumentationSystem.bootstrap(tracer) }
        try await Server(served, known: known, settings: settings).run()
    }

    /// Returns a function that describes the settings the first time that it is called.
    ///
    /// - Parameter environment: The variables of the start. A file with a secret may change while the server runs.
    private func describedOnce(_ environment: Environment, _ logger: Logger) -> @Sendable () throws -> String {
        let described = NIOLockedValueBox<String?>(nil)
        return { [self] in
            try described.withLockedValue { described in
                if let described { return described }
                let ledger = SettingsLedger()
                let read = Config.read(self, environment, into: ledger)
                for line in read?.environment.unknownVariables() ?? [] { logger.warning("\(line)") }
                let text = try JSONLine.encode(ledger.settings)
                described = text
                return text
            }
        }
    }

    /// Returns the APIs to serve, and all that commands may be for.
    func hosted(_ environment: Environment) throws -> (served: [any HostedAPI], known: [any HostedAPI]) {
        try checkNames()
        let mailing = try mail.settings(environment)
        let known = ConcordAPI.all(
            messenger: try messenger.hosted(environment, mail: mailing),
            deuceDiary: try deuceDiary.settings(environment),
            monica: HostedMonica(mail: mailing),
            gtsd: HostedGTSD { mailing.mailer(on: $0, of: GTSD.name).mailer },
            dunbar: dunbar.settings(environment, mail: mailing)
        ).map(\.hosted)
        return (apis.isEmpty ? known : apis.compactMap { name in known.first { $0.name == name } }, known)
    }

    /// Returns the settings of the server.
    ///
    /// - Parameter quiet: A logger that replaces the server's own, for a command that starts no server.
    func settings(_ environment: Environment, logger quiet: Logger? = nil) throws -> ServerSettings {
        let level = try environment.value(logLevel, "CONCORD_LOG_LEVEL", Logger.Level.init(rawValue:), default: .info)
        let format = try environment.value(
            logFormat, "CONCORD_LOG_FORMAT", LogFormat.init(rawValue:), default: .text)
        try chooseCores(environment)
        let database = try place.location(environment)
        let bus = try environment.value(bus, "CONCORD_BUS", { Bus($0) }, default: Bus(of: database))
        try bus.check(with: database)
        let pooler = try environment.value(
            databasePooler, "CONCORD_DATABASE_POOLER", Self.postgreSQL, default: "", shown: "none")
        guard pooler.isEmpty || database != .sqlite else {
            throw ValidationError("--database-pooler needs --database postgres://…, the database without the pooler")
        }
        let replica = try environment.value(
            databaseReplica, "CONCORD_DATABASE_REPLICA", Self.postgreSQL, default: "", shown: "none")
        guard replica.isEmpty || database != .sqlite else {
            throw ValidationError("--database-replica needs --database postgres://…, the database that takes writes")
        }
        let folder = try place.folder(environment)
        let logLevel = LogLevel(level, folder: folder)
        var settings = ServerSettings(
            folder: folder, environment: environment.variables,
            logger: quiet ?? Logger(label: "concord") { _ in SwiftLogNoOpLogHandler() })
        if quiet == nil { Self.log(settings: &settings, logLevel, format) }
        settings.reload = { [logger = settings.logger] in
            if let text = logLevel.read() {
                logger.warning("this is not a log level", metadata: ["path": "\(folder)/log-level", "text": "\(text)"])
            }
            return ["log-level": "\(logLevel.value)"]
        }
        settings.host = try environment.value(host, "CONCORD_HOST", { $0 }, default: settings.host)
        let offset = try environment.value(portOffset, "CONCORD_PORT_OFFSET", { Int($0) }, default: 0)
        guard 0...50_000 ~= offset else { throw ValidationError("--port-offset is a number from 0 to 50000") }
        let given = try environment.perAPI(
            port, "CONCORD_PORT", names: ConcordAPI.names + [MonitoringOptions.portName]
        ) { name in
            "\((ConcordAPI.all.first { $0.name == name }?.hosted.port ?? MonitoringOptions.defaultPort) + offset)"
        }
        settings.ports = try ports(given, offset, environment)
        settings.operatorAddress = try monitoring.address(
            environment, port: given[MonitoringOptions.portName], default: MonitoringOptions.defaultPort + offset)
        settings.isOperatorPortFree = given[MonitoringOptions.portName] == nil
        settings.tracer = try monitoring.tracer(environment)
        settings.publicURLs = try publicURLs(environment)
        settings.database = database
        settings.bus = bus.announcements
        settings.pooler = pooler.isEmpty ? nil : pooler
        settings.replica = replica.isEmpty ? nil : replica
        settings.objects = try environment.value(objects, "CONCORD_OBJECTS", Self.store, default: "local")
        settings.passwords = Self.passwords(environment)
        let proxies = TrustedProxies(try environment.trustedProxies(trustedProxy))
        settings.trustedProxies = proxies
        settings.certificate = try connections.certificate(environment)
        settings.connections = try connections.limits(
            environment, descriptors: raiseDescriptorLimit(), logger: settings.logger
        ) {
            ClientAddress($0).isThisMachine || proxies.contains($0)
        }
        settings.storage = try storage.limits(environment)
        settings.reserve = try storage.reserve(environment)
        settings.isDevelopment = try environment.value(
            development ? true : nil, "CONCORD_DEVELOPMENT", { ["1": true, "0": false][$0] }, default: false)
        settings.drainDelay = try connections.delay(environment, isLocal: settings.isLocal)
        settings.exceptions = start.exceptions
        settings.backups = try backups.settings(environment)
        settings.version = Concord.version
        let page = try environment.value(reference, "CONCORD_REFERENCE", Toggle.init(rawValue:), default: .on)
        settings.documents = ConcordAPI.documents(
            of: apis.isEmpty ? ConcordAPI.names : apis, settings, withPage: page == .on)
        settings.appLinks = try appLinks.links(environment)
        try deuceDiary.requireApp(settings.appLinks[DeuceDiary.name] != nil, environment)
        settings.operatorDocuments = MonitoringOptions.documents
        settings.sendTestEmail = try mail.testSender(environment, folder: folder)
        settings.reportNotices = try mail.reportNotices(environment, folder: folder)
        settings.words = try wordList("--words", words, "CONCORD_WORDS", environment)
        settings.flaggedWords = try wordList("--flag-words", flagWords, "CONCORD_FLAG_WORDS", environment)
        settings.about = try about.about(environment)
        settings.requiresTerms = try about.mustAccept(settings.about, environment)
        return settings
    }

    private func wordList(
        _ option: String, _ path: String?, _ variable: String, _ environment: Environment
    ) throws -> WordList? {
        let path = try environment.value(path, variable, { $0 }, default: "")
        if path.isEmpty { return nil }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), text.utf8.count <= 4 << 20 else {
            throw ValidationError("\(option): \(path) cannot be read as a text of at most 4 MiB")
        }
        do { return try WordList(text) } catch { throw ValidationError("\(option): \(path) cannot be used: \(error)") }
    }

    /// Lets a server write its log to standard error, and keep the newest lines.
    private static func log(settings: inout ServerSettings, _ level: LogLevel, _ format: LogFormat) {
        let writer = LogWriter(to: STDERR_FILENO) { dropped in
            LogOutput.line(.warning, "log lines dropped", ["count": .stringConvertible(dropped)], format)
        }
        writer.flushAtExit()
        BusErrors.explain { LogOutput.line(.critical, $0, [:], format, at: nil) }
        settings.logger = Logger(label: "concord") { _ in LogOutput(level: level, format: format, writer: writer) }
        settings.recentLines = writer.recentLines
    }

    /// Returns the hasher of passwords. A debug build hashes many times slower than a release build, and tests start
    /// many servers, so they set `CONCORD_TEST_PASSWORDS=1`, which a release build ignores.
    private static func passwords(_ environment: Environment) -> Passwords {
        #if DEBUG
        if environment.variables["CONCORD_TEST_PASSWORDS"] == "1" { return Passwords(cost: .testing) }
        #endif
        return Passwords()
    }

    private func publicURLs(_ environment: Environment) throws -> [String: String] {
        let urls = try environment.perAPI(publicURL, "CONCORD_PUBLIC_URL", names: ConcordAPI.names) { _ in
            "http://localhost:<port>"
        }
        for (name, url) in urls {
            let parts = URLComponents(string: url)
            let isWeb = ["http", "https"].contains(parts?.scheme?.lowercased() ?? "")
            guard isWeb, parts?.host?.isEmpty == false, parts?.query == nil, parts?.fragment == nil else {
                let source = environment.source("CONCORD_PUBLIC_URL", of: name, flags: publicURL)
                throw ValidationError(
                    "\(url) is not a public URL for \(name) such as http://host:port or https://host\(source)")
            }
        }
        return urls
    }

    private func ports(_ given: [String: String], _ offset: Int, _ environment: Environment) throws -> [String: Int] {
        var ports = Dictionary(uniqueKeysWithValues: ConcordAPI.all.map { ($0.name, $0.hosted.port + offset) })
        for (name, text) in given where name != MonitoringOptions.portName {
            guard let port = Int(text), 0...65_535 ~= port else {
                let source = environment.source("CONCORD_PORT", of: name, flags: port)
                throw ValidationError("\(text) is not a port for \(name): 0 to 65535\(source)")
            }
            ports[name] = port
        }
        return ports
    }

    /// Raises the limit of file descriptors to the maximum, because every socket needs one and the usual limit is
    /// 1,024.
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
