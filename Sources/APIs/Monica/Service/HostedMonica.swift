import Backend
import Database
import Mail
import MonicaAPI
import TimeZones

/// Describes Monica to the server that hosts it.
public struct HostedMonica: HostedAPI {
    static let requestKey = HostedKey(
        "monica-requests", variable: "CONCORD_MONICA_REQUEST_KEY",
        loss: """
            links to its photos are refused, and so are repeats of requests under an Idempotency-Key of the last day, and \
            e-mails that wait cannot be read
            """)

    public let title = "Monica"
    public let port = 8082
    public let keys = [requestKey]
    public let schema = MonicaService.schema
    public let accountsTable = "accounts"
    public let operatorCommands: [any OperatorCommand.Type] = [
        MonicaService.CreateToken.self, MonicaService.ListTokens.self, MonicaService.RevokeToken.self,
        MonicaService.CreateCode.self, MonicaService.RegisterApp.self, MonicaService.ListApps.self,
        MonicaService.RemoveApp.self, MonicaService.SetAccount.self, MonicaService.ImportCards.self,
        MonicaService.ImportRecords.self, MonicaService.ExportAccount.self,
    ]
    public var tokenCommands: (any TokenCommands)? { MonicaTokenCommands() }
    public var limits: MonicaService.Limits
    private let photos: @Sendable (Platform) -> MonicaService.PhotoMaker
    private let initials: @Sendable (Platform) -> MonicaService.InitialsMaker
    private let mailer: @Sendable (Platform) -> any Mailer

    private let startupWarnings: @Sendable (Platform) async -> Void

    /// - Parameters:
    ///   - photos: Makes the converter of photos.
    ///   - initials: Makes the drawer of initials.
    ///   - mailer: Makes the mailer that sends e-mails. By default they are files in the data folder.
    ///   - startupWarnings: Logs at the start which functions will not work.
    public init(
        limits: MonicaService.Limits = .init(), photos: @escaping @Sendable (Platform) -> MonicaService.PhotoMaker,
        initials: @escaping @Sendable (Platform) -> MonicaService.InitialsMaker,
        mailer: @escaping @Sendable (Platform) -> any Mailer = { MailboxFolder(on: $0, of: Monica.name) },
        startupWarnings: @escaping @Sendable (Platform) async -> Void = { _ in }
    ) {
        self.limits = limits
        self.photos = photos
        self.initials = initials
        self.mailer = mailer
        self.startupWarnings = startupWarnings
    }

    public var storageLimits: StorageLimits? {
        .init(quota: limits.storageQuota, uploadsPerHour: limits.uploadsPerHour, uploads: "photos and documents")
    }

    public func makeService(on platform: Platform) throws -> MonicaService {
        var settings = MonicaService.Settings(publicURL: platform.publicURL)
        settings.limits = limits
        if let storage = platform.storage {
            (settings.limits.storageQuota, settings.limits.uploadsPerHour) = (storage.quota, storage.uploadsPerHour)
        }
        let zones = ZoneDatabase(environment: platform.environment) { [logger = platform.logger] text in
            logger.warning("\(text)")
        }
        for warning in zones.warnings(at: platform.time.seconds) { platform.logger.warning("\(warning)") }
        return MonicaService(
            database: platform.database, objects: platform.objects, photos: photos(platform),
            initials: initials(platform), mailer: mailer(platform), secret: try platform.secret(Self.requestKey),
            zones: zones, time: platform.time,
            settings: settings,
            logger: platform.logger)
    }

    public func logStartupWarnings(on platform: Platform) async { await startupWarnings(platform) }
}
