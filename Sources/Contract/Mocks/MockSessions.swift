/// The sessions of a mock, with their valid bearer tokens.
///
/// A token that the mock did not issue is valid too, so that an app may bring a session of its own.
public struct MockSessions: Sendable {
    private var sessions: [String: Int] = [:]
    private var expired: Set<String> = []
    private var ended: Set<Int> = []
    private var count = 0
    private var serial = 0

    public init() {}

    /// Begins a session.
    ///
    /// - Parameter stem: The prefix of its tokens.
    public mutating func begin(_ stem: String) -> (access: String, refresh: String) {
        count += 1
        return (issue(stem, for: count), issue(stem, for: count))
    }

    /// Returns another access token, or nil when the refresh token's session has ended.
    public mutating func renew(_ refresh: String, _ stem: String) -> String? {
        let session = session(of: refresh)
        return ended.contains(session) ? nil : issue(stem, for: session)
    }

    /// Whether an access token is to be taken.
    public mutating func isGood(_ access: String) -> Bool {
        !ended.contains(session(of: access)) && !expired.contains(access)
    }

    /// Refuses all present access tokens from now on. Refresh tokens stay valid.
    public mutating func expire() { expired.formUnion(sessions.keys) }

    /// Ends the session of a token.
    public mutating func end(_ token: String) { ended.insert(session(of: token)) }

    /// Ends every session there is.
    public mutating func endAll() { ended.formUnion(0...count) }

    /// Tokens from elsewhere belong to session 0.
    private mutating func session(of token: String) -> Int {
        let session = sessions[token, default: 0]
        sessions[token] = session
        return session
    }

    private mutating func issue(_ stem: String, for session: Int) -> String {
        serial += 1
        let token = "\(stem)\(serial)"
        sessions[token] = session
        return token
    }
}
