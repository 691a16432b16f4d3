import Identity
import NIOConcurrencyHelpers

/// An operator who is signed in to the operator's page.
struct OperatorSession: Sendable {
    /// The name in the audit: `operator anna`.
    let name: String
    let role: OperatorRole
    /// The time in Unix milliseconds at which the session ends.
    let expiresAt: Int64

    /// Returns whether the operator may give a command that needs a role.
    func may(_ needed: OperatorRole) -> Bool { role == .all || needed == role }
}

/// The sign-ins to the operator's page of this process: links that are valid for one use, and the sessions that they begin.
///
/// They are in memory alone, with hashes in the place of their tokens, so a restart signs every operator out. There are at
/// most ``limit`` of each: another one ends the oldest.
final class OperatorSessions: Sendable {
    /// The time in milliseconds for which a link is valid.
    static let lifetimeOfLinks: Int64 = 15 * 60_000
    /// The time in milliseconds for which a session lasts.
    static let lifetime: Int64 = 12 * 3_600_000
    /// The most links, and the most sessions.
    static let limit = 100

    private struct State {
        var links: [[UInt8]: OperatorSession] = [:]
        var sessions: [[UInt8]: OperatorSession] = [:]
        var url: String?
    }

    private let state = NIOLockedValueBox(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    /// The URL at which the page listens; nil until it does.
    var url: String? { state.withLockedValue { $0.url } }

    /// Notes the URL at which the page listens.
    @Sendable func listens(at url: String) { state.withLockedValue { $0.url = url } }

    /// Makes a link's token, which ``signIn(with:)`` takes once.
    func makeLink(for name: String, _ role: OperatorRole) -> String {
        let now = time.milliseconds()
        let link = OperatorSession(name: name, role: role, expiresAt: now + Self.lifetimeOfLinks)
        return state.withLockedValue { Self.add(link, to: &$0.links, at: now) }
    }

    /// Begins a session with the token of a link.
    ///
    /// - Returns: The session and its token; nil for a link that was used, is too old, or is not of this process.
    func signIn(with token: String) -> (token: String, session: OperatorSession)? {
        let now = time.milliseconds()
        return state.withLockedValue { state in
            guard let link = state.links.removeValue(forKey: Digest.sha256(token)), link.expiresAt > now else {
                return nil
            }
            let session = OperatorSession(name: link.name, role: link.role, expiresAt: now + Self.lifetime)
            return (Self.add(session, to: &state.sessions, at: now), session)
        }
    }

    /// Returns the session of the first of some tokens that has one.
    func session(of tokens: [String]) -> OperatorSession? {
        let (now, hashes) = (time.milliseconds(), tokens.map { Digest.sha256($0) })
        return state.withLockedValue { state in
            hashes.compactMap { state.sessions[$0] }.first { $0.expiresAt > now }
        }
    }

    /// Ends the sessions of some tokens.
    func end(_ tokens: [String]) {
        let hashes = tokens.map { Digest.sha256($0) }
        state.withLockedValue { state in for hash in hashes { state.sessions[hash] = nil } }
    }

    /// Adds an entry under a new token, and removes those that are over, or beyond the limit.
    private static func add(
        _ entry: OperatorSession, to entries: inout [[UInt8]: OperatorSession], at now: Int64
    ) -> String {
        entries = entries.filter { $0.value.expiresAt > now }
        if entries.count >= limit, let oldest = entries.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
            entries[oldest.key] = nil
        }
        let token = RandomToken.make()
        entries[Digest.sha256(token)] = entry
        return token
    }
}
