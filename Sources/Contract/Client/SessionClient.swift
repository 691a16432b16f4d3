import Contract
import Foundation
import HTTPTypes

/// The SDK of an API whose sessions are two tokens (`SessionAPI`): it sends any request, keeps the session, renews its
/// access tokens, and follows a live socket.
///
/// An API gives it a name, and adds what else an app would write itself:
///
/// ```swift
/// public typealias GuestbookClient = SessionClient<Guestbook>
/// ```
public struct SessionClient<API: SessionAPI>: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    /// The session, as it is kept between launches.
    public let session: TokenSession
    private let client: Client<API>
    private let sockets: any SocketTransport
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - store: Keeps the session between launches. By default it ends with this value.
    ///   - transport: Carries requests.
    ///   - sockets: Opens live connections. On Linux, where `URLSession` has none, pass `NIOSocketTransport()`.
    ///   - retry: When a request that cannot act twice is sent again.
    ///   - now: This device's clock.
    public init(
        baseURL: URL, store: any TokenStore = MemoryTokenStore(), transport: any Transport = URLSessionTransport(),
        sockets: any SocketTransport = URLSessionSocketTransport(), retry: Retry = .standard,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let open = Client<API>(baseURL: baseURL, transport: transport, retry: retry)
        session = TokenSession(store: store, now: now) { refreshToken in
            let new = try await open.send(SessionRenewal<API>(refreshToken: refreshToken))
            return .init(accessToken: new.accessToken, refreshToken: new.refreshToken, expiresIn: new.expiresIn)
        }
        client = Client(baseURL: baseURL, transport: transport, credentials: session, retry: retry)
        self.baseURL = baseURL
        self.sockets = sockets
        self.now = now
    }

    /// Sends any request of the API, and returns what it asked for.
    ///
    /// - Parameter idempotencyKey: Names a creating request, so that it can be repeated in another launch of the app
    ///   without being done twice. By default each call has its own.
    /// - Throws: ``APIError`` when it is refused, ``SignedOut`` without a session, ``UnreadableAnswer``,
    ///   `CancellationError`, the network's error.
    @discardableResult
    public func send<E: Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> E.Output where E.API == API {
        try await client.send(request, idempotencyKey: idempotencyKey)
    }

    /// The state of the session: the present one first, then every change, so that an app shows its sign-in page when a
    /// session ends. Any number of tasks may observe it.
    public var sessionStates: AsyncStream<SessionState> { session.states }

    /// Signs in and keeps the session, in place of the one before.
    ///
    /// - Throws: As ``send(_:idempotencyKey:)`` does, and the store's error. The session has begun all the same.
    @discardableResult
    public func signIn(name: String, password: String) async throws -> API.UserID {
        let tokens = try await client.send(PasswordSignIn<API>(name: name, password: password))
        try await session.replace(
            StoredTokens(
                accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                expiresAt: now().addingTimeInterval(TimeInterval(tokens.expiresIn)), user: "\(tokens.user)"))
        return tokens.user
    }

    /// Signs out: removes the session from this device at once, then ends it on the server. Without a session nothing
    /// happens.
    ///
    /// - Throws: The network's or the store's error. On this device the session is removed all the same; on the server it
    ///   then ends when its refresh token expires.
    public func signOut() async throws {
        var (refreshToken, storeFailure): (String?, (any Error)?)
        do { refreshToken = try await session.current?.refreshToken } catch { storeFailure = error }
        do { try await session.replace(nil) } catch { storeFailure = error }
        if let refreshToken { try await client.send(SignOut<API>(refreshToken: refreshToken)) }
        if let storeFailure { throw storeFailure }
    }

    /// Returns everything that is added to a list from now on, each element once and in order: what comes over a socket,
    /// and what was missed while there was none. The connection comes back by itself, and ends with the session.
    ///
    /// - Parameters:
    ///   - path: The socket's path. It says `Added` for each element, and the access token is in its handshake.
    ///   - history: The list, the newest first. Its ids must grow in the order in which elements are added.
    ///   - pacing: When to ping and when to try again.
    public func live<Element: Identifiable & Codable & Hashable & Sendable, Cursor: Sendable>(
        at path: String, after history: Pages<Element, Cursor>, pacing: LiveConnection.Pacing = .standard
    ) -> AsyncThrowingStream<Element, any Error> where Element.ID: Comparable & Sendable {
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream()
        let feed = ListFeed(continuation)
        let frames = FrameSet<any ServerFrame>(
            [Section(frames: [Added<Element>.self])], unknown: { $0 }, where: { _ in true })
        let connection = LiveConnection(transport: sockets, pacing: pacing) { [session] in
            [.authorization: "Bearer \(try await session.token())"]
        } url: { [baseURL] in
            baseURL.appendingPathComponent(path)
        }
        let task = Task {
            do {
                try await connection.run { socket in
                    // With the answer, the server has the socket: what is added from now on comes over it, and what was
                    // added before is in the list.
                    try await socket.ping()
                    socket.established()
                    try await feed.catchUp(with: history)
                    while true {
                        let text = Data(try await socket.receive().utf8)
                        // A frame of another kind is a newer server's.
                        guard let frame = try? frames.decode(text) as? Added<Element> else { continue }
                        await feed.deliver([frame.element])
                    }
                } lost: { [session] reason, _ in
                    // The clock did not know that the token has expired.
                    guard (reason as? SocketRefused)?.status == 401 else { return }
                    if let token = try? await session.current?.accessToken { _ = try? await session.renew(token) }
                }
            } catch is CancellationError {
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

/// Delivers each element of a list once.
private actor ListFeed<Element: Identifiable & Sendable> where Element.ID: Comparable & Sendable {
    private let stream: AsyncThrowingStream<Element, any Error>.Continuation
    private var newest: Element.ID?
    /// Whether the beginning is known: what was in the list by then is not news.
    private var hasBegun = false

    init(_ stream: AsyncThrowingStream<Element, any Error>.Continuation) { self.stream = stream }

    func catchUp<Cursor>(with history: Pages<Element, Cursor>) async throws {
        var missed: [Element] = []
        for try await element in history {
            guard hasBegun, newest.map({ element.id > $0 }) ?? true else {
                if !hasBegun { newest = element.id }
                break
            }
            missed.append(element)
        }
        hasBegun = true
        deliver(missed.reversed())
    }

    func deliver(_ elements: [Element]) {
        for element in elements where newest.map({ element.id > $0 }) ?? true {
            newest = element.id
            stream.yield(element)
        }
    }
}
