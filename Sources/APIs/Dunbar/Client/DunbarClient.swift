import Contract
import ContractClient
import DunbarAPI
import Foundation
import HTTPTypes

/// The Dunbar Social API for an app.
///
/// ```swift
/// let dunbar = DunbarClient(baseURL: url, store: KeychainCookieStore(service: "dunbar"))
/// let me = try await dunbar.signIn(username: "jdoe", password: "secret123")
/// let post = try await dunbar.post("Hello world", media: [Upload(fileAt: photo)])
/// for try await post in dunbar.feed() { show(post) }
/// ```
///
/// The session is a cookie, which the client stores itself. Before its first request the client wakes the server up.
/// Failed requests are sent again when that cannot act twice. Every error is an ``APIError`` or a `CancellationError`.
/// A client may be used from any task.
public struct DunbarClient: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    private let client: Client<Dunbar>
    let jar: CookieJar
    private let transport: WakingTransport
    private let retry: Retry
    let isConnected: @Sendable () -> Bool
    let outboxes = OpenOutboxes()
    /// Returns a transport for this server that sends what the closure accepts, by the cookies that go with it.
    let transportAccepting: @Sendable (_ accepts: CookieTransport.Check?) -> WakingTransport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The server's URL, such as `https://dbsocial.example.com/api`.
    ///   - store: Stores the session between launches. By default the session ends with this value.
    ///   - transport: Carries requests.
    ///   - retry: The conditions under which a request that cannot act twice is sent again: by default after 2, 3 and
    ///     4.5 seconds, or when the server says.
    ///   - patience: The time that the server may take to wake up.
    ///   - now: Returns this device's time.
    ///   - isConnected: Returns whether there is a network; without one requests fail at once.
    public init(
        baseURL: URL, store: any CookieStore = MemoryCookieStore(), transport: any Transport = URLSessionTransport(),
        retry: Retry = .dunbar, patience: Duration = .seconds(20), now: @escaping @Sendable () -> Date = { Date() },
        isConnected: @escaping @Sendable () -> Bool = { NetworkMonitor.shared.isConnected }
    ) {
        self.baseURL = baseURL
        self.isConnected = isConnected
        let jar = CookieJar(store: store, now: now)
        self.jar = jar
        transportAccepting = { check in
            WakingTransport(
                CookieTransport(transport, jar: jar, check: check),
                health: baseURL.appendingPathComponent("storage/health"), patience: patience, sleep: retry.sleep,
                isConnected: isConnected)
        }
        self.transport = transportAccepting(nil)
        self.retry = retry
        client = Client(baseURL: baseURL, transport: self.transport, retry: retry)
    }

    /// Sends any request of the API.
    ///
    /// - Throws: ``APIError``, `CancellationError`.
    @discardableResult
    public func send<E: Contract.Endpoint>(_ request: E) async throws -> E.Output where E.API == Dunbar {
        guard let output = try await answer(request).output else { throw APIError.noData }
        return output
    }

    /// Sends any request, and returns the answer with its status and headers.
    ///
    /// - Parameters:
    ///   - request: An operation of ``Dunbar``.
    ///   - idempotencyKey: A key with which a creating request can be repeated in another launch of the app, within 24
    ///     hours, without acting twice.
    ///   - progress: Called with the bytes of an upload sent so far and in all.
    /// - Throws: ``APIError``, `CancellationError`.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil, progress: UploadProgress? = nil
    ) async throws -> Answer<E.Output> where E.API == Dunbar {
        guard isConnected() else { throw APIError.networkUnavailable }
        do {
            return try await client.answer(request, idempotencyKey: idempotencyKey, progress: progress)
        } catch let error as CancellationError {
            throw error
        } catch let error as ContractClient.APIError where error.status == .unauthorized && E.needsSession {
            throw try await isSignedOut() ? APIError.unauthorized : APIError(error)
        } catch {
            throw APIError(error)
        }
    }

    // MARK: The session

    /// The state of the session: the present one first, then every change, so that an app shows its sign-in page when a
    /// session ends. Any number of tasks may observe it.
    public var sessionStates: AsyncStream<SessionState> { jar.states }

    /// Asks the server whether it is awake, and waits until it is. Every request does so by itself when it has to.
    ///
    /// - Returns: False when the server did not answer in time, or is not healthy.
    /// - Throws: `CancellationError`, at once.
    @discardableResult
    public func wakeUp() async throws -> Bool { try await transport.wakeUp() }

    /// Signs in. The new session replaces the one before.
    ///
    /// - Parameters:
    ///   - username: The username.
    ///   - password: The account's password.
    ///   - deviceName: The device's name for the user's list of sessions: ``Dunbar/Login/deviceName``.
    /// - Throws: ``APIError/serverError(_:_:)`` with 401 for a wrong name or password, 429 after too many failures.
    @discardableResult
    public func signIn(
        username: String, password: String, deviceName: String? = nil
    ) async throws -> Dunbar.Account {
        try await send(Dunbar.Login(username: username, password: password, deviceName: deviceName)).user
    }

    /// Creates an account and signs in.
    @discardableResult
    public func register(_ request: Dunbar.Register) async throws -> Dunbar.Account {
        try await send(request).user
    }

    /// Signs out on the server, then on this device, and removes what waits in the outboxes of this client. When the server
    /// cannot be reached, it signs out on this device nevertheless.
    public func signOut() async throws {
        try await outboxes.wipe(of: nil)
        let cookies = try await jar.header(for: baseURL)
        do {
            try await send(Dunbar.Logout())
        } catch {
            try await jar.forget(cookies)
            throw error
        }
        try await jar.forget(cookies)
    }

    /// Deletes the signed-in user's account with everything that belongs to it, and removes the session.
    ///
    /// - Parameter password: The account's password.
    /// - Throws: ``APIError/serverError(_:_:)`` with 400 for a wrong password, and for an admin's account.
    public func deleteAccount(password: String) async throws {
        let cookies = try await jar.header(for: baseURL)
        try await send(Dunbar.DeleteAccount(password: password))
        try await outboxes.wipe(of: nil)
        try await jar.forget(cookies)
    }

    /// Downloads an archive of all that the server keeps of the signed-in user, a ZIP file. It asks for one, waits until the
    /// server has made it, and continues a download that was interrupted. See ``Dunbar/RequestArchive``.
    ///
    /// - Parameters:
    ///   - destination: The place of the file, which appears there when it is whole; its folder exists.
    ///   - progress: Called with the bytes that are there so far and in all, from any thread.
    /// - Throws: `ArchiveFailed` when the server could not make it; `DownloadRefused`; the error of the disk; the errors of
    ///   ``send(_:)``.
    @discardableResult
    public func downloadArchive(
        to destination: URL, progress: DownloadProgress? = nil
    ) async throws -> DownloadedFile {
        try await ArchiveDownload(transport: transport, retry: retry).run(to: destination, progress: progress) {
            try await self.send(Dunbar.RequestArchive())
        } current: {
            try await self.send(Dunbar.GetArchive())
        }
    }

    /// Changes the signed-in user's password, and ends all other sessions of the account.
    ///
    /// - Parameters:
    ///   - present: The present password.
    ///   - new: The new password: 8 to 200 characters.
    /// - Throws: ``APIError/serverError(_:_:)`` with 400 for a wrong present password and an invalid new one, 429 after
    ///   too many wrong ones.
    public func changePassword(from present: String, to new: String) async throws {
        try await send(Dunbar.ChangePassword(currentPassword: present, newPassword: new))
    }

    /// Returns the signed-in user; nil when no user is signed in.
    public func currentUser() async throws -> Dunbar.Account? {
        do {
            return try await send(Dunbar.GetCurrentUser()).user
        } catch APIError.unauthorized {
            return nil
        }
    }

    /// Returns whether the session has ended. One refusal does not end it: the server is asked for the signed-in user,
    /// and only its explicit answer counts.
    private func isSignedOut() async throws -> Bool {
        let cookies = try await jar.header(for: baseURL)
        do {
            _ = try await client.send(Dunbar.GetCurrentUser())
            return false
        } catch let error as ContractClient.APIError where error.status == .unauthorized {
            try await jar.forget(cookies, end: .refused)
            return true
        } catch let error as CancellationError {
            throw error
        } catch {
            return false
        }
    }

    // MARK: Posts

    /// Publishes a text with pictures and videos, from memory or from disk.
    ///
    /// - Parameters:
    ///   - content: The text: at most 5,000 characters.
    ///   - media: At most ten files, of at most 50 MiB each.
    ///   - progress: Called with the bytes sent so far and in all, from any thread.
    @discardableResult
    public func post(
        _ content: String, media: [Upload] = [], progress: UploadProgress? = nil
    ) async throws -> Dunbar.Post {
        let answer = try await answer(Dunbar.CreatePost(content: content, media: media), progress: progress)
        guard let post = answer.output else { throw APIError.noData }
        return post
    }

    /// Uploads a profile photo, from memory or from disk: the user's own, or any user's as an admin.
    @discardableResult
    public func uploadPhoto(
        _ photo: Upload, of user: Dunbar.User.ID, progress: UploadProgress? = nil
    ) async throws -> Dunbar.UpdatedUser {
        let answer = try await answer(Dunbar.UploadPhoto(id: user, photo: photo), progress: progress)
        guard let user = answer.output else { throw APIError.noData }
        return user
    }

    /// The feed, newest first. Pages are read as the sequence is iterated.
    public func feed(pageSize: Int = 50) -> Pages<Dunbar.Post, Dunbar.Post.ID?> {
        pages(pageSize) { Dunbar.GetFeed(limit: pageSize, before: $0) }
    }

    /// A user's posts, newest first. Pages are read as the sequence is iterated.
    public func posts(of user: Dunbar.User.ID, pageSize: Int = 50) -> Pages<Dunbar.Post, Dunbar.Post.ID?> {
        pages(pageSize) { Dunbar.ListUserPosts(user: user, limit: pageSize, before: $0) }
    }

    private func pages<E: Contract.Endpoint>(
        _ size: Int, _ request: @escaping @Sendable (Dunbar.Post.ID?) -> E
    ) -> Pages<Dunbar.Post, Dunbar.Post.ID?> where E.API == Dunbar, E.Output == [Dunbar.Post] {
        Pages(from: nil) { before in
            let page = try await send(request(before))
            return (page, page.count < size ? nil : page.last.map(\.id))
        }
    }

    // MARK: Follows

    /// The result of asking to follow a user.
    public enum Following: Hashable, Sendable {
        case following
        /// The account is private: its owner has been asked.
        case requested
    }

    /// Follows a public account, or asks to follow a private one.
    @discardableResult
    public func follow(_ user: Dunbar.User.ID) async throws -> Following {
        try await send(Dunbar.Follow(user: user)).message == Dunbar.Follow.requested ? .requested : .following
    }
}

extension Contract.Endpoint {
    fileprivate static var needsSession: Bool { self is any AuthenticatedEndpoint.Type }
}

extension Retry {
    /// The contract's policy: three repeats, after 2, 3 and 4.5 seconds or what the server says, up to a minute; after
    /// network errors, 408, 429 and 5xx.
    public static let dunbar = Retry(
        attempts: 3, base: .seconds(2), factor: 1.5, cap: .seconds(60), isExact: true,
        statuses: Set([408, 429] + Array(500..<600)))
}
