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
/// Access tokens are renewed by themselves, one renewal at a time, and requests that fail on the way are sent again where
/// that cannot act twice. Safe to use from any task.
public struct GTSDClient: Sendable {
    /// What the contract's paths are appended to.
    public let baseURL: URL
    private let client: Client<GTSD>
    /// For what must not be sent again.
    private let onceOnly: Client<GTSD>
    private let session: TokenSession
    let transport: any Transport
    let retry: Retry
    private let now: @Sendable () -> Date

    /// Of access tokens, in seconds: the contract's answers do not say.
    private static let lifetime = 15 * 60

    /// - Parameters:
    ///   - baseURL: Such as `https://api.gtsd.example.com`.
    ///   - store: Keeps the session between launches. By default it ends with this value.
    ///   - transport: Carries requests.
    ///   - retry: When a request that cannot act twice is sent again.
    ///   - now: This device's clock.
    public init(
        baseURL: URL, store: any TokenStore = MemoryTokenStore(), transport: any Transport = URLSessionTransport(),
        retry: Retry = .standard, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let open = Client<GTSD>(baseURL: baseURL, transport: transport, retry: retry)
        let session = TokenSession(store: store, now: now) { refreshToken in
            // A token whose answer was lost is good for a few seconds more: so it is sent again at once, or not at all.
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
        onceOnly = Client(baseURL: baseURL, transport: transport, credentials: session, retry: .never)
        self.baseURL = baseURL
        self.transport = transport
        self.retry = retry
        self.now = now
    }

    /// Sends any request of the API, and returns what it asked for: ``APIResponse/data``, with
    /// ``APIResponse/cached`` and ``APIResponse/message`` beside it.
    ///
    /// - Parameters:
    ///   - request: An operation of ``GTSD``.
    ///   - idempotencyKey: Names a creating request, so that it can be repeated in another launch of the app, within 24
    ///     hours, without being done twice: 1 to 255 printable ASCII characters. By default each call has its own.
    /// - Throws: ``APIError`` when it is refused (by its own `validate()` before it is sent),
    ///   ``SignedOut`` without a session, ``UnreadableAnswer``, `CancellationError`, the
    ///   network's error.
    @discardableResult
    public func send<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> E.Output where E.API == GTSD {
        try await client(for: E.self).send(request, idempotencyKey: idempotencyKey)
    }

    /// Sends any request, and returns the answer with its status and headers: 201 or 200, and how much of a limit is used
    /// (`rateLimit`).
    ///
    /// - Throws: as ``send(_:idempotencyKey:)`` does.
    public func answer<E: Contract.Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> Answer<E.Output> where E.API == GTSD {
        try await client(for: E.self).answer(request, idempotencyKey: idempotencyKey)
    }

    private func client<E: Contract.Endpoint>(for _: E.Type) -> Client<GTSD> {
        // What was deleted by an attempt whose answer was lost is not found by the next.
        E.route.method == .delete ? onceOnly : client
    }

    // MARK: The session

    /// Who is signed in; nil when nobody is. Asks the store, never the server.
    ///
    /// - Throws: the store's error.
    public var user: GTSD.User.ID? {
        get async throws { try await session.current.map { .init($0.user) } }
    }

    /// Makes an account, signs in to it and keeps the session. Whoever was signed in before is no longer.
    ///
    /// - Parameters:
    ///   - email: At most 254 characters; unique without regard to case.
    ///   - password: ``GTSD/Password`` has its rules.
    ///   - name: 1 to 255 characters.
    ///   - timezone: By which the user's days are told; this device's own by default.
    /// - Throws: ``APIError`` with 400 or 409 "User with this email already exists"; the network's error;
    ///   the store's when the session could not be kept: it has begun, and is kept as soon as that works again.
    @discardableResult
    public func signUp(
        email: String, password: String, name: String? = nil, timezone: String? = GTSD.Zone.current
    ) async throws -> GTSD.User {
        let request = GTSD.SignUp(email: email, password: password, name: name, timezone: timezone)
        return try await keep(try await client.send(request).data)
    }

    /// Signs in and keeps the session. Whoever was signed in before is no longer.
    ///
    /// - Throws: ``APIError`` with 401 "Invalid email or password", 403 "Account is deactivated", or 429
    ///   after too many of them; otherwise as ``signUp(email:password:name:timezone:)`` does.
    @discardableResult
    public func signIn(email: String, password: String) async throws -> GTSD.User {
        try await keep(try await client.send(GTSD.LogIn(email: email, password: password)).data)
    }

    private func keep(_ signedIn: GTSD.SignedIn) async throws -> GTSD.User {
        try await session.replace(
            StoredTokens(
                accessToken: signedIn.accessToken, refreshToken: signedIn.refreshToken,
                expiresAt: now().addingTimeInterval(TimeInterval(Self.lifetime)), user: signedIn.user.id.rawValue))
        return signedIn.user
    }

    /// Signs out: forgets the session here at once, then ends it on the server.
    ///
    /// - Throws: the network's or the store's error. Whatever could be done is done all the same: here the session is
    ///   forgotten, on the server it ends after 7 days at the latest. Without a session it does nothing.
    public func signOut() async throws {
        var (refreshToken, storeFailure): (String?, (any Error)?)
        do { refreshToken = try await session.current?.refreshToken } catch { storeFailure = error }
        do { try await session.replace(nil) } catch { storeFailure = error }
        if let refreshToken { try await client.send(GTSD.LogOut(refreshToken: refreshToken)) }
        if let storeFailure { throw storeFailure }
    }

    /// Removes the account with all that belongs to it, and forgets the session.
    ///
    /// - Throws: ``APIError`` with 403 "Invalid password".
    public func deleteAccount(password: String) async throws {
        try await send(GTSD.DeleteMe(password: password))
        try await session.replace(nil)
    }

    // MARK: Lists

    /// One's own photos, the newest first, a page at a time as it is asked for: stop iterating, and no more is read.
    ///
    /// - Parameters:
    ///   - task: Only those of a task.
    ///   - pageSize: 1 to 100.
    public func photos(of task: GTSD.Task.ID? = nil, pageSize: Int = 50) -> Pages<GTSD.Photo, Int> {
        Pages(from: 0) { [client] offset in
            let photos = try await client.send(
                GTSD.ListPhotos(limit: pageSize, offset: offset, taskId: task)
            ).data.photos
            // The contract's `total` counts this page alone: a page that is not full is the last.
            return (photos, photos.count < pageSize ? nil : offset + photos.count)
        }
    }
}

extension APIError {
    /// What the API said beyond the message; nil when the answer was not in its shape.
    public var gtsd: GTSD.Failure.Content? {
        (try? JSONDecoder().decode(GTSD.Failure.self, from: Data(body)))?.error
    }
}
