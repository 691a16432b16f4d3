import Backend
import Database
import Mail

/// Describes Dunbar to the server that hosts it.
public struct HostedDunbar: HostedAPI {
    static let requestKey = HostedKey(
        "dunbar-requests", variable: "CONCORD_DUNBAR_REQUEST_KEY",
        loss: "e-mails that wait cannot be read, links to its files are refused, and so are repeats of "
            + "requests under an Idempotency-Key of the last day")

    public let title = "Dunbar"
    public let port = 5000
    public let keys = [requestKey]
    public let schema = DunbarService.schema
    public let linkPaths = ["/api/verify-email/*", "/api/reset-password*", "/posts/*"]
    public let operatorCommands: [any OperatorCommand.Type] = [
        DunbarService.Promote.self, DunbarService.Demote.self, DunbarService.SignOutEverybody.self,
    ]
    private let settings: @Sendable (_ publicURL: String) -> DunbarService.Settings
    private let images: @Sendable (Platform) -> DunbarService.ImageMaker
    private let mailer: @Sendable (Platform) -> any Mailer
    private let startupWarnings: @Sendable (Platform) async -> Void

    /// - Parameters:
    ///   - settings: Returns the settings for a public URL.
    ///   - images: Makes the converter of photos and pictures.
    ///   - mailer: Makes the mailer that sends e-mails.
    ///   - startupWarnings: Logs at the start which functions will not work.
    public init(
        settings: @escaping @Sendable (_ publicURL: String) -> DunbarService.Settings,
        images: @escaping @Sendable (Platform) -> DunbarService.ImageMaker,
        mailer: @escaping @Sendable (Platform) -> any Mailer,
        startupWarnings: @escaping @Sendable (Platform) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.images = images
        self.mailer = mailer
        self.startupWarnings = startupWarnings
    }

    public var storageLimits: StorageLimits? {
        let settings = settings("")
        return .init(
            quota: settings.storageQuota, uploadsPerHour: settings.uploadsPerHour, uploads: "posts and photos")
    }

    public func makeService(on platform: Platform) throws -> DunbarService {
        var settings = settings(platform.publicURL)
        settings.requiredTerms = platform.requiredTerms ?? settings.requiredTerms
        settings.flaggedWords = platform.flaggedWords
        if let limits = platform.storage {
            (settings.storageQuota, settings.uploadsPerHour) = (limits.quota, limits.uploadsPerHour)
        }
        return DunbarService(
            database: platform.database, objects: platform.objects, passwords: platform.passwords,
            images: images(platform), mailer: mailer(platform), secret: try platform.secret(Self.requestKey),
            time: platform.time, settings: settings,
            refusedOrigin: { [logger = platform.logger] origin in
                logger.notice(
                    "a page of another site sent a request, which was refused: if it is yours, name it with --dunbar-origin",
                    metadata: ["origin": "\(origin)"])
            },
            report: { [logger = platform.logger] email, error, isTriedAgain in
                logger.logUnsentEmail(email, error, isTriedAgain: isTriedAgain)
            })
    }

    public func logStartupWarnings(on platform: Platform) async { await startupWarnings(platform) }
}
