import Contract
import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The Messenger API for an app; start with <doc:SigningIn>.
///
/// ```swift
/// let messenger = MessengerClient(baseURL: url, store: KeychainTokenStore(service: "messenger"))
/// try await messenger.signIn(username: "alice", password: "secret123")
///
/// guard let bob = try await messenger.send(Messenger.SearchUsers("bob")).first else { return }
/// let chat = try await messenger.send(Messenger.CreateChat.direct(with: bob.id))
/// let sent = try await messenger.send(Messenger.SendMessage(chat: chat.id, content: "Hello!"))
/// ```
///
/// Access tokens are renewed automatically, and failed requests are sent again when that cannot act twice. A client may
/// be used from any task.
public struct MessengerClient: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    private let client: Client<Messenger>
    private let session: TokenSession
    private let transport: any Transport
    let sockets: any SocketTransport
    private let retry: Retry
    private let now: @Sendable () -> Date

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The server's URL, such as `https://api.messenger.example.com`.
    ///   - store: Stores the session between launches. By default the session ends with this value.
    ///   - transport: Carries requests.
    ///   - sockets: Carries live connections. On Linux, where `URLSession` has none, pass `NIOSocketTransport()`.
    ///   - retry: The conditions under which a request that cannot act twice is sent again.
    ///   - now: Returns this device's time.
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
        self.retry = retry
        self.now = now
    }

    /// Sends any request of the API, and returns the value that the operation answers.
    ///
    /// - Parameters:
    ///   - request: An operation of ``Messenger``.
    ///   - idempotencyKey: A key for a creating request, with which it can be repeated in another launch of the app,
    ///     within 24 hours, without acting twice: 1 to 255 printable ASCII characters. By default each call has a new
    ///     key.
    /// - Throws: ``APIError`` when the request is refused (by its own `validate()` before it is sent), ``SignedOut``
    ///   without a session, ``UnreadableAnswer``, `CancellationError`, the network's error.
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
    ///   - idempotencyKey: See ``send(_:idempotencyKey:)``.
    /// - Throws: The errors of ``send(_:idempotencyKey:)``.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == Messenger {
        try await client.answer(request, idempotencyKey: idempotencyKey)
    }

    // MARK: The session

    /// The signed-in user; nil when no user is signed in. It is read from the store and never asks the server.
    ///
    /// - Throws: The store's error.
    public var user: Messenger.User.ID? {
        get async throws { try await session.current.flatMap { Int64($0.user) }.map { .init($0) } }
    }

    /// The state of the session: the present one first, then every change, so that an app shows its sign-in page when a
    /// session ends. Any number of tasks may observe it.
    public var sessionStates: AsyncStream<SessionState> { session.states }

    /// Signs in and stores the session, which replaces the one before.
    ///
    /// - Parameters:
    ///   - username: The username or the e-mail address.
    ///   - password: The account's password.
    ///   - deviceName: The device's name for the user's list of sessions: ``Messenger/Login/deviceName``.
    /// - Throws: ``APIError`` with 401 "Invalid credentials", or 429 after too many failures; the network's error; the
    ///   store's error when the session could not be stored: the session has begun nevertheless, and is stored as soon
    ///   as that works again.
    @discardableResult
    public func signIn(
        username: String, password: String, deviceName: String? = nil
    ) async throws -> Messenger.User.ID {
        let tokens = try await client.send(
            Messenger.Login(username: username, password: password, deviceName: deviceName))
        try await session.replace(
            StoredTokens(
                accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                expiresAt: now().addingTimeInterval(TimeInterval(tokens.expiresIn)), user: tokens.user.description))
        return tokens.user
    }

    /// Signs out: removes the session from this device at once, then ends it on the server.
    ///
    /// - Throws: The network's or the store's error. Whatever is possible has been done nevertheless: on this device
    ///   the session is removed, and on the server it ends after 30 days at the latest. Without a session nothing
    ///   happens.
    public func signOut() async throws {
        var (refreshToken, storeFailure): (String?, (any Error)?)
        do { refreshToken = try await session.current?.refreshToken } catch { storeFailure = error }
        do { try await session.replace(nil) } catch { storeFailure = error }
        if let refreshToken { try await client.send(Messenger.Logout(refreshToken: refreshToken)) }
        if let storeFailure { throw storeFailure }
    }

    /// Deletes the signed-in user's account for good, and removes the session: see ``Messenger/DeleteMe``.
    ///
    /// - Parameter password: The account's password.
    /// - Throws: ``APIError`` with 403 "Invalid password", or 429 after too many wrong ones; the errors of
    ///   ``send(_:idempotencyKey:)``. ``SignedOut`` also when the account is already deleted: a repeat after a lost
    ///   answer ends that way.
    public func deleteAccount(password: String) async throws {
        try await client.send(Messenger.DeleteMe(password: password))
        try await session.replace(nil)
    }

    /// Downloads an archive of all that the server keeps of the signed-in user, a ZIP file. It asks for one, waits until the
    /// server has made it, and continues a download that was interrupted. See ``Messenger/RequestArchive``.
    ///
    /// - Parameters:
    ///   - destination: The place of the file, which appears there when it is whole; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    /// - Throws: `ArchiveFailed` when the server could not make it; `DownloadRefused`; the error of the disk; the errors of
    ///   ``send(_:idempotencyKey:)``.
    @discardableResult
    public func downloadArchive(
        to destination: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        try await ArchiveDownload(transport: transport, retry: retry).run(to: destination, progress: progress) {
            try await self.send(Messenger.RequestArchive())
        } current: {
            try await self.send(Messenger.GetArchive())
        }
    }

    /// Changes the signed-in user's password, and ends all other sessions of the account: see
    /// ``Messenger/ChangePassword``.
    ///
    /// - Parameters:
    ///   - present: The present password.
    ///   - new: The new password: 8 to 200 characters.
    /// - Throws: ``APIError`` with 400 for an invalid new password, 403 "Invalid password", or 429 after too many wrong
    ///   ones; the errors of ``send(_:idempotencyKey:)``.
    public func changePassword(from present: String, to new: String) async throws {
        try await client.send(Messenger.ChangePassword(currentPassword: present, newPassword: new))
    }

    /// Returns a token that is valid now, for the live socket.
    func accessToken() async throws -> String { try await session.token() }

    /// Returns another token, after a live socket was refused or closed with this one.
    func renewedToken(after rejected: String) async throws -> String { try await session.renew(rejected) }

    // MARK: Lists

    /// A chat's history, newest first. Pages are read as the sequence is iterated, and no further.
    ///
    /// - Parameters:
    ///   - chat: A chat of which the caller is a member.
    ///   - pageSize: The number of messages read at a time, 1 to 100.
    public func history(
        of chat: Messenger.Chat.ID, pageSize: Int = 50
    ) -> Pages<Messenger.Message, Messenger.Message.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListMessages(chat: chat, limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    /// A chat's history with optional parts of each message, newest first. Pages are read as the sequence is iterated, and
    /// no further.
    ///
    /// - Parameters:
    ///   - chat: A chat of which the caller is a member.
    ///   - parts: ``Messenger/Inclusions/edited``, ``Messenger/Inclusions/file``, or both as `"edited,file"`.
    ///   - pageSize: The number of messages read at a time, 1 to 100.
    public func history(
        of chat: Messenger.Chat.ID, including parts: Messenger.Inclusions, pageSize: Int = 50
    ) -> Pages<Messenger.Message, Messenger.Message.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(
                Messenger.ListMessages(chat: chat, limit: pageSize, before: before, include: parts))
            return (page, page.last.map(\.id))
        }
    }

    /// The caller's chats with optional parts of each, ordered by their newest message, newest first. Pages are read as the
    /// sequence is iterated.
    ///
    /// - Parameters:
    ///   - parts: The words of ``Messenger/ListChats/include``, such as `.all(.peer, .newest, .unread)`.
    ///   - pageSize: The number of chats read at a time, 1 to 1,000.
    public func chats(
        including parts: Messenger.Inclusions, pageSize: Int = 100
    ) -> Pages<Messenger.ChatSummary, Messenger.Chat.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(
                Messenger.ListChats(limit: pageSize, before: before, include: parts))
            return (page, page.last.map(\.id))
        }
    }

    /// The caller's chats, ordered by their newest message, newest first. Pages are read as the sequence is iterated.
    ///
    /// - Parameter pageSize: The number of chats read at a time, 1 to 1,000.
    public func chats(pageSize: Int = 100) -> Pages<Messenger.ChatSummary, Messenger.Chat.ID?> {
        let client = client
        return Pages(from: nil) { before in
            let page = try await client.send(Messenger.ListChats(limit: pageSize, before: before))
            return (page, page.last.map(\.id))
        }
    }

    /// Returns the messages of a chat that were edited or deleted after a version, from all pages: for an app that keeps
    /// messages and was away.
    ///
    /// - Parameters:
    ///   - chat: A chat of which the caller is a member.
    ///   - version: The version of the last answer; nil for the version to begin with, before the app reads messages.
    /// - Throws: ``APIError`` with 404 from a server that does not know the operation; the errors of
    ///   ``send(_:idempotencyKey:)``.
    public func changes(
        of chat: Messenger.Chat.ID, after version: Int?
    ) async throws -> Messenger.MessageChanges {
        var all = try await client.send(Messenger.ListChanges(chat: chat, after: version))
        var page = all
        while page.isComplete, !page.changes.isEmpty {
            let next = try await client.send(Messenger.ListChanges(chat: chat, after: page.version))
            // Deletions may be forgotten between two pages.
            guard next.isComplete else { return next }
            guard next.version > page.version else { break }
            page = next
            all = .init(version: page.version, isComplete: page.isComplete, changes: all.changes + page.changes)
        }
        return all
    }

    // MARK: Files

    /// Uploads a file of up to 50 MiB, from memory or from disk.
    ///
    /// - Parameters:
    ///   - file: The bytes or the file on disk, with a name and a type.
    ///   - progress: Called with the bytes sent so far and in all, from any thread. A repeat starts again at zero.
    /// - Throws: ``APIError`` with 413 when the file, or all files together, are too large; the errors of
    ///   ``send(_:idempotencyKey:)``.
    public func upload(_ file: Upload, progress: UploadProgress? = nil) async throws -> Messenger.File {
        try await upload(file, idempotencyKey: nil, progress: progress)
    }

    /// Uploads a file under a key of its own, with which it can be repeated in another launch of the app.
    package func upload(
        _ file: Upload, idempotencyKey: String?, progress: UploadProgress?
    ) async throws -> Messenger.File {
        let request = Messenger.UploadFile(file)
        guard
            let file = try await client.answer(request, idempotencyKey: idempotencyKey, progress: progress).output
        else { throw URLError(.cannotParseResponse) }
        return file
    }

    /// Returns a URL from which the file can be fetched for an hour, without a token, by anyone who has the URL: for an
    /// image view or a player. Do not store it.
    ///
    /// - Throws: ``APIError`` with 404 "File not found" when the caller has no access to it; the errors of
    ///   ``send(_:idempotencyKey:)``.
    public func downloadURL(of file: Messenger.File.ID) async throws -> URL {
        let answer = try await client.answer(Messenger.DownloadFile(id: file))
        guard let location = answer.headers[.location].flatMap(URL.init(string:)) else {
            throw URLError(.badServerResponse)
        }
        return location
    }

    /// Returns a download of a file that the system carries out by itself (``BackgroundTransfers``). Its label is the file's id.
    ///
    /// - Throws: The errors of ``downloadURL(of:)``.
    public func pendingDownload(of file: Messenger.File.ID) async throws -> PendingTransfer {
        // The URL is valid for an hour.
        let end = Date(timeIntervalSinceNow: 3600)
        return .download(from: try await downloadURL(of: file), expiresAt: end, label: Data(file.description.utf8))
    }

    /// Downloads a file into memory: up to 50 MiB.
    ///
    /// - Throws: ``DownloadRefused`` when the store does not return the file; the errors of ``downloadURL(of:)``.
    public func download(_ file: Messenger.File.ID) async throws -> [UInt8] {
        // The request goes without the token: the URL is its own permission, and may lead to another host.
        let response = try await transport.send(
            TransportRequest(method: .get, url: try await downloadURL(of: file)), progress: nil)
        guard response.status == .ok else { throw DownloadRefused(status: response.status) }
        return response.body
    }

    /// Downloads a file to disk in pieces, whatever its size. A download that was interrupted continues where it stopped,
    /// in another launch of the app too.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - destination: The place of the file, which appears there when it is whole; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    /// - Returns: The file with the name and type under which it was uploaded.
    /// - Throws: ``DownloadRefused`` when the store does not return the file; the error of the disk; the errors of
    ///   ``downloadURL(of:)``.
    @discardableResult
    public func download(
        _ file: Messenger.File.ID, to destination: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        // Requests go without the token, as in `download(_:)`.
        try await FileDownload(transport: transport, retry: retry).run(to: destination, progress: progress) {
            try await downloadURL(of: file)
        }
    }
}
