import Backend
import Database
import GTSDAPI
import Mail
import TimeZones

/// Describes GTSD to the server that hosts it.
public struct HostedGTSD: HostedAPI {
    static let tokenKey = HostedKey(
        "gtsd-tokens", variable: "CONCORD_GTSD_TOKEN_KEY",
        loss: "access tokens are refused, and e-mails that wait cannot be read")

    public let title = "GTSD"
    public let port = 8083
    public let keys = [tokenKey]
    public let schema = GTSDService.schema
    public let operatorCommands: [any OperatorCommand.Type] = [
        GTSDService.Activate.self, GTSDService.Deactivate.self, GTSDService.SignOutEverybody.self,
    ]
    public var settings: GTSDService.Settings
    private let mailer: @Sendable (Platform) -> any Mailer

    /// - Parameter mailer: Makes the mailer that sends e-mails. By default they are files in the data folder.
    public init(
        settings: GTSDService.Settings = .init(),
        mailer: @escaping @Sendable (Platform) -> any Mailer = { MailboxFolder(on: $0, of: GTSD.name) }
    ) {
        self.settings = settings
        self.mailer = mailer
    }

    public var storageLimits: StorageLimits? {
        .init(quota: settings.storageQuota, uploadsPerHour: settings.uploadsPerHour, uploads: "photos")
    }

    public func makeService(on platform: Platform) throws -> GTSDService {
        var settings = settings
        settings.requiredTerms = platform.requiredTerms ?? settings.requiredTerms
        if let limits = platform.storage {
            (settings.storageQuota, settings.uploadsPerHour) = (limits.quota, limits.uploadsPerHour)
        }
        let zones = ZoneDatabase(environment: platform.environment) { [logger = platform.logger] text in
            logger.warning("\(text)")
        }
        for warning in zones.warnings(at: platform.time.seconds) { platform.logger.warning("\(warning)") }
        return GTSDService(
            database: platform.database, objects: platform.objects, passwords: platform.passwords,
            mailer: mailer(platform), secret: try platform.secret(Self.tokenKey), zones: zones, time: platform.time,
            settings: settings,
            report: { [logger = platform.logger] email, error, isTriedAgain in
                logger.logUnsentEmail(email, error, isTriedAgain: isTriedAgain)
            })
    }
}
