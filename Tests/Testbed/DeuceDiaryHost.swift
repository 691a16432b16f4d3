import Backend
import Contract
import ContractCheck
import ContractClient
import ContractServer
import Database
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import Logging
import NIOPosix
import NIOSockets
import ObjectStore

/// A Deuce Diary server of a test's own, and how to reach it.
public struct DeuceDiaryHost: Sendable {
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
        let token = Token(
            sub: subject, email: email, firstName: firstName, lastName: lastName, exp: clock.source.seconds + lifetime)
        return "test." + Data(try JSONEncoder().encode(token)).base64EncodedString() + ".end"
    }

    public func read(_ text: String) -> DeuceDiaryService.Claims? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "test", parts[2] == "end", let data = Data(base64Encoded: String(parts[1])),
            let token = try? JSONDecoder().decode(Token.self, from: data),
            clock.source.seconds - Self.leeway < token.exp
        else { return nil }
        return .init(
            subject: token.sub, email: token.email, firstName: token.firstName, lastName: token.lastName,
            expiresAt: token.exp)
    }
}

/// Runs a test on a Deuce Diary server with an empty database.
public func withDeuceDiary(
    on stack: Stack, sockets: DeuceDiaryService.SocketAuthentication = .open, clock: TestClock = TestClock(),
    _ body: (DeuceDiaryHost) async throws -> Void
) async throws {
    try await withDeuceDiaryNodes(1, on: stack, sockets: sockets, clock: clock) { try await body($0[0]) }
}

/// Runs a test on a Deuce Diary server of several nodes: each with its own connections to the one database, with files
/// and the clock in common.
///
/// - Parameter count: More than one on PostgreSQL only; SQLite has one node.
public func withDeuceDiaryNodes(
    _ count: Int, on stack: Stack, sockets: DeuceDiaryService.SocketAuthentication = .open,
    clock: TestClock = TestClock(), _ body: ([DeuceDiaryHost]) async throws -> Void
) async throws {
    precondition(count == 1 || stack.engine == .postgreSQL, "SQLite has one node")
    try await withTestDatabase(on: stack.engine, migrated: DeuceDiaryService.schema) { place in
        let server = TestDeuceDiary(wire: stack.wire, place: place, authentication: sockets, clock: clock)
        try await server.withNodes(count, besides: [], body)
    }
}

/// What the nodes of one server have in common.
private struct TestDeuceDiary {
    let wire: Stack.Wire
    let place: TestDatabase
    let authentication: DeuceDiaryService.SocketAuthentication
    let clock: TestClock
    let group = MultiThreadedEventLoopGroup.singleton

    func withNodes(
        _ count: Int, besides running: [DeuceDiaryHost], _ body: ([DeuceDiaryHost]) async throws -> Void
    ) async throws {
        if running.count == count { return try await body(running) }
        let database = try place.open(DeuceDiaryService.schema)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await withNode(on: database) { try await withNodes(count, besides: running + [$0], body) })
        } catch {
            result = .failure(error)
        }
        try await database.close()
        try result.get()
    }

    private func withNode(on database: Database, _ body: (DeuceDiaryHost) async throws -> Void) async throws {
        let port = wire == .live ? try await reservePort() : nil
        let base = port.map { "http://127.0.0.1:\($0)" } ?? "http://test"
        let objects = try LocalObjectStore(
            folder: place.folder + "/files", signingKey: Array(repeating: 7, count: 32), baseURL: base + "/objects",
            now: { [clock] in clock.source.seconds })
        let issuer = TestIssuer(clock: clock)
        var settings = DeuceDiaryService.Settings(publicURL: "https://deucediary.com")
        settings.socketAuthentication = authentication
        let service = DeuceDiaryService(
            database: database, objects: objects, tokens: { issuer.read($0) }, pictures: Self.picture,
            secret: Array(repeating: 9, count: 32), group: group, time: clock.source, settings: settings)
        var routes = service.routes()
        routes.serve(Health(check: service.check))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = RouteTable(routes, options: .init(logger: logger) { Problem.unavailable($0, DeuceDiary.phrases) })

        func host(_ transport: any Transport, _ sockets: any SocketTransport) -> DeuceDiaryHost {
            DeuceDiaryHost(
                baseURL: URL(string: base)!, transport: transport, sockets: sockets, clock: clock, service: service,
                database: database, objects: objects, issuer: issuer)
        }
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let listening = Task { await service.listen { begin.finish() } }
        defer { listening.cancel() }
        // A socket that is there before that is closed, as after any gap.
        if database.isShared { for await _ in begun {} }
        guard let port else {
            return try await body(
                host(InProcessTransport(table), InProcessSockets(service.sockets(), group: group)))
        }
        let listener = Listener(table, sockets: service.sockets(), group: group)
        try await serving(listener, port: port) {
            try await body(host(URLSessionTransport(), NIOSocketTransport()))
        }
    }

    /// A picture for every JPEG. That pictures are scaled and cropped is the image library's own affair.
    private static func picture(of path: String) throws -> [UInt8]? {
        let file = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        return SampleImage.size(ofJPEG: file).map { _ in SampleImage.jpeg(width: 200, height: 200) }
    }
}
