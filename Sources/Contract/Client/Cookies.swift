import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A cookie, as it is stored between launches.
public struct StoredCookie: Codable, Hashable, Sendable {
    /// The cookie's name.
    public var name: String
    /// The cookie's value. It gives access to the session and is as secret as a password.
    public var value: String
    /// The time at which the cookie expires, by this device's clock; nil for a cookie that ends with the app.
    public var expiresAt: Date?
    /// Whether the cookie is sent over HTTPS only.
    public var isSecure: Bool

    public init(name: String, value: String, expiresAt: Date?, isSecure: Bool) {
        self.name = name
        self.value = value
        self.expiresAt = expiresAt
        self.isSecure = isSecure
    }
}

/// Stores a session's cookies. Use `KeychainCookieStore` on Apple platforms.
public protocol CookieStore: Sendable {
    /// Returns the stored cookies. The jar calls it once, before the first request.
    func load() async throws -> [StoredCookie]
    /// Replaces the stored cookies.
    func save(_ cookies: [StoredCookie]) async throws
}

/// Stores cookies in memory, for tests and previews.
public actor MemoryCookieStore: CookieStore {
    private var cookies: [StoredCookie]

    public init(_ cookies: [StoredCookie] = []) { self.cookies = cookies }

    public func load() -> [StoredCookie] { cookies }
    public func save(_ cookies: [StoredCookie]) { self.cookies = cookies }
}

/// Stores cookies in a file that only its owner can read. It is meant for Linux and command-line tools; apps use the
/// Keychain.
public struct FileCookieStore: CookieStore {
    private let file: SecretFile

    /// Creates a store.
    ///
    /// - Parameter url: The URL of the file. The file need not exist; its folder must.
    public init(_ url: URL) { file = SecretFile(url) }

    public func load() throws -> [StoredCookie] { try file.load() ?? [] }
    public func save(_ cookies: [StoredCookie]) throws { try file.save(cookies.isEmpty ? nil : cookies) }
}

#if canImport(Security)
/// Stores cookies in the Keychain, for this device only, readable after the first unlock.
public struct KeychainCookieStore: CookieStore {
    private let item: KeychainItem

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - service: A name that distinguishes apps and APIs, such as the base URL's host.
    ///   - account: A name that distinguishes several sessions of one app.
    ///   - accessGroup: A Keychain access group of the app and its extensions, which then share the session; nil for the
    ///     app alone.
    public init(service: String, account: String = "cookies", accessGroup: String? = nil) {
        item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
    }

    public func load() throws -> [StoredCookie] { try item.load() ?? [] }
    public func save(_ cookies: [StoredCookie]) throws { try item.save(cookies.isEmpty ? nil : cookies) }
}
#endif

/// Sends a session's cookies with each request, and stores the cookies that answers set, HttpOnly ones included.
///
/// The cookies belong to this client alone. Every cookie of the base URL's host is used, whatever its path.
public actor CookieJar {
    private let store: any CookieStore
    private let now: @Sendable () -> Date
    private var cookies: [StoredCookie]?
    private nonisolated let state = Latest<SessionState>()

    /// The state of the session that the cookies carry: the present one first, as soon as the store has been read, then
    /// every change.
    public nonisolated var states: AsyncStream<SessionState> {
        Task { if let cookies = try? await current() { await show(cookies) } }
        return state.values()
    }

    public init(store: any CookieStore, now: @escaping @Sendable () -> Date = { Date() }) {
        self.store = store
        self.now = now
    }

    /// Returns the value of `Cookie` for a request; nil when there is nothing to send.
    public func header(for url: URL) async throws -> String? {
        let cookies = try await current().filter { !$0.isSecure || url.scheme?.lowercased() == "https" }
        return cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// Takes over the cookies that an answer sets.
    ///
    /// An answer may be late. What it says about a cookie that the jar has replaced since is ignored, unless it sets a
    /// new value.
    ///
    /// - Parameter sent: The value of `Cookie` in the request.
    func take(_ headers: [String], from url: URL, sent: String?) async throws {
        let set = headers.flatMap { HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": $0], for: url) }
        guard !set.isEmpty else { return }
        var cookies = try await current()
        for cookie in set {
            let old = cookies.firstIndex { $0.name == cookie.name }
            let wasSent = sent.map { $0.components(separatedBy: "; ") } ?? []
            let isCurrent = old.map { wasSent.contains("\(cookie.name)=\(cookies[$0].value)") } ?? wasSent.isEmpty
            let isOver = cookie.value.isEmpty || cookie.expiresDate.map { $0 <= now() } ?? false
            let isNew = !isOver && !wasSent.contains("\(cookie.name)=\(cookie.value)")
            guard isCurrent || isNew else { continue }
            if let old { cookies.remove(at: old) }
            guard !isOver else { continue }
            cookies.append(
                StoredCookie(
                    name: cookie.name, value: cookie.value, expiresAt: cookie.expiresDate, isSecure: cookie.isSecure))
        }
        try await keep(cookies)
    }

    /// Forgets the cookies that a request was sent with; newer ones stay.
    ///
    /// - Parameter end: The reason for which they are of no use any more, unless the user has signed out.
    public func forget(_ sent: String?, end: SessionEnd? = nil) async throws {
        let wasSent = sent?.components(separatedBy: "; ") ?? []
        try await keep(try await current().filter { !wasSent.contains("\($0.name)=\($0.value)") }, end: end)
    }

    private func show(_ cookies: [StoredCookie], end: SessionEnd? = nil) {
        state.set(!cookies.isEmpty ? .signedIn(user: nil) : end.map { .ended($0) } ?? .signedOut)
    }

    private func keep(_ cookies: [StoredCookie], end: SessionEnd? = nil) async throws {
        guard cookies != self.cookies else { return }
        self.cookies = cookies
        show(cookies, end: end)
        try await store.save(cookies)
    }

    private func current() async throws -> [StoredCookie] {
        if cookies == nil {
            let stored = try await store.load()
            // Another call may have loaded the cookies and changed them in the meantime.
            if cookies == nil { cookies = stored }
        }
        return (cookies ?? []).filter { $0.expiresAt.map { $0 > now() } ?? true }
    }
}

/// Adds a jar's cookies to every request.
public struct CookieTransport: Transport {
    /// Looks at the cookies of a request, and throws if it must not be sent with them.
    package typealias Check = @Sendable (_ request: TransportRequest, _ cookies: String?) async throws -> Void

    private let base: any Transport
    private let jar: CookieJar
    private let check: Check?

    public init(_ base: any Transport, jar: CookieJar) { self.init(base, jar: jar, check: nil) }

    package init(_ base: any Transport, jar: CookieJar, check: Check?) {
        self.base = base
        self.jar = jar
        self.check = check
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        var request = request
        let cookies = try await jar.header(for: request.url)
        try await check?(request, cookies)
        request.headers[.cookie] = cookies
        let response = try await base.send(request, progress: progress)
        try await jar.take(response.headers[values: .setCookie], from: request.url, sent: cookies)
        return response
    }
}
