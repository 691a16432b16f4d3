import Backend
import Database
import Mail
import MessengerAPI

/// Describes Messenger to the server that hosts it.
public struct HostedMessenger: HostedAPI {
    static let tokenKey = HostedKey(
        "messenger-tokens", variable: "CONCORD_MESSENGER_TOKEN_KEY",
        loss: "all users are signed out, and e-mails that wait cannot be read")

    public let title = "Messenger"
    public let port = 8080
    public let keys = [tokenKey]
    public let schema = MessengerService.schema
    public let operatorCommands: [any OperatorCommand.Type] = [MessengerService.SignOutEverybody.self]
    public var settings: MessengerService.Settings
    private let mailer: @Sendable (Platform) -> any Mailer

    /// - Parameter mailer: Makes the mailer that sends e-mails. By default they are files in the data folder.
    public init(
        settings: MessengerService.Settings = .init(),
        mailer: @escaping @Sendable (Platform) -> any Mailer = { MailboxFolder(on: $0, of: Messenger.name) }
    ) {
        self.settings = settings
        self.mailer = mailer
    }

    public var storageLimits: StorageLimits? {
        .init(quota: settings.storageQuota, uploadsPerHour: settings.uploadsPerHour)
    }

    public func makeService(on platform: Platform) throws -> MessengerService {
        var settings = settings
        settings.requiredTerms = platform.requiredTerms ?? settings.requiredTerms
        settings.flaggedWords = platform.flaggedWords
        if let limits = platform.storage {
            (settings.storageQuota, settings.uploadsPerHour) = (limits.quota, limits.uploadsPerHour)
        }
        return MessengerService(
            database: platform.database, objects: platform.objects, passwords: platform.passwords,
            mailer: mailer(platform),
            secret: try platform.secret(Self.tokenKey), group: platform.group, time: platform.time,
            settings: settings, logger: platform.logger)
    }
}
