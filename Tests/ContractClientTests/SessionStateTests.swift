import Contract
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import ContractClient

/// A session tells its observers what state it is in.
@Suite(.timeLimit(.minutes(30))) struct SessionStateTests: RenewingTests {
    @Test func thePresentStateComesFirst() async throws {
        var empty = session(RecordingStore(), Renewals([])).states.makeAsyncIterator()
        #expect(await empty.next() == .signedOut)
        var full = session(RecordingStore(tokens("a")), Renewals([])).states.makeAsyncIterator()
        #expect(await full.next() == .signedIn(user: tokens("a").user))
    }

    @Test func everyChangeIsToldToAllObservers() async throws {
        let session = session(RecordingStore(), Renewals([]))
        var (first, second) = (session.states.makeAsyncIterator(), session.states.makeAsyncIterator())
        #expect(await first.next() == .signedOut)
        #expect(await second.next() == .signedOut)
        try await session.replace(tokens("a"))
        try await session.replace(nil)
        for state in [SessionState.signedIn(user: tokens("a").user), .signedOut] {
            #expect(await first.next() == state)
            #expect(await second.next() == state)
        }
    }

    @Test func aRenewalIsAStateOfItsOwn() async throws {
        let session = session(RecordingStore(tokens("a")), Renewals([Self.gives("b"), Self.isOffline]))
        var states = session.states.makeAsyncIterator()
        let user = tokens("a").user
        #expect(await states.next() == .signedIn(user: user))
        _ = try await session.renew("a")
        #expect(await states.next() == .renewing(user: user))
        #expect(await states.next() == .signedIn(user: user))
        // Without a network the session goes on.
        await #expect(throws: URLError.self) { try await session.renew("b") }
        #expect(await states.next() == .renewing(user: user))
        #expect(await states.next() == .signedIn(user: user))
    }

    @Test func aRefusedSessionHasEnded() async throws {
        let session = session(RecordingStore(tokens("a")), Renewals([Self.refuses(.unauthorized)]))
        var states = session.states.makeAsyncIterator()
        #expect(await states.next() == .signedIn(user: tokens("a").user))
        await #expect(throws: SignedOut.self) { try await session.renew("a") }
        #expect(await states.next() == .renewing(user: tokens("a").user))
        #expect(await states.next() == .ended(.refused))
        // Another observer learns it too, until a user signs in.
        var late = session.states.makeAsyncIterator()
        #expect(await late.next() == .ended(.refused))
        try await session.replace(tokens("b"))
        #expect(await late.next() == .signedIn(user: tokens("b").user))
    }

    @Test func anotherUserOfTheStoreReplacesTheSession() async throws {
        let store = RecordingStore(tokens("a"))
        let session = session(store, Renewals([]))
        var states = session.states.makeAsyncIterator()
        #expect(await states.next() == .signedIn(user: tokens("a").user))
        var other = tokens("theirs")
        other.user = "another"
        try await store.save(other)
        await #expect(throws: SignedOut.self) { try await session.renew("a") }
        #expect(await states.next() == .renewing(user: tokens("a").user))
        #expect(await states.next() == .ended(.replaced))
    }

    @Test func cookiesAreASessionToo() async throws {
        let jar = CookieJar(store: MemoryCookieStore(), now: { start })
        var states = jar.states.makeAsyncIterator()
        #expect(await states.next() == .signedOut)
        let url = try #require(URL(string: "https://sample.example/"))
        try await jar.take(["session=abc; Path=/"], from: url, sent: nil)
        #expect(await states.next() == .signedIn(user: nil))
        try await jar.forget(try await jar.header(for: url), end: .refused)
        #expect(await states.next() == .ended(.refused))
    }
}
