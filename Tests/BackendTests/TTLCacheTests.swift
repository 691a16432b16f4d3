import Backend
import NIOConcurrencyHelpers
import Testbed
import Testing

/// A cached answer is valid for a second.
@Suite(.timeLimit(.minutes(30))) struct TTLCacheTests {
    private let clock = TestClock()
    private let looks = NIOLockedValueBox(0)

    private func check(_ key: String, in recent: TTLCache<String, Bool>, _ answer: Bool = true) async throws -> Bool {
        try await recent.check(key) {
            looks.withLockedValue { $0 += 1 }
            return answer
        }
    }

    private var count: Int { looks.withLockedValue { $0 } }

    @Test func anEntryIsValidForASecond() async throws {
        let recent = TTLCache<String, Bool>("tests", time: clock.source)
        #expect(try await check("a", in: recent))
        clock.advance(by: .milliseconds(999))
        #expect(try await check("a", in: recent, false))
        #expect(count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await check("a", in: recent, false) == false)
        #expect(count == 2)
    }

    @Test func falseAnswersAreNotCached() async throws {
        let recent = TTLCache<String, Bool>("tests", time: clock.source)
        for _ in 0..<3 { #expect(try await check("a", in: recent, false) == false) }
        #expect(count == 3)
        #expect(try await check("a", in: recent))
        #expect(try await check("b", in: recent, false) == false)
    }

    @Test func aClockSetBackExpiresEntries() async throws {
        let recent = TTLCache<String, Bool>("tests", time: clock.source)
        _ = try await check("a", in: recent)
        clock.advance(by: .seconds(-3600))
        #expect(try await check("a", in: recent, false) == false)
    }

    @Test func removedAnswersAreLookedUpAgain() async throws {
        let recent = TTLCache<String, Bool>("tests", time: clock.source)
        _ = try await check("a", in: recent)
        recent.remove("a")
        #expect(try await check("a", in: recent, false) == false)
    }

    @Test func itsSizeIsBounded() async throws {
        let recent = TTLCache<String, Bool>("tests", capacity: 3, time: clock.source)
        for key in ["a", "b", "c", "d"] { _ = try await check(key, in: recent) }
        #expect(count == 4)
        _ = try await check("d", in: recent)
        #expect(count == 4)
        _ = try await check("a", in: recent)
        #expect(count == 5)
    }

    @Test func aFailedLookUpIsThrownAndNotCached() async throws {
        struct Away: Error {}
        let recent = TTLCache<String, Bool>("tests", time: clock.source)
        await #expect(throws: Away.self) { try await recent.check("a") { throw Away() } }
        #expect(try await check("a", in: recent))
        #expect(count == 1)
    }
}
