import Foundation

/// A session's tokens, as they are stored between launches.
public struct StoredTokens: Codable, Hashable, Sendable {
    /// The token that requests carry.
    public var accessToken: String
    /// The token that renews the session. It gives access for as long as the API lets the session live, and is as
    /// secret as a password.
    public var refreshToken: String
    /// The time at which the access token expires, by this device's clock.
    public var expiresAt: Date
    /// The id of the signed-in user, as the API writes it.
    public var user: String

    public init(accessToken: String, refreshToken: String, expiresAt: Date, user: String) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.user = user
    }
}

/// Stores a session's tokens. Use `KeychainTokenStore` on Apple platforms.
public protocol TokenStore: Sendable {
    /// Returns the stored tokens; nil when there are none. The session calls it once, before the first request.
    func load() async throws -> StoredTokens?
    /// Replaces the stored tokens. Nil removes them.
    func save(_ tokens: StoredTokens?) async throws
}

/// Stores tokens in memory, for tests and previews.
public actor MemoryTokenStore: TokenStore {
    private var tokens: StoredTokens?

    public init(_ tokens: StoredTokens? = nil) { self.tokens = tokens }

    public func load() -> StoredTokens? { tokens }
    public func save(_ tokens: StoredTokens?) { self.tokens = tokens }
}

/// Stores tokens in a file that only its owner can read. It is meant for Linux and command-line tools; apps use the
/// Keychain.
public struct FileTokenStore: TokenStore {
    private let file: SecretFile

    /// Creates a store.
    ///
    /// - Parameter url: The URL of the file. The file need not exist; its folder must.
    public init(_ url: URL) { file = SecretFile(url) }

    public func load() throws -> StoredTokens? { try file.load() }
    public func save(_ tokens: StoredTokens?) throws { try file.save(tokens) }
}

#if canImport(Security)
/// Stores tokens in the Keychain, for this device only, readable after the first unlock.
public struct KeychainTokenStore: TokenStore {
    private let item: KeychainItem

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - service: A name that distinguishes apps and APIs, such as the base URL's host.
    ///   - account: A name that distinguishes several sessions of one app.
    ///   - accessGroup: A Keychain access group of the app and its extensions, which then share the session; nil for the
    ///     app alone.
    public init(service: String, account: String = "session", accessGroup: String? = nil) {
        item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
    }

    public func load() throws -> StoredTokens? { try item.load() }
    public func save(_ tokens: StoredTokens?) throws { try item.save(tokens) }
}
#endif
