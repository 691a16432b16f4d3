#if !canImport(Security)
import ContractClient

// A stand-in for the Keychain, which Linux does not have, so that the articles' samples run there too.

public struct KeychainTokenStore: TokenStore {
    private let store = MemoryTokenStore()

    public init(service: String, account: String = "session", accessGroup: String? = nil) {}

    public func load() async throws -> StoredTokens? { await store.load() }
    public func save(_ tokens: StoredTokens?) async throws { await store.save(tokens) }
}

public struct KeychainCookieStore: CookieStore {
    private let store = MemoryCookieStore()

    public init(service: String, account: String = "cookies", accessGroup: String? = nil) {}

    public func load() async throws -> [StoredCookie] { await store.load() }
    public func save(_ cookies: [StoredCookie]) async throws { await store.save(cookies) }
}
#endif
