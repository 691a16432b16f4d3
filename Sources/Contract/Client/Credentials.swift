/// Supplies a client's bearer tokens.
public protocol Credentials: Sendable {
    /// Returns the token to send.
    ///
    /// - Parameter earlier: The token that an earlier attempt of the same request was sent with; nil the first time.
    ///   The request continues in that session or fails, and is never sent as a user who has signed in meanwhile.
    /// - Throws: ``SignedOut`` when there is no session, or a different one.
    func token(after earlier: String?) async throws -> String

    /// Returns another token, after the server refused one. The refused token is not handed out again.
    ///
    /// - Throws: ``SignedOut`` when the session has ended; a network error leaves the session unchanged.
    func renew(_ refused: String) async throws -> String

    /// Reports that the renewed token was refused too, before the request fails.
    ///
    /// By default this renews again: only that tells a refused token from an ended session.
    ///
    /// - Throws: ``SignedOut`` when the session has ended.
    func refusedAgain(_ refused: String) async throws
}

extension Credentials {
    public func refusedAgain(_ refused: String) async throws { _ = try await renew(refused) }

    /// Returns the token for a new request.
    ///
    /// - Throws: ``SignedOut`` when there is no session.
    public func token() async throws -> String { try await token(after: nil) }
}
