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
            repeats of requests under an Idempotency-Key of the last day are refused, and e-mails that wait cannot be read
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
    private let mailer: @Sendable (Platform) -> any Mailer

    /// - Parameter mailer: Makes the mailer that sends e-mails. By default they are files in the data folder.
    public init(
        limits: MonicaService.Limits = .init(),
        mailer: @escaping @Sendable (Platform) -> any Mailer = { MailboxFolder(on: $0, of: Monica.name) }
    ) {
        self.limits = limits
        self.mailer = mailer
    }

    public func makeService(on platform: Platform) throws -> MonicaService {
        var settings = MonicaService.Settings(publicURL: platform.publicURL)
        settings.limits = limits
        let zones = ZoneDatabase(environment: platform.environment) { [logger = platform.logger] text in
            logger.warning("\(text)")
        }
        for warning in zones.warnings(at: platform.time.seconds) { platform.logger.warning("\(warning)") }
        return MonicaService(
            database: platform.database, objects: platform.objects, mailer: mailer(platform),
            secret: try platform.secret(Self.requestKey), zones: zones, time: platform.time, settings: settings,
            logger: platform.logger)
    }
}
