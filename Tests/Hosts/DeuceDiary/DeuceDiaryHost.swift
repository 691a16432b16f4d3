import Backend
import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import Identity
import Testbed

/// A test's own Deuce Diary server, and how to reach it.
public typealias DeuceDiaryHost = TestNode<HostedDeuceDiary>

extension TestNode where API == HostedDeuceDiary {
    public var issuer: TestIssuer { TestIssuer(clock: clock) }
}

/// Makes and reads tokens whose claims are plain JSON, in place of another service's sign-in.
public struct TestIssuer: Sendable {
    private struct Token: Codable {
        var sub: String
        var email: String?
        var firstName: String?
        var lastName: String?
        var iat: Int64
        var exp: Int64
    }

    /// The tolerated difference between two clocks, in seconds.
    private static let leeway: Int64 = 5

    let clock: TestClock

    /// - Parameter lifetime: The seconds from now after which the token is expired.
    public func issue(
        _ subject: String, email: String? = nil, firstName: String? = nil, lastName: String? = nil,
        lifetime: Int64 = 3600
    ) throws -> String {
        let now = clock.source.seconds
        let token = Token(
            sub: subject, email: email, firstName: firstName, lastName: lastName, iat: now, exp: now + lifetime)
        return "test." + Data(try JSONEncoder().encode(token)).base64EncodedString() + ".end"
    }

    public func read(_ text: String) -> BearerClaims? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "test", parts[2] == "end", let data = Data(base64Encoded: String(parts[1])),
            let token = try? JSONDecoder().decode(Token.self, from: data),
            clock.source.seconds - Self.leeway < token.exp
        else { return nil }
        return .init(
            subject: token.sub, email: token.email, firstName: token.firstName, lastName: token.lastName,
            issuedAt: token.iat, expiresAt: token.exp)
    }
}

/// Runs a test on a Deuce Diary server with an empty database.
public func withDeuceDiary(
    on stack: Stack, sockets: DeuceDiaryService.SocketAuthentication = .open, requestsPerMinute: Int? = nil,
    clock: TestClock = TestClock(), appLinks: AppLinks? = nil, _ body: (DeuceDiaryHost) async throws -> Void
) async throws {
    try await withDeuceDiaryNodes(
        1, on: stack, sockets: sockets, requestsPerMinute: requestsPerMinute, clock: clock, appLinks: appLinks
    ) { try await body($0[0]) }
}

/// Runs a test on a Deuce Diary server of several nodes.
///
/// - Parameter count: The number of nodes. More than one is possible on PostgreSQL only.
public func withDeuceDiaryNodes(
    _ count: Int, on stack: Stack, sockets: DeuceDiaryService.SocketAuthentication = .open,
    requestsPerMinute: Int? = nil, clock: TestClock = TestClock(), appLinks: AppLinks? = nil,
    _ body: ([DeuceDiaryHost]) async throws -> Void
) async throws {
    let issuer = TestIssuer(clock: clock)
    let api = HostedDeuceDiary(
        settings: { publicURL in
            var settings = DeuceDiaryService.Settings(publicURL: publicURL)
            settings.socketAuthentication = sockets
            settings.requestsPerMinute = requestsPerMinute
            settings.appStore = "https://apps.apple.com/app/id1?a=1&b=2"
            return settings
        }, tokens: { _ in { issuer.read($0) } }, pictures: { _ in picture })
    var setup = TestSetup(clock: clock)
    setup.publicURL = "https://deucediary.com"
    setup.appLinks = appLinks
    try await withNodes(count, of: api, on: stack, setup, body)
}

/// Returns the same picture for every JPEG. Scaling and cropping are tested with the image library.
@Sendable
private func picture(of path: String, for _: DeuceDiary.User.ID) throws -> [UInt8]? {
    let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    return SampleImage.size(ofJPEG: file).map { _ in SampleImage.jpeg(width: 200, height: 200) }
}
