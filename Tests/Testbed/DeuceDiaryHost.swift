import Backend
import Contract
import ContractCheck
import ContractClient
import ContractServer
import Database
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import Identity
import NIOPosix
import ObjectStore

/// A Deuce Diary server of a test's own, and how to reach it.
public struct DeuceDiaryHost: TestHost {
    public let baseURL: URL
    public let transport: any Transport
    public let sockets: any SocketTransport
    public let clock: TestClock
    public let service: DeuceDiaryService
    public let database: Database
    public let objects: LocalObjectStore
    public let issuer: TestIssuer
}

/// Makes and reads tokens that say in plain JSON who somebody is: what a test needs of somebody else's sign-in.
public struct TestIssuer: Sendable {
    private struct Token: Codable {
        var sub: String
        var email: String?
        var firstName: String?
        var lastName: String?
        var iat: Int64
        var exp: Int64
    }

    /// Clocks differ, in seconds.
    private static let leeway: Int64 = 5

    let clock: TestClock

    /// - Parameter lifetime: From now, in seconds.
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
    clock: TestClock = TestClock(), _ body: (DeuceDiaryHost) async throws -> Void
) async throws {
    try await withDeuceDiaryNodes(
        1, on: stack, sockets: sockets, requestsPerMinute: requestsPerMinute, clock: clock
    ) { try await body($0[0]) }
}

/// Runs a test on a Deuce Diary server of several nodes: each with its own connections to the one database, with files
/// and the clock in common.
///
/// - Parameter count: More than one on PostgreSQL only; SQLite has one node.
public func withDeuceDiaryNodes(
    _ count: Int, on stack: Stack, sockets: DeuceDiaryService.SocketAuthentication = .open,
    requestsPerMinute: Int? = nil, clock: TestClock = TestClock(), _ body: ([DeuceDiaryHost]) async throws -> Void
) async throws {
    try await withTestDatabase(on: stack.engine, migrated: DeuceDiaryService.schema) { place in
        let server = TestDeuceDiary(
            wire: stack.wire, place: place, authentication: sockets, requestsPerMinute: requestsPerMinute,
            clock: clock)
        try await withNodes(count, of: DeuceDiaryService.schema, at: place, server.withNode, body)
    }
}

/// What the nodes of one server have in common.
private struct TestDeuceDiary {
    let wire: Stack.Wire
    let place: TestDatabase
    let authentication: DeuceDiaryService.SocketAuthentication
    let requestsPerMinute: Int?
    let clock: TestClock
    let group = MultiThreadedEventLoopGroup.singleton

    func withNode(on database: Database, _ body: (DeuceDiaryHost) async throws -> Void) async throws {
        let address = try await TestAddress(wire)
        let objects = try address.store(in: place, clock: clock)
        let issuer = TestIssuer(clock: clock)
        var settings = DeuceDiaryService.Settings(publicURL: "https://deucediary.com")
        settings.socketAuthentication = authentication
        settings.requestsPerMinute = requestsPerMinute
        let service = DeuceDiaryService(
            database: database, objects: objects, tokens: { issuer.read($0) }, pictures: Self.picture,
            secret: Array(repeating: 9, count: 32), group: group, time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        let table = RouteTable(routes, options: .init(logger: .silent) { Problem.unavailable($0, DeuceDiary.phrases) })

        let (begun, begin) = AsyncStream<Void>.makeStream()
        let listening = Task { await service.listen { begin.finish() } }
        defer { listening.cancel() }
        // A socket that is there before that is closed, as after any gap.
        if database.isShared { for await _ in begun {} }
        try await address.serve(table, sockets: service.sockets()) { transport, sockets in
            try await body(
                DeuceDiaryHost(
                    baseURL: address.url(of: DeuceDiary.self), transport: transport, sockets: sockets, clock: clock,
                    service: service, database: database, objects: objects, issuer: issuer))
        }
    }

    /// A picture for every JPEG. That pictures are scaled and cropped is the image library's own affair.
    private static func picture(of path: String, for _: DeuceDiary.User.ID) throws -> [UInt8]? {
        let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        return SampleImage.size(ofJPEG: file).map { _ in SampleImage.jpeg(width: 200, height: 200) }
    }
}
