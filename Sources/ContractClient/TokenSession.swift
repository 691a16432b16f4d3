import Foundation

/// A signed-in session: hands out access tokens and renews them, one renewal at a time.
///
/// Only the server's clear refusal of the refresh token ends a session. A network error, a time-out or a 5xx never does.
public actor TokenSession: Credentials {
    /// What a renewal gives.
    public struct Renewed: Sendable {
        public var accessToken: String
        /// Nil when the old one stays good.
        public var refreshToken: String?
        /// In seconds.
        public var expiresIn: Int

        public init(accessToken: String, refreshToken: String? = nil, expiresIn: Int) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expiresIn = expiresIn
        }
    }

    /// Tokens are renewed this long before they expire.
    static let margin: TimeInterval = 60

    private let store: any TokenStore
    private let now: @Sendable () -> Date
    private let refresh: @Sendable (_ refreshToken: String) async throws -> Renewed
    private var tokens: StoredTokens?
    private var isLoaded = false
    private var renewal: Task<StoredTokens, any Error>?
    private var saving: Task<Void, any Error>?

    /// - Parameter refresh: Asks the API. It throws an ``APIError`` with status 401 when the session has ended.
    public init(
        store: any TokenStore, now: @escaping @Sendable () -> Date = { Date() },
        refresh: @escaping @Sendable (_ refreshToken: String) async throws -> Renewed
    ) {
        self.store = store
        self.now = now
        self.refresh = refresh
    }

    /// Whoever is signed in.
    public var current: StoredTokens? {
        get async throws {
            if !isLoaded {
                let stored = try await store.load()
                // Somebody may have signed in while the store was read.
                if !isLoaded { tokens = stored }
                isLoaded = true
            }
            return tokens
        }
    }

    /// Begins a session, or ends it with nil.
    public func replace(_ tokens: StoredTokens?) async throws {
        self.tokens = tokens
        isLoaded = true
        renewal = nil
        try await save(tokens)
    }

    /// Saves in the order in which the session changed: a renewal that is slow to be saved must not bring back what a
    /// sign-out after it removed.
    private func save(_ tokens: StoredTokens?) async throws {
        let task = Task { [store, saving] in
            _ = await saving?.result
            try await store.save(tokens)
        }
        saving = task
        try await task.value
    }

    public func token() async throws -> String {
        guard let tokens = try await current else { throw SignedOut() }
        guard tokens.expiresAt.timeIntervalSince(now()) < Self.margin else { return tokens.accessToken }
        do {
            return try await renewed(tokens).accessToken
        } catch let error as SignedOut {
            throw error
        } catch {
            // The clock may be wrong, or the network away for a moment: the server has the last word.
            return tokens.accessToken
        }
    }

    public func renew(_ rejected: String) async throws -> String {
        guard let tokens = try await current else { throw SignedOut() }
        // Another request has renewed it meanwhile.
        if tokens.accessToken != rejected { return tokens.accessToken }
        return try await renewed(tokens).accessToken
    }

    /// Joins the renewal under way, or begins one. Giving up waiting does not end it.
    private func renewed(_ old: StoredTokens) async throws -> StoredTokens {
        let task =
            renewal
            ?? Task {
                let result = try await self.refresh(old.refreshToken)
                return StoredTokens(
                    accessToken: result.accessToken, refreshToken: result.refreshToken ?? old.refreshToken,
                    expiresAt: self.now().addingTimeInterval(TimeInterval(result.expiresIn)), user: old.user)
            }
        renewal = task
        let outcome = await task.result
        // The first to come back settles it; a sign-in or sign-out meanwhile makes it void.
        if renewal == task {
            renewal = nil
            switch outcome {
            case .success(let tokens):
                self.tokens = tokens
                try await save(tokens)
            case .failure(let error as APIError) where error.status == .unauthorized:
                tokens = nil
                try await save(nil)
            case .failure:
                break
            }
        }
        switch outcome {
        case .success(let tokens): return tokens
        case .failure(let error as APIError) where error.status == .unauthorized: throw SignedOut()
        case .failure(let error): throw error
        }
    }
}
