import NIOConcurrencyHelpers

/// Holds an issuer's keys, and refreshes them: after an hour in the background, and when a token names an unknown key;
/// but at most once a minute for all tasks together.
final class KeySource: Sendable {
    typealias Fetch = @Sendable () async throws -> [UInt8]

    /// The seconds between two requests for the keys.
    private enum Pace {
        static let lifetime: Int64 = 3600
        static let refresh: Int64 = 60
        /// The pace while no keys are known, because no user can sign in then.
        static let first: Int64 = 5
    }

    private struct State {
        var keys: KeySet?
        var refreshedAt: Int64 = 0
        var attemptedAt: Int64?
        var refresh: Task<Void, Never>?
    }

    private let state: NIOLockedValueBox<State>
    private let fetch: Fetch?
    private let timeout: Duration
    private let failed: @Sendable (any Error) -> Void

    /// Makes a source of fixed keys.
    init(_ keys: KeySet) {
        state = NIOLockedValueBox(State(keys: keys))
        fetch = nil
        timeout = .zero
        failed = { _ in }
    }

    /// Replaces the keys of a source that fetches none. The verified tokens of the former keys are dropped with them.
    func replace(with keys: KeySet) { state.withLockedValue { $0.keys = keys } }

    /// Makes a source of published keys.
    ///
    /// - Parameters:
    ///   - timeout: The time limit for an answer.
    ///   - failed: Receives each failure. The keys that are known stay valid.
    ///   - fetch: Fetches a JSON Web Key Set.
    init(timeout: Duration, failed: @escaping @Sendable (any Error) -> Void, fetch: @escaping Fetch) {
        state = NIOLockedValueBox(State())
        self.fetch = fetch
        self.timeout = timeout
        self.failed = failed
    }

    /// Returns the keys known at this time, in Unix seconds. It never waits: keys older than an hour are refreshed in
    /// the background.
    func current(at now: Int64) -> KeySet? {
        let (keys, isOld) = state.withLockedValue { state in
            (state.keys, Self.isDue(since: state.refreshedAt, after: Pace.lifetime, at: now))
        }
        if keys != nil, isOld { _ = refresh(at: now) }
        return keys
    }

    /// Returns the keys, which include the one of this name.
    ///
    /// - Throws: ``TokenError/unknownKey`` or ``TokenError/keysUnavailable``.
    func keys(with id: String, at now: Int64) async throws(TokenError) -> KeySet {
        if let keys = current(at: now), keys.contains(id) { return keys }
        await refresh(at: now)?.value
        guard let keys = state.withLockedValue({ $0.keys }) else { throw .keysUnavailable }
        guard keys.contains(id) else { throw .unknownKey }
        return keys
    }

    /// Returns the refresh in progress, or starts one; nil when the last one is too recent.
    private func refresh(at now: Int64) -> Task<Void, Never>? {
        guard let fetch else { return nil }
        return state.withLockedValue { state in
            if let running = state.refresh { return running }
            let pace = state.keys == nil ? Pace.first : Pace.refresh
            if let attemptedAt = state.attemptedAt, !Self.isDue(since: attemptedAt, after: pace, at: now) { return nil }
            state.attemptedAt = now
            let task = Task { await self.perform(fetch, at: now) }
            state.refresh = task
            return task
        }
    }

    private func perform(_ fetch: @escaping Fetch, at now: Int64) async {
        let result: Result<KeySet, any Error>
        do {
            result = .success(try await KeySet(json: Self.within(timeout, fetch)))
        } catch {
            result = .failure(error)
        }
        if case .failure(let error) = result { failed(error) }
        state.withLockedValue { state in
            state.refresh = nil
            guard let keys = try? result.get() else { return }
            state.refreshedAt = now
            // Unchanged keys keep their verified tokens.
            if state.keys?.hasSameKeys(as: keys) != true { state.keys = keys }
        }
    }

    /// Returns whether the pace has passed; also when the clock was set back, because the real time is then unknown.
    private static func isDue(since time: Int64, after pace: Int64, at now: Int64) -> Bool {
        !(0..<pace ~= now - time)
    }

    private static func within(_ timeout: Duration, _ fetch: @escaping Fetch) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await fetch() }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw KeySetFailure("no answer within \(timeout)")
            }
            defer { group.cancelAll() }
            for try await bytes in group { return bytes }
            throw CancellationError()
        }
    }
}
