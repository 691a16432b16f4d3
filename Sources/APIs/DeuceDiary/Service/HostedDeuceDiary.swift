import Backend
import Database

/// Describes Deuce Diary to the server that hosts it.
public struct HostedDeuceDiary: HostedAPI {
    /// The key of the server's own issuer of tokens.
    public static let issuerKey = HostedKey(
        "deuce-diary-issuer", variable: "CONCORD_DEUCE_DIARY_ISSUER_KEY", form: .rsa,
        loss: "tokens of `concord deuce-diary token create` are refused")
    static let requestKey = HostedKey(
        "deuce-diary-requests", variable: "CONCORD_DEUCE_DIARY_REQUEST_KEY",
        loss: "repeats of requests under an Idempotency-Key of the last day are refused")

    public let title = "Deuce Diary"
    public let port = 8081
    public let keys = [issuerKey, requestKey]
    public let schema = DeuceDiaryService.schema
    public let linkPaths = ["/join/*"]
    public let operatorCommands: [any OperatorCommand.Type] = [DeuceDiaryService.DeleteLocation.self]
    private let settings: @Sendable (_ publicURL: String) -> DeuceDiaryService.Settings
    private let tokens: @Sendable (Platform) throws -> DeuceDiaryService.TokenReader
    private let pictures: @Sendable (Platform) -> DeuceDiaryService.PictureMaker
    private let startupWarnings: @Sendable (Platform) async -> Void

    /// - Parameters:
    ///   - settings: Returns the settings for a public URL.
    ///   - tokens: Makes the reader of bearer tokens.
    ///   - pictures: Makes the converter of profile pictures.
    ///   - startupWarnings: Logs at the start which functions will not work.
    public init(
        settings: @escaping @Sendable (_ publicURL: String) -> DeuceDiaryService.Settings,
        tokens: @escaping @Sendable (Platform) throws -> DeuceDiaryService.TokenReader,
        pictures: @escaping @Sendable (Platform) -> DeuceDiaryService.PictureMaker,
        startupWarnings: @escaping @Sendable (Platform) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.tokens = tokens
        self.pictures = pictures
        self.startupWarnings = startupWarnings
    }

    public func makeService(on platform: Platform) throws -> DeuceDiaryService {
        var settings = settings(platform.publicURL)
        settings.trustedProxies = platform.trustedProxies
        settings.flaggedWords = platform.flaggedWords
        settings.showsInvitations = platform.appLinks != nil
        return DeuceDiaryService(
            database: platform.database, objects: platform.objects, tokens: try tokens(platform),
            pictures: pictures(platform), secret: try platform.secret(Self.requestKey), group: platform.group,
            time: platform.time, settings: settings)
    }

    public func logStartupWarnings(on platform: Platform) async { await startupWarnings(platform) }
}
