import Foundation

/// A session's tokens, as they are kept between launches.
public struct StoredTokens: Codable, Hashable, Sendable {
    public var accessToken: String
    /// Whoever has it has the session, for as long as the API lets it live: a secret like a password.
    public var refreshToken: String
    /// Of the access token, by this device's clock.
    public var expiresAt: Date
    /// Whose they are, as the API writes its ids.
    public var user: String

    public init(accessToken: String, refreshToken: String, expiresAt: Date, user: String) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.user = user
    }
}

/// Keeps a session's tokens. On Apple platforms `KeychainTokenStore` does.
public protocol TokenStore: Sendable {
    /// What was kept; nil when there is nothing. Asked for once, before the first request.
    func load() async throws -> StoredTokens?
    /// Replaces what was kept. Nil forgets it.
    func save(_ tokens: StoredTokens?) async throws
}

/// Keeps tokens for as long as it lives itself: for tests and previews.
public actor MemoryTokenStore: TokenStore {
    private var tokens: StoredTokens?

    public init(_ tokens: StoredTokens? = nil) { self.tokens = tokens }

    public func load() -> StoredTokens? { tokens }
    public func save(_ tokens: StoredTokens?) { self.tokens = tokens }
}

/// Keeps tokens in a file that only its owner can read. For Linux and command-line tools; apps use the Keychain.
public struct FileTokenStore: TokenStore {
    private let file: SecretFile

    /// - Parameter url: Of the file, which need not exist; its folder must.
    public init(_ url: URL) { file = SecretFile(url) }

    public func load() throws -> StoredTokens? { try file.load() }
    public func save(_ tokens: StoredTokens?) throws { try file.save(tokens) }
}

#if canImport(Security)
/// Keeps tokens in the Keychain, for this device only, readable after the first unlock.
public struct KeychainTokenStore: TokenStore {
    private let item: KeychainItem

    /// - Parameters:
    ///   - service: Tells apps and APIs apart, such as the base URL's host.
    ///   - account: Tells several sessions of one app apart.
    public init(service: String, account: String = "session") {
        item = KeychainItem(service: service, account: account)
    }

    public func load() throws -> StoredTokens? { try item.load() }
    public func save(_ tokens: StoredTokens?) throws { try item.save(tokens) }
}
#endif
