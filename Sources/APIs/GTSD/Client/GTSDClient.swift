import Contract
import ContractClient
import Foundation
import GTSDAPI
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The GTSD API for an app.
///
/// ```swift
/// let gtsd = GTSDClient(baseURL: url, store: KeychainTokenStore(service: "gtsd"))
/// try await gtsd.signIn(email: "anna@example.com", password: "Secret-123")
///
/// let today = try await gtsd.send(GTSD.ListTasks()).data
/// let done = try await gtsd.send(
///     GTSD.SubmitEvidence(taskId: today.tasks[0].id, type: .textLog, data: .init(text: "5 sets of 5")))
/// print(done.data.newStreak)
/// ```
///
/// Access tokens are renewed automatically, one renewal at a time, and failed requests are sent again when that cannot
/// act twice. A client may be used from any task.
public struct GTSDClient: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    private let client: Client<GTSD>
    let session: TokenSession
    let transport: any Transport
    let retry: Retry
    let now: @Sendable () -> Date
    let outboxes = OpenOutboxes()

    /// The lifetime of access tokens in seconds, which the contract's answers do not contain.
    private static let lifetime = 15 * 60

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The server's URL, such as `https://api.gtsd.example.com`.
    ///   - store: Stores the session between launches. By default the session ends with this value.
    ///   - transport: Carries requests.
    ///   - retry: The conditions under which a request that cannot act twice is sent again.
    ///   - now: Returns this device's time.
    public init(
        baseURL: URL, store: any TokenStore = MemoryTokenStore(), transport: any Transport = URLSessionTransport(),
        retry: Retry = .standard, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let open = Client<GTSD>(baseURL: baseURL, transport: transport, retry: retry)
        let session = TokenSession(store: store, now: now) { refreshToken in
            // A refresh token whose answer was lost stays valid for a few more seconds, so the renewal is repeated at
            // once or not at all.
            var attempt = 0
            while true {
                do {
                    let renewed = try await open.send(GTSD.Refresh(refreshToken: refreshToken)).data
                    return .init(
                        accessToken: renewed.accessToken, refreshToken: renewed.refreshToken, expiresIn: Self.lifetime)
                } catch {
                    guard let delay = retry.delay(after: error, attempt: attempt) else { throw error }
                    try await retry.sleep(delay)
                    attempt += 1
                }
            }
        }
        self.session = session
        client = Client(baseURL: baseURL, transport: transport, credentials: session, retry: retry)
        self.baseURL = baseURL
        self.transport = transport
        self.retry = retry
        self.now = now
    }

    /// Sends any request of the API, and returns the operation's answer: ``APIResponse/data``, with
    /// ``APIResponse/cached`` and ``APIResponse/message``.
    ///
    /// - Parameters:
    ///   - request: An operation of ``GTSD``.
    ///   - idempotencyKey: A key for a creating request, with which it can be repeated in another launch of the app,
    ///     within 24 hours, without acting twice: 1 to 255 printable ASCII characters. By default each call has a new
    ///     key.
    /// - Throws: ``APIError`` when the request is refused (by its own `validate()` before it is sent), ``SignedOut``
    ///   without a session, ``UnreadableAnswer``, `CancellationError`, the network's error.
    @discardableResult
    public func send<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> E.Output where E.API == GTSD {
        try await client.send(request, idempotencyKey: idempotencyKey)
    }

    /// Sends any request, and returns the answer with its status and headers: 201 or 200, and the state of a rate limit
    /// (`rateLimit`).
    ///
    /// - Throws: The errors of ``send(_:idempotencyKey:)``.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == GTSD {
        try await client.answer(request, idempotencyKey: idempotencyKey)
    }

    // MARK: The session

    /// The state of the session: the present one first, then every change, so that an app shows its sign-in page when a
    /// session ends. Any number of tasks may observe it.
    public var sessionStates: AsyncStream<SessionState> { session.states }

    /// The signed-in user; nil when no user is signed in. It is read from the store and never asks the server.
    ///
    /// - Throws: The store's error.
    public var user: GTSD.User.ID? {
        get async throws { try await session.current.map { .init($0.user) } }
    }

    /// Creates an account, signs in to it and stores the session, which replaces the one before.
    ///
    /// - Parameters:
    ///   - email: The e-mail address: at most 254 characters; unique regardless of case.
    ///   - password: The password, under the rules of ``GTSD/Password``.
    ///   - name: The user's name: 1 to 255 characters.
    ///   - timezone: The time zone that determines the user's days; this device's own by default.
    ///   - deviceName: The device's name for the user's list of sessions: ``GTSD/SignUp/deviceName``.
    ///   - acceptedTerms: The version of the terms that the user accepts: ``GTSD/SignUp/acceptedTerms``.
    ///   - invitationCode: The code of an invitation: ``GTSD/SignUp/invitationCode``.
    /// - Throws: ``APIError`` with 400, or 409 "User with this email already exists"; the network's error; the store's
    ///   error when the session could not be stored: the session has begun nevertheless, and is stored as soon as that
    ///   works again.
    @discardableResult
    public func signUp(
        email: String, password: String, name: String? = nil, timezone: String? = GTSD.Zone.current,
        deviceName: String? = nil, acceptedTerms: String? = nil, invitationCode: String? = nil
    ) async throws -> GTSD.User {
        let request = GTSD.SignUp(
            email: email, password: password, name: name, timezone: timezone, deviceName: deviceName,
            acceptedTerms: acceptedTerms, invitationCode: invitationCode)
        return try await keep(try await client.send(request).data)
    }

    /// Signs in and stores the session, which replaces the one before.
    ///
    /// - Parameters:
    ///   - email: The account's address.
    ///   - password: The account's password.
    ///   - deviceName: The device's name for the user's list of sessions: ``GTSD/LogIn/deviceName``.
    /// - Throws: ``APIError`` with 401 "Invalid email or password", 403 "Account is deactivated", or 429 after too many
    ///   failures; otherwise the errors of ``signUp(email:password:name:timezone:deviceName:acceptedTerms:invitationCode:)``.
    @discardableResult
    public func signIn(email: String, password: String, deviceName: String? = nil) async throws -> GTSD.User {
        let request = GTSD.LogIn(email: email, password: password, deviceName: deviceName)
        return try await keep(try await client.send(request).data)
    }

    private func keep(_ signedIn: GTSD.SignedIn) async throws -> GTSD.User {
        try await session.replace(
            StoredTokens(
                accessToken: signedIn.accessToken, refreshToken: signedIn.refreshToken,
                expiresAt: now().addingTimeInterval(TimeInterval(Self.lifetime)), user: signedIn.user.id.rawValue))
        return signedIn.user
    }

    /// Signs out: removes the session and what waits in the user's outboxes from this device at once, then ends the session
    /// on the server.
    ///
    /// - Throws: The network's or the store's error. Whatever is possible has been done nevertheless: on this device
    ///   the session is removed, and on the server it ends after 7 days at the latest. Without a session nothing
    ///   happens.
    public func signOut() async throws {
        var (tokens, storeFailure): (StoredTokens?, (any Error)?)
        do { tokens = try await session.current } catch { storeFailure = error }
        do { try await session.replace(nil) } catch { storeFailure = error }
        do { try await outboxes.wipe(of: tokens?.user) } catch { storeFailure = error }
        if let refreshToken = tokens?.refreshToken { try await client.send(GTSD.LogOut(refreshToken: refreshToken)) }
        if let storeFailure { throw storeFailure }
    }

    /// Deletes the account with everything that belongs to it, and removes the session.
    ///
    /// - Throws: ``APIError`` with 403 "Invalid password".
    public func deleteAccount(password: String) async throws {
        let user = try await session.current?.user
        try await send(GTSD.DeleteMe(password: password))
        try await outboxes.wipe(of: user)
        try await session.replace(nil)
    }

    /// Downloads an archive of all that the server keeps of the signed-in user, a ZIP file. It asks for one, waits until the
    /// server has made it, and continues a download that was interrupted. See ``GTSD/RequestArchive``.
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
            try await self.send(GTSD.RequestArchive()).data
        } current: {
            try await self.send(GTSD.GetArchive()).data
        }
    }

    /// Changes the password, and ends all other sessions of the account: see ``GTSD/ChangePassword``.
    ///
    /// - Parameters:
    ///   - present: The present password.
    ///   - new: The new password, under the rules of ``GTSD/Password``.
    /// - Throws: ``APIError`` with 400 for an invalid new password, 403 "Invalid password", or 429 after too many wrong
    ///   ones.
    public func changePassword(from present: String, to new: String) async throws {
        try await send(GTSD.ChangePassword(currentPassword: present, newPassword: new))
    }

    // MARK: Lists

    /// A day's tasks, by id. Pages are read as the sequence is iterated, and no further. ``GTSD/DayTasks`` has their numbers.
    ///
    /// - Parameters:
    ///   - day: The day; today in the user's zone when nil.
    ///   - type: Returns only tasks of this type.
    ///   - pageSize: The number of tasks read at a time, 1 to 100.
    public func tasks(
        on day: Day? = nil, ofType type: GTSD.TaskType? = nil, pageSize: Int = 50
    ) -> Pages<GTSD.Task, Int> {
        Pages(from: 0) { [client] offset in
            let page = try await client.send(
                GTSD.ListTasks(date: day, limit: pageSize, offset: offset, type: type)
            ).data
            let next = offset + page.tasks.count
            return (page.tasks, page.tasks.isEmpty || next >= page.totalTasks ? nil : next)
        }
    }

    /// The user's own photos, newest first. Pages are read as the sequence is iterated, and no further.
    ///
    /// - Parameters:
    ///   - task: Returns only the photos of this task.
    ///   - pageSize: The number of photos read at a time, 1 to 100.
    public func photos(of task: GTSD.Task.ID? = nil, pageSize: Int = 50) -> Pages<GTSD.Photo, Int> {
        Pages(from: 0) { [client] offset in
            let photos = try await client.send(
                GTSD.ListPhotos(limit: pageSize, offset: offset, taskId: task)
            ).data.photos
            // The contract's `total` counts this page only, so a page that is not full is the last.
            return (photos, photos.count < pageSize ? nil : offset + photos.count)
        }
    }
}

extension APIError {
    /// The API's error body beyond the message; nil when the answer did not have its shape.
    public var gtsd: GTSD.Failure.Content? {
        (try? JSONDecoder().decode(GTSD.Failure.self, from: Data(body)))?.error
    }
}
