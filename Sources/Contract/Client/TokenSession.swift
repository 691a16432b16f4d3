import Foundation

/// A signed-in session: hands out access tokens and renews them, one renewal at a time.
///
/// Only an explicit refusal of the refresh token by the server ends a session. A network error, a timeout or a 5xx
/// never does, nor does a store that fails: the session then continues in memory, and is saved as soon as that works
/// again.
public actor TokenSession: Credentials {
    /// The result of a renewal.
    public struct Renewed: Sendable {
        /// The new access token.
        public var accessToken: String
        /// The new refresh token; nil when the old one stays valid.
        public var refreshToken: String?
        /// The lifetime of the access token in seconds.
        public var expiresIn: Int

        public init(accessToken: String, refreshToken: String? = nil, expiresIn: Int) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expiresIn = expiresIn
        }
    }

    /// Tokens are renewed this many seconds before they expire; short-lived tokens a tenth of their lifetime before.
    static let margin: TimeInterval = 60
    /// The number of replaced access tokens that the session remembers as its own.
    static let memory = 16

    private let store: any TokenStore
    private let now: @Sendable () -> Date
    private let refresh: @Sendable (_ refreshToken: String) async throws -> Renewed
    private var tokens: StoredTokens?
    private var isLoaded = false
    /// Whether the store holds `tokens`.
    private var isSaved = true
    /// Whether the server has refused the access token.
    private var isRefused = false
    /// The time at which the clock calls for a renewal. The clock may be wrong, so it does so once for each token;
    /// after that the server's answers decide.
    private var dueAt: Date?
    /// Earlier access tokens of the same user, the newest last. Requests that carried one continue with the present
    /// one.
    private var replaced: [String] = []
    private var renewal: Task<Void, any Error>?
    private var saving: Task<Void, any Error>?
    private nonisolated let state = Latest<SessionState>()

    /// Creates a session.
    ///
    /// - Parameter refresh: Asks the API for new tokens. It throws an ``APIError`` with status 401 when the session has
    ///   ended.
    public init(
        store: any TokenStore, now: @escaping @Sendable () -> Date = { Date() },
        refresh: @escaping @Sendable (_ refreshToken: String) async throws -> Renewed
    ) {
        self.store = store
        self.now = now
        self.refresh = refresh
    }

    /// The tokens of the signed-in user; nil when no user is signed in.
    ///
    /// - Throws: The store's error, until the store has been read once.
    public var current: StoredTokens? {
        get async throws {
            if !isLoaded {
                let stored = try await store.load()
                // A user may have signed in while the store was read.
                if !isLoaded { hold(stored, isSaved: true) }
            }
            return tokens
        }
    }

    /// The state of the session: the present one first, as soon as the store has been read, then every change. Any number
    /// of tasks may observe it.
    public nonisolated var states: AsyncStream<SessionState> {
        Task { _ = try? await current }
        return state.values()
    }

    /// Begins a session, or ends it with nil.
    ///
    /// - Throws: The store's error. The session has begun or ended nevertheless, for as long as the process lives.
    public func replace(_ tokens: StoredTokens?) async throws {
        hold(tokens, isSaved: false)
        renewal?.cancel()
        renewal = nil
        try await save()
    }

    // MARK: Handing out tokens

    public func token(after earlier: String?) async throws -> String {
        // Saves what could not be saved when it changed.
        if !isSaved, saving == nil { Task { try? await save() } }
        var earlier = earlier
        while let tokens = try await current {
            let own = earlier ?? tokens.accessToken
            guard own == tokens.accessToken || replaced.contains(own) else { break }
            earlier = own
            let isRefused = isRefused
            guard isRefused || dueAt.map({ $0 < now() }) ?? false else { return tokens.accessToken }
            do {
                try await renewal(of: tokens).sharedValue()
            } catch  where !isRefused {
                // Only the clock asked for this renewal, so the token may still be valid: the server decides.
                try Task.checkCancellation()
            }
        }
        throw SignedOut()
    }

    public func renew(_ refused: String) async throws -> String {
        if try await current?.accessToken == refused { isRefused = true }
        return try await token(after: refused)
    }

    // MARK: Renewing

    /// Returns the renewal in progress, or starts one. It continues when the caller stops waiting.
    private func renewal(of old: StoredTokens) -> Task<Void, any Error> {
        if let renewal { return renewal }
        state.set(.renewing(user: old.user))
        let task = Task { try await renew(old) }
        renewal = task
        return task
    }

    private enum Outcome {
        case renewed(StoredTokens)
        case ended(SessionEnd, isForgotten: Bool)
        case failed(any Error)
    }

    private func renew(_ old: StoredTokens) async throws {
        let outcome = await outcome(of: old)
        // A sign-in or a sign-out meanwhile invalidates the result.
        guard tokens == old else { return }
        renewal = nil
        switch outcome {
        case .renewed(let new): hold(new, isSaved: false)
        case .ended(let reason, let isForgotten): hold(nil, isSaved: isForgotten, end: reason)
        case .failed(let error):
            dueAt = nil
            state.set(.signedIn(user: old.user))
            throw error
        }
        // The tokens are saved before their first use: after a crash, the store must not hold a refresh token that has
        // been replaced.
        try? await save()
    }

    /// Asks the API for new tokens, with the newest refresh token. An app and its extensions share a store, and a
    /// refresh token that one of them has rotated is useless to the others. The store is therefore read first, and
    /// again after a refusal.
    private func outcome(of old: StoredTokens) async -> Outcome {
        var refused: Set<String> = []
        while true {
            let stored: StoredTokens?
            do {
                stored = try await storedElsewhere(than: old)
            } catch {
                // When the store cannot be read, the refresh token in it may be a newer one and must not be forgotten.
                // The refused token itself is ended all the same.
                return refused.isEmpty ? .failed(error) : .ended(.refused, isForgotten: true)
            }
            // A sign-in or sign-out may have happened while the store was read: the refresh token there may be of
            // another session.
            guard tokens == old else { return .failed(CancellationError()) }
            // Another process has signed in as a different user, whose session must not be forgotten.
            if let stored, stored.user != old.user { return .ended(.replaced, isForgotten: true) }
            let candidates = [stored?.refreshToken, old.refreshToken].compactMap(\.self)
            guard let refreshToken = candidates.first(where: { !refused.contains($0) }) else {
                return .ended(.refused, isForgotten: false)
            }
            do {
                let renewed = try await refresh(refreshToken)
                return .renewed(
                    StoredTokens(
                        accessToken: renewed.accessToken, refreshToken: renewed.refreshToken ?? refreshToken,
                        expiresAt: now().addingTimeInterval(TimeInterval(renewed.expiresIn)), user: old.user))
            } catch let error as APIError where error.status == .unauthorized && error.isFromAPI {
                refused.insert(refreshToken)
            } catch {
                return .failed(error)
            }
        }
    }

    /// Returns the tokens that another process has stored since this one did.
    private func storedElsewhere(than old: StoredTokens) async throws -> StoredTokens? {
        // While this session's tokens could not be saved, those in the store are older.
        guard isSaved, let stored = try await store.load(), stored.accessToken != old.accessToken else { return nil }
        return replaced.contains(stored.accessToken) ? nil : stored
    }

    // MARK: Saving

    /// - Parameter end: The reason why the session has ended; nil if it has not, or if the user has signed out.
    private func hold(_ new: StoredTokens?, isSaved: Bool, end: SessionEnd? = nil) {
        state.set(new.map { .signedIn(user: $0.user) } ?? end.map { .ended($0) } ?? .signedOut)
        if let old = tokens, old.user == new?.user {
            replaced = (replaced + [old.accessToken]).suffix(Self.memory)
        } else {
            replaced = []
        }
        tokens = new
        isLoaded = true
        self.isSaved = isSaved
        isRefused = false
        dueAt = nil
        guard let new else { return }
        let left = new.expiresAt.timeIntervalSince(now())
        if isSaved {
            dueAt = new.expiresAt - Self.margin
        } else if left > 0 {
            // The token was just issued, so all of its lifetime is left.
            dueAt = new.expiresAt - min(Self.margin, left / 10)
        }
    }

    /// Brings the store up to date, one change after the other: a renewal that is slow to be saved must not bring back
    /// what a later sign-out removed.
    private func save() async throws {
        let task =
            saving
            ?? Task {
                defer { saving = nil }
                while !isSaved {
                    let saved = tokens
                    do {
                        try await store.save(saved)
                        isSaved = tokens == saved
                    } catch {
                        if tokens == saved { throw error }
                    }
                }
            }
        saving = task
        try await task.value
    }
}
