import Foundation

/// A signed-in session: hands out access tokens and renews them, one renewal at a time.
///
/// Only the server's clear refusal of the refresh token ends a session. A network error, a time-out or a 5xx never does,
/// nor a store that fails: the session then goes on in memory, and is saved as soon as that works again.
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

    /// Tokens are renewed this long before they expire, short-lived ones a tenth of their life before.
    static let margin: TimeInterval = 60
    /// So many replaced access tokens are known as the session's own.
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
    /// When the clock asks for a renewal. It may be wrong, so it asks once for a token; from then on the server does.
    private var dueAt: Date?
    /// Earlier access tokens of the same user, the newest last: requests that carried one go on with the present one.
    private var replaced: [String] = []
    private var renewal: Task<Void, any Error>?
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
    ///
    /// - Throws: the store's error, until it has been read once.
    public var current: StoredTokens? {
        get async throws {
            if !isLoaded {
                let stored = try await store.load()
                // Somebody may have signed in while the store was read.
                if !isLoaded { hold(stored, isSaved: true) }
            }
            return tokens
        }
    }

    /// Begins a session, or ends it with nil.
    ///
    /// - Throws: the store's error. The session has begun or ended all the same, for as long as the process lives.
    public func replace(_ tokens: StoredTokens?) async throws {
        hold(tokens, isSaved: false)
        renewal?.cancel()
        renewal = nil
        try await save()
    }

    // MARK: Handing out

    public func token(after earlier: String?) async throws -> String {
        // What could not be saved when it happened.
        if !isSaved, saving == nil { Task { try? await save() } }
        var earlier = earlier
        while let tokens = try await current {
            let own = earlier ?? tokens.accessToken
            guard own == tokens.accessToken || replaced.contains(own) else { break }
            earlier = own
            let isRefused = isRefused
            guard isRefused || dueAt.map({ $0 < now() }) ?? false else { return tokens.accessToken }
            do {
                try await renewal(of: tokens).end()
            } catch  where !isRefused {
                // Only the clock had asked: the server has the last word.
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

    /// The renewal under way, or a new one. It goes on when nobody waits for it any more.
    private func renewal(of old: StoredTokens) -> Task<Void, any Error> {
        if let renewal { return renewal }
        let task = Task { try await renew(old) }
        renewal = task
        return task
    }

    private enum Outcome {
        case renewed(StoredTokens)
        case ended(isForgotten: Bool)
        case failed(any Error)
    }

    private func renew(_ old: StoredTokens) async throws {
        let outcome = await outcome(of: old)
        // A sign-in or a sign-out meanwhile makes it void.
        guard tokens == old else { return }
        renewal = nil
        switch outcome {
        case .renewed(let new): hold(new, isSaved: false)
        case .ended(let isForgotten): hold(nil, isSaved: isForgotten)
        case .failed(let error):
            dueAt = nil
            throw error
        }
        // Before anybody uses it: a crash must not forget a refresh token that has replaced the one in the store.
        try? await save()
    }

    /// Asks the API, with the newest refresh token. An app and its extensions share a store, and a refresh token that one
    /// of them has rotated is of no use to the others: what is in the store comes first, and is looked at again after a
    /// refusal.
    private func outcome(of old: StoredTokens) async -> Outcome {
        var refused: Set<String> = []
        while true {
            let stored: StoredTokens?
            do {
                stored = try await storedElsewhere(than: old)
            } catch {
                // Nobody may use a refresh token that could have been rotated. One that was refused is clear, but what
                // cannot be read is not forgotten.
                return refused.isEmpty ? .failed(error) : .ended(isForgotten: true)
            }
            // Signed in or out while the store was read: the refresh token there may be of another session.
            guard tokens == old else { return .failed(CancellationError()) }
            // Another process has signed in as somebody else, whose session is not ours to forget.
            if let stored, stored.user != old.user { return .ended(isForgotten: true) }
            let candidates = [stored?.refreshToken, old.refreshToken].compactMap(\.self)
            guard let refreshToken = candidates.first(where: { !refused.contains($0) }) else {
                return .ended(isForgotten: false)
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

    /// What another process has put into the store since this one did.
    private func storedElsewhere(than old: StoredTokens) async throws -> StoredTokens? {
        // As long as ours could not be saved, the store's is older.
        guard isSaved, let stored = try await store.load(), stored.accessToken != old.accessToken else { return nil }
        return replaced.contains(stored.accessToken) ? nil : stored
    }

    // MARK: Keeping

    private func hold(_ new: StoredTokens?, isSaved: Bool) {
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
            // Just issued: all of its life is left.
            dueAt = new.expiresAt - min(Self.margin, left / 10)
        }
    }

    /// Brings the store to what the session is, one change after the other: a renewal that is slow to be saved must not
    /// bring back what a sign-out after it removed.
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

extension Task where Success == Void, Failure == any Error {
    /// Waits for the end. Whoever is cancelled stops waiting, and the task goes on.
    fileprivate func end() async throws {
        let (ends, continuation) = AsyncThrowingStream<Void, any Error>.makeStream()
        Task<Void, Never> {
            do {
                try await value
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        for try await _ in ends {}
        try Task<Never, Never>.checkCancellation()
    }
}
