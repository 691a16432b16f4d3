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
    private let url: URL

    /// - Parameter url: Of the file, which need not exist; its folder must.
    public init(_ url: URL) { self.url = url }

    public func load() throws -> StoredTokens? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try JSONDecoder().decode(StoredTokens.self, from: Data(contentsOf: url))
    }

    public func save(_ tokens: StoredTokens?) throws {
        guard let tokens else {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        // Written beside and renamed, so that a crash leaves the old tokens or the new; private from its first byte.
        let draft = url.appendingPathExtension(UUID().uuidString)
        let made = FileManager.default.createFile(
            atPath: draft.path, contents: try JSONEncoder().encode(tokens), attributes: [.posixPermissions: 0o600])
        guard made, rename(draft.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}

#if canImport(Security)
import Security

/// Keeps tokens in the Keychain, for this device only, readable after the first unlock.
public struct KeychainTokenStore: TokenStore {
    private let service: String
    private let account: String

    /// - Parameters:
    ///   - service: Tells apps and APIs apart, such as the base URL's host.
    ///   - account: Tells several sessions of one app apart.
    public init(service: String, account: String = "session") {
        self.service = service
        self.account = account
    }

    public func load() throws -> StoredTokens? {
        var query = item
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess, let data = result as? Data else { throw KeychainError(status: status) }
        return try JSONDecoder().decode(StoredTokens.self, from: data)
    }

    public func save(_ tokens: StoredTokens?) throws {
        guard let tokens else {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError(status: status) }
            return
        }
        let value: [String: Any] = [
            kSecValueData as String: try JSONEncoder().encode(tokens),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging(value) { _, new in new } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    private var item: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }
}

/// The Keychain refused.
public struct KeychainError: Error {
    /// See `SecCopyErrorMessageString`.
    public let status: OSStatus
}
#endif
