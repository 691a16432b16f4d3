/// Where a client's bearer tokens come from.
public protocol Credentials: Sendable {
    /// The token to send.
    ///
    /// - Parameter earlier: What the same request was sent with before: it goes on in that session or not at all, never
    ///   as somebody who signed in meanwhile. Nil the first time.
    /// - Throws: ``SignedOut`` when there is no session, or no longer that one.
    func token(after earlier: String?) async throws -> String

    /// Another token, after the server refused one; nobody is given that one again.
    ///
    /// - Throws: ``SignedOut`` when the session has ended; a network error leaves the session as it is.
    func renew(_ refused: String) async throws -> String

    /// Hears that the renewed token was refused too, before the request fails.
    ///
    /// By default renews again: only that tells a token that was refused from a session that has ended.
    ///
    /// - Throws: ``SignedOut`` when the session has ended.
    func refusedAgain(_ refused: String) async throws
}

extension Credentials {
    public func refusedAgain(_ refused: String) async throws { _ = try await renew(refused) }

    /// The token for a new request.
    ///
    /// - Throws: ``SignedOut`` when there is no session.
    public func token() async throws -> String { try await token(after: nil) }
}
