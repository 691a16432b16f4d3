import Contract
import ContractClient
import Foundation
import HTTPTypes
@_exported import MessengerAPI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The Messenger API for an app.
///
/// ```swift
/// let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
/// try await messenger.signIn(username: "alice", password: "secret123")
/// let chat = try await messenger.send(Messenger.CreateChat.direct(with: bob))
/// let sent = try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
/// ```
///
/// Access tokens are renewed by themselves, and requests that fail on the way are sent again where that cannot act
/// twice. Safe to use from any task.
public struct MessengerClient: Sendable {
    public let baseURL: URL
    private let client: Client<Messenger>
    private let session: TokenSession
    private let transport: any Transport
    let sockets: any SocketTransport
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - baseURL: Such as `https://api.messenger.example.com`.
    ///   - store: Keeps the session between launches. By default it ends with this value.
    ///   - transport: Carries requests.
    ///   - sockets: Carries live connections. On Linux, where `URLSession` has none, pass `NIOSocketTransport()`.
    ///   - retry: When a request that cannot act twice is sent again.
    ///   - now: This device's clock.
    public init(
        baseURL: URL, store: any TokenStore = MemoryTokenStore(), transport: any Transport = URLSessionTransport(),
        sockets: any SocketTransport = URLSessionSocketTransport(), retry: Retry = .standard,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let open = Client<Messenger>(baseURL: baseURL, transport: transport, retry: retry)
        session = TokenSession(store: store, now: now) { refreshToken in
            let renewed = try await open.send(Messenger.Refresh(refreshToken: refreshToken))
            return .init(accessToken: renewed.accessToken, expiresIn: renewed.expiresIn)
        }
        client = Client(baseURL: baseURL, transport: transport, credentials: session, retry: retry)
        self.baseURL = baseURL
        self.transport = transport
        self.sockets = sockets
        self.now = now
    }

    /// Sends any request of the API.
    ///
    /// - Throws: ``APIError`` when it is refused, ``SignedOut`` without a session, the network's error.
    @discardableResult
    public func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Messenger {
        try await client.send(request)
    }

    /// Sends any request, and returns the answer with its status and headers.
    ///
    /// - Parameter idempotencyKey: To repeat a creating request in another launch of the app without doing it twice.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == Messenger {
        try await client.answer(request, idempotencyKey: idempotencyKey)
    }

    // MARK: The session

    /// Who is signed in; nil when nobody is.
    public var user: Messenger.User.ID? {
        get async throws { try await session.current.flatMap { Int64($0.user) }.map { .init($0) } }
    }

    /// Signs in and keeps the session.
    ///
    /// - Parameter username: The username, or the e-mail address.
    @discardableResult
    public func signIn(username: String, password: String) async throws -> Messenger.User.ID {
        let tokens = try await client.send(Messenger.Login(username: username, password: password))
        try await session.replace(
            StoredTokens(
                accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                expiresAt: now().addingTimeInterval(TimeInterval(tokens.expiresIn)), user: tokens.user.description))
        return tokens.user
    }

    /// Signs out: forgets the session here at once, then ends it on the server.
    ///
    /// - Throws: the network's error. The session is forgotten all the same; on the server it ends after 30 days.
    public func signOut() async throws {
        let refreshToken = try await session.current?.refreshToken
        try await session.replace(nil)
        if let refreshToken { try await client.send(Messenger.Logout(refreshToken: refreshToken)) }
    }

    /// A token that is good now: for the live socket.
    func accessToken() async throws -> String { try await session.token() }

    /// Another token, after a live socket was refused or closed with this one.
    func renewedToken(after rejected: String) async throws -> String { try await session.renew(rejected) }

    // MARK: Lists

    /// A chat's history, newest first, a page at a time as it is asked for.
    public func history(
        of chat: Messenger.Chat.ID, pageSize: Int = 50
    ) -> Pages<Messenger.Message, Messenger.Message.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListMessages(chat: chat, limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    /// The chats, the one with the newest message first, a page at a time.
    public func chats(pageSize: Int = 100) -> Pages<Messenger.ChatSummary, Messenger.Chat.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListChats(limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    // MARK: Files

    /// Uploads a file, from memory or from disk.
    ///
    /// - Parameter progress: Told how much is on its way, in bytes.
    public func upload(_ file: Upload, progress: UploadProgress? = nil) async throws -> Messenger.File {
        let answer = try await client.answer(Messenger.UploadFile(file), progress: progress)
        guard case .output(let file) = answer.content else {
            throw URLError(.cannotParseResponse)
        }
        return file
    }

    /// Where a file can be fetched for an hour, by anybody who has the URL: do not keep it longer.
    public func downloadURL(of file: Messenger.File.ID) async throws -> URL {
        let answer = try await client.answer(Messenger.DownloadFile(id: file))
        guard let location = answer.headers[.location].flatMap(URL.init(string:)) else {
            throw URLError(.badServerResponse)
        }
        return location
    }

    /// A file's bytes.
    ///
    /// - Throws: ``DownloadRefused`` when the store does not hand them out.
    public func download(_ file: Messenger.File.ID) async throws -> [UInt8] {
        // Without the token: the URL is its own permission, and may lead to another host.
        let response = try await transport.send(
            TransportRequest(method: .get, url: try await downloadURL(of: file)), progress: nil)
        guard response.status == .ok else { throw DownloadRefused(status: response.status) }
        return response.body
    }
}

/// The store did not hand out a file.
public struct DownloadRefused: Error, Sendable {
    public let status: HTTPResponse.Status
}
