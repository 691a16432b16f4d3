import Contract
import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The Messenger API for an app: <doc:SigningIn> begins.
///
/// ```swift
/// let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
/// try await messenger.signIn(username: "alice", password: "secret123")
///
/// let chat = try await messenger.send(Messenger.CreateChat.direct(with: bob))
/// let sent = try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
/// ```
///
/// Access tokens are renewed by themselves, and requests that fail on the way are sent again where that cannot act
/// twice. Safe to use from any task.
public struct MessengerClient: Sendable {
    /// What the contract's paths are appended to.
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

    /// Sends any request of the API, and returns what it asked for.
    ///
    /// - Parameters:
    ///   - request: An operation of ``Messenger``.
    ///   - idempotencyKey: Names a creating request, so that it can be repeated in another launch of the app, within 24
    ///     hours, without being done twice: 1 to 255 printable ASCII characters. By default each call has its own.
    /// - Throws: ``APIError`` when it is refused (by its own `validate()` before it is sent), ``SignedOut`` without a
    ///   session, ``UnreadableAnswer``, `CancellationError`, the network's error.
    @discardableResult
    public func send<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> E.Output where E.API == Messenger {
        try await client.send(request, idempotencyKey: idempotencyKey)
    }

    /// Sends any request, and returns the answer with its status and headers: 201 or 200, `Idempotent-Replayed`.
    ///
    /// - Parameters:
    ///   - request: An operation of ``Messenger``.
    ///   - idempotencyKey: As in ``send(_:idempotencyKey:)``.
    /// - Throws: as ``send(_:idempotencyKey:)`` does.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == Messenger {
        try await client.answer(request, idempotencyKey: idempotencyKey)
    }

    // MARK: The session

    /// Who is signed in; nil when nobody is. Asks the store, never the server.
    ///
    /// - Throws: the store's error.
    public var user: Messenger.User.ID? {
        get async throws { try await session.current.flatMap { Int64($0.user) }.map { .init($0) } }
    }

    /// Signs in and keeps the session. Whoever was signed in before is no longer.
    ///
    /// - Parameters:
    ///   - username: The username, or the e-mail address.
    ///   - password: As it was given at the registration.
    /// - Throws: ``APIError`` with 401 "Invalid credentials", or 429 after too many of them; the network's error; the
    ///   store's when the session could not be kept: it has begun, and is kept as soon as that works again.
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
    /// - Throws: the network's or the store's error. Whatever could be done is done all the same: here the session is
    ///   forgotten, on the server it ends after 30 days at the latest. Without a session it does nothing.
    public func signOut() async throws {
        var (refreshToken, storeFailure): (String?, (any Error)?)
        do { refreshToken = try await session.current?.refreshToken } catch { storeFailure = error }
        do { try await session.replace(nil) } catch { storeFailure = error }
        if let refreshToken { try await client.send(Messenger.Logout(refreshToken: refreshToken)) }
        if let storeFailure { throw storeFailure }
    }

    /// Deletes the account of whoever is signed in, for good, and forgets the session: see ``Messenger/DeleteMe``.
    ///
    /// - Parameter password: As it was given at the registration.
    /// - Throws: ``APIError`` with 403 "Invalid password", or 429 after too many of them; what ``send(_:idempotencyKey:)``
    ///   throws. ``SignedOut`` also when the account is gone already: where an answer was lost, that is how a repeat ends.
    public func deleteAccount(password: String) async throws {
        try await client.send(Messenger.DeleteMe(password: password))
        try await session.replace(nil)
    }

    /// A token that is good now: for the live socket.
    func accessToken() async throws -> String { try await session.token() }

    /// Another token, after a live socket was refused or closed with this one.
    func renewedToken(after rejected: String) async throws -> String { try await session.renew(rejected) }

    // MARK: Lists

    /// A chat's history, newest first, a page at a time as it is asked for: stop iterating, and no more is read.
    ///
    /// - Parameters:
    ///   - chat: One that the caller is a member of.
    ///   - pageSize: 1 to 100.
    public func history(
        of chat: Messenger.Chat.ID, pageSize: Int = 50
    ) -> Pages<Messenger.Message, Messenger.Message.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListMessages(chat: chat, limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    /// The chats, the one with the newest message first, a page at a time as it is asked for.
    ///
    /// - Parameter pageSize: 1 to 1,000.
    public func chats(pageSize: Int = 100) -> Pages<Messenger.ChatSummary, Messenger.Chat.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListChats(limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    // MARK: Files

    /// Uploads a file of up to 50 MiB, from memory or from disk.
    ///
    /// - Parameters:
    ///   - file: Its bytes or its place on disk, with a name and a type.
    ///   - progress: Told how much is on its way, in bytes, from any thread. After a repeat it begins again.
    /// - Throws: ``APIError`` with 413 when the file, or all files together, are too large; what ``send(_:idempotencyKey:)``
    ///   throws.
    public func upload(_ file: Upload, progress: UploadProgress? = nil) async throws -> Messenger.File {
        guard let file = try await client.answer(Messenger.UploadFile(file), progress: progress).output else {
            throw URLError(.cannotParseResponse)
        }
        return file
    }

    /// Where a file can be fetched for an hour, by anybody who has the URL, without a token: for an image view or a player.
    /// Do not keep it longer.
    ///
    /// - Throws: ``APIError`` with 404 "File not found" for those who may not have it; what ``send(_:idempotencyKey:)``
    ///   throws.
    public func downloadURL(of file: Messenger.File.ID) async throws -> URL {
        let answer = try await client.answer(Messenger.DownloadFile(id: file))
        guard let location = answer.headers[.location].flatMap(URL.init(string:)) else {
            throw URLError(.badServerResponse)
        }
        return location
    }

    /// A file's bytes, whole in memory: up to 50 MiB.
    ///
    /// - Throws: ``DownloadRefused`` when the store does not hand them out; what ``downloadURL(of:)`` throws.
    public func download(_ file: Messenger.File.ID) async throws -> [UInt8] {
        // Without the token: the URL is its own permission, and may lead to another host.
        let response = try await transport.send(
            TransportRequest(method: .get, url: try await downloadURL(of: file)), progress: nil)
        guard response.status == .ok else { throw DownloadRefused(status: response.status) }
        return response.body
    }
}

/// The store did not hand out a file: it is gone, or the store is in trouble.
public struct DownloadRefused: Error, Sendable {
    /// What the store answered.
    public let status: HTTPResponse.Status
}
