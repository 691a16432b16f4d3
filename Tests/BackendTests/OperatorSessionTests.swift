import NIOConcurrencyHelpers
import Testing

@testable import Backend

/// The links and sessions of the operator's page.
@Suite(.timeLimit(.minutes(30))) struct OperatorSessionTests {
    /// A clock that a test sets.
    private final class Clock: Sendable {
        let now = NIOLockedValueBox<Int64>(1_000_000)
        var source: TimeSource { TimeSource { self.now.withLockedValue { $0 } } }
        func pass(_ milliseconds: Int64) { now.withLockedValue { $0 += milliseconds } }
    }

    @Test func aLinkIsUsedOnce() throws {
        let sessions = OperatorSessions(time: Clock().source)
        let link = sessions.makeLink(for: "operator anna", .moderate)
        let (token, session) = try #require(sessions.signIn(with: link))
        #expect(sessions.signIn(with: link) == nil)
        #expect(session.name == "operator anna" && session.role == .moderate)
        #expect(sessions.session(of: ["another", token])?.name == "operator anna")
        #expect(sessions.session(of: [link]) == nil, "a link is no session")
        #expect(token != link && token.utf8.count == 43)
        sessions.end([token])
        #expect(sessions.session(of: [token]) == nil)
    }

    @Test func linksAndSessionsEndInTime() throws {
        let clock = Clock()
        let sessions = OperatorSessions(time: clock.source)
        let (late, used) = (sessions.makeLink(for: "a", .all), sessions.makeLink(for: "b", .all))
        clock.pass(15 * 60_000 - 1)
        let (token, _) = try #require(sessions.signIn(with: used))
        clock.pass(1)
        #expect(sessions.signIn(with: late) == nil)
        clock.pass(12 * 3_600_000 - 2)
        #expect(sessions.session(of: [token]) != nil)
        clock.pass(1)
        #expect(sessions.session(of: [token]) == nil)
    }

    @Test func thereAreAHundredLinksAtMost() throws {
        let clock = Clock()
        let sessions = OperatorSessions(time: clock.source)
        let links = (0...OperatorSessions.limit).map { number in
            clock.pass(1)
            return sessions.makeLink(for: "\(number)", .all)
        }
        #expect(sessions.signIn(with: links[0]) == nil, "the oldest gives way")
        #expect(sessions.signIn(with: links[1])?.session.name == "1")
    }

    @Test func aSessionOfAnotherProcessIsNone() throws {
        let (one, other) = (OperatorSessions(), OperatorSessions())
        let (token, _) = try #require(one.signIn(with: one.makeLink(for: "a", .all)))
        #expect(other.session(of: [token]) == nil)
    }

    @Test(arguments: [
        (OperatorRole.moderate, OperatorRole.all, false), (.moderate, .moderate, true), (.all, .all, true),
        (.all, .moderate, true),
    ])
    func aRoleMayDo(_ granted: OperatorRole, _ needed: OperatorRole, _ may: Bool) {
        #expect(OperatorSession(name: "a", role: granted, expiresAt: 0).may(needed) == may)
    }

    @Test(arguments: ["", "  ", "a b", "a\u{1B}[2J", String(repeating: "a", count: 65)])
    func aNameWithoutSenseIsRefused(_ name: String) { #expect(OperatorTexts.mistake(inName: name) != nil) }

    @Test func aNameIsTaken() { #expect(OperatorTexts.mistake(inName: "anna-élodie") == nil) }
}
