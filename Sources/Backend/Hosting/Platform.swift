import Contract
import ContractServer
import Database
import Identity
import Logging
import NIOCore
import ObjectStore
public import Tracing

/// The resources that a server offers to the service of one API.
public struct Platform: Sendable {
    /// The API's own database, up to date with its schema.
    public var database: Database
    /// The object store, for services that are a ``FileStoringService``.
    public var objects: any ObjectStore {
        get {
            guard let store else { preconditionFailure("a service that stores files is a FileStoringService") }
            return store
        }
        set { store = newValue }
    }
    var store: (any ObjectStore)?
    /// The secret keys of this server.
    public var secrets: SecretKeys
    /// The keys that services use, for rotations.
    var keysInUse = KeysInUse()
    /// Hashes and verifies passwords on threads of its own.
    public var passwords: Passwords
    /// The event loops on which sockets live.
    public var group: any EventLoopGroup
    public var time: TimeSource
    /// A logger whose lines name the API.
    public var logger: Logger
    /// The URL by which clients reach this API, without a slash at its end and without the base path.
    public var publicURL: String
    /// Whether the operator has set no public URL, so that links in answers begin with the host that the client has asked
    /// (`LinkOrigin`).
    public var linksFollowHost = false
    /// Whether the listener speaks TLS.
    public var isEncrypted = false
    /// The data folder, for files that are neither in the database nor in the object store.
    public var folder: String
    /// The environment variables of the process.
    public var environment: [String: String]
    /// The proxies whose `X-Forwarded-For` is trusted.
    public var trustedProxies = TrustedProxies()
    /// The storage limits of one user, as the operator has set them; nil for the API's defaults.
    public var storage: StorageLimits?
    /// The space that uploads leave free on the data folder's disk; nil where nothing watches over it.
    public var reserve: DiskReserve?
    /// Whether answers to unexpected errors say what went wrong.
    public var isDevelopment = false
    /// Who runs the server, and on which terms.
    public var about = About()
    /// Whether a person who registers must accept the terms of ``about``.
    public var requiresTerms = false
    /// The words that are refused in texts that strangers read; nil for none.
    public var words: WordList?
    /// The words that are reported in texts that strangers read.
    public var flaggedWords = FlaggedWords()
    /// The version of the terms that a person must accept who registers; nil for any or none.
    public var requiredTerms: String? { requiresTerms ? about.version : nil }
    /// Records a span for each request; nil for none.
    public var tracer: (any Tracer)?
    /// The documents that are answered beside the operations.
    public var documents: [ServedDocument] = []
    /// The apps that open the API's links; nil where none does.
    public var appLinks: AppLinks?
    /// The outcome of the last scheduled backup; nil where none are made.
    var backups: BackupState?
    /// The memory that requests and answers may take together.
    public var memory = RequestMemory()

    /// - Parameter objects: The object store; only a ``FileStoringService`` needs one.
    public init(
        database: Database, objects: (any ObjectStore)? = nil, secrets: SecretKeys, passwords: Passwords,
        group: any EventLoopGroup, time: TimeSource = .system, logger: Logger, publicURL: String, folder: String,
        environment: [String: String] = [:]
    ) {
        self.database = database
        self.store = objects
        self.secrets = secrets
        self.passwords = passwords
        self.group = group
        self.time = time
        self.logger = logger
        self.publicURL = publicURL
        self.folder = folder
        self.environment = environment
    }

    /// Returns one of the API's keys, with its former version. Both are replaced when the operator rotates the key. A key
    /// that is missing is made.
    ///
    /// - Throws: `SecretKeyError`, whose description is for the operator.
    public func secret(_ key: HostedKey) throws -> Secret { try keysInUse.secret(key, from: secrets) }

    /// Returns the issuer of tokens that are signed with one of the API's RSA keys. Its keys are replaced when the
    /// operator rotates them. A key that is missing is made.
    ///
    /// - Throws: `SecretKeyError`, whose description is for the operator.
    public func issuer(_ key: HostedKey) throws -> LocalIssuer {
        let read = { @Sendable [secrets, time] in
            try secrets.localIssuer(key.name, variable: key.variable) { time.seconds }
        }
        let issuer = try read()
        keysInUse.add(key) { issuer.acceptOnly(tokensOf: try read()) }
        return issuer
    }
}
