import Contract
import ContractServer
import Database
import Foundation
import Identity
import Logging
import ObjectStore
public import PrometheusMetrics

/// The settings of a ``Server``.
public struct ServerSettings: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The data folder: databases, files, generated keys. One process owns it at a time.
    public var folder: String
    /// The ports, by the names of the APIs. An API that is not named takes its own default; 0 takes a free one.
    public var ports: [String: Int] = [:]
    /// The URLs by which clients reach the APIs, by their names.
    public var publicURLs: [String: String] = [:]
    public var database = DatabaseLocation.sqlite
    /// The URL of a pooler of transactions in front of PostgreSQL, such as PgBouncer's; nil for none.
    public var pooler: String?
    /// The URL of a standby of PostgreSQL, which answers reads while commits wait for it; nil for none.
    public var replica: String?
    /// The way by which nodes that share a PostgreSQL database tell each other what happened.
    public var bus = AnnouncementBus.postgreSQL
    /// The place of uploaded files: `local` for a folder in the data folder, or the URL of an S3 bucket
    /// (`s3://bucket?endpoint=…`).
    public var objects = "local"
    /// The environment variables, which may contain keys and credentials.
    public var environment: [String: String]
    public var passwords = Passwords()
    public var logger: Logger
    /// The proxies whose `X-Forwarded-For` is trusted.
    public var trustedProxies = TrustedProxies()
    /// The files of the certificate with which every API speaks TLS; nil for plain HTTP.
    public var certificate: CertificateFiles?
    /// Bounds the connections of all APIs together; nil for any number. By default there are at most 1,000, and 100 from one
    /// address.
    public var connections: ConnectionLimits?
    /// The address of the operator's port, which answers `GET /metrics`; nil for none. It is for this machine or a
    /// private network: it asks for no credentials and speaks plain HTTP.
    public var operatorAddress: Listener.Address?
    /// Whether the operator's port may be another one when it is taken, because the operator has not chosen it.
    public var isOperatorPortFree = false
    /// The metrics that the operator's port shows: those with which the program has bootstrapped swift-metrics.
    public var metrics: PrometheusRegistry?
    /// Records spans, which the server sends to a collector; nil for none. The program has also bootstrapped
    /// swift-distributed-tracing with it, for the spans of transactions and of calls of a bucket.
    public var tracer: OTLPTracer?
    /// The storage limits of one user, by the names of the APIs.
    public var storage: [String: StorageLimits] = [:]
    /// The space that uploads leave free on the data folder's disk.
    public var reserve = DiskReserve()
    /// Whether answers to unexpected errors say what went wrong.
    public var isDevelopment = false
    /// Who runs the server, and on which terms, by the names of the APIs.
    public var about: [String: About] = [:]
    /// The words that are refused in texts that strangers read; nil for none.
    public var words: WordList?
    /// The words that are reported in texts that strangers read; nil for none.
    public var flaggedWords: WordList?
    /// Whether a person who registers must accept the terms' version of ``about``.
    public var requiresTerms = false
    /// The time during which requests are still accepted after SIGTERM, while `/ready` answers 503.
    public var drainDelay = Duration.zero
    /// Reads again what may change while the server runs, when the operator sends SIGHUP. It returns what is in force
    /// now, for the log.
    public var reload: @Sendable () -> Logger.Metadata = { [:] }
    /// Returns the settings that are in force, as the operator's commands show them. The server asks for them once it
    /// answers requests, so that it tells later what it was started with.
    public var inForce: @Sendable () throws -> String = { "" }
    /// The version of the program, which backups record.
    public var version = ""
    /// The backups that the server makes by itself; nil for none.
    public var backups: BackupSettings?
    /// The address that receives e-mails about new reports; nil for none.
    public var reportNotices: ReportNoticeSettings?
    /// The documents that are answered beside the operations, by the names of the APIs.
    public var documents: [String: [ServedDocument]] = [:]
    /// The files of the operator's page, which the operator's port answers beside its API.
    public var operatorDocuments: [ServedDocument] = []
    /// Returns the newest lines of the log, the oldest first, for the operator's page.
    public var recentLines: @Sendable () -> [RecentLines.Line] = { [] }
    /// Sends a test e-mail to an address, and returns a sentence that says which mail server has taken it. Its errors have
    /// descriptions for the operator.
    public var sendTestEmail: @Sendable (_ address: String) async throws -> String = { _ in
        throw OperatorError("This server has no mail server")
    }
    /// The apps that open links, by the names of the APIs.
    public var appLinks: [String: AppLinks] = [:]
    /// The APIs for which the operator overrides a check of the start.
    public var exceptions = StartExceptions()

    /// Makes settings with defaults.
    ///
    /// - Parameters:
    ///   - folder: The data folder; the server creates it when there is none.
    ///   - logger: The server's logger. By default lines go to standard error.
    public init(
        folder: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        logger: Logger = Logger(label: "server") { StreamLogHandler.standardError(label: $0) }
    ) {
        self.folder = folder
        self.environment = environment
        self.logger = logger
        connections = ConnectionLimits(logger: logger)
    }

    /// Returns the port on which an API listens.
    func port(of api: any HostedAPI) -> Int { ports[api.name] ?? api.port }

    /// Returns the URL by which clients reach an API, without a slash at its end.
    func publicURL(of api: any HostedAPI) -> String {
        let url = publicURLs[api.name] ?? "\(scheme)://localhost:\(port(of: api))"
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// The scheme of the URLs at which the server listens.
    var scheme: String { certificate == nil ? "http" : "https" }

    /// Whether the server listens on this machine's loopback address alone.
    public var isLocal: Bool { ClientAddress(host).isThisMachine || host == "localhost" }
}

/// The checks that an operator overrides for one start, by the names of the APIs.
public struct StartExceptions: Sendable {
    /// Accepts files that are marked as another database's as this database's own.
    public var adoptStore: Set<String> = []
    /// Accepts the keys of this start as those of all nodes from now on.
    public var adoptKeys: Set<String> = []
    /// Lets sweeps remove any number of files at once.
    public var allowSweep: Set<String> = []

    public init() {}
}
