import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import ContractClient

/// A session hands out valid tokens, renews them in time, and ends when the server says so.
@Suite(.timeLimit(.minutes(30))) struct TokenSessionTests: RenewingTests {
    // MARK: Handing out tokens

    @Test func aValidTokenIsHandedOut() async throws {
        let (store, renewals) = (RecordingStore(tokens("a")), Renewals([]))
        let session = session(store, renewals)
        #expect(try await session.token() == "a")
        #expect(try await session.token() == "a")
        #expect(await store.loads == 1)
        #expect(await store.saves.isEmpty)
        #expect(renewals.asked.isEmpty)
    }

    @Test func withoutASessionThereIsNoToken() async throws {
        let (store, renewals) = (RecordingStore(), Renewals([]))
        let session = session(store, renewals)
        await #expect(throws: SignedOut()) { try await session.token() }
        await #expect(throws: SignedOut()) { try await session.renew("a") }
        #expect(try await session.current == nil)
        #expect(renewals.asked.isEmpty)
    }

    @Test func aFailingStoreIsReadAgain() async throws {
        let store = RecordingStore(tokens("a"), isBroken: true)
        let session = session(store, Renewals([]))
        await #expect(throws: RecordingStore.Broken.self) { try await session.token() }
        await store.repair()
        #expect(try await session.token() == "a")
    }

    // MARK: Ahead of expiry

    @Test(arguments: [(60.0, false), (61, false), (59.9, true), (0, true), (-3600, true)])
    func aTokenIsRenewedAMinuteBeforeItExpires(_ seconds: Double, _ isRenewed: Bool) async throws {
        let store = RecordingStore(tokens("old", expiresIn: seconds))
        let renewals = Renewals([Self.gives("new")])
        let session = session(store, renewals)
        #expect(try await session.token() == (isRenewed ? "new" : "old"))
        #expect(renewals.asked == (isRenewed ? ["refresh"] : []))
        #expect(await store.saves == (isRenewed ? [tokens("new")] : []))
    }

    /// The device's clock may be wrong, so the server decides about a token that looks expired.
    @Test(arguments: [isOffline, refuses(.internalServerError), refuses(.serviceUnavailable), refuses(.forbidden)])
    func aRenewalThatFailsInTheNetworkHandsOutTheOldToken(_ step: @escaping Renewals.Step) async throws {
        let store = RecordingStore(tokens("old", expiresIn: 10))
        let renewals = Renewals([step, Self.gives("new")])
        let session = session(store, renewals)
        #expect(try await session.token() == "old")
        #expect(await store.saves.isEmpty)
        #expect(try await session.current == tokens("old", expiresIn: 10))
        // From now on only a 401 starts a renewal: a request need not wait for a renewal that fails each time.
        #expect(try await session.token() == "old")
        #expect(renewals.asked.count == 1)
        #expect(try await session.renew("old") == "new")
    }

    /// Such a token is always less than a minute from its end.
    @Test func aShortLivedTokenIsRenewedOnceInItsLife() async throws {
        let (clock, renewals) = (TestClock(), Renewals([]))
        let session = TokenSession(
            store: MemoryTokenStore(), now: { clock.date },
            refresh: { token in
                _ = try? await renewals.refresh(token)
                return .init(accessToken: "token \(renewals.asked.count)", expiresIn: 30)
            })
        try await session.replace(
            StoredTokens(accessToken: "a", refreshToken: "r", expiresAt: clock.date + 30, user: "7"))
        var handed: [String] = []
        for _ in 0..<84 {
            handed.append(try await session.token())
            clock.advance(by: .seconds(1))
        }
        // The token is handed out for 27 seconds; the next request after them renews it.
        let expected = ["a", "token 1", "token 2"].flatMap { Array(repeating: $0, count: 28) }
        #expect(handed == expected)
    }

    /// The device's clock is wrong by more than a token's life.
    @Test func aTokenThatIsIssuedAsExpiredIsUsed() async throws {
        let renewals = Renewals([{ _ in .init(accessToken: "new", expiresIn: -10) }])
        let session = session(RecordingStore(), renewals)
        try await session.replace(tokens("a", expiresIn: -3600))
        for _ in 0..<3 { #expect(try await session.token() == "a") }
        #expect(try await session.renew("a") == "new")
        for _ in 0..<3 { #expect(try await session.token() == "new") }
        #expect(renewals.asked.count == 1)
    }

    /// The clock is set forward by an hour, twice: each change causes one renewal.
    @Test func aClockJumpCausesOneRenewal() async throws {
        let clock = TestClock()
        let renewals = Renewals([Self.gives("b"), Self.gives("c")])
        let session = TokenSession(store: MemoryTokenStore(), now: { clock.date }, refresh: renewals.refresh)
        try await session.replace(
            StoredTokens(accessToken: "a", refreshToken: "r", expiresAt: clock.date + 3600, user: "7"))
        for token in ["b", "c"] {
            clock.advance(by: .seconds(3600))
            for _ in 0..<3 { #expect(try await session.token() == token) }
        }
        clock.advance(by: .seconds(-7200))
        #expect(try await session.token() == "c")
        #expect(renewals.asked.count == 2)
    }

    // MARK: After a refusal

    @Test func aRejectedTokenIsRenewed() async throws {
        let store = RecordingStore(tokens("old"))
        let renewals = Renewals([Self.gives("new")])
        let session = session(store, renewals)
        #expect(try await session.renew("old") == "new")
        #expect(try await session.token() == "new")
        #expect(renewals.asked == ["refresh"])
        #expect(await store.saves == [tokens("new")])
    }

    @Test func aTokenRejectedLateJoinsTheNewerOne() async throws {
        let renewals = Renewals([Self.gives("new")])
        let session = session(RecordingStore(tokens("old")), renewals)
        #expect(try await session.renew("old") == "new")
        #expect(try await session.renew("old") == "new")
        #expect(try await session.token(after: "old") == "new")
        #expect(renewals.asked.count == 1)
    }

    @Test func aRotatedRefreshTokenIsKeptAndUsed() async throws {
        let store = RecordingStore(tokens("a", refresh: "r1"))
        let renewals = Renewals([Self.gives("b", refresh: "r2"), Self.gives("c"), Self.gives("d")])
        let session = session(store, renewals)
        _ = try await session.renew("a")
        _ = try await session.renew("b")
        _ = try await session.renew("c")
        #expect(renewals.asked == ["r1", "r2", "r2"])
        #expect(await store.saves.map { $0?.refreshToken } == ["r2", "r2", "r2"])
    }

    /// A token that the server has refused is not handed out again, neither during its renewal nor if that fails.
    @Test func aRefusedTokenIsNotHandedOutAgain() async throws {
        let gate = Gate()
        let renewals = Renewals([
            { _ in
                await gate.pass()
                throw URLError(.timedOut)
            }, Self.gives("new"),
        ])
        let session = session(RecordingStore(tokens("old")), renewals)
        #expect(try await session.token() == "old")
        let refused = Task { try await session.renew("old") }
        await gate.arrivals()
        let others = [Task { try await session.token() }, Task { try await session.token(after: "old") }]
        await gate.open()
        for task in [refused] + others {
            // A caller that came late may have started another renewal.
            if case .success(let token) = await task.result { #expect(token == "new") }
        }
        #expect(try await session.token() == "new")
        #expect(renewals.asked.count == 2)
    }

    @Test func onlyA401EndsTheSession() async throws {
        let store = RecordingStore(tokens("old"))
        let renewals = Renewals([Self.refuses(.unauthorized)])
        let session = session(store, renewals)
        await #expect(throws: SignedOut()) { try await session.renew("old") }
        #expect(try await session.current == nil)
        #expect(await store.saves == [nil])
        await #expect(throws: SignedOut()) { try await session.token() }
        #expect(renewals.asked.count == 1)
    }

    @Test func a401BeforeExpiryEndsTheSession() async throws {
        let store = RecordingStore(tokens("old", expiresIn: 10))
        let session = session(store, Renewals([Self.refuses(.unauthorized)]))
        await #expect(throws: SignedOut()) { try await session.token() }
        #expect(await store.saves == [nil])
    }

    @Test(arguments: [
        refuses(.badRequest), refuses(.forbidden), refuses(.tooManyRequests), refuses(.internalServerError),
        refuses(.badGateway), refuses(.serviceUnavailable), isOffline, isCancelled,
        isRefusedByAProxy,
    ])
    func anythingElseKeepsTheSession(_ step: @escaping Renewals.Step) async throws {
        let store = RecordingStore(tokens("old"))
        let session = session(store, Renewals([step, Self.gives("new")]))
        await #expect(throws: (any Error).self) { try await session.renew("old") }
        #expect(try await session.current == tokens("old"))
        #expect(await store.saves.isEmpty)
        #expect(try await session.renew("old") == "new")
    }

    // MARK: At once

    @Test(arguments: [true, false])
    func aHundredAtOnceRenewOnce(_ isRejected: Bool) async throws {
        let entered = Gate()
        // The API answers once all have asked, so that none comes late.
        let slow: Renewals.Step = { _ in
            await entered.arrivals(100)
            for _ in 0..<1000 { await Task.yield() }
            return .init(accessToken: "new", expiresIn: 3600)
        }
        let store = RecordingStore(tokens("old", expiresIn: isRejected ? 3600 : 10))
        let renewals = Renewals(Array(repeating: slow, count: 100))
        let session = session(store, renewals)
        await entered.open()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await entered.pass()
                    return isRejected ? try await session.renew("old") : try await session.token()
                }
            }
            for try await token in group { #expect(token == "new") }
        }
        #expect(renewals.asked == ["refresh"])
        #expect(await store.saves == [tokens("new")])
    }

    @Test func aHundredAtOnceAreSignedOutOnce() async throws {
        let entered = Gate()
        let refused: Renewals.Step = { _ in
            await entered.arrivals(100)
            throw APIError(Problem(.unauthorized, "No"))
        }
        let store = RecordingStore(tokens("old"))
        let renewals = Renewals(Array(repeating: refused, count: 100))
        let session = session(store, renewals)
        await entered.open()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await entered.pass()
                    do { _ = try await session.renew("old") } catch { return error is SignedOut }
                    return false
                }
            }
            for await isSignedOut in group { #expect(isSignedOut) }
        }
        #expect(renewals.asked.count == 1)
        #expect(await store.saves == [nil])
    }

    @Test func aCancelledWaitDoesNotEndTheRenewal() async throws {
        let gate = Gate()
        let renewals = Renewals([
            { _ in
                await gate.pass()
                try Task.checkCancellation()
                return .init(accessToken: "new", expiresIn: 3600)
            }
        ])
        let session = session(RecordingStore(tokens("old")), renewals)
        let impatient = Task { try await session.renew("old") }
        await gate.arrivals()
        impatient.cancel()
        // The wait ends at once: the API has not answered yet.
        await #expect(throws: CancellationError.self) { try await impatient.value }
        let patient = Task { try await session.renew("old") }
        await gate.open()
        #expect(try await patient.value == "new")
        #expect(try await session.token() == "new")
        #expect(renewals.asked.count == 1)
    }

    // MARK: Concurrent changes

    /// Returns a session in the middle of a renewal, which goes on when the gate opens.
    private func renewing(
        _ store: RecordingStore, then step: @escaping Renewals.Step
    ) async -> (session: TokenSession, renewal: Task<String, any Error>, gate: Gate, renewals: Renewals) {
        let gate = Gate()
        let renewals = Renewals([
            { token in
                await gate.pass()
                return try await step(token)
            }
        ])
        let session = session(store, renewals)
        let renewal = Task { try await session.renew("old") }
        await gate.arrivals()
        return (session, renewal, gate, renewals)
    }

    @Test(arguments: [gives("new"), refuses(.unauthorized), isOffline])
    func aSignOutDuringARenewalWins(_ step: @escaping Renewals.Step) async throws {
        let store = RecordingStore(tokens("old"))
        let (session, renewal, gate, renewals) = await renewing(store, then: step)
        try await session.replace(nil)
        await gate.open()
        _ = await renewal.result
        #expect(try await session.current == nil)
        #expect(await store.saves == [nil])
        await #expect(throws: SignedOut()) { try await session.token() }
        #expect(renewals.asked.count == 1)
    }

    @Test(arguments: [gives("new"), refuses(.unauthorized), isOffline])
    func aSignInDuringARenewalWins(_ step: @escaping Renewals.Step) async throws {
        let store = RecordingStore(tokens("old"))
        let (session, renewal, gate, _) = await renewing(store, then: step)
        let other = tokens("other", refresh: "other refresh")
        try await session.replace(other)
        await gate.open()
        _ = await renewal.result
        #expect(try await session.current == other)
        #expect(try await session.token() == "other")
        #expect(await store.saves == [other])
    }

    /// A slow store must not bring the tokens of a renewal back after a sign-out.
    @Test func aSignOutWhileARenewalIsSavedWins() async throws {
        let store = RecordingStore(tokens("old"))
        let saving = Gate()
        await store.before { if $0 != nil { await saving.pass() } }
        let session = session(store, Renewals([Self.gives("new")]))
        let renewal = Task { try await session.renew("old") }
        await saving.arrivals()
        let signOut = Task { try await session.replace(nil) }
        // The sign-out takes effect at once, even while the store is busy.
        while try await session.current != nil { await Task.yield() }
        await saving.open()
        _ = await renewal.result
        try await signOut.value
        #expect(await store.kept == nil)
        #expect(await store.saves == [tokens("new"), nil])
    }

    @Test func aSignInBeforeTheStoreWasReadWins() async throws {
        let store = RecordingStore(tokens("old"))
        let session = session(store, Renewals([]))
        try await session.replace(tokens("other"))
        #expect(try await session.token() == "other")
        #expect(await store.loads == 0)
    }

    /// A waiting request continues in the session in which it began, or fails.
    @Test(arguments: [(nil, nil), ("8", nil), ("7", "other")] as [(String?, String?)])
    func aWaitingRequestDoesNotContinueAsAnotherUser(_ user: String?, _ expected: String?) async throws {
        let (session, renewal, gate, _) = await renewing(RecordingStore(tokens("old")), then: Self.gives("new"))
        let waiting = Task { try await session.token() }
        try await session.replace(user.map { tokens("other", refresh: "other refresh", user: $0) })
        await gate.open()
        for task in [renewal, waiting, Task { try await session.token(after: "old") }] {
            let token = try? await task.value
            // The second caller may have come after the change; it then belongs to the new session.
            #expect(token == expected || (task == waiting && token == user.map { _ in "other" }))
        }
    }

    /// The refresh token of a sign-in belongs to the new session only.
    @Test func aSignInWhileTheStoreIsReadKeepsItsRefreshToken() async throws {
        let (store, renewals) = (RecordingStore(tokens("old")), Renewals([Self.gives("new")]))
        let session = session(store, renewals)
        _ = try await session.current
        let reading = Gate()
        await store.beforeLoading { await reading.pass() }
        let renewal = Task { try await session.renew("old") }
        await reading.arrivals()
        let other = tokens("other", refresh: "other refresh")
        try await session.replace(other)
        await reading.open()
        #expect(try await renewal.value == "other")
        #expect(renewals.asked.isEmpty)
    }
}
