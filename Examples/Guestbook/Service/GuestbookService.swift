import Backend
import Contract
import ContractServer
import Database
import GuestbookAPI
import WebSockets

/// The guestbook, as a server hosts it.
public struct HostedGuestbook: HostedAPI {
    static let key = HostedKey("guestbook", variable: "GUESTBOOK_KEY", loss: "all users are signed out")

    public let title = "Guestbook"
    public let port = 8085
    public let keys = [key]
    public let schema = Schema(
        "guestbook", [.init("users and entries", Users.tables + SessionAccounts<Users>.tables + Entries.tables)])

    public init() {}

    public func makeService(on platform: Platform) throws -> GuestbookService {
        try GuestbookService(on: platform, key: Self.key)
    }
}

/// The guestbook's behaviour.
public struct GuestbookService: SessionService {
    public typealias Caller = Backend.Caller<Guestbook.User.ID>

    public let accounts: SessionAccounts<Users>
    let platform: Platform
    let live: Broadcast<Added<Guestbook.Entry>>

    init(on platform: Platform, key: HostedKey) throws {
        self.platform = platform
        accounts = try SessionAccounts(on: platform, key: key, errorMessages: Guestbook.errorMessages)
        live = Broadcast(platform.database, group: platform.group)
    }

    public func routes() -> Routes<Guestbook, Caller> {
        var routes = accounts.routes(of: Guestbook.self)
        routes.open(answering: signUp)
        routes.open(use: signIn)
        routes.on(answering: writeEntry)
        routes.open(use: listEntries)
        routes.on(use: deleteEntry)
        return routes
    }

    public func sockets() -> [SocketRoute] { [live.socket(at: "/live", of: Guestbook.self, for: accounts.sessions)] }

    public func listen(_ started: @escaping @Sendable () -> Void) async { await live.listen(started) }
}
