import Backend
import Mail
import MonicaAPI
import MonicaService
import Testbed

/// A test's own Monica server, and how to reach it.
public typealias MonicaHost = TestNode<HostedMonica>

extension TestNode where API == HostedMonica {
    /// Returns a token of an account, which is created if it does not exist.
    public func token(_ account: String = "first", dialect: Monica.TokenDialect = .contract) async throws -> String {
        try await service.makeToken(account: account, name: "test", dialect: dialect, audit: .test)
    }
}

extension HostedMonica {
    /// Converts photos as a test expects it, without the image library.
    public static let photoStandIn: MonicaService.PhotoMaker = { path, _ in try SampleImages.processed(path) }

    /// Describes Monica with a stand-in for the image library.
    public init(
        limits: MonicaService.Limits = .init(),
        photos: @escaping MonicaService.PhotoMaker = HostedMonica.photoStandIn,
        mailer: @escaping @Sendable (Platform) -> any Mailer = { MailboxFolder(on: $0, of: Monica.name) }
    ) {
        self.init(
            limits: limits, photos: { _ in photos },
            initials: { _ in { letters, colour, _ in Array("\(letters) on \(colour)".utf8) } }, mailer: mailer,
            startupWarnings: { _ in })
    }
}

extension MonicaService.Limits {
    /// Limits so high that no test reaches them by accident.
    public static let outOfTheWay: Self = {
        var limits = Self()
        limits.contactRequests = 1_000_000
        limits.otherRequests = 1_000_000
        limits.wrongTokens = 1_000_000
        return limits
    }()
}

/// Runs a test on a Monica server with an empty database.
public func withMonica(
    on stack: Stack, clock: TestClock = TestClock(), limits: MonicaService.Limits = .outOfTheWay,
    photos: @escaping MonicaService.PhotoMaker = HostedMonica.photoStandIn,
    _ body: (MonicaHost) async throws -> Void
) async throws {
    var setup = TestSetup(clock: clock)
    // Tests clean up imports explicitly.
    setup.listens = false
    try await withNodes(of: HostedMonica(limits: limits, photos: photos), on: stack, setup) { try await body($0[0]) }
}
