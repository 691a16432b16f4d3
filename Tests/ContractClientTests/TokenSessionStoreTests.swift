import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed
import Testing

@testable import ContractClient

/// A session works with a store that fails, or that another process shares.
@Suite(.timeLimit(.minutes(30))) struct TokenSessionStoreTests: RenewingTests {
    // MARK: Stores that fail

    @Test func aRenewalThatCannotBeKeptGoesOnInMemory() async throws {
        let store = RecordingStore(tokens("old", refresh: "r1"))
        let renewals = Renewals([Self.gives("b", refresh: "r2"), Self.gives("c", refresh: "r3")])
        let session = session(store, renewals)
        #expect(try await session.token() == "old")
        await store.before { _ in await store.breakDown() }
        #expect(try await session.renew("old") == "b")
        #expect(try await session.token() == "b")
        // The store has the older refresh token, which must not be used.
        #expect(try await session.renew("b") == "c")
        #expect(renewals.asked == ["r1", "r2"])
        #expect(await store.kept == tokens("old", refresh: "r1"))
    }

    @Test(arguments: [nil, tokens("other")])
    func aFailedSaveIsRepeatedLater(_ change: StoredTokens?) async throws {
        let store = RecordingStore(tokens("old"))
        let session = session(store, Renewals([]))
        _ = try await session.current
        await store.breakDown()
        await #expect(throws: RecordingStore.Broken.self) { try await session.replace(change) }
        #expect(try await session.current == change)
        await store.repair()
        let token = try? await session.token()
        #expect(token == change?.accessToken)
        while await store.kept != change { await Task.yield() }
    }

    /// A pending save is not lost because the one before it failed.
    @Test func aSignOutIsKeptAlthoughTheRenewalBeforeItWasNot() async throws {
        let store = RecordingStore(tokens("old"))
        let saving = Gate()
        await store.before { tokens in
            guard tokens != nil else { return await store.repair() }
            await saving.pass()
            await store.breakDown()
        }
        let session = session(store, Renewals([Self.gives("new")]))
        let renewal = Task { try await session.renew("old") }
        await saving.arrivals()
        let signOut = Task { try await session.replace(nil) }
        while try await session.current != nil { await Task.yield() }
        await saving.open()
        try await signOut.value
        _ = await renewal.result
        #expect(await store.kept == nil)
    }

    /// Using an old refresh token ends the session if refresh tokens are rotated.
    @Test func anUnreadableStoreDelaysTheRenewal() async throws {
        let store = RecordingStore(tokens("old"))
        let renewals = Renewals([Self.gives("new")])
        let session = session(store, renewals)
        _ = try await session.current
        await store.breakDown()
        await #expect(throws: RecordingStore.Broken.self) { try await session.renew("old") }
        #expect(renewals.asked.isEmpty)
        await store.repair()
        #expect(try await session.token() == "new")
    }

    // MARK: A shared store

    @Test func aTokenRotatedByAnotherProcessIsUsed() async throws {
        let store = RecordingStore(tokens("old", refresh: "r1"))
        let renewals = Renewals([Self.gives("new", refresh: "r3")])
        let session = session(store, renewals)
        _ = try await session.current
        await store.put(tokens("elsewhere", refresh: "r2"))
        #expect(try await session.renew("old") == "new")
        #expect(renewals.asked == ["r2"])
        #expect(await store.kept == tokens("new", refresh: "r3"))
    }

    /// The other process was a moment faster.
    @Test func aRefusalIsNotBelievedBeforeTheStoreIsReadAgain() async throws {
        let store = RecordingStore(tokens("old", refresh: "r1"))
        let renewals = Renewals([
            { _ in
                await store.put(tokens("elsewhere", refresh: "r2"))
                throw APIError(Problem(.unauthorized, "No"))
            }, Self.gives("new", refresh: "r3"),
        ])
        let session = session(store, renewals)
        #expect(try await session.renew("old") == "new")
        #expect(renewals.asked == ["r1", "r2"])
    }

    @Test func aRefusedTokenInTheStoreDoesNotEndTheSession() async throws {
        let store = RecordingStore(tokens("old", refresh: "r1"))
        let renewals = Renewals([Self.refuses(.unauthorized), Self.gives("new")])
        let session = session(store, renewals)
        _ = try await session.current
        await store.put(tokens("elsewhere", refresh: "r2"))
        #expect(try await session.renew("old") == "new")
        #expect(renewals.asked == ["r2", "r1"])
    }

    @Test func tokensThatThisProcessReplacedAreIgnored() async throws {
        let store = RecordingStore(tokens("old", refresh: "r1"))
        let renewals = Renewals([Self.gives("b", refresh: "r2"), Self.gives("c", refresh: "r3")])
        let session = session(store, renewals)
        #expect(try await session.renew("old") == "b")
        await store.put(tokens("old", refresh: "r1"))
        #expect(try await session.renew("b") == "c")
        #expect(renewals.asked == ["r1", "r2"])
    }

    /// The app has signed in as another user while its extension had the old session.
    @Test func anotherUsersSessionIsNotForgotten() async throws {
        let store = RecordingStore(tokens("old"))
        let renewals = Renewals([Self.gives("new")])
        let session = session(store, renewals)
        _ = try await session.current
        let other = tokens("other", user: "8")
        await store.put(other)
        await #expect(throws: SignedOut()) { try await session.renew("old") }
        #expect(renewals.asked.isEmpty)
        #expect(await store.kept == other)
        #expect(await store.saves.isEmpty)
    }
}
